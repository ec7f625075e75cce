-- Every insert locked the row of its project for the check of its reference: writers of one project wrote that
-- one row by turns. Projects are never deleted, and rows are written below a project that access was proved to.
ALTER TABLE keywords DROP CONSTRAINT keywords_project_id_fkey;
ALTER TABLE activity DROP CONSTRAINT activity_project_id_fkey;
ALTER TABLE events DROP CONSTRAINT events_project_id_fkey;

-- What is old is found by the primary key: an id begins with its time.
DROP INDEX activity_by_age;

-- With the columns of the filters, so that what a filter leaves out is never looked up in the table.
DROP INDEX keywords_by_volume;
DROP INDEX keywords_by_difficulty;
DROP INDEX keywords_by_score;
CREATE INDEX keywords_by_volume ON keywords (project_id, (coalesce(search_volume, -1)), id, status, intent);
CREATE INDEX keywords_by_difficulty ON keywords (project_id, (coalesce(keyword_difficulty, -1)), id, status, intent);
CREATE INDEX keywords_by_score ON keywords (project_id, (coalesce(score, -1)), id, status, intent);
