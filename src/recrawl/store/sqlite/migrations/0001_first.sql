-- Instants are epoch milliseconds, UTC, unless the name says otherwise.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value ANY
) STRICT, WITHOUT ROWID;

CREATE TABLE hosts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    delay_days REAL,          -- between two requests, where the host or experience asks for it
    blocked_until INTEGER,    -- nothing is asked before
    latency_seconds REAL,
    failures INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Apart from the hosts: what changes with every answer must not rewrite half a megabyte.
CREATE TABLE robots (
    host INTEGER PRIMARY KEY,
    read_at INTEGER NOT NULL,
    http INTEGER,
    body BLOB                 -- zstd
) STRICT;

-- Ids are dense from 1 and no page is ever deleted: an array with one row per page needs no map.
-- Everybody else numbers pages and hosts from 0: number = id - 1.
CREATE TABLE pages (
    id INTEGER PRIMARY KEY,
    address TEXT NOT NULL,
    key INTEGER NOT NULL,     -- 32-bit hash of the address, seeded; two addresses may share one
    host INTEGER NOT NULL,
    rule INTEGER NOT NULL,    -- number of the entry of the configuration that the page falls under
    found_at INTEGER NOT NULL,
    depth INTEGER NOT NULL DEFAULT 0, -- links followed from what a sitemap, a feed or a person named
    status INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER           -- an appointment, where there is one
) STRICT;

-- Not on the address: an index of texts would be as large as the table.
CREATE INDEX pages_by_key ON pages (key);

CREATE TABLE copies (
    page INTEGER PRIMARY KEY,
    bytes_signature BLOB NOT NULL,
    text_signature BLOB,
    etag TEXT,
    modified_seconds INTEGER,
    simhash INTEGER          -- 64 bits that are near for texts that are alike
) STRICT;

-- Only ever appended to. A page's visits are a chain from the newest to the oldest: an index by
-- page would cost half of the table's size and a random write a visit.
CREATE TABLE visits (
    id INTEGER PRIMARY KEY,
    page INTEGER NOT NULL,
    before INTEGER NOT NULL,  -- the page's visit before this one, or 0
    at INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    http INTEGER,
    age_seconds INTEGER,      -- from the page's last change to the whole second of the visit
    size INTEGER,
    took_milliseconds INTEGER,
    share INTEGER,            -- of the words that differ, in ten thousandths
    audit INTEGER             -- what a second request was made for, if one was
) STRICT;

-- Counted as they are written: nobody reads ten million visits to draw a month.
CREATE TABLE days (
    day INTEGER NOT NULL,     -- since 1970
    outcome INTEGER NOT NULL,
    visits INTEGER NOT NULL,
    PRIMARY KEY (day, outcome)
) STRICT, WITHOUT ROWID;

-- Newest visit of each page up to the visit that meta calls `latest_visits_saved`: 8 bytes a page,
-- little-endian, in blocks.
CREATE TABLE latest_visits (
    block INTEGER PRIMARY KEY,
    data BLOB NOT NULL
) STRICT;

CREATE TABLE bodies (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,  -- first 16 bytes of SHA-256
    size INTEGER NOT NULL,
    data BLOB NOT NULL            -- zstd
) STRICT;

CREATE TABLE versions (
    page INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body INTEGER NOT NULL,
    PRIMARY KEY (page, at)
) STRICT, WITHOUT ROWID;

CREATE INDEX versions_by_body ON versions (body);

-- Block 0 of a part says what it is, in JSON; an array's bytes follow.
CREATE TABLE checkpoint (
    id INTEGER PRIMARY KEY,
    part TEXT NOT NULL,
    block INTEGER NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (part, block)
) STRICT;

-- Bits of a page that differ by themselves.
CREATE TABLE masks (
    page INTEGER PRIMARY KEY,
    data TEXT NOT NULL
) STRICT;

CREATE TABLE host_masks (
    host INTEGER PRIMARY KEY,
    data TEXT NOT NULL
) STRICT;

-- How often what a host says of changes was found right and wrong.
CREATE TABLE signal_records (
    host INTEGER NOT NULL,
    kind TEXT NOT NULL,
    right REAL NOT NULL,
    wrong REAL NOT NULL,
    silent REAL NOT NULL,     -- changes that it did not tell of, or looks that proved nothing
    quiet_days REAL NOT NULL, -- watched without a change
    PRIMARY KEY (host, kind)
) STRICT, WITHOUT ROWID;

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
