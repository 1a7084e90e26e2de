-- The slot in which each host lies, from when workers come: who opens a slot reads its own rows alone.
-- Hosts are entered in the order of their numbers, without gaps.
CREATE TABLE slot_hosts (
    host BIGINT PRIMARY KEY,
    slot BIGINT NOT NULL
);
CREATE INDEX slot_hosts_by_slot ON slot_hosts (slot, host);
CREATE INDEX pages_by_host ON pages (host, id);
