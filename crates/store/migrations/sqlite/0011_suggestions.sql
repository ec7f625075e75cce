CREATE TABLE suggestions (
  project_id BLOB NOT NULL REFERENCES projects (id),
  language TEXT NOT NULL,
  country TEXT NOT NULL,
  typed TEXT NOT NULL,
  texts TEXT NOT NULL,
  asked_at TEXT NOT NULL,
  PRIMARY KEY (project_id, language, country, typed)
) STRICT, WITHOUT ROWID;
