-- What pages are called is packed: a large site has millions of names, and as rows each of them cost its place in a tree. A leaf
-- holds neighbouring names, each with all its pages.
CREATE TABLE page_name_leaves (
  project_id BLOB NOT NULL,
  audit_id BLOB NOT NULL,
  first_key INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (project_id, audit_id, first_key)
) STRICT;
INSERT INTO page_name_leaves (project_id, audit_id, first_key, data)
SELECT project_id, audit_id, min(key), CAST(json_group_array(json_array(key, lower(hex(page_id)))) AS BLOB)
FROM (SELECT n.*, (dense_rank() OVER (PARTITION BY project_id, audit_id ORDER BY key) - 1) / 128 AS leaf FROM page_names n) AS numbered
GROUP BY project_id, audit_id, leaf;
DROP TABLE page_names;
