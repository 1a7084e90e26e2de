-- The change feed: what readers are told, written with what it tells of.

-- Only ever appended to, and pruned from its beginning. AUTOINCREMENT: a number is never given
-- twice, also when all events were pruned.
CREATE TABLE changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    page INTEGER NOT NULL,
    kind INTEGER NOT NULL,    -- 1 new, 2 changed, 3 removed, 4 moved, 5 back
    at INTEGER NOT NULL,      -- when it was seen
    earliest INTEGER,         -- between these it happened,
    latest INTEGER NOT NULL,
    likely INTEGER,           -- and here by the page's rate
    visit INTEGER,            -- that saw it; null where none did
    version BLOB,             -- digest of the body from then on; it stays when the body is pruned
    before BLOB,              -- and of the body before
    share INTEGER,            -- of the words that differ, in ten thousandths
    gist INTEGER,             -- kind of the change
    reason INTEGER,           -- why the page is gone
    target TEXT               -- address that it has moved to
) STRICT;

-- What readers of the feed have of a page, as the last event told them.
ALTER TABLE pages ADD COLUMN listed INTEGER NOT NULL DEFAULT 0;  -- 1 where they have a copy
ALTER TABLE pages ADD COLUMN version BLOB;                       -- digest of its body

UPDATE pages SET
    listed = rule >= 0,
    version = (
        SELECT bodies.digest FROM versions JOIN bodies ON bodies.id = versions.body
        WHERE versions.page = pages.id ORDER BY versions.at DESC LIMIT 1
    )
WHERE status = 1 OR (status = 2 AND id IN (SELECT page FROM copies));

DROP VIEW v1_copies;
CREATE VIEW v1_copies AS
SELECT
    copies.page - 1 AS page,
    pages.address,
    lower(hex(copies.bytes_signature)) AS bytes_signature,
    lower(hex(copies.text_signature)) AS text_signature,
    copies.etag,
    strftime('%Y-%m-%dT%H:%M:%SZ', copies.modified_seconds, 'unixepoch') AS last_modified,
    copies.robots & 1 AS noindex,
    copies.robots >> 1 & 1 AS nofollow,
    copies.robots >> 2 & 1 AS noarchive,
    strftime('%Y-%m-%dT%H:%M:%SZ', copies.unavailable_after, 'unixepoch') AS unavailable_after,
    lower(hex(pages.version)) AS version
FROM copies JOIN pages ON pages.id = copies.page;

CREATE VIEW v1_changes AS
SELECT
    changes.id AS change,
    (SELECT value FROM meta WHERE name = 'feed') || '-' || changes.id AS cursor,
    CASE changes.kind
        WHEN 1 THEN 'new' WHEN 2 THEN 'changed' WHEN 3 THEN 'removed' WHEN 4 THEN 'moved'
        WHEN 5 THEN 'back'
    END AS kind,
    changes.page - 1 AS page,
    pages.address,
    strftime('%Y-%m-%dT%H:%M:%fZ', changes.at / 1000.0, 'unixepoch') AS seen_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', changes.earliest / 1000.0, 'unixepoch') AS earliest,
    strftime('%Y-%m-%dT%H:%M:%fZ', changes.latest / 1000.0, 'unixepoch') AS latest,
    strftime('%Y-%m-%dT%H:%M:%fZ', changes.likely / 1000.0, 'unixepoch') AS likely,
    changes.visit,
    lower(hex(changes.version)) AS version,
    lower(hex(changes.before)) AS version_before,
    changes.share / 10000.0 AS changed_share,
    CASE changes.gist
        WHEN 0 THEN 'same' WHEN 1 THEN 'moved' WHEN 2 THEN 'figures' WHEN 3 THEN 'added'
        WHEN 4 THEN 'removed' WHEN 5 THEN 'edited' WHEN 6 THEN 'rewritten'
    END AS gist,
    CASE changes.reason
        WHEN 1 THEN 'gone' WHEN 2 THEN 'moved' WHEN 3 THEN 'refused' WHEN 4 THEN 'unlisted'
        WHEN 5 THEN 'removed' WHEN 6 THEN 'erased'
    END AS reason,
    changes.target AS moved_to
FROM changes JOIN pages ON pages.id = changes.page;
