-- What the last audits found, to compare them: pages by issue, and the state of each page, in the order of their ids.
CREATE TABLE audit_findings (
  project_id BLOB NOT NULL,
  audit_id BLOB NOT NULL,
  issue_id BLOB NOT NULL,
  pages BLOB NOT NULL,
  PRIMARY KEY (project_id, audit_id, issue_id)
) STRICT;
CREATE TABLE audit_pages (
  project_id BLOB NOT NULL,
  audit_id BLOB NOT NULL,
  pages BLOB NOT NULL,
  PRIMARY KEY (project_id, audit_id)
) STRICT;
