-- What the last audits found, to compare them: pages by issue, and the state of each page, in the order of their ids.
CREATE TABLE audit_findings (
  project_id UUID NOT NULL,
  audit_id UUID NOT NULL,
  issue_id UUID NOT NULL,
  pages BYTEA NOT NULL,
  PRIMARY KEY (project_id, audit_id, issue_id)
);
CREATE TABLE audit_pages (
  project_id UUID NOT NULL,
  audit_id UUID NOT NULL,
  pages BYTEA NOT NULL,
  PRIMARY KEY (project_id, audit_id)
);
