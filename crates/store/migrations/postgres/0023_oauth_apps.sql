-- Applications of this installation with providers that let people in on a page of their own. The secret is sealed and bound to the row.
CREATE TABLE oauth_apps (
  provider TEXT NOT NULL PRIMARY KEY,
  id UUID NOT NULL,
  client_id TEXT NOT NULL,
  settings JSONB NOT NULL,
  secret BYTEA NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL
);
