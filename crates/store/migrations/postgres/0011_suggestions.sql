CREATE TABLE suggestions (
  project_id UUID NOT NULL REFERENCES projects (id),
  language TEXT NOT NULL,
  country TEXT NOT NULL,
  typed TEXT NOT NULL,
  texts JSONB NOT NULL,
  asked_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, language, country, typed)
);
