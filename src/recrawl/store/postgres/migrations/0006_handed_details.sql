-- Detail pages that lie in another slot than their listing, until that slot has taken them in.
CREATE TABLE handed_details (
    id BIGINT NOT NULL,
    listing BIGINT NOT NULL,
    object BIGINT,
    address TEXT COLLATE "C" NOT NULL,
    after BIGINT NOT NULL,
    until BIGINT,
    PRIMARY KEY (id)
);

CREATE INDEX handed_details_by_address ON handed_details USING hash (address);
CREATE INDEX handed_details_by_object ON handed_details (object);
INSERT INTO counters VALUES ('handed_details', 0);

CREATE OR REPLACE VIEW v1_objects AS
SELECT
    listings.name AS listing,
    objects.key,
    objects.attributes,
    iso_milliseconds(objects.first_seen) AS first_seen_at,
    iso_milliseconds(objects.deleted_at) AS removed_at,
    objects.page - 1 AS page,
    coalesce(pages.address, handed_details.address) AS address
FROM objects
JOIN listings ON listings.id = objects.listing
LEFT JOIN pages ON pages.id = objects.page
LEFT JOIN handed_details ON handed_details.object = objects.id AND handed_details.until IS NULL;
