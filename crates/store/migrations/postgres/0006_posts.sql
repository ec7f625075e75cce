CREATE TABLE posts (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  title TEXT,
  title_key TEXT NOT NULL,
  slug TEXT COLLATE "C" NOT NULL,
  status TEXT NOT NULL,
  -- A keyword may be deleted; posts that aimed at it then aim at none.
  keyword_id UUID,
  language TEXT NOT NULL,
  origin TEXT NOT NULL,
  content TEXT NOT NULL,
  content_html TEXT NOT NULL,
  details JSONB NOT NULL,
  findings JSONB NOT NULL,
  word_count BIGINT NOT NULL,
  reading_time_minutes BIGINT NOT NULL,
  seo_score BIGINT,
  -- Digests of what is published of a post: as it is here, and as it went out last.
  content_hash BYTEA NOT NULL,
  published_hash BYTEA,
  generation JSONB,
  failure JSONB,
  job_id UUID,
  scheduled_at TIMESTAMPTZ,
  published_at TIMESTAMPTZ,
  published_url TEXT,
  archived_at TIMESTAMPTZ,
  version BIGINT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX posts_by_slug ON posts (project_id, slug);
CREATE INDEX posts_by_status ON posts (project_id, status, id);
CREATE INDEX posts_by_keyword ON posts (project_id, keyword_id, id);

CREATE TABLE post_revisions (
  project_id UUID NOT NULL,
  post_id UUID NOT NULL,
  number BIGINT NOT NULL,
  title TEXT,
  content TEXT NOT NULL,
  word_count BIGINT NOT NULL,
  version BIGINT NOT NULL,
  replaced_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, post_id, number),
  FOREIGN KEY (project_id, post_id) REFERENCES posts (project_id, id)
);

-- What the steps of a generation made, so that a job that was cut goes on where it was.
CREATE TABLE post_steps (
  project_id UUID NOT NULL,
  job_id UUID NOT NULL,
  step TEXT NOT NULL,
  input_hash BYTEA NOT NULL,
  output JSONB NOT NULL,
  finished_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, job_id, step),
  FOREIGN KEY (project_id, job_id) REFERENCES jobs (project_id, id)
);
