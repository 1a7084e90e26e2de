-- What a reader sees of the newest version of a page, so that the next one is compared with it
-- without a second parse. Only an aid: what is missing here is read from the body again.
CREATE TABLE body_lines (
    body BIGINT PRIMARY KEY,
    reading BYTEA NOT NULL,
    size BIGINT NOT NULL,
    data BYTEA NOT NULL
);
ALTER TABLE body_lines ALTER COLUMN data SET STORAGE EXTERNAL;
