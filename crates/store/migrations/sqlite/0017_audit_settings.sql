-- What the operator has set about a project's audits, and what each audit was made with; NULL for nothing.
CREATE TABLE audit_settings (
  project_id BLOB PRIMARY KEY NOT NULL REFERENCES projects (id),
  settings TEXT NOT NULL
) STRICT;
ALTER TABLE audits ADD COLUMN settings TEXT;
