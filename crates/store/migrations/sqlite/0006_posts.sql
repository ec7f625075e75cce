CREATE TABLE posts (
  project_id BLOB NOT NULL REFERENCES projects (id),
  id BLOB NOT NULL,
  title TEXT,
  title_key TEXT NOT NULL,
  slug TEXT NOT NULL,
  status TEXT NOT NULL,
  -- A keyword may be deleted; posts that aimed at it then aim at none.
  keyword_id BLOB,
  language TEXT NOT NULL,
  origin TEXT NOT NULL,
  content TEXT NOT NULL,
  content_html TEXT NOT NULL,
  details TEXT NOT NULL,
  findings TEXT NOT NULL,
  word_count INTEGER NOT NULL,
  reading_time_minutes INTEGER NOT NULL,
  seo_score INTEGER,
  -- Digests of what is published of a post: as it is here, and as it went out last.
  content_hash BLOB NOT NULL,
  published_hash BLOB,
  generation TEXT,
  failure TEXT,
  job_id BLOB,
  scheduled_at TEXT,
  published_at TEXT,
  published_url TEXT,
  archived_at TEXT,
  version INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (project_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX posts_by_slug ON posts (project_id, slug);
CREATE INDEX posts_by_status ON posts (project_id, status, id);
CREATE INDEX posts_by_keyword ON posts (project_id, keyword_id, id);

CREATE TABLE post_revisions (
  project_id BLOB NOT NULL,
  post_id BLOB NOT NULL,
  number INTEGER NOT NULL,
  title TEXT,
  content TEXT NOT NULL,
  word_count INTEGER NOT NULL,
  version INTEGER NOT NULL,
  replaced_at TEXT NOT NULL,
  PRIMARY KEY (project_id, post_id, number),
  FOREIGN KEY (project_id, post_id) REFERENCES posts (project_id, id)
) STRICT;

-- What the steps of a generation made, so that a job that was cut goes on where it was.
CREATE TABLE post_steps (
  project_id BLOB NOT NULL,
  job_id BLOB NOT NULL,
  step TEXT NOT NULL,
  input_hash BLOB NOT NULL,
  output TEXT NOT NULL,
  finished_at TEXT NOT NULL,
  PRIMARY KEY (project_id, job_id, step),
  FOREIGN KEY (project_id, job_id) REFERENCES jobs (project_id, id)
) STRICT;
