-- Applications of this installation with providers that let people in on a page of their own. The secret is sealed and bound to the row.
CREATE TABLE oauth_apps (
  provider TEXT NOT NULL PRIMARY KEY,
  id BLOB NOT NULL,
  client_id TEXT NOT NULL,
  settings TEXT NOT NULL,
  secret BLOB NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
