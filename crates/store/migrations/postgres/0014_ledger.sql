-- What people say of occurrences, and what rechecks found out.
ALTER TABLE occurrences ADD COLUMN done_at TIMESTAMPTZ;
ALTER TABLE occurrences ADD COLUMN done_by TEXT;
ALTER TABLE occurrences ADD COLUMN note TEXT;
ALTER TABLE occurrences ADD COLUMN ignored_until TIMESTAMPTZ;
ALTER TABLE occurrences ADD COLUMN reopen_reason TEXT;
ALTER TABLE occurrences ADD COLUMN recheck_id UUID;
ALTER TABLE occurrences ADD COLUMN recheck_outcome TEXT;
ALTER TABLE occurrences ADD COLUMN rechecked_at TIMESTAMPTZ;
-- The last change of state by an audit, until it is in the ledger.
ALTER TABLE occurrences ADD COLUMN was TEXT;
ALTER TABLE occurrences ADD COLUMN changed_at TIMESTAMPTZ;
CREATE INDEX occurrences_marked ON occurrences (project_id, done_at) WHERE state = 'done';
CREATE INDEX occurrences_ignored ON occurrences (ignored_until) WHERE state = 'ignored' AND ignored_until IS NOT NULL;

-- Every change of state of an occurrence after it was first found: who, when, from what to what.
CREATE TABLE occurrence_changes (
  project_id UUID NOT NULL,
  issue_id UUID NOT NULL,
  page_id UUID NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  to_state TEXT NOT NULL,
  from_state TEXT NOT NULL,
  actor TEXT NOT NULL,
  note TEXT,
  PRIMARY KEY (project_id, issue_id, page_id, at, to_state)
);

CREATE TABLE rechecks (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  job_id UUID NOT NULL,
  audit_id UUID NOT NULL,
  status TEXT NOT NULL,
  new_issues BIGINT NOT NULL,
  requested_at TIMESTAMPTZ NOT NULL,
  finished_at TIMESTAMPTZ,
  PRIMARY KEY (project_id, id)
);
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

-- Whether a page counts in the score.
ALTER TABLE pages ADD COLUMN scored BOOLEAN NOT NULL DEFAULT FALSE;
