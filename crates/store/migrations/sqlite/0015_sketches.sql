-- Sketches of the texts that are kept, in few bytes: every text that is written is compared with all of them. NULL in batches of before.
ALTER TABLE crawl_batches ADD COLUMN sketches BLOB;
