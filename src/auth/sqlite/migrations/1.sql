-- `service.change` is the number of the last change of a key; `keys.changed` is the change that wrote the row.
-- `keys.counter` is the number of the first key that used the counter. Usage is ordered by day, so that a start reads one
-- range and new rows are appended. It has no foreign key, so that one missing key cannot block the others.
CREATE TABLE service (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    change INTEGER NOT NULL,
    cursor_secret BLOB CHECK (length(cursor_secret) = 32)
) STRICT;
INSERT INTO service (id, change) VALUES (1, 0);
CREATE TABLE accounts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    email TEXT NOT NULL UNIQUE,
    tier TEXT NOT NULL CHECK (tier IN ('free', 'pro', 'enterprise')),
    created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    shown TEXT NOT NULL,
    counter INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    last_used_at INTEGER,
    changed INTEGER NOT NULL
) STRICT;
CREATE INDEX keys_of_account ON keys (account);
CREATE INDEX keys_by_counter ON keys (counter);
CREATE INDEX keys_by_change ON keys (changed);
CREATE INDEX keys_by_shown ON keys (shown);
CREATE TABLE usage (
    day INTEGER NOT NULL,
    key INTEGER NOT NULL,
    requests INTEGER NOT NULL CHECK (requests >= 0),
    PRIMARY KEY (day, key)
) STRICT, WITHOUT ROWID;
