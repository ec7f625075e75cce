-- What is old is found by the primary key: an id begins with its time.
DROP INDEX activity_by_age;
