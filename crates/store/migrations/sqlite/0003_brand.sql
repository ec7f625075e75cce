CREATE TABLE brand_profiles (
  project_id BLOB PRIMARY KEY REFERENCES projects (id),
  data TEXT NOT NULL,
  version INTEGER NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE brand_items (
  project_id BLOB NOT NULL REFERENCES projects (id),
  resource TEXT NOT NULL,
  id BLOB NOT NULL,
  data TEXT NOT NULL,
  version INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (project_id, resource, id)
) STRICT, WITHOUT ROWID;

-- What no second item of a resource may have.
CREATE TABLE brand_keys (
  project_id BLOB NOT NULL,
  resource TEXT NOT NULL,
  key TEXT NOT NULL,
  item_id BLOB NOT NULL,
  PRIMARY KEY (project_id, resource, key),
  FOREIGN KEY (project_id, resource, item_id) REFERENCES brand_items (project_id, resource, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX brand_keys_by_item ON brand_keys (project_id, resource, item_id);
