-- Where posts are published. The secret is sealed and bound to the row.
CREATE TABLE integrations (
  project_id BLOB NOT NULL REFERENCES projects (id),
  id BLOB NOT NULL,
  provider TEXT NOT NULL,
  status TEXT NOT NULL,
  settings TEXT NOT NULL,
  secret BLOB,
  account TEXT,
  -- what only one site has: a connection to another site is another connection
  site_key TEXT NOT NULL,
  site_id TEXT,
  collection_id TEXT,
  field_map TEXT NOT NULL,
  missing TEXT NOT NULL,
  last_error TEXT,
  last_checked_at TEXT,
  last_publish_at TEXT,
  version INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (project_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX integrations_by_provider ON integrations (project_id, provider);

-- Pages on which a person connects a provider, by the digest of the token in their URL. They work once.
CREATE TABLE connect_links (
  digest BLOB NOT NULL PRIMARY KEY,
  project_id BLOB NOT NULL REFERENCES projects (id),
  provider TEXT NOT NULL,
  settings TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  used_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX connect_links_by_project ON connect_links (project_id, provider, expires_at);
CREATE INDEX connect_links_by_age ON connect_links (expires_at);

-- What of a post is at a provider.
CREATE TABLE publications (
  project_id BLOB NOT NULL,
  post_id BLOB NOT NULL,
  connection_id BLOB NOT NULL,
  provider TEXT NOT NULL,
  state TEXT NOT NULL,
  is_live INTEGER NOT NULL,
  external_id TEXT,
  external_url TEXT,
  -- the provider's version as we left it, the digest of what was sent, and the version of the post it was sent of
  external_version TEXT,
  content_hash BLOB,
  post_version INTEGER,
  verification TEXT,
  last_error TEXT,
  published_at TEXT,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (project_id, post_id, connection_id),
  FOREIGN KEY (project_id, post_id) REFERENCES posts (project_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE publish_attempts (
  project_id BLOB NOT NULL,
  id BLOB NOT NULL,
  post_id BLOB NOT NULL,
  connection_id BLOB NOT NULL,
  job_id BLOB NOT NULL,
  aim TEXT NOT NULL,
  force INTEGER NOT NULL,
  recreate INTEGER NOT NULL,
  post_version INTEGER NOT NULL,
  content_hash BLOB NOT NULL,
  -- the status the post goes back to where nothing becomes live
  from_status TEXT NOT NULL,
  state TEXT NOT NULL,
  sent TEXT,
  was_absent INTEGER NOT NULL,
  checks INTEGER NOT NULL,
  misses INTEGER NOT NULL,
  first_missed_at TEXT,
  next_check_at TEXT,
  evidence TEXT NOT NULL,
  created_at TEXT NOT NULL,
  finished_at TEXT,
  PRIMARY KEY (project_id, id),
  FOREIGN KEY (project_id, post_id) REFERENCES posts (project_id, id)
) STRICT, WITHOUT ROWID;
-- One attempt of a post at a time, whoever asks.
CREATE UNIQUE INDEX publish_attempts_open ON publish_attempts (project_id, post_id) WHERE finished_at IS NULL;
CREATE INDEX publish_attempts_by_post ON publish_attempts (project_id, post_id, id);

-- Images a provider has, by the digest of their bytes.
CREATE TABLE uploads (
  project_id BLOB NOT NULL,
  connection_id BLOB NOT NULL,
  digest BLOB NOT NULL,
  uploaded TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (project_id, connection_id, digest)
) STRICT, WITHOUT ROWID;

CREATE INDEX posts_scheduled ON posts (scheduled_at) WHERE status = 'scheduled';
