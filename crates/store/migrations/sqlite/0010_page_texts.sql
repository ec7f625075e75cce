-- Main texts of the pages of a batch, beside what is known of them: an evaluation does not read them. NULL in batches of before.
ALTER TABLE crawl_batches ADD COLUMN texts BLOB;
