-- The keys that an account had on the day it was deleted, by an HMAC of its address: on that day a new account of the address
-- continues their counters. Deleted after the day, like the usage of these keys.
CREATE TABLE deleted_keys (
    day INTEGER NOT NULL,
    key INTEGER NOT NULL,
    owner BLOB NOT NULL CHECK (length(owner) = 32),
    PRIMARY KEY (day, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX deleted_keys_of_owner ON deleted_keys (owner);
