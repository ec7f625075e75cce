-- What is known of an issue on pages is packed: a large site has millions of them, and as rows each of them cost its place in a
-- tree. A leaf holds neighbouring pages of an issue; columns say how many it has of each state, when the next is to be woken, when
-- an audit last changed one, and which audit saw all that are active, if it was one.
CREATE TABLE occurrence_leaves (
  project_id UUID NOT NULL REFERENCES projects (id),
  issue_id UUID NOT NULL,
  first_page UUID NOT NULL,
  open INTEGER NOT NULL,
  done INTEGER NOT NULL,
  recheck_pending INTEGER NOT NULL,
  resolved INTEGER NOT NULL,
  still_present INTEGER NOT NULL,
  reopened INTEGER NOT NULL,
  ignored INTEGER NOT NULL,
  wakes_at TIMESTAMPTZ,
  changed_at TIMESTAMPTZ,
  seen_by UUID,
  data BYTEA NOT NULL,
  PRIMARY KEY (project_id, issue_id, first_page)
);
ALTER TABLE occurrence_leaves ALTER COLUMN data SET STORAGE EXTERNAL; -- it is compressed already
INSERT INTO occurrence_leaves (project_id, issue_id, first_page, open, done, recheck_pending, resolved, still_present, reopened, ignored, wakes_at, changed_at, seen_by, data)
SELECT project_id, issue_id, CASE WHEN leaf = 0 THEN '00000000-0000-0000-0000-000000000000' ELSE min(page_id::text)::uuid END,
     count(*) FILTER (WHERE state = 'open'), count(*) FILTER (WHERE state = 'done'), count(*) FILTER (WHERE state = 'recheck_pending'),
     count(*) FILTER (WHERE state = 'resolved'), count(*) FILTER (WHERE state = 'still_present'), count(*) FILTER (WHERE state = 'reopened'), count(*) FILTER (WHERE state = 'ignored'),
     min(ignored_until) FILTER (WHERE state = 'ignored'), max(changed_at) FILTER (WHERE was IS NOT NULL), NULL,
     convert_to(json_agg(json_build_array(page_id, json_build_object(
       'state', state, 'evidence', evidence::text, 'first_seen', first_seen_audit_id, 'last_seen', last_seen_audit_id,
       'checked_at', to_char(checked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'stale', stale, 'reopen_count', reopen_count,
       'reopen_reason', reopen_reason, 'resolved_at', to_char(resolved_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
       'resolution', resolution, 'done_at', to_char(done_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'done_by', done_by, 'note', note,
       'ignored_until', to_char(ignored_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'recheck_id', recheck_id,
       'recheck_outcome', recheck_outcome, 'rechecked_at', to_char(rechecked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'was', was,
       'changed_at', to_char(changed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))))::text, 'UTF8')
FROM (SELECT o.*, (row_number() OVER (PARTITION BY project_id, issue_id ORDER BY page_id) - 1) / 128 AS leaf FROM occurrences o) AS numbered
GROUP BY project_id, issue_id, leaf;
DROP TABLE occurrences;
CREATE INDEX occurrence_leaves_done ON occurrence_leaves (project_id) WHERE done > 0;
CREATE INDEX occurrence_leaves_ignored ON occurrence_leaves (project_id) WHERE ignored > 0;
CREATE INDEX occurrence_leaves_sleeping ON occurrence_leaves (wakes_at) WHERE wakes_at IS NOT NULL;
CREATE INDEX occurrence_leaves_changed ON occurrence_leaves (project_id, issue_id, changed_at) WHERE changed_at IS NOT NULL;
