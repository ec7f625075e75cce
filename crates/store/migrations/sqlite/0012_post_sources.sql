-- What the text of a post is held against whenever it changes.
CREATE TABLE post_sources (
  project_id BLOB NOT NULL,
  post_id BLOB NOT NULL,
  sources TEXT NOT NULL,
  PRIMARY KEY (project_id, post_id),
  FOREIGN KEY (project_id, post_id) REFERENCES posts (project_id, id)
) STRICT;

-- The smallest hashes of the word runs of a text: texts that are nearly the same have one in common.
CREATE TABLE post_marks (
  project_id BLOB NOT NULL,
  mark INTEGER NOT NULL,
  post_id BLOB NOT NULL,
  PRIMARY KEY (project_id, mark, post_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX post_marks_by_post ON post_marks (project_id, post_id);
