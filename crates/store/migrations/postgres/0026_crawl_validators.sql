-- By what the pages of a batch can be asked for only if they have changed; apart from the batch, because the next audit reads
-- those of every batch before it reads any of the batches.
CREATE TABLE crawl_validators (
  project_id UUID NOT NULL,
  audit_id UUID NOT NULL,
  number BIGINT NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (project_id, audit_id, number)
);
