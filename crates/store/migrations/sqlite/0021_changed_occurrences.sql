-- What an audit changed is brought to the ledger without going through all that it did not change.
CREATE INDEX occurrences_changed ON occurrences (project_id, issue_id, changed_at) WHERE was IS NOT NULL;
