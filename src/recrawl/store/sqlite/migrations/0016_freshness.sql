-- How fresh the copies were expected to be, noted once an hour by the crawl.
CREATE TABLE freshness (
    at INTEGER PRIMARY KEY,
    copies INTEGER NOT NULL,
    fresh REAL NOT NULL,       -- expected share
    low REAL NOT NULL,         -- its 90 % band
    high REAL NOT NULL
) STRICT;
