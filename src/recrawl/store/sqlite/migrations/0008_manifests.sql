-- Manifests: which chunks a copy has, written with the event that tells of the copy.

-- Named by the visit that brought the copy. Kept while an event tells of it, or of the copy after
-- it, and while it is the newest of its page.
CREATE TABLE manifests (
    visit INTEGER PRIMARY KEY,
    page INTEGER NOT NULL,
    splitter INTEGER NOT NULL,  -- version of the splitter
    chunks INTEGER NOT NULL,    -- how many there are
    data BLOB NOT NULL          -- the list: JSON, compressed
) STRICT;
CREATE INDEX manifests_by_page ON manifests (page);

-- Names of manifests; they stay when the manifest itself is dropped.
ALTER TABLE changes ADD COLUMN manifest INTEGER;         -- of the copy from then on
ALTER TABLE changes ADD COLUMN manifest_before INTEGER;  -- of the copy before
ALTER TABLE pages ADD COLUMN manifest INTEGER;           -- of the copy that readers have, or had last

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
        WHEN 5 THEN 'removed' WHEN 6 THEN 'erased'
    END AS reason,
    changes.target AS moved_to,
    manifests.chunks,
    manifests.splitter
FROM changes
JOIN pages ON pages.id = changes.page
LEFT JOIN manifests ON manifests.visit = changes.manifest;
