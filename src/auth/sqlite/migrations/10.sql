-- Tokens in the links of e-mails, each valid once. An account has at most one for each purpose.
CREATE TABLE links (
    account INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    purpose TEXT NOT NULL CHECK (purpose IN ('verification', 'reset')),
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (account, purpose)
) STRICT, WITHOUT ROWID;
