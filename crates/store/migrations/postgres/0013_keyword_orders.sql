-- Plain columns: of an index on expressions SQLite reads the table for every entry, and walks a later page from the
-- beginning. Unknown values are a part of their own at the end of an order.
DROP INDEX keywords_by_volume;
DROP INDEX keywords_by_difficulty;
DROP INDEX keywords_by_score;
CREATE INDEX keywords_by_volume ON keywords (project_id, search_volume, id, status, intent);
CREATE INDEX keywords_by_difficulty ON keywords (project_id, keyword_difficulty, id, status, intent);
CREATE INDEX keywords_by_score ON keywords (project_id, score, id, status, intent);

-- What of the site competes for a keyword, as far as somebody has looked.
ALTER TABLE keywords ADD COLUMN cannibalisation JSONB;
