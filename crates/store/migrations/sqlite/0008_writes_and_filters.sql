-- What is old is found by the primary key: an id begins with its time.
DROP INDEX activity_by_age;

-- With the columns of the filters, so that what a filter leaves out is never looked up in the table.
DROP INDEX keywords_by_volume;
DROP INDEX keywords_by_difficulty;
DROP INDEX keywords_by_score;
CREATE INDEX keywords_by_volume ON keywords (project_id, (coalesce(search_volume, -1)), id, status, intent);
CREATE INDEX keywords_by_difficulty ON keywords (project_id, (coalesce(keyword_difficulty, -1)), id, status, intent);
CREATE INDEX keywords_by_score ON keywords (project_id, (coalesce(score, -1)), id, status, intent);
