-- What pages are called is packed: a large site has millions of names, and as rows each of them cost its place in a tree. A leaf
-- holds neighbouring names, each with all its pages.
CREATE TABLE page_name_leaves (
  project_id UUID NOT NULL,
  audit_id UUID NOT NULL,
  first_key BIGINT NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (project_id, audit_id, first_key)
);
ALTER TABLE page_name_leaves ALTER COLUMN data SET STORAGE EXTERNAL; -- hashes cannot be compressed
INSERT INTO page_name_leaves (project_id, audit_id, first_key, data)
SELECT project_id, audit_id, min(key), convert_to(json_agg(json_build_array(key, page_id))::text, 'UTF8')
FROM (SELECT n.*, (dense_rank() OVER (PARTITION BY project_id, audit_id ORDER BY key) - 1) / 128 AS leaf FROM page_names n) AS numbered
GROUP BY project_id, audit_id, leaf;
DROP TABLE page_names;
