-- robots.txt of the site of a project as it was last answered with, whatever became of the audit that asked for it.
CREATE TABLE robots_copies (
  project_id UUID NOT NULL PRIMARY KEY,
  seen_at TIMESTAMPTZ NOT NULL,
  data BYTEA NOT NULL
);
