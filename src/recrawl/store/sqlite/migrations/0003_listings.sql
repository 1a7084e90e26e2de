-- Lists of objects: what is listed, what has happened to it, and every look at the list.

CREATE TABLE listings (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- When an object was last seen follows from the looks: the last one, or the last before it was gone.
CREATE TABLE objects (
    id INTEGER PRIMARY KEY,
    listing INTEGER NOT NULL,
    key TEXT NOT NULL,
    attributes TEXT NOT NULL,     -- a JSON object of texts, as they were last seen
    first_seen INTEGER NOT NULL,
    deleted_at INTEGER,           -- the look that missed it; null while it is listed
    UNIQUE (listing, key)
) STRICT;

-- Only ever appended to.
CREATE TABLE syncs (
    id INTEGER PRIMARY KEY,
    listing INTEGER NOT NULL,
    at INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    detail TEXT NOT NULL,         -- why it was not believed, or failed
    took_milliseconds INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    items INTEGER NOT NULL,       -- objects that were found
    listed INTEGER NOT NULL,      -- objects that are believed to be listed from now on
    next_at INTEGER NOT NULL,     -- when the next is due
    reason TEXT NOT NULL,         -- and why then
    precision REAL,               -- of the copy just before, as was found
    recall REAL,
    precision_low REAL,           -- the same, as was forecast by the look before
    precision_expected REAL,
    precision_high REAL,
    recall_low REAL,
    recall_expected REAL,
    recall_high REAL,
    sketch BLOB                   -- hashes of some keys that were found, where they were doubted
) STRICT;

CREATE INDEX syncs_by_listing ON syncs (listing, at);

-- Only ever appended to.
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    sync INTEGER NOT NULL,
    object INTEGER NOT NULL,
    kind INTEGER NOT NULL,        -- 0 insert, 1 update, 2 delete
    attributes TEXT               -- of an insert or an update
) STRICT;

CREATE INDEX events_by_sync ON events (sync);
