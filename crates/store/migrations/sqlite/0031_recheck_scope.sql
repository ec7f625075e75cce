-- Whether the occurrences of a recheck were named, or are what was marked as done then. Of rechecks before this it is not known.
ALTER TABLE rechecks ADD COLUMN named INTEGER;
