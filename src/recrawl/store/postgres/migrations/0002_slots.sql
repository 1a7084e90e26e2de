-- Workers that share a crawl, and the slots that they hold. All instants are the server's own.
CREATE TABLE workers (
    worker TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    process BIGINT NOT NULL,
    until TIMESTAMPTZ NOT NULL
);

-- `fence` rises with each taking: whoever has an older number writes nothing any more.
CREATE TABLE slots (
    slot BIGINT PRIMARY KEY,
    fence BIGINT NOT NULL DEFAULT 0,
    worker TEXT,
    until TIMESTAMPTZ,
    curve TEXT
);

-- What a slot writes of itself. `commits` counts its transactions, so that a writer whose connection
-- broke knows what it wrote. A row of its own: a long transaction must not keep a lease from being
-- renewed.
CREATE TABLE slot_notes (
    slot BIGINT PRIMARY KEY,
    commits BIGINT NOT NULL DEFAULT 0,
    copies BIGINT,
    fresh DOUBLE PRECISION,
    low DOUBLE PRECISION,
    high DOUBLE PRECISION
);

-- The price that all workers pay for a visit.
CREATE TABLE prices (
    id BIGINT PRIMARY KEY,
    price DOUBLE PRECISION NOT NULL,
    at TIMESTAMPTZ NOT NULL
);
