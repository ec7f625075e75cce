-- A connection that was ended keeps its row without its secrets: connected to the same site again it is the same connection, and what
-- was published through it can still be changed and taken back.
DROP INDEX integrations_by_provider;
CREATE UNIQUE INDEX integrations_by_provider ON integrations (project_id, provider) WHERE status <> 'not_connected';
CREATE UNIQUE INDEX integrations_by_site ON integrations (project_id, provider, site_key);
