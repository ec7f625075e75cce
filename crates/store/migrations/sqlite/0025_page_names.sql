-- What the pages of an audit that may be found are called, ten pages of a name at most. As indexes of the pages, names went to
-- other places of the disk with every page; here they are written once, in their order.
CREATE TABLE page_names (
  project_id BLOB NOT NULL,
  audit_id BLOB NOT NULL,
  key INTEGER NOT NULL,
  page_id BLOB NOT NULL,
  PRIMARY KEY (project_id, audit_id, key, page_id)
) STRICT, WITHOUT ROWID;
INSERT INTO page_names (project_id, audit_id, key, page_id)
SELECT project_id, audit_id, key, id FROM (
  SELECT project_id, audit_id, key, id, row_number() OVER (PARTITION BY project_id, audit_id, key ORDER BY url) AS place
  FROM (SELECT project_id, audit_id, title_key AS key, id, url FROM pages WHERE title_key IS NOT NULL AND indexable = 1
        UNION SELECT project_id, audit_id, heading_key, id, url FROM pages WHERE heading_key IS NOT NULL AND indexable = 1) AS called
) AS placed WHERE place <= 10;
DROP INDEX pages_by_title_key;
DROP INDEX pages_by_heading_key;
ALTER TABLE pages DROP COLUMN title_key;
ALTER TABLE pages DROP COLUMN heading_key;
