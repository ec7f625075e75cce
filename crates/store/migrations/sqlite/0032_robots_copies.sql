-- robots.txt of the site of a project as it was last answered with, whatever became of the audit that asked for it.
CREATE TABLE robots_copies (
  project_id BLOB NOT NULL PRIMARY KEY,
  seen_at TEXT NOT NULL,
  data BLOB NOT NULL
) STRICT, WITHOUT ROWID;
