-- The same tables as in a SQLite file, in the same order of columns: what is written and read is one
-- and the same. Instants are epoch milliseconds, UTC, unless the name says otherwise. Texts sort by
-- their bytes, as they do there. `docs/reference/store.md` has a table for each view.

-- Who writes: one row for all of the store. `fence` rises when another process takes over, and
-- whoever has an older number writes nothing any more.
CREATE TABLE writers (
    slot BIGINT PRIMARY KEY,
    fence BIGINT NOT NULL,
    commits BIGINT NOT NULL,
    process BIGINT,
    host TEXT,
    reloads BOOLEAN NOT NULL
);
INSERT INTO writers VALUES (0, 0, 0, NULL, NULL, false);

-- Numbers that are given in the order of commits: whoever takes one holds its row until the end.
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO counters VALUES ('changes', 0), ('hints', 0);

CREATE TABLE meta (
    name TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C",
    PRIMARY KEY (name)
);

CREATE TABLE hosts (
    id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    delay_days DOUBLE PRECISION,
    blocked_until BIGINT,
    latency_seconds DOUBLE PRECISION,
    failures BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (id)
);

CREATE TABLE pages (
    id BIGINT NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
    key BIGINT NOT NULL,
    host BIGINT NOT NULL,
    rule BIGINT NOT NULL,
    found_at BIGINT NOT NULL,
    depth BIGINT NOT NULL DEFAULT 0,
    status BIGINT NOT NULL DEFAULT 0,
    failures BIGINT NOT NULL DEFAULT 0,
    next_at BIGINT,
    listed BIGINT NOT NULL DEFAULT 0,
    version BYTEA,
    manifest BIGINT,
    PRIMARY KEY (id)
) WITH (fillfactor = 90);

CREATE TABLE copies (
    page BIGINT NOT NULL,
    bytes_signature BYTEA NOT NULL,
    text_signature BYTEA,
    etag TEXT COLLATE "C",
    modified_seconds BIGINT,
    simhash BIGINT,
    robots BIGINT NOT NULL DEFAULT 0,
    unavailable_after BIGINT,
    shell BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (page)
) WITH (fillfactor = 90);

CREATE TABLE visits (
    id BIGINT NOT NULL,
    page BIGINT NOT NULL,
    before BIGINT NOT NULL,
    at BIGINT NOT NULL,
    outcome BIGINT NOT NULL,
    http BIGINT,
    age_seconds BIGINT,
    size BIGINT,
    took_milliseconds BIGINT,
    share BIGINT,
    audit BIGINT,
    PRIMARY KEY (id)
);

CREATE TABLE days (
    day BIGINT NOT NULL,
    outcome BIGINT NOT NULL,
    visits BIGINT NOT NULL,
    PRIMARY KEY (day, outcome)
);

CREATE TABLE latest_visits (
    block BIGINT NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (block)
);
ALTER TABLE latest_visits ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE bodies (
    id BIGINT NOT NULL,
    digest BYTEA NOT NULL UNIQUE,
    size BIGINT NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (id)
);
ALTER TABLE bodies ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE versions (
    page BIGINT NOT NULL,
    at BIGINT NOT NULL,
    body BIGINT NOT NULL,
    PRIMARY KEY (page, at)
);

CREATE TABLE checkpoint (
    part TEXT COLLATE "C" NOT NULL,
    block BIGINT NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (part, block)
);
ALTER TABLE checkpoint ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE masks (
    page BIGINT NOT NULL,
    data TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (page)
);

CREATE TABLE host_masks (
    host BIGINT NOT NULL,
    data TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (host)
);

CREATE TABLE signal_records (
    host BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    "right" DOUBLE PRECISION NOT NULL,
    wrong DOUBLE PRECISION NOT NULL,
    silent DOUBLE PRECISION NOT NULL,
    quiet_days DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (host, kind)
);

CREATE TABLE listings (
    id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    PRIMARY KEY (id)
);

CREATE TABLE objects (
    id BIGINT NOT NULL,
    listing BIGINT NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    attributes TEXT COLLATE "C" NOT NULL,
    first_seen BIGINT NOT NULL,
    deleted_at BIGINT,
    page BIGINT,
    PRIMARY KEY (id),
    UNIQUE (listing, key)
);

CREATE TABLE syncs (
    id BIGINT NOT NULL,
    listing BIGINT NOT NULL,
    at BIGINT NOT NULL,
    outcome BIGINT NOT NULL,
    detail TEXT COLLATE "C" NOT NULL,
    took_milliseconds BIGINT NOT NULL,
    pages BIGINT NOT NULL,
    items BIGINT NOT NULL,
    listed BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    precision DOUBLE PRECISION,
    recall DOUBLE PRECISION,
    precision_low DOUBLE PRECISION,
    precision_expected DOUBLE PRECISION,
    precision_high DOUBLE PRECISION,
    recall_low DOUBLE PRECISION,
    recall_expected DOUBLE PRECISION,
    recall_high DOUBLE PRECISION,
    sketch BYTEA,
    PRIMARY KEY (id)
);

CREATE TABLE events (
    id BIGINT NOT NULL,
    sync BIGINT NOT NULL,
    object BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    attributes TEXT COLLATE "C",
    page BIGINT,
    PRIMARY KEY (id)
);

CREATE TABLE robots (
    origin TEXT COLLATE "C" NOT NULL,
    host BIGINT NOT NULL,
    read_at BIGINT NOT NULL,
    http BIGINT,
    delay_days DOUBLE PRECISION,
    body BYTEA,
    PRIMARY KEY (origin)
);
ALTER TABLE robots ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE discovered (
    address TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (address)
);

CREATE TABLE tombstones (
    page BIGINT NOT NULL,
    at BIGINT NOT NULL,
    visit BIGINT NOT NULL,
    PRIMARY KEY (page)
);

CREATE TABLE changes (
    id BIGINT NOT NULL,
    page BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    at BIGINT NOT NULL,
    earliest BIGINT,
    latest BIGINT NOT NULL,
    likely BIGINT,
    visit BIGINT,
    version BYTEA,
    before BYTEA,
    share BIGINT,
    gist BIGINT,
    reason BIGINT,
    target TEXT COLLATE "C",
    manifest BIGINT,
    manifest_before BIGINT,
    PRIMARY KEY (id)
);

CREATE TABLE destinations (
    id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    cursor BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    next_at BIGINT,
    disabled BIGINT NOT NULL,
    problem TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (id)
);

CREATE TABLE undelivered (
    destination BIGINT NOT NULL,
    change BIGINT NOT NULL,
    at BIGINT NOT NULL,
    problem TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (destination, change)
);

CREATE TABLE manifests (
    visit BIGINT NOT NULL,
    page BIGINT NOT NULL,
    splitter BIGINT NOT NULL,
    chunks BIGINT NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (visit)
);
ALTER TABLE manifests ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE moves (
    page BIGINT NOT NULL,
    target TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (page)
);

CREATE TABLE hints (
    id BIGINT NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE sources (
    address TEXT COLLATE "C" NOT NULL,
    origin TEXT COLLATE "C" NOT NULL,
    kind BIGINT NOT NULL,
    parent TEXT COLLATE "C" NOT NULL,
    tried_at BIGINT,
    looked_at BIGINT,
    read_at BIGINT,
    failures BIGINT NOT NULL,
    new DOUBLE PRECISION NOT NULL,
    exposure DOUBLE PRECISION NOT NULL,
    squares DOUBLE PRECISION NOT NULL,
    dated BIGINT NOT NULL,
    listed_at BIGINT,
    follows_index BIGINT NOT NULL,
    etag TEXT COLLATE "C" NOT NULL,
    modified TEXT COLLATE "C" NOT NULL,
    signature BYTEA NOT NULL,
    size BIGINT NOT NULL,
    listed BYTEA NOT NULL DEFAULT '',
    push_hub TEXT COLLATE "C" NOT NULL DEFAULT '',
    push_topic TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (address)
);

CREATE TABLE duplicates (
    page BIGINT NOT NULL,
    original BIGINT NOT NULL,
    sign BIGINT NOT NULL,
    PRIMARY KEY (page)
);

CREATE TABLE address_shapes (
    host BIGINT NOT NULL,
    shape TEXT COLLATE "C" NOT NULL,
    judged BIGINT NOT NULL,
    barren BIGINT NOT NULL,
    PRIMARY KEY (host, shape)
);

CREATE TABLE refused_addresses (
    host BIGINT NOT NULL,
    reason BIGINT NOT NULL,
    detail TEXT COLLATE "C" NOT NULL,
    addresses BIGINT NOT NULL,
    sketch BYTEA NOT NULL,
    example TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (host, reason, detail)
);

CREATE TABLE subscriptions (
    feed TEXT COLLATE "C" NOT NULL,
    hub TEXT COLLATE "C" NOT NULL,
    until BIGINT,
    pushes BIGINT NOT NULL,
    pushed_at BIGINT,
    PRIMARY KEY (feed)
);

CREATE TABLE reports (
    key TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    digest BYTEA NOT NULL,
    answer TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (key)
);

CREATE TABLE freshness (
    at BIGINT NOT NULL,
    copies BIGINT NOT NULL,
    fresh DOUBLE PRECISION NOT NULL,
    low DOUBLE PRECISION NOT NULL,
    high DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (at)
);

CREATE INDEX pages_by_key ON pages (key);
CREATE INDEX versions_by_body ON versions (body);
CREATE INDEX syncs_by_listing ON syncs (listing, at);
CREATE INDEX events_by_sync ON events (sync);
CREATE INDEX robots_of_host ON robots (host);
CREATE INDEX copies_by_robots ON copies (page, robots) WHERE robots > 0;
CREATE INDEX copies_by_unavailable_after ON copies (unavailable_after)
    WHERE unavailable_after IS NOT NULL;
CREATE INDEX manifests_by_page ON manifests (page);
CREATE INDEX events_by_object ON events (object);
CREATE INDEX objects_by_page ON objects (page) WHERE page IS NOT NULL;
CREATE INDEX copies_by_shell ON copies (page) WHERE shell > 0;
CREATE INDEX moves_by_target ON moves USING hash (target);
CREATE INDEX duplicates_by_original ON duplicates (original);
CREATE INDEX reports_by_at ON reports (at);

-- Instants and days as users read them.
CREATE FUNCTION iso_milliseconds(at BIGINT) RETURNS TEXT LANGUAGE sql STABLE STRICT AS $$
    SELECT to_char(timestamp 'epoch' + at * interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
CREATE FUNCTION iso_seconds(at BIGINT) RETURNS TEXT LANGUAGE sql STABLE STRICT AS $$
    SELECT to_char(timestamp 'epoch' + at * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
$$;
CREATE FUNCTION iso_day(day BIGINT) RETURNS TEXT LANGUAGE sql STABLE STRICT AS $$
    SELECT to_char(date '1970-01-01' + day::integer, 'YYYY-MM-DD')
$$;

CREATE VIEW v1_versions AS
SELECT
    versions.page - 1 AS page,
    pages.address,
    iso_milliseconds(versions.at) AS seen_at,
    encode(bodies.digest, 'hex') AS digest,
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
    signal_records."right",
    signal_records.wrong,
    signal_records.silent,
    signal_records.quiet_days
FROM signal_records JOIN hosts ON hosts.id = signal_records.host;

CREATE VIEW v1_syncs AS
SELECT
    syncs.id AS sync,
    listings.name AS listing,
    iso_milliseconds(syncs.at) AS synced_at,
    CASE syncs.outcome
        WHEN 1 THEN 'first' WHEN 2 THEN 'done' WHEN 3 THEN 'doubted' WHEN 4 THEN 'failed'
    END AS outcome,
    syncs.detail,
    syncs.took_milliseconds / 1000::double precision AS took_seconds,
    syncs.pages,
    syncs.items,
    syncs.listed,
    iso_milliseconds(syncs.next_at) AS next_at,
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

CREATE VIEW v1_listings AS
SELECT
    last.listing,
    last.sync AS last_sync,
    last.synced_at AS last_synced_at,
    last.outcome AS last_outcome,
    last.listed,
    last.next_at,
    (SELECT count(*) FROM v1_syncs WHERE v1_syncs.listing = last.listing) AS syncs
FROM (SELECT DISTINCT ON (listing) * FROM v1_syncs ORDER BY listing, sync DESC) AS last;

CREATE VIEW v1_hosts AS
SELECT
    hosts.id - 1 AS host,
    hosts.name,
    hosts.delay_days * 86400 AS delay_seconds,
    hosts.latency_seconds,
    iso_milliseconds(hosts.blocked_until) AS blocked_until,
    hosts.failures,
    iso_milliseconds(read.read_at) AS robots_read_at,
    read.http AS robots_status
FROM hosts
LEFT JOIN LATERAL (
    SELECT robots.read_at, robots.http FROM robots
    WHERE robots.host = hosts.id ORDER BY robots.read_at DESC LIMIT 1
) AS read ON true;

CREATE VIEW v1_objects AS
SELECT
    listings.name AS listing,
    objects.key,
    objects.attributes,
    iso_milliseconds(objects.first_seen) AS first_seen_at,
    iso_milliseconds(objects.deleted_at) AS removed_at,
    objects.page - 1 AS page,
    pages.address
FROM objects
JOIN listings ON listings.id = objects.listing
LEFT JOIN pages ON pages.id = objects.page;

CREATE VIEW v1_events AS
SELECT
    listings.name AS listing,
    objects.key,
    events.sync,
    iso_milliseconds(syncs.at) AS seen_at,
    CASE events.kind WHEN 0 THEN 'insert' WHEN 1 THEN 'update' WHEN 2 THEN 'delete' END AS event,
    events.attributes,
    (SELECT value FROM meta WHERE name = 'feed') || '-listings-' || events.id AS cursor,
    events.page - 1 AS page
FROM events
JOIN syncs ON syncs.id = events.sync
JOIN listings ON listings.id = syncs.listing
JOIN objects ON objects.id = events.object;

CREATE VIEW v1_copies AS
SELECT
    copies.page - 1 AS page,
    pages.address,
    encode(copies.bytes_signature, 'hex') AS bytes_signature,
    encode(copies.text_signature, 'hex') AS text_signature,
    copies.etag,
    iso_seconds(copies.modified_seconds) AS last_modified,
    copies.robots & 1 AS noindex,
    copies.robots >> 1 & 1 AS nofollow,
    copies.robots >> 2 & 1 AS noarchive,
    iso_seconds(copies.unavailable_after) AS unavailable_after,
    encode(pages.version, 'hex') AS version,
    copies.shell
FROM copies JOIN pages ON pages.id = copies.page;

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
    iso_milliseconds(pages.found_at) AS found_at,
    iso_milliseconds(pages.next_at) AS appointment,
    pages.depth,
    iso_milliseconds(tombstones.at) AS removed_at,
    CASE pages.status WHEN 5 THEN moves.target END AS moved_to
FROM pages
JOIN hosts ON hosts.id = pages.host
LEFT JOIN tombstones ON tombstones.page = pages.id
LEFT JOIN moves ON moves.page = pages.id;

CREATE VIEW v1_visits AS
SELECT
    visits.id AS visit,
    visits.page - 1 AS page,
    pages.address,
    iso_milliseconds(visits.at) AS visited_at,
    CASE visits.outcome
        WHEN 0 THEN 'first' WHEN 1 THEN 'same' WHEN 2 THEN 'not_modified' WHEN 3 THEN 'changed'
        WHEN 4 THEN 'gone' WHEN 5 THEN 'failed' WHEN 6 THEN 'refused' WHEN 7 THEN 'moved'
        WHEN 8 THEN 'cosmetic' WHEN 9 THEN 'walled' WHEN 10 THEN 'duplicate'
    END AS outcome,
    visits.http AS status,
    iso_seconds(visits.at / 1000 - visits.age_seconds)
        AS last_modified,
    visits.size AS size_bytes,
    visits.took_milliseconds / 1000::double precision AS took_seconds,
    visits.share / 10000::double precision AS changed_share,
    CASE coalesce(visits.audit, 0)
        WHEN 0 THEN 'none' WHEN 1 THEN 'word' WHEN 2 THEN 'noise'
    END AS audit
FROM visits JOIN pages ON pages.id = visits.page;

CREATE VIEW v1_daily_visits AS
SELECT
    iso_day(days.day) AS day,
    CASE days.outcome
        WHEN 0 THEN 'first' WHEN 1 THEN 'same' WHEN 2 THEN 'not_modified' WHEN 3 THEN 'changed'
        WHEN 4 THEN 'gone' WHEN 5 THEN 'failed' WHEN 6 THEN 'refused' WHEN 7 THEN 'moved'
        WHEN 8 THEN 'cosmetic' WHEN 9 THEN 'walled' WHEN 10 THEN 'duplicate'
    END AS outcome,
    days.visits
FROM days;

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
    iso_milliseconds(changes.at) AS seen_at,
    iso_milliseconds(changes.earliest) AS earliest,
    iso_milliseconds(changes.latest) AS latest,
    iso_milliseconds(changes.likely) AS likely,
    changes.visit,
    encode(changes.version, 'hex') AS version,
    encode(changes.before, 'hex') AS version_before,
    changes.share / 10000::double precision AS changed_share,
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
