-- Version of the rules that identify the pages an audit saw; there was one until now.
ALTER TABLE audits ADD COLUMN normalization_version INTEGER NOT NULL DEFAULT 1;
