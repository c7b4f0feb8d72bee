-- Units that servers leased and have not given back. The journal of the server knows how many of them are spent.
CREATE TABLE held_units (
    server BIGINT NOT NULL,
    -- Number in the journal of the server.
    record BIGINT NOT NULL,
    -- As in `leases`.
    kind BIGINT NOT NULL,
    counter BIGINT NOT NULL,
    day BIGINT NOT NULL,
    units BIGINT NOT NULL,
    PRIMARY KEY (server, record)
);
