-- The pages of a project in the order of their URLs. As an index of the pages it was written at another place of the disk with
-- every page, because those come in the order of their ids; here it is written in its own order, at the end of an audit.
CREATE TABLE page_urls (
  project_id BLOB NOT NULL,
  url TEXT NOT NULL,
  page_id BLOB NOT NULL,
  PRIMARY KEY (project_id, url, page_id)
) STRICT, WITHOUT ROWID;
INSERT INTO page_urls (project_id, url, page_id) SELECT project_id, url, id FROM pages ORDER BY project_id, url, id;
DROP INDEX pages_by_url;
