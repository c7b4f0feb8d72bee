-- `accounts.password_version` counts how often a password was set. Keys outlive their account, so that they are rejected
-- as revoked and not as unknown; SQLite can make a column nullable only by copying the table.
ALTER TABLE accounts ADD COLUMN password TEXT;
ALTER TABLE accounts ADD COLUMN password_version INTEGER NOT NULL DEFAULT 0;
CREATE TABLE sessions (
    digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
    account INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_of_account ON sessions (account);
CREATE INDEX sessions_by_end ON sessions (expires_at);
CREATE TABLE keys_2 (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
    name TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    shown TEXT NOT NULL,
    counter INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    last_used_at INTEGER,
    changed INTEGER NOT NULL,
    CHECK (account IS NOT NULL OR revoked_at IS NOT NULL)
) STRICT;
INSERT INTO keys_2 SELECT id, account, name, digest, shown, counter, created_at, revoked_at, last_used_at, changed
    FROM keys;
DROP TABLE keys;
ALTER TABLE keys_2 RENAME TO keys;
CREATE INDEX keys_of_account ON keys (account);
CREATE INDEX keys_by_counter ON keys (counter);
CREATE INDEX keys_by_change ON keys (changed);
CREATE INDEX keys_by_shown ON keys (shown);
