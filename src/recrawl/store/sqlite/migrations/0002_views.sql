-- What users read; docs/reference/store.md has a table for each. Views of one version never change
-- but for columns that are added at their end. What must change comes as v2_..., beside them.
-- Instants are UTC in ISO 8601, pages and hosts are numbered from 0.

CREATE VIEW v1_hosts AS
SELECT
    hosts.id - 1 AS host,
    hosts.name,
    hosts.delay_days * 86400 AS delay_seconds,
    hosts.latency_seconds,
    strftime('%Y-%m-%dT%H:%M:%fZ', hosts.blocked_until / 1000.0, 'unixepoch') AS blocked_until,
    hosts.failures,
    strftime('%Y-%m-%dT%H:%M:%fZ', robots.read_at / 1000.0, 'unixepoch') AS robots_read_at,
    robots.http AS robots_status
FROM hosts LEFT JOIN robots ON robots.host = hosts.id;

CREATE VIEW v1_pages AS
SELECT
    pages.id - 1 AS page,
    pages.address,
    hosts.name AS host,
    CASE pages.status
        WHEN 0 THEN 'new' WHEN 1 THEN 'copied' WHEN 2 THEN 'suspected'
        WHEN 3 THEN 'gone' WHEN 4 THEN 'refused' WHEN 5 THEN 'moved'
    END AS status,
    pages.failures,
    strftime('%Y-%m-%dT%H:%M:%fZ', pages.found_at / 1000.0, 'unixepoch') AS found_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', pages.next_at / 1000.0, 'unixepoch') AS appointment,
    pages.depth
FROM pages JOIN hosts ON hosts.id = pages.host;

CREATE VIEW v1_visits AS
SELECT
    visits.id AS visit,
    visits.page - 1 AS page,
    pages.address,
    strftime('%Y-%m-%dT%H:%M:%fZ', visits.at / 1000.0, 'unixepoch') AS visited_at,
    CASE visits.outcome
        WHEN 0 THEN 'first' WHEN 1 THEN 'same' WHEN 2 THEN 'not_modified' WHEN 3 THEN 'changed'
        WHEN 4 THEN 'gone' WHEN 5 THEN 'failed' WHEN 6 THEN 'refused' WHEN 7 THEN 'moved'
        WHEN 8 THEN 'cosmetic' WHEN 9 THEN 'walled'
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

CREATE VIEW v1_daily_visits AS
SELECT
    date(days.day * 86400, 'unixepoch') AS day,
    CASE days.outcome
        WHEN 0 THEN 'first' WHEN 1 THEN 'same' WHEN 2 THEN 'not_modified' WHEN 3 THEN 'changed'
        WHEN 4 THEN 'gone' WHEN 5 THEN 'failed' WHEN 6 THEN 'refused' WHEN 7 THEN 'moved'
        WHEN 8 THEN 'cosmetic' WHEN 9 THEN 'walled'
    END AS outcome,
    days.visits
FROM days;

CREATE VIEW v1_copies AS
SELECT
    copies.page - 1 AS page,
    pages.address,
    lower(hex(copies.bytes_signature)) AS bytes_signature,
    lower(hex(copies.text_signature)) AS text_signature,
    copies.etag,
    strftime('%Y-%m-%dT%H:%M:%SZ', copies.modified_seconds, 'unixepoch') AS last_modified
FROM copies JOIN pages ON pages.id = copies.page;

CREATE VIEW v1_versions AS
SELECT
    versions.page - 1 AS page,
    pages.address,
    strftime('%Y-%m-%dT%H:%M:%fZ', versions.at / 1000.0, 'unixepoch') AS seen_at,
    lower(hex(bodies.digest)) AS digest,
    bodies.size AS size_bytes,
    length(bodies.data) AS stored_bytes
FROM versions
JOIN pages ON pages.id = versions.page
JOIN bodies ON bodies.id = versions.body;

CREATE VIEW v1_signals AS
SELECT
    hosts.id - 1 AS host,
    hosts.name,
    signal_records.kind AS signal,
    signal_records.right,
    signal_records.wrong,
    signal_records.silent,
    signal_records.quiet_days
FROM signal_records JOIN hosts ON hosts.id = signal_records.host;

CREATE VIEW v1_syncs AS
SELECT
    syncs.id AS sync,
    listings.name AS listing,
    strftime('%Y-%m-%dT%H:%M:%fZ', syncs.at / 1000.0, 'unixepoch') AS synced_at,
    CASE syncs.outcome
        WHEN 1 THEN 'first' WHEN 2 THEN 'done' WHEN 3 THEN 'doubted' WHEN 4 THEN 'failed'
    END AS outcome,
    syncs.detail,
    syncs.took_milliseconds / 1000.0 AS took_seconds,
    syncs.pages,
    syncs.items,
    syncs.listed,
    strftime('%Y-%m-%dT%H:%M:%fZ', syncs.next_at / 1000.0, 'unixepoch') AS next_at,
    syncs.reason,
    syncs.precision,
    syncs.precision_low,
    syncs.precision_expected,
    syncs.precision_high,
    syncs.recall,
    syncs.recall_low,
    syncs.recall_expected,
    syncs.recall_high
FROM syncs JOIN listings ON listings.id = syncs.listing;

-- A listing exists from its first sync on. With max() SQLite takes the other columns of a group
-- from the row that has the maximum.
CREATE VIEW v1_listings AS
SELECT
    listing,
    max(sync) AS last_sync,
    synced_at AS last_synced_at,
    outcome AS last_outcome,
    listed,
    next_at,
    count(*) AS syncs
FROM v1_syncs GROUP BY listing;

CREATE VIEW v1_objects AS
SELECT
    listings.name AS listing,
    objects.key,
    objects.attributes,
    strftime('%Y-%m-%dT%H:%M:%fZ', objects.first_seen / 1000.0, 'unixepoch') AS first_seen_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', objects.deleted_at / 1000.0, 'unixepoch') AS removed_at
FROM objects JOIN listings ON listings.id = objects.listing;

CREATE VIEW v1_events AS
SELECT
    listings.name AS listing,
    objects.key,
    events.sync,
    strftime('%Y-%m-%dT%H:%M:%fZ', syncs.at / 1000.0, 'unixepoch') AS seen_at,
    CASE events.kind WHEN 0 THEN 'insert' WHEN 1 THEN 'update' WHEN 2 THEN 'delete' END AS event,
    events.attributes
FROM events
JOIN syncs ON syncs.id = events.sync
JOIN listings ON listings.id = syncs.listing
JOIN objects ON objects.id = events.object;
