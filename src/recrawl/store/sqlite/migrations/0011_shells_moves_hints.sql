-- Pages that are empty JavaScript shells, where pages have moved to, and hints that pages changed.

ALTER TABLE copies ADD COLUMN shell INTEGER NOT NULL DEFAULT 0;  -- 1 where scripts would fill it

CREATE INDEX copies_by_shell ON copies (page) WHERE shell > 0;

-- One row per page that has ever moved for good.
CREATE TABLE moves (
    page INTEGER PRIMARY KEY,
    target TEXT NOT NULL
) STRICT;

CREATE INDEX moves_by_target ON moves (target);

-- Addresses that somebody says have changed, until the crawl has taken them in.
CREATE TABLE hints (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    address TEXT NOT NULL,
    at INTEGER NOT NULL    -- epoch milliseconds
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
    strftime('%Y-%m-%dT%H:%M:%fZ', tombstones.at / 1000.0, 'unixepoch') AS removed_at,
    CASE pages.status WHEN 5 THEN moves.target END AS moved_to
FROM pages
JOIN hosts ON hosts.id = pages.host
LEFT JOIN tombstones ON tombstones.page = pages.id
LEFT JOIN moves ON moves.page = pages.id;

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
    lower(hex(pages.version)) AS version,
    copies.shell
FROM copies JOIN pages ON pages.id = copies.page;
