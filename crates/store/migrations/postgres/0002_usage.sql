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

-- Amounts of money are millionths of a US dollar.
CREATE TABLE budgets (
  project_id UUID NOT NULL REFERENCES projects (id),
  provider TEXT COLLATE "C" NOT NULL,
  most BIGINT NOT NULL,
  PRIMARY KEY (project_id, provider)
);

CREATE TABLE spend (
  project_id UUID NOT NULL REFERENCES projects (id),
  month TIMESTAMPTZ NOT NULL,
  provider TEXT COLLATE "C" NOT NULL,
  settled BIGINT NOT NULL,
  uncertain BIGINT NOT NULL,
  PRIMARY KEY (project_id, month, provider)
);

-- One row per call that a provider may charge for, written before the call.
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
CREATE UNIQUE INDEX charges_by_step ON charges (project_id, job_id, step);
CREATE INDEX charges_unpriced ON charges (project_id, month) WHERE actual IS NULL;

CREATE TABLE activity (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  action TEXT NOT NULL,
  subject TEXT,
  credential_kind TEXT NOT NULL,
  credential_id UUID NOT NULL,
  credential_name TEXT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX activity_by_age ON activity (created_at);
