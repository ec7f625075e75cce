-- What is known of an issue on pages is packed: a large site has millions of them, and as rows each of them cost its place in a
-- tree. A leaf holds neighbouring pages of an issue; columns say how many it has of each state, when the next is to be woken, when
-- an audit last changed one, and which audit saw all that are active, if it was one.
CREATE TABLE occurrence_leaves (
  project_id BLOB NOT NULL REFERENCES projects (id),
  issue_id BLOB NOT NULL,
  first_page BLOB NOT NULL,
  open INTEGER NOT NULL,
  done INTEGER NOT NULL,
  recheck_pending INTEGER NOT NULL,
  resolved INTEGER NOT NULL,
  still_present INTEGER NOT NULL,
  reopened INTEGER NOT NULL,
  ignored INTEGER NOT NULL,
  wakes_at TEXT,
  changed_at TEXT,
  seen_by BLOB,
  data BLOB NOT NULL,
  PRIMARY KEY (project_id, issue_id, first_page)
) STRICT;
INSERT INTO occurrence_leaves (project_id, issue_id, first_page, open, done, recheck_pending, resolved, still_present, reopened, ignored, wakes_at, changed_at, seen_by, data)
SELECT project_id, issue_id, CASE WHEN leaf = 0 THEN zeroblob(16) ELSE min(page_id) END,
     count(*) FILTER (WHERE state = 'open'), count(*) FILTER (WHERE state = 'done'), count(*) FILTER (WHERE state = 'recheck_pending'),
     count(*) FILTER (WHERE state = 'resolved'), count(*) FILTER (WHERE state = 'still_present'), count(*) FILTER (WHERE state = 'reopened'), count(*) FILTER (WHERE state = 'ignored'),
     min(ignored_until) FILTER (WHERE state = 'ignored'), max(changed_at) FILTER (WHERE was IS NOT NULL), NULL,
     CAST(json_group_array(json_array(lower(hex(page_id)), json_object(
       'state', state, 'evidence', evidence, 'first_seen', lower(hex(first_seen_audit_id)), 'last_seen', lower(hex(last_seen_audit_id)),
       'checked_at', checked_at, 'stale', json(CASE WHEN stale THEN 'true' ELSE 'false' END), 'reopen_count', reopen_count,
       'reopen_reason', reopen_reason, 'resolved_at', resolved_at, 'resolution', resolution, 'done_at', done_at, 'done_by', done_by, 'note', note,
       'ignored_until', ignored_until, 'recheck_id', CASE WHEN recheck_id IS NOT NULL THEN lower(hex(recheck_id)) END,
       'recheck_outcome', recheck_outcome, 'rechecked_at', rechecked_at, 'was', was, 'changed_at', changed_at))) AS BLOB)
FROM (SELECT o.*, (row_number() OVER (PARTITION BY project_id, issue_id ORDER BY page_id) - 1) / 128 AS leaf FROM occurrences o) AS numbered
GROUP BY project_id, issue_id, leaf;
DROP TABLE occurrences;
CREATE INDEX occurrence_leaves_done ON occurrence_leaves (project_id) WHERE done > 0;
CREATE INDEX occurrence_leaves_ignored ON occurrence_leaves (project_id) WHERE ignored > 0;
CREATE INDEX occurrence_leaves_sleeping ON occurrence_leaves (wakes_at) WHERE wakes_at IS NOT NULL;
CREATE INDEX occurrence_leaves_changed ON occurrence_leaves (project_id, issue_id, changed_at) WHERE changed_at IS NOT NULL;
