CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE workspaces (
  id BLOB PRIMARY KEY,
  name TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE projects (
  id BLOB PRIMARY KEY,
  workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL,
  domain TEXT NOT NULL,
  language TEXT NOT NULL,
  country TEXT NOT NULL,
  timezone TEXT NOT NULL,
  version INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
  id BLOB PRIMARY KEY,
  project_id BLOB NOT NULL REFERENCES projects (id),
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  digest BLOB NOT NULL UNIQUE,
  scopes TEXT NOT NULL,
  read_only INTEGER NOT NULL,
  expires_at TEXT,
  revoked_at TEXT,
  last_used_at TEXT,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_by_project ON api_keys (project_id, id);

CREATE TABLE keywords (
  project_id BLOB NOT NULL REFERENCES projects (id),
  id BLOB NOT NULL,
  keyword TEXT NOT NULL,
  normalized TEXT NOT NULL,
  language TEXT NOT NULL,
  country TEXT NOT NULL,
  search_volume INTEGER,
  keyword_difficulty INTEGER,
  intent TEXT,
  status TEXT NOT NULL,
  source TEXT NOT NULL,
  version INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (project_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX keywords_by_text ON keywords (project_id, language, country, normalized);
CREATE INDEX keywords_by_volume ON keywords (project_id, (coalesce(search_volume, -1)), id);
CREATE INDEX keywords_by_difficulty ON keywords (project_id, (coalesce(keyword_difficulty, -1)), id);

CREATE TABLE jobs (
  project_id BLOB NOT NULL REFERENCES projects (id),
  id BLOB NOT NULL,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  status TEXT NOT NULL,
  run_after TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  crashes INTEGER NOT NULL,
  cancel_requested INTEGER NOT NULL,
  lease_owner BLOB,
  lease_until TEXT,
  fence INTEGER NOT NULL,
  progress TEXT,
  result TEXT,
  problem TEXT,
  links TEXT NOT NULL,
  created_at TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT,
  PRIMARY KEY (project_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_due ON jobs (run_after, id) WHERE status = 'queued';
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE status = 'running';

CREATE TABLE events (
  project_id BLOB NOT NULL REFERENCES projects (id),
  id BLOB NOT NULL,
  kind TEXT NOT NULL,
  data TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (project_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
  project_id BLOB NOT NULL REFERENCES projects (id),
  owner BLOB NOT NULL,
  route TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint BLOB NOT NULL,
  status INTEGER NOT NULL,
  head TEXT NOT NULL,
  body BLOB NOT NULL,
  expires_at TEXT NOT NULL,
  PRIMARY KEY (project_id, owner, route, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_expiry ON idempotency (expires_at);

CREATE TABLE audits (
  project_id BLOB NOT NULL REFERENCES projects (id),
  id BLOB NOT NULL,
  job_id BLOB NOT NULL,
  status TEXT NOT NULL,
  started_by TEXT NOT NULL,
  start_url TEXT NOT NULL,
  config TEXT NOT NULL,
  ruleset_version TEXT NOT NULL,
  requested_at TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT,
  discovered INTEGER NOT NULL,
  fetched INTEGER NOT NULL,
  queued INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  blocked INTEGER NOT NULL,
  termination TEXT,
  health_score INTEGER,
  error_free_pages_pct REAL,
  pages_scored INTEGER,
  score_is_partial INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  warnings INTEGER NOT NULL,
  notices INTEGER NOT NULL,
  issues INTEGER NOT NULL,
  previous_audit_id BLOB,
  error_code TEXT,
  error_message TEXT,
  version INTEGER NOT NULL,
  PRIMARY KEY (project_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX audits_active ON audits (project_id) WHERE status IN ('queued', 'crawling', 'analyzing');

CREATE TABLE crawl_batches (
  project_id BLOB NOT NULL REFERENCES projects (id),
  audit_id BLOB NOT NULL,
  number INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (project_id, audit_id, number)
) STRICT;

CREATE TABLE pages (
  project_id BLOB NOT NULL REFERENCES projects (id),
  id BLOB NOT NULL,
  url TEXT NOT NULL,
  final_url TEXT,
  status_code INTEGER,
  failure TEXT,
  depth INTEGER,
  inlinks INTEGER NOT NULL,
  outlinks INTEGER NOT NULL,
  link_score INTEGER,
  indexable INTEGER NOT NULL,
  non_indexable_reason TEXT,
  title TEXT,
  word_count INTEGER,
  audit_id BLOB NOT NULL,
  crawled_at TEXT NOT NULL,
  PRIMARY KEY (project_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pages_by_url ON pages (project_id, url, id);

CREATE TABLE issues (
  project_id BLOB NOT NULL REFERENCES projects (id),
  id BLOB NOT NULL,
  check_id TEXT NOT NULL,
  category TEXT NOT NULL,
  severity TEXT NOT NULL,
  impact REAL NOT NULL,
  active INTEGER NOT NULL,
  counts TEXT NOT NULL,
  first_seen_at TEXT NOT NULL,
  last_seen_at TEXT NOT NULL,
  PRIMARY KEY (project_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE occurrences (
  project_id BLOB NOT NULL REFERENCES projects (id),
  issue_id BLOB NOT NULL,
  page_id BLOB NOT NULL,
  state TEXT NOT NULL,
  evidence TEXT NOT NULL,
  first_seen_audit_id BLOB NOT NULL,
  last_seen_audit_id BLOB NOT NULL,
  checked_at TEXT NOT NULL,
  resolved_at TEXT,
  resolution TEXT,
  reopen_count INTEGER NOT NULL,
  stale INTEGER NOT NULL,
  PRIMARY KEY (project_id, issue_id, page_id)
) STRICT, WITHOUT ROWID;
