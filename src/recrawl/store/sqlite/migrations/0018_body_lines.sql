-- What a reader sees of the newest version of a page, so that the next one is compared with it
-- without a second parse. Only an aid: what is missing here is read from the body again.
CREATE TABLE body_lines (
    body INTEGER PRIMARY KEY,
    reading BLOB NOT NULL,    -- hash of how the body was read: header, selectors, rules for text
    size INTEGER NOT NULL,
    data BLOB NOT NULL        -- zstd, with the body as its dictionary: some bytes per line
) STRICT;
