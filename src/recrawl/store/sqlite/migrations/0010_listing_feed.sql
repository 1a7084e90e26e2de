-- The feed of listings reads what objects were like before; detail pages of objects are pages.

-- With the number of each event: what happened to an object before it.
CREATE INDEX events_by_object ON events (object);

ALTER TABLE objects ADD COLUMN page INTEGER;  -- its detail page; null where it has none
ALTER TABLE events ADD COLUMN page INTEGER;   -- the same, when it happened

CREATE INDEX objects_by_page ON objects (page) WHERE page IS NOT NULL;

DROP VIEW v1_objects;
CREATE VIEW v1_objects AS
SELECT
    listings.name AS listing,
    objects.key,
    objects.attributes,
    strftime('%Y-%m-%dT%H:%M:%fZ', objects.first_seen / 1000.0, 'unixepoch') AS first_seen_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', objects.deleted_at / 1000.0, 'unixepoch') AS removed_at,
    objects.page - 1 AS page,
    pages.address
FROM objects
JOIN listings ON listings.id = objects.listing
LEFT JOIN pages ON pages.id = objects.page;

DROP VIEW v1_events;
CREATE VIEW v1_events AS
SELECT
    listings.name AS listing,
    objects.key,
    events.sync,
    strftime('%Y-%m-%dT%H:%M:%fZ', syncs.at / 1000.0, 'unixepoch') AS seen_at,
    CASE events.kind WHEN 0 THEN 'insert' WHEN 1 THEN 'update' WHEN 2 THEN 'delete' END AS event,
    events.attributes,
    (SELECT value FROM meta WHERE name = 'feed') || '-listings-' || events.id AS cursor,
    events.page - 1 AS page
FROM events
JOIN syncs ON syncs.id = events.sync
JOIN listings ON listings.id = syncs.listing
JOIN objects ON objects.id = events.object;
