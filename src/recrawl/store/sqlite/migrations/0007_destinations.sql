-- Who is told of the change feed, and how far. The feed itself is the outbox.

CREATE TABLE destinations (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    cursor INTEGER NOT NULL,    -- last event that is done with, delivered or not
    attempts INTEGER NOT NULL,  -- how often the event after it has failed
    next_at INTEGER,            -- when to try again; null for at once
    disabled INTEGER NOT NULL   -- 1 where it asked to be told no more
) STRICT;

-- Events that were given up, until they are delivered by hand or pruned.
CREATE TABLE undelivered (
    destination INTEGER NOT NULL,
    change INTEGER NOT NULL,
    at INTEGER NOT NULL,
    problem TEXT NOT NULL,
    PRIMARY KEY (destination, change)
) STRICT, WITHOUT ROWID;
