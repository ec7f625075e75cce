-- Health by category, and how many occurrences changed in which way since the audit before.
ALTER TABLE audits ADD COLUMN category_scores JSONB;
ALTER TABLE audits ADD COLUMN changes JSONB;
