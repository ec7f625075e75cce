-- The share of a page in the PageRank of its site: what an issue weighs is computed again when occurrences leave it. Of audits
-- before this it is not known.
ALTER TABLE pages ADD COLUMN rank REAL;
