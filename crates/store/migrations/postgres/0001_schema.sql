-- The schema. Both databases have the same tables, columns and indexes; this is the PostgreSQL half.
--
-- Conventions:
--   * Identifiers are UUIDv7, so the order of ids is the order of creation. Issues and pages have
--     UUIDv5 of their project and their check or URL.
--   * Primary keys lead with project_id: the rows of a project lie together, and no index by id alone
--     costs every insert.
--   * Tables that many transactions write at once do not reference `projects`: every insert would lock
--     the row of its project. A project id always comes from a row that proves access to it.
--   * Text that is compared or listed byte by byte has the collation "C".
--   * `version` counts the changes of a row, for conditional writes (ETag).

------------------------------------------------------------------------------------------------------
-- Installation
------------------------------------------------------------------------------------------------------

-- Values of the installation, such as the canary of the sealing keys.
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value BYTEA NOT NULL
);

-- OAuth applications of the installation at providers. The secret is sealed and bound to the row.
CREATE TABLE oauth_apps (
  provider TEXT NOT NULL PRIMARY KEY,
  id UUID NOT NULL,
  client_id TEXT NOT NULL,
  settings JSONB NOT NULL,
  secret BYTEA NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL
);

------------------------------------------------------------------------------------------------------
-- Projects and access
------------------------------------------------------------------------------------------------------

CREATE TABLE workspaces (
  id UUID PRIMARY KEY,
  name TEXT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL
);

-- Projects are never deleted.
CREATE TABLE projects (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL REFERENCES workspaces (id),
  name TEXT COLLATE "C" NOT NULL,
  domain TEXT NOT NULL,
  language TEXT NOT NULL,
  country TEXT NOT NULL, -- empty for all countries
  timezone TEXT NOT NULL,
  names_version BIGINT NOT NULL DEFAULT 0, -- changes of the names that are looked for in answers
  version BIGINT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE api_keys (
  id UUID PRIMARY KEY,
  project_id UUID NOT NULL REFERENCES projects (id),
  name TEXT NOT NULL,
  prefix TEXT NOT NULL, -- first characters, shown in lists
  digest BYTEA NOT NULL UNIQUE, -- SHA-256 of the key, which itself is not stored
  scopes TEXT NOT NULL, -- separated by spaces
  read_only BOOLEAN NOT NULL,
  expires_at TIMESTAMPTZ,
  revoked_at TIMESTAMPTZ,
  last_used_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX api_keys_by_project ON api_keys (project_id, id);

-- Responses that are replayed for the same Idempotency-Key. An id is the time of expiry in milliseconds * 2^20 with a random end,
-- so that rows are added at the end of the table and expired ones are found without another index. It does not reference `projects`.
CREATE TABLE idempotency (
  id BIGINT PRIMARY KEY,
  slot UUID NOT NULL UNIQUE, -- hash of project, owner, route and key
  project_id UUID NOT NULL,
  owner UUID NOT NULL,
  route TEXT NOT NULL,
  fingerprint BYTEA NOT NULL, -- SHA-256 of the request
  status BIGINT NOT NULL,
  head JSONB NOT NULL,
  body BYTEA NOT NULL
);

-- One row per call that changed something. Expired rows are found by the primary key, because an id
-- begins with its time. It does not reference `projects`.
CREATE TABLE activity (
  project_id UUID NOT NULL,
  id UUID NOT NULL,
  action TEXT NOT NULL,
  subject TEXT,
  credential_kind TEXT NOT NULL,
  credential_id UUID NOT NULL,
  credential_name TEXT NOT NULL,
  user_id UUID, -- person on whose behalf the call was made
  user_name TEXT,
  created_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, id)
);

------------------------------------------------------------------------------------------------------
-- People
------------------------------------------------------------------------------------------------------

CREATE TABLE users (
  id UUID PRIMARY KEY,
  email TEXT NOT NULL UNIQUE, -- in lower case
  name TEXT NOT NULL,
  password TEXT, -- Argon2id in the PHC string format; NULL before one is set
  disabled_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE memberships (
  user_id UUID NOT NULL REFERENCES users (id),
  workspace_id UUID NOT NULL REFERENCES workspaces (id),
  role TEXT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (user_id, workspace_id)
);
CREATE INDEX memberships_by_workspace ON memberships (workspace_id, user_id);
CREATE INDEX projects_by_workspace ON projects (workspace_id, id);

-- Sessions of browsers. The cookie holds the token whose digest is here.
CREATE TABLE sessions (
  id UUID PRIMARY KEY,
  user_id UUID NOT NULL REFERENCES users (id),
  digest BYTEA NOT NULL UNIQUE,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  authenticated_at TIMESTAMPTZ NOT NULL, -- last time at which the person proved who they are
  last_seen_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX sessions_by_user ON sessions (user_id, id);

-- Links that work once: to set up the first account, to sign in, or to set a new password.
CREATE TABLE sign_in_links (
  digest BYTEA PRIMARY KEY,
  purpose TEXT NOT NULL,
  user_id UUID REFERENCES users (id), -- NULL for the setup of the first account
  created_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL
);

-- Attempts to sign in, by the SHA-256 of the account or of the address. A row is deleted by a success.
CREATE TABLE sign_in_attempts (
  subject BYTEA PRIMARY KEY,
  failures BIGINT NOT NULL,
  last_at TIMESTAMPTZ NOT NULL
);

-- Second factors by one-time codes (RFC 6238). The secret is sealed and bound to the person.
CREATE TABLE totp_secrets (
  user_id UUID PRIMARY KEY REFERENCES users (id),
  secret BYTEA NOT NULL,
  confirmed_at TIMESTAMPTZ, -- NULL until the first code was entered
  used_step BIGINT NOT NULL, -- time step of the last code that was accepted: a code works once
  created_at TIMESTAMPTZ NOT NULL
);

-- Codes that stand in for a lost second factor, each once.
CREATE TABLE recovery_codes (
  user_id UUID NOT NULL REFERENCES users (id),
  digest BYTEA NOT NULL,
  PRIMARY KEY (user_id, digest)
);

CREATE TABLE passkeys (
  id UUID PRIMARY KEY,
  user_id UUID NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  credential BYTEA NOT NULL UNIQUE, -- id that the authenticator gave
  public_key BYTEA NOT NULL, -- SubjectPublicKeyInfo
  algorithm BIGINT NOT NULL, -- COSE algorithm
  sign_count BIGINT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  last_used_at TIMESTAMPTZ
);
CREATE INDEX passkeys_by_user ON passkeys (user_id, id);

-- Challenges that a passkey answers, once.
CREATE TABLE passkey_challenges (
  digest BYTEA PRIMARY KEY,
  user_id UUID, -- person who adds a passkey; NULL to sign in
  expires_at TIMESTAMPTZ NOT NULL
);

-- Sign-ins that wait for the code of the second factor.
CREATE TABLE pending_sign_ins (
  digest BYTEA PRIMARY KEY,
  user_id UUID NOT NULL REFERENCES users (id),
  expires_at TIMESTAMPTZ NOT NULL
);

-- Invitations to a workspace, by the digest of the token in their link.
CREATE TABLE invitations (
  id UUID PRIMARY KEY,
  digest BYTEA NOT NULL UNIQUE,
  workspace_id UUID NOT NULL REFERENCES workspaces (id),
  role TEXT NOT NULL,
  email TEXT, -- in lower case; NULL for whoever has the link
  invited_by UUID REFERENCES users (id), -- NULL for the operator
  created_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX invitations_by_workspace ON invitations (workspace_id, id);

-- Read-only links for people without an account: to the report of one audit, or to the visibility of a period.
CREATE TABLE share_links (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  digest BYTEA NOT NULL UNIQUE, -- SHA-256 of the token in the link, which itself is not stored
  prefix TEXT NOT NULL, -- first characters, shown in lists
  kind TEXT NOT NULL, -- audit or visibility
  audit_id UUID, -- of a link to an audit
  first_day TEXT, -- of a link to the visibility of a fixed period; NULL for that of the last 28 days
  last_day TEXT,
  created_by UUID NOT NULL, -- person
  created_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  revoked_at TIMESTAMPTZ,
  views BIGINT NOT NULL,
  last_viewed_at TIMESTAMPTZ,
  PRIMARY KEY (project_id, id)
);

-- What each person has seen of a project: changes after `seen_until` are new to them.
CREATE TABLE project_visits (
  project_id UUID NOT NULL REFERENCES projects (id),
  user_id UUID NOT NULL REFERENCES users (id),
  seen_until TIMESTAMPTZ NOT NULL,
  last_view_at TIMESTAMPTZ NOT NULL, -- to ten minutes
  PRIMARY KEY (project_id, user_id)
);

-- Sign-ins, grants, tokens and changes of members, kept as long as the activity of projects.
CREATE TABLE account_activity (
  id UUID PRIMARY KEY,
  action TEXT NOT NULL,
  user_id UUID, -- person concerned
  client_id TEXT, -- OAuth client concerned
  address TEXT, -- network address of the caller
  detail TEXT,
  created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX account_activity_by_user ON account_activity (user_id, id);

-- Actions that agents may perform without a person's confirmation. `used` counts the uses of the day `used_on`.
CREATE TABLE agent_autonomy (
  project_id UUID NOT NULL REFERENCES projects (id),
  action TEXT NOT NULL,
  daily_cap BIGINT,
  expires_at TIMESTAMPTZ,
  used_on TEXT NOT NULL, -- date in UTC; empty before the first use
  used BIGINT NOT NULL,
  enabled_by TEXT, -- name of the person; NULL if it was the operator
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, action)
);

------------------------------------------------------------------------------------------------------
-- OAuth: this server as authorization server
------------------------------------------------------------------------------------------------------

-- Steps of programs that connect, kept for a week: they show a person where a connection stopped.
CREATE TABLE connection_steps (
  id UUID PRIMARY KEY,
  step TEXT NOT NULL,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  client_id TEXT,
  user_id UUID,
  detail TEXT,
  created_at TIMESTAMPTZ NOT NULL
);

-- Clients. The id of a client that publishes a metadata document is the URL of the document.
CREATE TABLE oauth_clients (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  redirect_uris JSONB NOT NULL,
  may_refresh BOOLEAN NOT NULL,
  secret_digest BYTEA, -- of a confidential client
  fingerprint BYTEA UNIQUE, -- of a registration: identical ones share a row
  consented_at TIMESTAMPTZ, -- first consent of a person
  fresh_until TIMESTAMPTZ, -- of a metadata document: to be fetched again afterwards
  created_at TIMESTAMPTZ NOT NULL
);

-- Authorization requests that wait for the decision of a person.
CREATE TABLE oauth_requests (
  digest BYTEA PRIMARY KEY,
  session_id UUID NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  client_id TEXT NOT NULL REFERENCES oauth_clients (id) ON DELETE CASCADE,
  redirect_uri TEXT NOT NULL,
  state TEXT,
  code_challenge TEXT NOT NULL,
  resource TEXT NOT NULL,
  scopes TEXT NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  decided_at TIMESTAMPTZ,
  grant_id UUID -- of a request that was allowed
);
CREATE INDEX oauth_requests_by_session ON oauth_requests (session_id);
CREATE INDEX oauth_requests_by_client ON oauth_requests (client_id);

-- Grants of a person to a client. All tokens of a grant are one family: they end with it.
CREATE TABLE oauth_grants (
  id UUID PRIMARY KEY,
  user_id UUID NOT NULL REFERENCES users (id),
  client_id TEXT NOT NULL REFERENCES oauth_clients (id),
  resource TEXT NOT NULL, -- the one audience of its tokens
  scopes TEXT NOT NULL, -- separated by spaces
  created_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  last_used_at TIMESTAMPTZ,
  revoked_at TIMESTAMPTZ,
  revoked_because TEXT
);
CREATE INDEX oauth_grants_by_user ON oauth_grants (user_id, id);
CREATE INDEX oauth_grants_by_client ON oauth_grants (client_id, id);

CREATE TABLE oauth_codes (
  digest BYTEA PRIMARY KEY,
  grant_id UUID NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
  redirect_uri TEXT NOT NULL,
  code_challenge TEXT NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  used_at TIMESTAMPTZ
);
CREATE INDEX oauth_codes_by_grant ON oauth_codes (grant_id);

CREATE TABLE oauth_access_tokens (
  digest BYTEA PRIMARY KEY,
  grant_id UUID NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
  scopes TEXT NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX oauth_access_tokens_by_grant ON oauth_access_tokens (grant_id);

-- Refresh tokens. One that was used stays until its grant ends, so that a second use is noticed.
CREATE TABLE oauth_refresh_tokens (
  digest BYTEA PRIMARY KEY,
  grant_id UUID NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
  parent BYTEA, -- digest of the token that it replaced
  expires_at TIMESTAMPTZ NOT NULL,
  used_at TIMESTAMPTZ
);
CREATE INDEX oauth_refresh_tokens_by_grant ON oauth_refresh_tokens (grant_id);

-- Devices that wait for a person to enter their code (RFC 8628).
CREATE TABLE oauth_devices (
  digest BYTEA PRIMARY KEY, -- of the device code
  user_code TEXT NOT NULL UNIQUE,
  client_id TEXT NOT NULL REFERENCES oauth_clients (id) ON DELETE CASCADE,
  resource TEXT NOT NULL,
  scopes TEXT NOT NULL,
  address TEXT NOT NULL, -- of the device
  interval_seconds BIGINT NOT NULL,
  polled_at TIMESTAMPTZ,
  grant_id UUID REFERENCES oauth_grants (id) ON DELETE CASCADE, -- once a person has agreed
  denied_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL
);

------------------------------------------------------------------------------------------------------
-- Jobs
------------------------------------------------------------------------------------------------------

-- A running job has a lease; `fence` counts its leases, and every write of a run must match it.
CREATE TABLE jobs (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  kind TEXT NOT NULL,
  lane TEXT NOT NULL, -- kinds that share places in a worker
  payload JSONB NOT NULL,
  status TEXT NOT NULL,
  run_after TIMESTAMPTZ NOT NULL,
  attempt BIGINT NOT NULL,
  crashes BIGINT NOT NULL, -- leases that expired
  cancel_requested BOOLEAN NOT NULL,
  rerun_requested BOOLEAN NOT NULL DEFAULT FALSE, -- while it ran: it is not to wait before its next run
  lease_owner UUID,
  lease_until TIMESTAMPTZ,
  fence BIGINT NOT NULL,
  progress JSONB,
  result JSONB,
  problem JSONB,
  links JSONB NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  ran_millis BIGINT NOT NULL DEFAULT 0, -- without the time for which it waited for a place
  started_at TIMESTAMPTZ,
  finished_at TIMESTAMPTZ,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX jobs_due ON jobs (lane, run_after, id) WHERE status = 'queued';
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE status = 'running';
-- Counts per project, for the limits on queued and running jobs. With their kinds, so that the table is not read for those.
CREATE INDEX jobs_running ON jobs (project_id, lane, kind) WHERE status = 'running';
CREATE INDEX jobs_queued ON jobs (project_id, id, kind, run_after) WHERE status = 'queued';

------------------------------------------------------------------------------------------------------
-- Usage and money; amounts are millionths of a US dollar
------------------------------------------------------------------------------------------------------

CREATE TABLE quotas (
  project_id UUID NOT NULL REFERENCES projects (id),
  metric TEXT NOT NULL,
  most BIGINT NOT NULL,
  PRIMARY KEY (project_id, metric)
);

CREATE TABLE usage_counts (
  project_id UUID NOT NULL REFERENCES projects (id),
  month TIMESTAMPTZ NOT NULL,
  metric TEXT NOT NULL,
  used BIGINT NOT NULL,
  PRIMARY KEY (project_id, month, metric)
);

CREATE TABLE budgets (
  project_id UUID NOT NULL REFERENCES projects (id),
  provider TEXT COLLATE "C" NOT NULL,
  most BIGINT NOT NULL,
  PRIMARY KEY (project_id, provider)
);

-- Most that a project may spend at all providers in a day.
CREATE TABLE daily_budgets (
  project_id UUID PRIMARY KEY REFERENCES projects (id),
  most BIGINT NOT NULL
);

-- Sums of the charges of a month: known prices, and estimates of calls whose price is not known.
CREATE TABLE spend (
  project_id UUID NOT NULL REFERENCES projects (id),
  month TIMESTAMPTZ NOT NULL,
  provider TEXT COLLATE "C" NOT NULL,
  settled BIGINT NOT NULL,
  uncertain BIGINT NOT NULL,
  PRIMARY KEY (project_id, month, provider)
);

-- One row per call that a provider may charge for, written before the call, so that a crash cannot lose
-- it. `actual` is NULL as long as the price is not known.
CREATE TABLE charges (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  month TIMESTAMPTZ NOT NULL,
  provider TEXT COLLATE "C" NOT NULL,
  what TEXT NOT NULL,
  job_id UUID,
  step TEXT,
  estimate BIGINT NOT NULL,
  actual BIGINT,
  begun_at TIMESTAMPTZ NOT NULL,
  ended_at TIMESTAMPTZ,
  PRIMARY KEY (project_id, id)
);
-- A step of a job is charged once, however often it is tried.
CREATE UNIQUE INDEX charges_by_step ON charges (project_id, job_id, step);
CREATE INDEX charges_by_time ON charges (project_id, begun_at);
CREATE INDEX charges_unpriced ON charges (project_id, month) WHERE actual IS NULL;

------------------------------------------------------------------------------------------------------
-- Events and webhooks
------------------------------------------------------------------------------------------------------

-- The outbox. Readers follow `position`, the order in which events became visible; `body` holds the
-- bytes that every receiver is sent. It does not reference `projects`.
CREATE TABLE events (
  project_id UUID NOT NULL,
  id UUID NOT NULL,
  position BIGINT,
  kind TEXT NOT NULL,
  data JSONB NOT NULL,
  body TEXT,
  created_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX events_in_order ON events (project_id, position);
CREATE INDEX events_by_age ON events (created_at);

-- Last position of each project. A writer of events locks its row until it commits.
CREATE TABLE event_heads (
  project_id UUID NOT NULL PRIMARY KEY,
  position BIGINT NOT NULL
);

-- A webhook is leased as a whole, so that one process at a time sends to it.
CREATE TABLE webhooks (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  target_url TEXT NOT NULL,
  event TEXT NOT NULL, -- '*' for every kind
  status TEXT NOT NULL,
  disabled_reason TEXT,
  disabled_at TIMESTAMPTZ,
  failing_since TIMESTAMPTZ,
  last_attempt_at TIMESTAMPTZ,
  last_success_at TIMESTAMPTZ,
  lease_until TIMESTAMPTZ,
  fence BIGINT NOT NULL DEFAULT 0,
  version BIGINT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, id)
);

-- Sealed signing secrets. A rotated secret signs beside its successor until `retires_at`.
CREATE TABLE webhook_secrets (
  project_id UUID NOT NULL,
  webhook_id UUID NOT NULL,
  id UUID NOT NULL,
  secret BYTEA NOT NULL,
  retires_at TIMESTAMPTZ,
  PRIMARY KEY (project_id, webhook_id, id)
);

-- A delivery has the id of its event, so that an event goes to a webhook once.
CREATE TABLE deliveries (
  project_id UUID NOT NULL,
  webhook_id UUID NOT NULL,
  id UUID NOT NULL,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  attempts BIGINT NOT NULL DEFAULT 0, -- of all time
  tries BIGINT NOT NULL DEFAULT 0, -- since it was created or replayed
  next_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL,
  finished_at TIMESTAMPTZ,
  PRIMARY KEY (project_id, webhook_id, id)
);
CREATE INDEX deliveries_due ON deliveries (project_id, webhook_id, next_at, id) WHERE status = 'pending';
CREATE INDEX deliveries_by_age ON deliveries (created_at);

CREATE TABLE delivery_attempts (
  project_id UUID NOT NULL,
  webhook_id UUID NOT NULL,
  delivery_id UUID NOT NULL,
  number BIGINT NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  status_code BIGINT,
  error TEXT,
  duration_ms BIGINT NOT NULL,
  response TEXT,
  PRIMARY KEY (project_id, webhook_id, delivery_id, number)
);

------------------------------------------------------------------------------------------------------
-- Audits and crawls
------------------------------------------------------------------------------------------------------

-- Settings of the operator for the audits of a project. No row means none.
CREATE TABLE audit_settings (
  project_id UUID PRIMARY KEY NOT NULL REFERENCES projects (id),
  settings JSONB NOT NULL
);

CREATE TABLE audits (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  job_id UUID NOT NULL,
  status TEXT NOT NULL,
  started_by TEXT NOT NULL,
  start_url TEXT NOT NULL,
  config JSONB NOT NULL,
  settings JSONB, -- audit_settings when it was started
  ruleset_version TEXT NOT NULL, -- of the checks
  normalization_version BIGINT NOT NULL DEFAULT 1, -- of the rules that identify pages by URL
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
  category_scores JSONB,
  errors BIGINT NOT NULL,
  warnings BIGINT NOT NULL,
  notices BIGINT NOT NULL,
  issues BIGINT NOT NULL,
  previous_audit_id UUID,
  changes JSONB, -- counts of changed occurrences since the previous audit
  error_code TEXT,
  error_message TEXT,
  version BIGINT NOT NULL,
  PRIMARY KEY (project_id, id)
);
-- One audit at a time per project.
CREATE UNIQUE INDEX audits_active ON audits (project_id) WHERE status IN ('queued', 'crawling', 'analyzing');

-- The crawl of an audit, in batches of pages, each whole or absent, so that it resumes after a crash.
-- `texts` (main texts) and `sketches` (their MinHash) are columns of their own, because the checks do not
-- read them; NULL where they are not kept.
CREATE TABLE crawl_batches (
  project_id UUID NOT NULL REFERENCES projects (id),
  audit_id UUID NOT NULL,
  number BIGINT NOT NULL,
  data BYTEA NOT NULL,
  texts BYTEA,
  sketches BYTEA,
  PRIMARY KEY (project_id, audit_id, number)
);
-- Batches are compressed already.
ALTER TABLE crawl_batches ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE crawl_batches ALTER COLUMN texts SET STORAGE EXTERNAL;

-- Validators (ETag, Last-Modified) of the pages of a batch. Apart from the batch, because the next audit
-- reads all validators before it reads any batch.
CREATE TABLE crawl_validators (
  project_id UUID NOT NULL,
  audit_id UUID NOT NULL,
  number BIGINT NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (project_id, audit_id, number)
);

-- The last robots.txt response of a project's site. It outlives the audit that fetched it.
CREATE TABLE robots_copies (
  project_id UUID NOT NULL PRIMARY KEY,
  seen_at TIMESTAMPTZ NOT NULL,
  data BYTEA NOT NULL
);

-- Findings of the last audits, packed, to compare two audits: pages by issue, and the state of each page.
-- A page is the first half of its id, ascending.
CREATE TABLE audit_findings (
  project_id UUID NOT NULL,
  audit_id UUID NOT NULL,
  issue_id UUID NOT NULL,
  pages BYTEA NOT NULL,
  PRIMARY KEY (project_id, audit_id, issue_id)
);
CREATE TABLE audit_pages (
  project_id UUID NOT NULL,
  audit_id UUID NOT NULL,
  pages BYTEA NOT NULL,
  PRIMARY KEY (project_id, audit_id)
);

------------------------------------------------------------------------------------------------------
-- Pages
------------------------------------------------------------------------------------------------------

-- A page as the audit that fetched it last saw it.
CREATE TABLE pages (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  audit_id UUID NOT NULL,
  url TEXT COLLATE "C" NOT NULL,
  final_url TEXT,
  status_code BIGINT,
  failure TEXT,
  depth BIGINT,
  inlinks BIGINT NOT NULL,
  outlinks BIGINT NOT NULL,
  link_score BIGINT,
  rank DOUBLE PRECISION, -- share in the PageRank of the site, 0 to 1
  indexable BOOLEAN NOT NULL,
  non_indexable_reason TEXT,
  title TEXT,
  word_count BIGINT,
  scored BOOLEAN NOT NULL DEFAULT FALSE, -- counts in the health score
  crawled_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, id)
);

-- Nearly all pages have status 200, so most entries are written in the order of ids, as the pages are.
-- Pages that are indexable, or are not, are found in the index too: it is a small part of the table.
CREATE INDEX pages_by_status_code ON pages (project_id, status_code, id, indexable);
-- Other orders of the list. Most entries have one of few values, and are written in the order of ids too.
CREATE INDEX pages_by_depth ON pages (project_id, depth, id);
CREATE INDEX pages_by_inlinks ON pages (project_id, inlinks, id);

-- Pages in the order of their URLs, for lists. A table and not an index of `pages`: pages are written in
-- the order of ids, so an index would be changed at a random place for each of them. This table is
-- written in its own order at the end of an audit.
CREATE TABLE page_urls (
  project_id UUID NOT NULL,
  url TEXT COLLATE "C" NOT NULL,
  page_id UUID NOT NULL,
  PRIMARY KEY (project_id, url, page_id)
);

-- Indexable pages of an audit by hashes of their titles and first headings, at most ten pages per hash.
-- Pages of one name compete for a keyword. A leaf packs neighbouring hashes: as rows, millions of them
-- would each cost a place in a tree.
CREATE TABLE page_name_leaves (
  project_id UUID NOT NULL,
  audit_id UUID NOT NULL,
  first_key BIGINT NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (project_id, audit_id, first_key)
);
-- Hashes do not compress.
ALTER TABLE page_name_leaves ALTER COLUMN data SET STORAGE EXTERNAL;

-- Batch of each URL of a crawl, and the pages that link there, in chunks by the first of their ids.
CREATE TABLE page_links (
  project_id UUID NOT NULL,
  audit_id UUID NOT NULL,
  first_id UUID NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (project_id, audit_id, first_id)
);

------------------------------------------------------------------------------------------------------
-- Issues, occurrences, rechecks
------------------------------------------------------------------------------------------------------

-- One row per check that ever found something in a project. `active` and `counts` sum up the leaves.
CREATE TABLE issues (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  check_id TEXT NOT NULL,
  category TEXT NOT NULL,
  severity TEXT NOT NULL,
  impact DOUBLE PRECISION NOT NULL,
  active BIGINT NOT NULL,
  counts JSONB NOT NULL, -- occurrences by state
  first_seen_at TIMESTAMPTZ NOT NULL,
  last_seen_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, id)
);

-- Occurrences of an issue on pages. A large site has millions, nearly all alike, so they are packed: a
-- leaf holds neighbouring pages of one issue. The columns are what leaves are searched by.
CREATE TABLE occurrence_leaves (
  project_id UUID NOT NULL REFERENCES projects (id),
  issue_id UUID NOT NULL,
  first_page UUID NOT NULL, -- nil for the first leaf of an issue
  open INTEGER NOT NULL, -- occurrences by state
  done INTEGER NOT NULL,
  recheck_pending INTEGER NOT NULL,
  resolved INTEGER NOT NULL,
  still_present INTEGER NOT NULL,
  reopened INTEGER NOT NULL,
  ignored INTEGER NOT NULL,
  wakes_at TIMESTAMPTZ, -- earliest end of an ignored occurrence
  changed_at TIMESTAMPTZ, -- last change by an audit
  seen_by UUID, -- the audit that saw all active occurrences last, if it was one
  data BYTEA NOT NULL,
  PRIMARY KEY (project_id, issue_id, first_page)
);
-- Leaves are compressed already.
ALTER TABLE occurrence_leaves ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE INDEX occurrence_leaves_done ON occurrence_leaves (project_id) WHERE done > 0;
CREATE INDEX occurrence_leaves_ignored ON occurrence_leaves (project_id) WHERE ignored > 0;
CREATE INDEX occurrence_leaves_sleeping ON occurrence_leaves (wakes_at) WHERE wakes_at IS NOT NULL;
CREATE INDEX occurrence_leaves_changed ON occurrence_leaves (project_id, issue_id, changed_at) WHERE changed_at IS NOT NULL;

-- Every change of state of an occurrence after it was first found.
CREATE TABLE occurrence_changes (
  project_id UUID NOT NULL,
  issue_id UUID NOT NULL,
  page_id UUID NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  to_state TEXT NOT NULL,
  from_state TEXT NOT NULL,
  actor TEXT NOT NULL, -- `key:`, `audit:` or `recheck:` and an id, or `system`
  note TEXT,
  PRIMARY KEY (project_id, issue_id, page_id, at, to_state)
);
CREATE INDEX occurrence_changes_reopened ON occurrence_changes (project_id, actor) WHERE to_state = 'reopened';

CREATE TABLE rechecks (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  job_id UUID NOT NULL,
  audit_id UUID NOT NULL,
  status TEXT NOT NULL,
  named BOOLEAN, -- its occurrences were named by the caller; otherwise all that were marked as done
  new_issues BIGINT NOT NULL,
  requested_at TIMESTAMPTZ NOT NULL,
  finished_at TIMESTAMPTZ,
  PRIMARY KEY (project_id, id)
);
-- One recheck at a time per project.
CREATE UNIQUE INDEX rechecks_active ON rechecks (project_id) WHERE status IN ('queued', 'running');

CREATE TABLE recheck_items (
  project_id UUID NOT NULL,
  recheck_id UUID NOT NULL,
  issue_id UUID NOT NULL,
  page_id UUID NOT NULL,
  outcome TEXT NOT NULL,
  detail TEXT,
  checked_at TIMESTAMPTZ,
  PRIMARY KEY (project_id, recheck_id, issue_id, page_id)
);

------------------------------------------------------------------------------------------------------
-- Brand
------------------------------------------------------------------------------------------------------

CREATE TABLE brand_profiles (
  project_id UUID PRIMARY KEY REFERENCES projects (id),
  data JSONB NOT NULL,
  version BIGINT NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL
);

-- Products, competitors, FAQs and calls to action, which are stored alike.
CREATE TABLE brand_items (
  project_id UUID NOT NULL REFERENCES projects (id),
  resource TEXT NOT NULL,
  id UUID NOT NULL,
  data JSONB NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, resource, id)
);

-- Unique keys of items; an item may have several.
CREATE TABLE brand_keys (
  project_id UUID NOT NULL,
  resource TEXT NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  item_id UUID NOT NULL,
  PRIMARY KEY (project_id, resource, key),
  FOREIGN KEY (project_id, resource, item_id) REFERENCES brand_items (project_id, resource, id) ON DELETE CASCADE
);
CREATE INDEX brand_keys_by_item ON brand_keys (project_id, resource, item_id);

------------------------------------------------------------------------------------------------------
-- Keywords
------------------------------------------------------------------------------------------------------

-- A keyword is unique by language, country and normalised text. It does not reference `projects`.
CREATE TABLE keywords (
  project_id UUID NOT NULL,
  id UUID NOT NULL,
  keyword TEXT NOT NULL,
  normalized TEXT COLLATE "C" NOT NULL,
  language TEXT NOT NULL,
  country TEXT NOT NULL, -- empty for all countries
  status TEXT NOT NULL,
  source TEXT NOT NULL,
  search_volume BIGINT,
  keyword_difficulty BIGINT,
  intent TEXT,
  intent_source TEXT,
  intent_confidence DOUBLE PRECISION,
  intent_reason TEXT,
  score BIGINT, -- thousandths
  cluster_id UUID,
  is_cluster_head BOOLEAN NOT NULL DEFAULT FALSE,
  post_ids JSONB, -- posts that target it, so that a list of keywords reads no posts
  cannibalisation JSONB, -- URLs of pages that compete for it
  details JSONB,
  measured_at TIMESTAMPTZ, -- when a provider was last asked for its figures, or they were learnt otherwise
  version BIGINT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX keywords_by_text ON keywords (project_id, language, country, normalized);
-- Plain columns, not expressions: with an index on expressions SQLite reads the table for every entry and
-- walks a later page from the beginning. Status and intent are in the index, so that rows which a filter
-- excludes are not read from the table.
CREATE INDEX keywords_by_volume ON keywords (project_id, search_volume, id, status, intent);
CREATE INDEX keywords_by_difficulty ON keywords (project_id, keyword_difficulty, id, status, intent);
CREATE INDEX keywords_by_score ON keywords (project_id, score, id, status, intent);
CREATE INDEX keywords_by_status ON keywords (project_id, status, id);
CREATE INDEX keywords_by_intent ON keywords (project_id, intent, id);
CREATE INDEX keywords_by_cluster ON keywords (project_id, cluster_id, id) WHERE cluster_id IS NOT NULL;

-- Searches by a part of the text. Without the extension, or the right to create it, they read the texts of the whole project.
DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm') THEN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    CREATE INDEX keywords_by_trigrams ON keywords USING gin (normalized gin_trgm_ops);
  END IF;
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE NOTICE 'keywords are searched without an index: %', SQLERRM;
END $$;

-- Autocomplete answers of a search engine, cached.
CREATE TABLE suggestions (
  project_id UUID NOT NULL REFERENCES projects (id),
  language TEXT NOT NULL,
  country TEXT NOT NULL,
  typed TEXT NOT NULL,
  texts JSONB NOT NULL,
  asked_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, language, country, typed)
);

-- Accounts at language models and keyword data providers. The secret is sealed and bound to the row.
CREATE TABLE providers (
  project_id UUID NOT NULL REFERENCES projects (id),
  name TEXT NOT NULL,
  id UUID NOT NULL,
  settings JSONB NOT NULL,
  secret BYTEA,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, name)
);

------------------------------------------------------------------------------------------------------
-- Posts
------------------------------------------------------------------------------------------------------

CREATE TABLE posts (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  title TEXT,
  title_key TEXT NOT NULL, -- the title, normalised for search
  slug TEXT COLLATE "C" NOT NULL,
  status TEXT NOT NULL,
  keyword_id UUID, -- not a reference: a keyword may be deleted, its posts stay
  language TEXT NOT NULL,
  origin TEXT NOT NULL,
  content TEXT NOT NULL,
  content_html TEXT NOT NULL,
  details JSONB NOT NULL,
  findings JSONB NOT NULL,
  word_count BIGINT NOT NULL,
  reading_time_minutes BIGINT NOT NULL,
  seo_score BIGINT,
  content_hash BYTEA NOT NULL, -- of the published fields as they are now
  published_hash BYTEA, -- the same as they were last published
  generation JSONB,
  failure JSONB,
  replaces_id UUID, -- the published post whose text it is to replace
  replaces_hash BYTEA, -- content_hash of that post when this one was begun
  job_id UUID,
  scheduled_at TIMESTAMPTZ,
  published_at TIMESTAMPTZ,
  dated_at TIMESTAMPTZ, -- published_at, or else scheduled_at: by which lists are sorted
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
-- Other orders of the list, with the columns of its filters: rows are long.
CREATE INDEX posts_by_title ON posts (project_id, title_key, id, status, keyword_id);
CREATE INDEX posts_by_score ON posts (project_id, seo_score, id, status, keyword_id, title_key);
CREATE INDEX posts_by_date ON posts (project_id, dated_at, id, status, keyword_id, title_key);
CREATE INDEX posts_by_replaced ON posts (project_id, replaces_id) WHERE replaces_id IS NOT NULL;
CREATE INDEX posts_scheduled ON posts (scheduled_at) WHERE status = 'scheduled';

-- Earlier texts of a post.
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

-- Outputs of the steps of a generation, so that an interrupted job resumes after its last step.
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

-- Sources that the claims of a post are checked against whenever its text changes.
CREATE TABLE post_sources (
  project_id UUID NOT NULL,
  post_id UUID NOT NULL,
  sources JSONB NOT NULL,
  PRIMARY KEY (project_id, post_id),
  FOREIGN KEY (project_id, post_id) REFERENCES posts (project_id, id)
);

-- MinHash of the text of a post: its smallest shingle hashes. Near duplicates share at least one.
CREATE TABLE post_marks (
  project_id UUID NOT NULL,
  mark BIGINT NOT NULL,
  post_id UUID NOT NULL,
  PRIMARY KEY (project_id, mark, post_id)
);
CREATE INDEX post_marks_by_post ON post_marks (project_id, post_id);

------------------------------------------------------------------------------------------------------
-- Publishing
------------------------------------------------------------------------------------------------------

-- Connections to publishing providers. The secret is sealed and bound to the row. A removed connection
-- keeps its row without secrets, as 'not_connected': connected to the same site again it is the same
-- connection, and posts published through it can still be updated and unpublished.
CREATE TABLE integrations (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  provider TEXT NOT NULL,
  status TEXT NOT NULL,
  settings JSONB NOT NULL,
  secret BYTEA,
  account TEXT,
  site_key TEXT NOT NULL, -- identifies the site
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
CREATE UNIQUE INDEX integrations_by_provider ON integrations (project_id, provider) WHERE status <> 'not_connected';
CREATE UNIQUE INDEX integrations_by_site ON integrations (project_id, provider, site_key);

-- Links to pages on which a person connects a provider, by the digest of their token. Each works once.
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

-- State of a post at a provider. `external_version` is the provider's version after our last write;
-- `content_hash` and `post_version` say what that write sent.
CREATE TABLE publications (
  project_id UUID NOT NULL,
  post_id UUID NOT NULL,
  connection_id UUID NOT NULL,
  provider TEXT NOT NULL,
  state TEXT NOT NULL,
  is_live BOOLEAN NOT NULL,
  external_id TEXT,
  external_url TEXT,
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
  aim TEXT NOT NULL, -- `live`, `draft` or `gone`
  force BOOLEAN NOT NULL,
  recreate BOOLEAN NOT NULL,
  post_version BIGINT NOT NULL,
  content_hash BYTEA NOT NULL,
  from_status TEXT NOT NULL, -- status of the post if nothing becomes live
  state TEXT NOT NULL,
  sent TEXT, -- request that was sent and not answered
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
-- One unfinished attempt per post.
CREATE UNIQUE INDEX publish_attempts_open ON publish_attempts (project_id, post_id) WHERE finished_at IS NULL;
CREATE INDEX publish_attempts_by_post ON publish_attempts (project_id, post_id, id);

-- Images that were uploaded to a provider, by the SHA-256 of their bytes.
CREATE TABLE uploads (
  project_id UUID NOT NULL,
  connection_id UUID NOT NULL,
  digest BYTEA NOT NULL,
  uploaded JSONB NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, connection_id, digest)
);

------------------------------------------------------------------------------------------------------
-- Autopilot
------------------------------------------------------------------------------------------------------

CREATE TABLE schedules (
  project_id UUID NOT NULL REFERENCES projects (id),
  kind TEXT NOT NULL,
  enabled BOOLEAN NOT NULL,
  interval_days BIGINT NOT NULL,
  weekdays JSONB, -- list of names, NULL for every day
  time TEXT NOT NULL, -- HH:MM, local
  timezone TEXT, -- NULL for that of the project
  samples BIGINT NOT NULL DEFAULT 1, -- answers per prompt and engine
  max_cost_micros BIGINT, -- of the work of one slot
  planned_date TEXT, -- local date of the next slot; NULL while off
  planned_at TIMESTAMPTZ,
  due_at TIMESTAMPTZ, -- when work for it begins
  planned_from TIMESTAMPTZ, -- when it was planned: a plan from the future was made by a wrong clock
  planned_zone TEXT, -- time zone by which it was planned
  last_at TIMESTAMPTZ,
  last_outcome TEXT,
  version BIGINT NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, kind)
);
CREATE INDEX schedules_by_due ON schedules (due_at) WHERE due_at IS NOT NULL;

-- Slots whose time has come: each local date once.
CREATE TABLE schedule_slots (
  project_id UUID NOT NULL REFERENCES projects (id),
  kind TEXT NOT NULL,
  local_date TEXT NOT NULL,
  slot_at TIMESTAMPTZ NOT NULL,
  outcome TEXT NOT NULL,
  detail TEXT,
  decided_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, kind, local_date)
);
CREATE INDEX schedule_slots_by_time ON schedule_slots (decided_at);

-- Settings of the autopilot beyond its schedule, which is the one of kind posts.
CREATE TABLE autopilot_settings (
  project_id UUID PRIMARY KEY REFERENCES projects (id),
  mode TEXT NOT NULL,
  hold_hours BIGINT NOT NULL,
  lead_days BIGINT NOT NULL,
  min_score BIGINT NOT NULL,
  monthly_cap BIGINT NOT NULL,
  reviewer_other_than_author BOOLEAN NOT NULL,
  draft_only BOOLEAN NOT NULL,
  refresh_share BIGINT NOT NULL,
  allowed_cap BIGINT, -- cap up to which a person allowed more than the volume guard
  paused_until TIMESTAMPTZ,
  paused_reason TEXT,
  paused_detail TEXT,
  paused_at TIMESTAMPTZ,
  resumed_at TIMESTAMPTZ -- failures count from here
);

-- Posts that the autopilot makes, one for each slot.
CREATE TABLE autopilot_runs (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  local_date TEXT NOT NULL,
  slot_at TIMESTAMPTZ NOT NULL,
  outcome TEXT NOT NULL,
  detail TEXT,
  keyword_id UUID, -- not a reference: a keyword may be deleted while its post is written
  choice JSONB, -- why this keyword
  refresh JSONB, -- the published post that is brought up to date, and why
  post_id UUID,
  seen_version BIGINT, -- version of the post that was looked at
  regenerated BOOLEAN NOT NULL,
  published_url TEXT,
  verified BOOLEAN, -- NULL while the page was not looked at
  finished_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX autopilot_runs_by_date ON autopilot_runs (project_id, local_date);
CREATE INDEX autopilot_runs_by_post ON autopilot_runs (project_id, post_id) WHERE post_id IS NOT NULL;
CREATE INDEX autopilot_runs_failed ON autopilot_runs (project_id, id) WHERE outcome = 'failed' AND post_id IS NOT NULL;
CREATE INDEX autopilot_runs_open ON autopilot_runs (project_id, id) WHERE finished_at IS NULL;

-- Posts that wait for a person, and what was decided.
CREATE TABLE approvals (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  post_id UUID NOT NULL,
  number BIGINT NOT NULL, -- counts the requests of a post: ids are not in their order where clocks of replicas differ
  run_id UUID,
  status TEXT NOT NULL,
  reasons JSONB NOT NULL, -- list: why a person is asked
  content_hash BYTEA NOT NULL, -- of what would be sent, and where
  connection_id UUID,
  provider TEXT,
  publish_at TIMESTAMPTZ,
  requested_by TEXT NOT NULL,
  requested_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ,
  decided_by UUID,
  decided_by_name TEXT,
  decided_at TIMESTAMPTZ,
  reason TEXT,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX approvals_by_post ON approvals (project_id, post_id, number);
CREATE INDEX approvals_by_status ON approvals (project_id, status, id);

------------------------------------------------------------------------------------------------------
-- Visibility in the answers of assistants
------------------------------------------------------------------------------------------------------

CREATE TABLE prompts (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  text TEXT NOT NULL,
  text_key TEXT COLLATE "C" NOT NULL, -- normalised text, language, place and persona
  language TEXT NOT NULL,
  country TEXT NOT NULL, -- empty for none
  city TEXT,
  persona TEXT,
  tags JSONB NOT NULL,
  class TEXT NOT NULL,
  intent TEXT,
  engines JSONB NOT NULL,
  status TEXT NOT NULL,
  latest JSONB, -- the newest answers, as callers see them
  version BIGINT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  archived_at TIMESTAMPTZ,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX prompts_by_text ON prompts (project_id, text_key) WHERE status = 'active';
CREATE INDEX prompts_by_status ON prompts (project_id, status, id);

-- Answers that may be counted together: one engine, asked in one way, of one model.
CREATE TABLE answer_series (
  project_id UUID NOT NULL REFERENCES projects (id),
  id BIGINT NOT NULL, -- of the other columns, by their SHA-256
  engine TEXT NOT NULL,
  surface TEXT NOT NULL,
  retrieval TEXT NOT NULL,
  model TEXT NOT NULL,
  variant TEXT NOT NULL, -- version of the tool and effort
  created_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, id)
);

CREATE TABLE answers (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  prompt_id UUID NOT NULL,
  run_id UUID,
  series_id BIGINT NOT NULL,
  engine TEXT NOT NULL,
  surface TEXT NOT NULL,
  status TEXT NOT NULL,
  day BIGINT NOT NULL, -- in the time zone of the project, since 1970-01-01
  asked_at TIMESTAMPTZ NOT NULL,
  text TEXT, -- NULL when its time is over
  source JSONB NOT NULL, -- what the engine gave beside the text
  analysis JSONB NOT NULL, -- what was found in it; computed again when the brand data change
  overrides JSONB NOT NULL, -- corrections by people, which count instead
  override_changes BIGINT NOT NULL, -- number of changes of these
  -- copies of members of source, to be summed up without reading the texts
  served_model TEXT,
  searched BIGINT, -- 1 or 0; NULL if the engine does not say
  latency_ms BIGINT,
  cost_micros BIGINT,
  wrong_facts BIGINT NOT NULL, -- number of sentences in analysis that contradict the brand data
  created_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX answers_by_prompt ON answers (project_id, prompt_id, asked_at, id);
CREATE INDEX answers_by_cell ON answers (project_id, prompt_id, day, series_id);
CREATE INDEX answers_by_engine ON answers (project_id, engine, surface, day, status, prompt_id, series_id, asked_at, served_model,
  searched, latency_ms, cost_micros);
CREATE INDEX answers_with_wrong_facts ON answers (project_id, day) WHERE wrong_facts > 0;
CREATE INDEX answers_with_text ON answers (created_at) WHERE text IS NOT NULL;
CREATE INDEX answers_by_run ON answers (project_id, run_id) WHERE run_id IS NOT NULL;

-- Counts of the answers to a prompt in 28 days, by day and series. An overview reads those of all prompts.
CREATE TABLE answer_cells (
  project_id UUID NOT NULL REFERENCES projects (id),
  block BIGINT NOT NULL, -- day since 1970-01-01 / 28
  prompt_id UUID NOT NULL,
  tallies BYTEA NOT NULL, -- sums over answers
  maps BYTEA NOT NULL, -- brands and sources
  gaps BYTEA NOT NULL, -- pages that lead to competitors
  PRIMARY KEY (project_id, block, prompt_id)
);
ALTER TABLE answer_cells ALTER COLUMN tallies SET STORAGE EXTERNAL;
ALTER TABLE answer_cells ALTER COLUMN maps SET STORAGE EXTERNAL;
ALTER TABLE answer_cells ALTER COLUMN gaps SET STORAGE EXTERNAL;

-- Names in the answers to a prompt that no tracked brand covers.
CREATE TABLE prompt_names (
  project_id UUID NOT NULL REFERENCES projects (id),
  name_key TEXT COLLATE "C" NOT NULL, -- normal form
  prompt_id UUID NOT NULL,
  answers BIGINT NOT NULL,
  found TEXT NOT NULL, -- spellings, engines, times and quotes
  PRIMARY KEY (project_id, name_key, prompt_id)
);
CREATE INDEX prompt_names_by_prompt ON prompt_names (project_id, prompt_id, name_key, answers);

-- These names with the sums over prompts, and what was decided about them.
CREATE TABLE inbox_names (
  project_id UUID NOT NULL REFERENCES projects (id),
  name_key TEXT COLLATE "C" NOT NULL,
  name TEXT NOT NULL, -- a spelling
  status TEXT NOT NULL,
  answers BIGINT NOT NULL,
  prompts BIGINT NOT NULL,
  decided_by TEXT,
  decided_at TIMESTAMPTZ,
  PRIMARY KEY (project_id, name_key)
);
CREATE INDEX inbox_names_by_answers ON inbox_names (project_id, status, answers DESC, name_key);

-- Runs of prompts.
CREATE TABLE answer_runs (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  job_id UUID NOT NULL,
  request TEXT COLLATE "C" NOT NULL, -- what was asked for, to find an equal one
  trigger_kind TEXT NOT NULL,
  status TEXT NOT NULL,
  prompt_ids JSONB NOT NULL,
  engines JSONB NOT NULL,
  samples BIGINT NOT NULL,
  precision_target DOUBLE PRECISION,
  estimate JSONB NOT NULL,
  max_cost_micros BIGINT,
  cost_micros BIGINT, -- NULL while no vendor has said what an answer cost
  outcomes JSONB NOT NULL,
  requested_by TEXT,
  created_at TIMESTAMPTZ NOT NULL,
  finished_at TIMESTAMPTZ,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX answer_runs_by_job ON answer_runs (project_id, job_id);
CREATE INDEX answer_runs_by_request ON answer_runs (project_id, request, id);
CREATE INDEX answer_runs_by_end ON answer_runs (project_id, finished_at) WHERE finished_at IS NOT NULL;

-- Rows of reports of vendors and of access logs.
CREATE TABLE report_rows (
  project_id UUID NOT NULL REFERENCES projects (id),
  source TEXT NOT NULL,
  dimension TEXT NOT NULL,
  last_day BIGINT NOT NULL, -- since 1970-01-01, as the vendor or the log counts days
  first_day BIGINT NOT NULL, -- the same day, unless an export is about a period as a whole
  actor TEXT COLLATE "C" NOT NULL, -- agent or assistant; empty in reports of vendors
  item TEXT COLLATE "C" NOT NULL, -- page, query, country or device; empty for the whole website
  amount BIGINT NOT NULL,
  cited_pages BIGINT,
  errors BIGINT,
  verified BIGINT,
  forged BIGINT,
  PRIMARY KEY (project_id, source, dimension, last_day, first_day, actor, item)
);

-- The last import of each kind of report.
CREATE TABLE report_imports (
  project_id UUID NOT NULL REFERENCES projects (id),
  source TEXT NOT NULL,
  oldest_day BIGINT NOT NULL, -- of rows that may be there
  newest_day BIGINT NOT NULL,
  imported_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, source)
);

-- Rate limits that several servers share; not used by the only server of an embedded database.
CREATE UNLOGGED TABLE rate_limits (
  owner UUID NOT NULL,
  bucket TEXT NOT NULL,
  full_at BIGINT NOT NULL, -- microseconds since 1970
  PRIMARY KEY (owner, bucket)
);

------------------------------------------------------------------------------------------------------
-- Plans
------------------------------------------------------------------------------------------------------

-- A plan serves all values, so it is made for a project of average size. Beside hundreds of small projects that
-- is one of which all rows are soon read and sorted; a large one needs the order of an index.
ALTER TABLE activity ALTER COLUMN project_id SET (n_distinct = 20);
ALTER TABLE jobs ALTER COLUMN project_id SET (n_distinct = 20);
ALTER TABLE events ALTER COLUMN project_id SET (n_distinct = 20);
ALTER TABLE deliveries ALTER COLUMN project_id SET (n_distinct = 20);
ALTER TABLE pages ALTER COLUMN project_id SET (n_distinct = 20);
ALTER TABLE page_urls ALTER COLUMN project_id SET (n_distinct = 20);
ALTER TABLE occurrence_leaves ALTER COLUMN project_id SET (n_distinct = 20);
ALTER TABLE keywords ALTER COLUMN project_id SET (n_distinct = 20);
ALTER TABLE posts ALTER COLUMN project_id SET (n_distinct = 20);
ALTER TABLE prompts ALTER COLUMN project_id SET (n_distinct = 20);
ALTER TABLE answers ALTER COLUMN project_id SET (n_distinct = 20);

------------------------------------------------------------------------------------------------------
-- Notices
------------------------------------------------------------------------------------------------------

-- Position up to which the events of a project were read for notices. The row is locked while they are.
CREATE TABLE notice_heads (
  project_id UUID NOT NULL PRIMARY KEY REFERENCES projects (id),
  position BIGINT NOT NULL
);

-- What needs a person. A cause has one row while it stands.
CREATE TABLE notices (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  kind TEXT NOT NULL,
  cause TEXT NOT NULL,
  subject UUID NOT NULL, -- record whose change ends the cause
  times BIGINT NOT NULL, -- events of the cause
  facts JSONB NOT NULL,
  headline TEXT, -- once it was told
  link TEXT,
  first_at TIMESTAMPTZ NOT NULL,
  due_at TIMESTAMPTZ NOT NULL,
  batch UUID, -- shared by what was told together; NULL before
  told_at TIMESTAMPTZ,
  ended_at TIMESTAMPTZ,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX notices_standing ON notices (project_id, kind, cause) WHERE ended_at IS NULL;
CREATE INDEX notices_by_subject ON notices (project_id, subject) WHERE ended_at IS NULL;
CREATE INDEX notices_due ON notices (due_at) WHERE batch IS NULL AND ended_at IS NULL;
CREATE INDEX notices_by_age ON notices (first_at);

-- What a member is sent of a project, once they have chosen.
CREATE TABLE notice_settings (
  project_id UUID NOT NULL REFERENCES projects (id),
  user_id UUID NOT NULL REFERENCES users (id),
  kinds TEXT NOT NULL, -- separated by spaces
  digest BOOLEAN NOT NULL,
  weekday BIGINT NOT NULL, -- of the digest, 0 for Sunday
  hour BIGINT NOT NULL, -- in the time zone of the project
  version BIGINT NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, user_id)
);

-- The chat of a project. Its URL is a secret: it is sealed and bound to the row.
CREATE TABLE notice_chats (
  project_id UUID NOT NULL PRIMARY KEY REFERENCES projects (id),
  id UUID NOT NULL,
  url BYTEA NOT NULL,
  shown TEXT NOT NULL, -- host and last characters
  kinds TEXT NOT NULL,
  digest BOOLEAN NOT NULL,
  weekday BIGINT NOT NULL,
  hour BIGINT NOT NULL,
  stopped_at TIMESTAMPTZ, -- it refused, and is sent nothing more until somebody sets it again
  stopped_because TEXT,
  version BIGINT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL
);

-- Messages to be sent and sent. The id is made of the batch and the recipient, so that none is made twice; `fence` counts
-- leases, and the outcome of a lease that was lost is not written.
CREATE TABLE notice_messages (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  batch UUID NOT NULL,
  channel TEXT NOT NULL, -- `mail` or `chat`
  purpose TEXT NOT NULL, -- `notices`, `digest`, or `last` of a day
  user_id UUID REFERENCES users (id), -- NULL for the chat
  notices JSONB NOT NULL, -- ids of the notices in it
  subject TEXT NOT NULL,
  text TEXT NOT NULL,
  status TEXT NOT NULL,
  attempts BIGINT NOT NULL,
  next_at TIMESTAMPTZ, -- NULL once it is sent or given up
  lease_until TIMESTAMPTZ,
  fence BIGINT NOT NULL,
  reason TEXT, -- of the last failure
  created_at TIMESTAMPTZ NOT NULL,
  sent_at TIMESTAMPTZ,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX notice_messages_due ON notice_messages (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX notice_messages_by_recipient ON notice_messages (project_id, channel, user_id, created_at);
CREATE INDEX notice_messages_by_age ON notice_messages (created_at);
