CREATE INDEX jobs_running ON jobs (project_id) WHERE status = 'running';
CREATE INDEX jobs_queued ON jobs (project_id) WHERE status = 'queued';
