-- Where the crawl of an audit keeps each URL it fetched, and which pages link there; in portions, by the first of their ids.
CREATE TABLE page_links (
  project_id UUID NOT NULL,
  audit_id UUID NOT NULL,
  first_id UUID NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (project_id, audit_id, first_id)
);
