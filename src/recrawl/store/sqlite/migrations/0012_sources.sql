-- Sources of new pages: sitemaps, feeds and hub pages, and how fast each brings new addresses.
-- Written together with the pages that a look finds: a crawl that is killed knows both, or neither.
CREATE TABLE sources (
    address TEXT PRIMARY KEY,
    origin TEXT NOT NULL,      -- of the site that names it
    kind INTEGER NOT NULL,     -- 0 sitemap, 1 feed, 2 hub page
    parent TEXT NOT NULL,      -- index of sitemaps that names it; empty if none does
    tried_at INTEGER,          -- when it was last asked for
    looked_at INTEGER,         -- when it was last seen, whole or by a 304
    read_at INTEGER,           -- when it last came whole
    failures INTEGER NOT NULL, -- looks in a row that failed
    new REAL NOT NULL,         -- new addresses that count
    exposure REAL NOT NULL,    -- days that count
    squares REAL NOT NULL,     -- squared deviations from what was expected
    dated INTEGER NOT NULL,    -- whether it dates pages
    listed_at INTEGER,         -- its own date in the index, as of the last look
    follows_index INTEGER NOT NULL, -- whether that date tells when to look
    etag TEXT NOT NULL,
    modified TEXT NOT NULL,
    signature BLOB NOT NULL,   -- of its body
    size INTEGER NOT NULL      -- bytes of its body
) STRICT, WITHOUT ROWID;
