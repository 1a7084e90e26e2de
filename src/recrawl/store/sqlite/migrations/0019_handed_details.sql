-- Detail pages that lie in another slot than their listing, until that slot has taken them in.
CREATE TABLE handed_details (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    listing INTEGER NOT NULL,
    object INTEGER,         -- it has this page; null where only the rule of the page may be another
    address TEXT NOT NULL,
    after INTEGER NOT NULL, -- events of the object above this one are those of this page,
    until INTEGER           -- up to this one; null while the object has this page
) STRICT;

CREATE INDEX handed_details_by_address ON handed_details (address);
CREATE INDEX handed_details_by_object ON handed_details (object);

DROP VIEW v1_objects;
CREATE VIEW v1_objects AS
SELECT
    listings.name AS listing,
    objects.key,
    objects.attributes,
    strftime('%Y-%m-%dT%H:%M:%fZ', objects.first_seen / 1000.0, 'unixepoch') AS first_seen_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', objects.deleted_at / 1000.0, 'unixepoch') AS removed_at,
    objects.page - 1 AS page,
    coalesce(pages.address, handed_details.address) AS address
FROM objects
JOIN listings ON listings.id = objects.listing
LEFT JOIN pages ON pages.id = objects.page
LEFT JOIN handed_details ON handed_details.object = objects.id AND handed_details.until IS NULL;
