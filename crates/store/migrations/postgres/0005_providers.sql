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
