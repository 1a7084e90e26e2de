-- Lists of changed pages, and feeds whose hubs push what is new.

-- Entries of a source when it was last read, eight bytes each; what is not among them is news.
ALTER TABLE sources ADD COLUMN listed BLOB NOT NULL DEFAULT x'';
ALTER TABLE sources ADD COLUMN push_hub TEXT NOT NULL DEFAULT '';    -- WebSub hub of a feed
ALTER TABLE sources ADD COLUMN push_topic TEXT NOT NULL DEFAULT '';

-- One row per feed that was ever subscribed to; without secrets, which no store keeps.
CREATE TABLE subscriptions (
    feed TEXT PRIMARY KEY,
    hub TEXT NOT NULL,
    until INTEGER,             -- when it ends; null where it is not confirmed
    pushes INTEGER NOT NULL,   -- taken so far
    pushed_at INTEGER          -- when the last came
) STRICT, WITHOUT ROWID;
