-- Units of daily counters that servers hold or used.
CREATE TABLE leases (
    -- 0: a key's counter, 1: a client by its hash.
    kind BIGINT NOT NULL,
    counter BIGINT NOT NULL,
    day BIGINT NOT NULL,
    taken BIGINT NOT NULL,
    -- By the last lease.
    granted BIGINT NOT NULL,
    PRIMARY KEY (day, kind, counter)
);

-- The servers that run.
CREATE TABLE servers (
    id BIGINT PRIMARY KEY,
    seen_at TIMESTAMPTZ NOT NULL
);
