-- What people say of occurrences, and what rechecks found out.
ALTER TABLE occurrences ADD COLUMN done_at TEXT;
ALTER TABLE occurrences ADD COLUMN done_by TEXT;
ALTER TABLE occurrences ADD COLUMN note TEXT;
ALTER TABLE occurrences ADD COLUMN ignored_until TEXT;
ALTER TABLE occurrences ADD COLUMN reopen_reason TEXT;
ALTER TABLE occurrences ADD COLUMN recheck_id BLOB;
ALTER TABLE occurrences ADD COLUMN recheck_outcome TEXT;
ALTER TABLE occurrences ADD COLUMN rechecked_at TEXT;
-- The last change of state by an audit, until it is in the ledger.
ALTER TABLE occurrences ADD COLUMN was TEXT;
ALTER TABLE occurrences ADD COLUMN changed_at TEXT;
CREATE INDEX occurrences_marked ON occurrences (project_id, done_at) WHERE state = 'done';
CREATE INDEX occurrences_ignored ON occurrences (ignored_until) WHERE state = 'ignored' AND ignored_until IS NOT NULL;

-- Every change of state of an occurrence after it was first found: who, when, from what to what.
CREATE TABLE occurrence_changes (
  project_id BLOB NOT NULL,
  issue_id BLOB NOT NULL,
  page_id BLOB NOT NULL,
  at TEXT NOT NULL,
  to_state TEXT NOT NULL,
  from_state TEXT NOT NULL,
  actor TEXT NOT NULL,
  note TEXT,
  PRIMARY KEY (project_id, issue_id, page_id, at, to_state)
) STRICT, WITHOUT ROWID;

CREATE TABLE rechecks (
  project_id BLOB NOT NULL REFERENCES projects (id),
  id BLOB NOT NULL,
  job_id BLOB NOT NULL,
  audit_id BLOB NOT NULL,
  status TEXT NOT NULL,
  new_issues INTEGER NOT NULL,
  requested_at TEXT NOT NULL,
  finished_at TEXT,
  PRIMARY KEY (project_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX rechecks_active ON rechecks (project_id) WHERE status IN ('queued', 'running');

CREATE TABLE recheck_items (
  project_id BLOB NOT NULL,
  recheck_id BLOB NOT NULL,
  issue_id BLOB NOT NULL,
  page_id BLOB NOT NULL,
  outcome TEXT NOT NULL,
  detail TEXT,
  checked_at TEXT,
  PRIMARY KEY (project_id, recheck_id, issue_id, page_id)
) STRICT, WITHOUT ROWID;

-- Whether a page counts in the score.
ALTER TABLE pages ADD COLUMN scored INTEGER NOT NULL DEFAULT 0;
