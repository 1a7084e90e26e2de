-- Pages that are copies of others, shapes of addresses, and addresses that were not taken in.

-- A row counts as long as the status of its page says so.
CREATE TABLE duplicates (
    page INTEGER PRIMARY KEY,
    original INTEGER NOT NULL,    -- the page that it is a copy of
    sign INTEGER NOT NULL         -- 1 its content, 2 rel=canonical
) STRICT;

CREATE INDEX duplicates_by_original ON duplicates (original);

CREATE TABLE address_shapes (
    host INTEGER NOT NULL,
    shape TEXT NOT NULL,
    judged INTEGER NOT NULL,      -- pages of this shape that were visited and compared
    barren INTEGER NOT NULL,      -- those of them that brought nothing new
    PRIMARY KEY (host, shape)
) STRICT, WITHOUT ROWID;

CREATE TABLE refused_addresses (
    host INTEGER NOT NULL,
    reason INTEGER NOT NULL,      -- 1 excluded, 2 not included, 3 parameter, 4 repeated, 5 trap, 6 robots
    detail TEXT NOT NULL,         -- pattern, parameter or shape
    addresses INTEGER NOT NULL,   -- how many there were, about
    sketch BLOB NOT NULL,         -- smallest hashes of them
    example TEXT NOT NULL,
    PRIMARY KEY (host, reason, detail)
) STRICT, WITHOUT ROWID;

CREATE VIEW v1_duplicates AS
SELECT
    duplicates.page - 1 AS page,
    pages.address,
    duplicates.original - 1 AS original,
    originals.address AS original_address,
    CASE duplicates.sign WHEN 1 THEN 'content' WHEN 2 THEN 'canonical' END AS sign
FROM duplicates
JOIN pages ON pages.id = duplicates.page AND pages.status = 8
JOIN pages AS originals ON originals.id = duplicates.original;

CREATE VIEW v1_refused_addresses AS
SELECT
    hosts.name AS host,
    CASE refused_addresses.reason
        WHEN 1 THEN 'excluded' WHEN 2 THEN 'not included' WHEN 3 THEN 'parameter'
        WHEN 4 THEN 'repeated' WHEN 5 THEN 'trap' WHEN 6 THEN 'robots'
    END AS reason,
    refused_addresses.detail,
    refused_addresses.addresses,
    refused_addresses.example
FROM refused_addresses JOIN hosts ON hosts.id = refused_addresses.host;

DROP VIEW v1_pages;
CREATE VIEW v1_pages AS
SELECT
    pages.id - 1 AS page,
    pages.address,
    hosts.name AS host,
    CASE pages.status
        WHEN 0 THEN 'new' WHEN 1 THEN 'copied' WHEN 2 THEN 'suspected'
        WHEN 3 THEN 'gone' WHEN 4 THEN 'refused' WHEN 5 THEN 'moved'
        WHEN 6 THEN 'removed' WHEN 7 THEN 'erased' WHEN 8 THEN 'duplicate'
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

DROP VIEW v1_visits;
CREATE VIEW v1_visits AS
SELECT
    visits.id AS visit,
    visits.page - 1 AS page,
    pages.address,
    strftime('%Y-%m-%dT%H:%M:%fZ', visits.at / 1000.0, 'unixepoch') AS visited_at,
    CASE visits.outcome
        WHEN 0 THEN 'first' WHEN 1 THEN 'same' WHEN 2 THEN 'not_modified' WHEN 3 THEN 'changed'
        WHEN 4 THEN 'gone' WHEN 5 THEN 'failed' WHEN 6 THEN 'refused' WHEN 7 THEN 'moved'
        WHEN 8 THEN 'cosmetic' WHEN 9 THEN 'walled' WHEN 10 THEN 'duplicate'
    END AS outcome,
    visits.http AS status,
    strftime('%Y-%m-%dT%H:%M:%SZ', visits.at / 1000 - visits.age_seconds, 'unixepoch')
        AS last_modified,
    visits.size AS size_bytes,
    visits.took_milliseconds / 1000.0 AS took_seconds,
    visits.share / 10000.0 AS changed_share,
    CASE coalesce(visits.audit, 0)
        WHEN 0 THEN 'none' WHEN 1 THEN 'word' WHEN 2 THEN 'noise'
    END AS audit
FROM visits JOIN pages ON pages.id = visits.page;

DROP VIEW v1_daily_visits;
CREATE VIEW v1_daily_visits AS
SELECT
    date(days.day * 86400, 'unixepoch') AS day,
    CASE days.outcome
        WHEN 0 THEN 'first' WHEN 1 THEN 'same' WHEN 2 THEN 'not_modified' WHEN 3 THEN 'changed'
        WHEN 4 THEN 'gone' WHEN 5 THEN 'failed' WHEN 6 THEN 'refused' WHEN 7 THEN 'moved'
        WHEN 8 THEN 'cosmetic' WHEN 9 THEN 'walled' WHEN 10 THEN 'duplicate'
    END AS outcome,
    days.visits
FROM days;

DROP VIEW v1_changes;
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
        WHEN 5 THEN 'removed' WHEN 6 THEN 'erased' WHEN 7 THEN 'duplicate'
    END AS reason,
    changes.target AS moved_to,
    manifests.chunks,
    manifests.splitter
FROM changes
JOIN pages ON pages.id = changes.page
LEFT JOIN manifests ON manifests.visit = changes.manifest;
