CREATE TABLE brand_profiles (
  project_id UUID PRIMARY KEY REFERENCES projects (id),
  data JSONB NOT NULL,
  version BIGINT NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE brand_items (
  project_id UUID NOT NULL REFERENCES projects (id),
  resource TEXT NOT NULL,
  id UUID NOT NULL,
  data JSONB NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (project_id, resource, id)
);

-- What no second item of a resource may have.
CREATE TABLE brand_keys (
  project_id UUID NOT NULL,
  resource TEXT NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  item_id UUID NOT NULL,
  PRIMARY KEY (project_id, resource, key),
  FOREIGN KEY (project_id, resource, item_id) REFERENCES brand_items (project_id, resource, id) ON DELETE CASCADE
);
CREATE INDEX brand_keys_by_item ON brand_keys (project_id, resource, item_id);
