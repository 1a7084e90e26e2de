-- What pages ask of crawlers, and pages that were taken out.

ALTER TABLE copies ADD COLUMN robots INTEGER NOT NULL DEFAULT 0;  -- 1 noindex, 2 nofollow, 4 noarchive
ALTER TABLE copies ADD COLUMN unavailable_after INTEGER;          -- epoch seconds

-- Few pages ask for anything.
CREATE INDEX copies_by_robots ON copies (page, robots) WHERE robots > 0;
CREATE INDEX copies_by_unavailable_after ON copies (unavailable_after)
    WHERE unavailable_after IS NOT NULL;

-- One row per page that was removed or erased. An erased page has a keyed hash for an address.
CREATE TABLE tombstones (
    page INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    visit INTEGER NOT NULL    -- the last one before it: its place in the order of all that is written
) STRICT;

DROP VIEW v1_pages;
CREATE VIEW v1_pages AS
SELECT
    pages.id - 1 AS page,
    pages.address,
    hosts.name AS host,
    CASE pages.status
        WHEN 0 THEN 'new' WHEN 1 THEN 'copied' WHEN 2 THEN 'suspected'
        WHEN 3 THEN 'gone' WHEN 4 THEN 'refused' WHEN 5 THEN 'moved'
        WHEN 6 THEN 'removed' WHEN 7 THEN 'erased'
    END AS status,
    pages.failures,
    strftime('%Y-%m-%dT%H:%M:%fZ', pages.found_at / 1000.0, 'unixepoch') AS found_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', pages.next_at / 1000.0, 'unixepoch') AS appointment,
    pages.depth,
    strftime('%Y-%m-%dT%H:%M:%fZ', tombstones.at / 1000.0, 'unixepoch') AS removed_at
FROM pages
JOIN hosts ON hosts.id = pages.host
LEFT JOIN tombstones ON tombstones.page = pages.id;

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
    strftime('%Y-%m-%dT%H:%M:%SZ', copies.unavailable_after, 'unixepoch') AS unavailable_after
FROM copies JOIN pages ON pages.id = copies.page;
