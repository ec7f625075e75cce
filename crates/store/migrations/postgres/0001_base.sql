CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value BYTEA NOT NULL
);

CREATE TABLE workspaces (
  id UUID PRIMARY KEY,
  name TEXT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE projects (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL,
  domain TEXT NOT NULL,
  language TEXT NOT NULL,
  country TEXT NOT NULL,
  timezone TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE api_keys (
  id UUID PRIMARY KEY,
  project_id UUID NOT NULL REFERENCES projects (id),
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  digest BYTEA NOT NULL UNIQUE,
  scopes TEXT NOT NULL,
  read_only BOOLEAN NOT NULL,
  expires_at TIMESTAMPTZ,
  revoked_at TIMESTAMPTZ,
  last_used_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX api_keys_by_project ON api_keys (project_id, id);

CREATE TABLE keywords (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  keyword TEXT NOT NULL,
  normalized TEXT COLLATE "C" NOT NULL,
  language TEXT NOT NULL,
  country TEXT NOT NULL,
  search_volume BIGINT,
  keyword_difficulty BIGINT,
  intent TEXT,
  status TEXT NOT NULL,
  source TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX keywords_by_text ON keywords (project_id, language, country, normalized);
CREATE INDEX keywords_by_volume ON keywords (project_id, (coalesce(search_volume, -1)), id);
CREATE INDEX keywords_by_difficulty ON keywords (project_id, (coalesce(keyword_difficulty, -1)), id);

CREATE TABLE jobs (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  kind TEXT NOT NULL,
  payload JSONB NOT NULL,
  status TEXT NOT NULL,
  run_after TIMESTAMPTZ NOT NULL,
  attempt BIGINT NOT NULL,
  crashes BIGINT NOT NULL,
  cancel_requested BOOLEAN NOT NULL,
  lease_owner UUID,
  lease_until TIMESTAMPTZ,
  fence BIGINT NOT NULL,
  progress JSONB,
  result JSONB,
  problem JSONB,
  links JSONB NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  started_at TIMESTAMPTZ,
  finished_at TIMESTAMPTZ,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX jobs_due ON jobs (run_after, id) WHERE status = 'queued';
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE status = 'running';

CREATE TABLE events (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  kind TEXT NOT NULL,
  data JSONB NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, id)
);

CREATE TABLE idempotency (
  project_id UUID NOT NULL REFERENCES projects (id),
  owner UUID NOT NULL,
  route TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint BYTEA NOT NULL,
  status BIGINT NOT NULL,
  head JSONB NOT NULL,
  body BYTEA NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, owner, route, key)
);
CREATE INDEX idempotency_expiry ON idempotency (expires_at);

CREATE TABLE audits (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  job_id UUID NOT NULL,
  status TEXT NOT NULL,
  started_by TEXT NOT NULL,
  start_url TEXT NOT NULL,
  config JSONB NOT NULL,
  ruleset_version TEXT NOT NULL,
  requested_at TIMESTAMPTZ NOT NULL,
  started_at TIMESTAMPTZ,
  finished_at TIMESTAMPTZ,
  discovered BIGINT NOT NULL,
  fetched BIGINT NOT NULL,
  queued BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  blocked BIGINT NOT NULL,
  termination TEXT,
  health_score BIGINT,
  error_free_pages_pct DOUBLE PRECISION,
  pages_scored BIGINT,
  score_is_partial BOOLEAN NOT NULL,
  errors BIGINT NOT NULL,
  warnings BIGINT NOT NULL,
  notices BIGINT NOT NULL,
  issues BIGINT NOT NULL,
  previous_audit_id UUID,
  error_code TEXT,
  error_message TEXT,
  version BIGINT NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX audits_active ON audits (project_id) WHERE status IN ('queued', 'crawling', 'analyzing');

CREATE TABLE crawl_batches (
  project_id UUID NOT NULL REFERENCES projects (id),
  audit_id UUID NOT NULL,
  number BIGINT NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (project_id, audit_id, number)
);

CREATE TABLE pages (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  url TEXT COLLATE "C" NOT NULL,
  final_url TEXT,
  status_code BIGINT,
  failure TEXT,
  depth BIGINT,
  inlinks BIGINT NOT NULL,
  outlinks BIGINT NOT NULL,
  link_score BIGINT,
  indexable BOOLEAN NOT NULL,
  non_indexable_reason TEXT,
  title TEXT,
  word_count BIGINT,
  audit_id UUID NOT NULL,
  crawled_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX pages_by_url ON pages (project_id, url, id);

CREATE TABLE issues (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  check_id TEXT NOT NULL,
  category TEXT NOT NULL,
  severity TEXT NOT NULL,
  impact DOUBLE PRECISION NOT NULL,
  active BIGINT NOT NULL,
  counts JSONB NOT NULL,
  first_seen_at TIMESTAMPTZ NOT NULL,
  last_seen_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, id)
);

CREATE TABLE occurrences (
  project_id UUID NOT NULL REFERENCES projects (id),
  issue_id UUID NOT NULL,
  page_id UUID NOT NULL,
  state TEXT NOT NULL,
  evidence JSONB NOT NULL,
  first_seen_audit_id UUID NOT NULL,
  last_seen_audit_id UUID NOT NULL,
  checked_at TIMESTAMPTZ NOT NULL,
  resolved_at TIMESTAMPTZ,
  resolution TEXT,
  reopen_count BIGINT NOT NULL,
  stale BOOLEAN NOT NULL,
  PRIMARY KEY (project_id, issue_id, page_id)
);
-- A batch is compact already; compressing it again costs more than it saves.
ALTER TABLE crawl_batches ALTER COLUMN data SET STORAGE EXTERNAL;
