-- The secret of the account's authenticator app (TOTP), since when it is used, and the last step of time of which a code was
-- accepted, so that no code is accepted twice. Recovery codes are rows until they are used.
ALTER TABLE accounts ADD COLUMN totp_secret BLOB CHECK (length(totp_secret) = 20);
ALTER TABLE accounts ADD COLUMN totp_enabled_at INTEGER;
ALTER TABLE accounts ADD COLUMN totp_step INTEGER NOT NULL DEFAULT 0;
CREATE TABLE recovery_codes (
    account INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    PRIMARY KEY (account, digest)
) STRICT, WITHOUT ROWID;
