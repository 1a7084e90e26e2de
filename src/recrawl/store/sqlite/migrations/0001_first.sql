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

-- Ids are dense from 1 and no page is ever deleted: an array with a row a page needs no map.
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
    modified_seconds INTEGER
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
    took_milliseconds INTEGER
) STRICT;

-- Counted as they are written: nobody reads ten million visits to draw a month.
CREATE TABLE days (
    day INTEGER NOT NULL,     -- since 1970
    outcome INTEGER NOT NULL,
    visits INTEGER NOT NULL,
    PRIMARY KEY (day, outcome)
) STRICT, WITHOUT ROWID;

-- Newest visit of each page up to the visit that meta calls `heads_visit`: 8 bytes a page,
-- little-endian, in blocks.
CREATE TABLE heads (
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
CREATE TABLE learnt (
    id INTEGER PRIMARY KEY,
    part TEXT NOT NULL,
    block INTEGER NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (part, block)
) STRICT;
