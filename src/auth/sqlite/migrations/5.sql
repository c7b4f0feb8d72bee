-- A session has a number, by which its owner's page lists and ends it, and the time of its last use, as it ends if it is not used.
-- Existing sessions count as used now.
CREATE TABLE sessions_5 (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    account INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
INSERT INTO sessions_5 (digest, account, created_at, last_used_at, expires_at)
    SELECT digest, account, created_at, unixepoch(), expires_at FROM sessions ORDER BY created_at;
DROP TABLE sessions;
ALTER TABLE sessions_5 RENAME TO sessions;
CREATE INDEX sessions_of_account ON sessions (account);
