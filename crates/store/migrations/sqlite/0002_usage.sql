CREATE TABLE quotas (
  project_id BLOB NOT NULL REFERENCES projects (id),
  metric TEXT NOT NULL,
  most INTEGER NOT NULL,
  PRIMARY KEY (project_id, metric)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_counts (
  project_id BLOB NOT NULL REFERENCES projects (id),
  month TEXT NOT NULL,
  metric TEXT NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (project_id, month, metric)
) STRICT, WITHOUT ROWID;

-- Amounts of money are millionths of a US dollar.
CREATE TABLE budgets (
  project_id BLOB NOT NULL REFERENCES projects (id),
  provider TEXT NOT NULL,
  most INTEGER NOT NULL,
  PRIMARY KEY (project_id, provider)
) STRICT, WITHOUT ROWID;

CREATE TABLE spend (
  project_id BLOB NOT NULL REFERENCES projects (id),
  month TEXT NOT NULL,
  provider TEXT NOT NULL,
  settled INTEGER NOT NULL,
  uncertain INTEGER NOT NULL,
  PRIMARY KEY (project_id, month, provider)
) STRICT, WITHOUT ROWID;

-- One row per call that a provider may charge for, written before the call.
CREATE TABLE charges (
  project_id BLOB NOT NULL REFERENCES projects (id),
  id BLOB NOT NULL,
  month TEXT NOT NULL,
  provider TEXT NOT NULL,
  what TEXT NOT NULL,
  job_id BLOB,
  step TEXT,
  estimate INTEGER NOT NULL,
  actual INTEGER,
  begun_at TEXT NOT NULL,
  ended_at TEXT,
  PRIMARY KEY (project_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX charges_by_step ON charges (project_id, job_id, step);
CREATE INDEX charges_unpriced ON charges (project_id, month) WHERE actual IS NULL;

CREATE TABLE activity (
  project_id BLOB NOT NULL REFERENCES projects (id),
  id BLOB NOT NULL,
  action TEXT NOT NULL,
  subject TEXT,
  credential_kind TEXT NOT NULL,
  credential_id BLOB NOT NULL,
  credential_name TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (project_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX activity_by_age ON activity (created_at);
