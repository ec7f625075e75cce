-- Who is told of events. Events get the place in which they became visible, and the bytes that every receiver is sent.
ALTER TABLE events ADD COLUMN position INTEGER;
ALTER TABLE events ADD COLUMN body TEXT;
UPDATE events SET position = n.position
  FROM (SELECT project_id, id, row_number() OVER (PARTITION BY project_id ORDER BY id) AS position FROM events) n
  WHERE events.project_id = n.project_id AND events.id = n.id;
CREATE UNIQUE INDEX events_in_order ON events (project_id, position);
CREATE INDEX events_by_age ON events (created_at);
CREATE TABLE event_heads (
  project_id BLOB NOT NULL PRIMARY KEY,
  position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO event_heads (project_id, position) SELECT project_id, max(position) FROM events GROUP BY project_id;

CREATE TABLE webhooks (
  project_id BLOB NOT NULL REFERENCES projects (id),
  id BLOB NOT NULL,
  target_url TEXT NOT NULL,
  event TEXT NOT NULL,
  status TEXT NOT NULL,
  disabled_reason TEXT,
  disabled_at TEXT,
  failing_since TEXT,
  last_attempt_at TEXT,
  last_success_at TEXT,
  created_at TEXT NOT NULL,
  version INTEGER NOT NULL,
  -- one process at a time sends to it
  lease_until TEXT,
  fence INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE webhook_secrets (
  project_id BLOB NOT NULL,
  webhook_id BLOB NOT NULL,
  id BLOB NOT NULL,
  secret BLOB NOT NULL,
  retires_at TEXT,
  PRIMARY KEY (project_id, webhook_id, id)
) STRICT, WITHOUT ROWID;

-- An event on its way to a webhook has the id of the event, so that nothing goes to one webhook twice.
CREATE TABLE deliveries (
  project_id BLOB NOT NULL,
  webhook_id BLOB NOT NULL,
  id BLOB NOT NULL,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  -- attempts since it was made or replayed
  tries INTEGER NOT NULL DEFAULT 0,
  next_at TEXT,
  created_at TEXT NOT NULL,
  finished_at TEXT,
  PRIMARY KEY (project_id, webhook_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (project_id, webhook_id, next_at, id) WHERE status = 'pending';
CREATE INDEX deliveries_by_age ON deliveries (created_at);
CREATE TABLE delivery_attempts (
  project_id BLOB NOT NULL,
  webhook_id BLOB NOT NULL,
  delivery_id BLOB NOT NULL,
  number INTEGER NOT NULL,
  at TEXT NOT NULL,
  status_code INTEGER,
  error TEXT,
  duration_ms INTEGER NOT NULL,
  response TEXT,
  PRIMARY KEY (project_id, webhook_id, delivery_id, number)
) STRICT, WITHOUT ROWID;
