CREATE TABLE providers (
  project_id BLOB NOT NULL REFERENCES projects (id),
  name TEXT NOT NULL,
  id BLOB NOT NULL,
  settings TEXT NOT NULL,
  secret BLOB,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (project_id, name)
) STRICT, WITHOUT ROWID;
