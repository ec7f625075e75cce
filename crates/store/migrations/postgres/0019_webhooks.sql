-- Who is told of events. Events get the place in which they became visible, and the bytes that every receiver is sent.
ALTER TABLE events ADD COLUMN position BIGINT;
ALTER TABLE events ADD COLUMN body TEXT;
UPDATE events SET position = n.position
  FROM (SELECT project_id, id, row_number() OVER (PARTITION BY project_id ORDER BY id) AS position FROM events) n
  WHERE events.project_id = n.project_id AND events.id = n.id;
CREATE UNIQUE INDEX events_in_order ON events (project_id, position);
CREATE INDEX events_by_age ON events (created_at);
CREATE TABLE event_heads (
  project_id UUID NOT NULL PRIMARY KEY,
  position BIGINT NOT NULL
);
INSERT INTO event_heads (project_id, position) SELECT project_id, max(position) FROM events GROUP BY project_id;

CREATE TABLE webhooks (
  project_id UUID NOT NULL REFERENCES projects (id),
  id UUID NOT NULL,
  target_url TEXT NOT NULL,
  event TEXT NOT NULL,
  status TEXT NOT NULL,
  disabled_reason TEXT,
  disabled_at TIMESTAMPTZ,
  failing_since TIMESTAMPTZ,
  last_attempt_at TIMESTAMPTZ,
  last_success_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL,
  version BIGINT NOT NULL,
  -- one process at a time sends to it
  lease_until TIMESTAMPTZ,
  fence BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, id)
);
CREATE TABLE webhook_secrets (
  project_id UUID NOT NULL,
  webhook_id UUID NOT NULL,
  id UUID NOT NULL,
  secret BYTEA NOT NULL,
  retires_at TIMESTAMPTZ,
  PRIMARY KEY (project_id, webhook_id, id)
);

-- An event on its way to a webhook has the id of the event, so that nothing goes to one webhook twice.
CREATE TABLE deliveries (
  project_id UUID NOT NULL,
  webhook_id UUID NOT NULL,
  id UUID NOT NULL,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  attempts BIGINT NOT NULL DEFAULT 0,
  -- attempts since it was made or replayed
  tries BIGINT NOT NULL DEFAULT 0,
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
