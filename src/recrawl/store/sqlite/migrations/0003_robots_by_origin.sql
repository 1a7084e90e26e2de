-- A robots.txt speaks for an origin: scheme, host and port. What was read by host is asked for again.

DROP VIEW v1_hosts;
DROP TABLE robots;

CREATE TABLE robots (
    origin TEXT PRIMARY KEY,
    host INTEGER NOT NULL,
    read_at INTEGER NOT NULL,
    http INTEGER,
    delay_days REAL,          -- that it asks for
    body BLOB                 -- zstd; the part that concerns us
) STRICT, WITHOUT ROWID;

CREATE INDEX robots_of_host ON robots (host);

-- Of the origins of a host the one whose robots.txt was read last.
CREATE VIEW v1_hosts AS
SELECT
    hosts.id - 1 AS host,
    hosts.name,
    hosts.delay_days * 86400 AS delay_seconds,
    hosts.latency_seconds,
    strftime('%Y-%m-%dT%H:%M:%fZ', hosts.blocked_until / 1000.0, 'unixepoch') AS blocked_until,
    hosts.failures,
    strftime('%Y-%m-%dT%H:%M:%fZ', read.read_at / 1000.0, 'unixepoch') AS robots_read_at,
    read.http AS robots_status
FROM hosts
LEFT JOIN (SELECT host, max(read_at) AS read_at, http FROM robots GROUP BY host) AS read
    ON read.host = hosts.id;
