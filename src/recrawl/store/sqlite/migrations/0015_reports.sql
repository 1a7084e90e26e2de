-- Batches of visits that other crawlers have reported under a key of their own.

-- A batch that is sent again under its key gets the same answer, and counts once.
CREATE TABLE reports (
    key TEXT PRIMARY KEY,
    at INTEGER NOT NULL,     -- epoch milliseconds
    digest BLOB NOT NULL,    -- of what was sent
    answer TEXT NOT NULL     -- JSON, without addresses
) STRICT, WITHOUT ROWID;

CREATE INDEX reports_by_at ON reports (at);
