-- Where posts are published. The secret is sealed and bound to the row.
CREATE TABLE integrations (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  provider TEXT NOT NULL,
  status TEXT NOT NULL,
  settings JSONB NOT NULL,
  secret BYTEA,
  account TEXT,
  -- what only one site has: a connection to another site is another connection
  site_key TEXT NOT NULL,
  site_id TEXT,
  collection_id TEXT,
  field_map JSONB NOT NULL,
  missing JSONB NOT NULL,
  last_error JSONB,
  last_checked_at TIMESTAMPTZ,
  last_publish_at TIMESTAMPTZ,
  version BIGINT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX integrations_by_provider ON integrations (project_id, provider);

-- Pages on which a person connects a provider, by the digest of the token in their URL. They work once.
CREATE TABLE connect_links (
  digest BYTEA NOT NULL PRIMARY KEY,
  project_id UUID NOT NULL REFERENCES projects (id),
  provider TEXT NOT NULL,
  settings JSONB NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  used_at TIMESTAMPTZ
);
CREATE INDEX connect_links_by_project ON connect_links (project_id, provider, expires_at);
CREATE INDEX connect_links_by_age ON connect_links (expires_at);

-- What of a post is at a provider.
CREATE TABLE publications (
  project_id UUID NOT NULL,
  post_id UUID NOT NULL,
  connection_id UUID NOT NULL,
  provider TEXT NOT NULL,
  state TEXT NOT NULL,
  is_live BOOLEAN NOT NULL,
  external_id TEXT,
  external_url TEXT,
  -- the provider's version as we left it, the digest of what was sent, and the version of the post it was sent of
  external_version TEXT,
  content_hash BYTEA,
  post_version BIGINT,
  verification JSONB,
  last_error JSONB,
  published_at TIMESTAMPTZ,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, post_id, connection_id),
  FOREIGN KEY (project_id, post_id) REFERENCES posts (project_id, id)
);

CREATE TABLE publish_attempts (
  project_id UUID NOT NULL,
  id UUID NOT NULL,
  post_id UUID NOT NULL,
  connection_id UUID NOT NULL,
  job_id UUID NOT NULL,
  aim TEXT NOT NULL,
  force BOOLEAN NOT NULL,
  recreate BOOLEAN NOT NULL,
  post_version BIGINT NOT NULL,
  content_hash BYTEA NOT NULL,
  -- the status the post goes back to where nothing becomes live
  from_status TEXT NOT NULL,
  state TEXT NOT NULL,
  sent TEXT,
  was_absent BOOLEAN NOT NULL,
  checks BIGINT NOT NULL,
  misses BIGINT NOT NULL,
  first_missed_at TIMESTAMPTZ,
  next_check_at TIMESTAMPTZ,
  evidence JSONB NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  finished_at TIMESTAMPTZ,
  PRIMARY KEY (project_id, id),
  FOREIGN KEY (project_id, post_id) REFERENCES posts (project_id, id)
);
-- One attempt of a post at a time, whoever asks.
CREATE UNIQUE INDEX publish_attempts_open ON publish_attempts (project_id, post_id) WHERE finished_at IS NULL;
CREATE INDEX publish_attempts_by_post ON publish_attempts (project_id, post_id, id);

-- Images a provider has, by the digest of their bytes.
CREATE TABLE uploads (
  project_id UUID NOT NULL,
  connection_id UUID NOT NULL,
  digest BYTEA NOT NULL,
  uploaded JSONB NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, connection_id, digest)
);

CREATE INDEX posts_scheduled ON posts (scheduled_at) WHERE status = 'scheduled';
