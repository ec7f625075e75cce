-- Hashes of what the title and the first heading name, the second only where it is another one: pages that compete
-- for a keyword are found by them.
ALTER TABLE pages ADD COLUMN title_key INTEGER;
ALTER TABLE pages ADD COLUMN heading_key INTEGER;
CREATE INDEX pages_by_title_key ON pages (project_id, title_key) WHERE title_key IS NOT NULL;
CREATE INDEX pages_by_heading_key ON pages (project_id, heading_key) WHERE heading_key IS NOT NULL;

-- The posts that aim at a keyword, so that a list of keywords costs no look at the posts.
ALTER TABLE keywords ADD COLUMN post_ids TEXT;
