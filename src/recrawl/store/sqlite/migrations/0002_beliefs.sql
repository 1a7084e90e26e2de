-- What a change is decided by, and whom to believe.

ALTER TABLE copies ADD COLUMN likeness INTEGER; -- 64 bits that are near for texts that are alike

ALTER TABLE visits ADD COLUMN share INTEGER;    -- of the words that differ, in ten thousandths
ALTER TABLE visits ADD COLUMN audit INTEGER;    -- what a second request was made for, if one was

-- Bits of a page that differ by themselves.
CREATE TABLE masks (
    page INTEGER PRIMARY KEY,
    data TEXT NOT NULL
) STRICT;

CREATE TABLE host_masks (
    host INTEGER PRIMARY KEY,
    data TEXT NOT NULL
) STRICT;

-- How often a host's word was found right and wrong.
CREATE TABLE honesty (
    host INTEGER NOT NULL,
    kind TEXT NOT NULL,
    right REAL NOT NULL,
    wrong REAL NOT NULL,
    silent REAL NOT NULL,     -- changes that it did not tell of, or looks that proved nothing
    quiet_days REAL NOT NULL, -- watched without a change
    PRIMARY KEY (host, kind)
) STRICT, WITHOUT ROWID;
