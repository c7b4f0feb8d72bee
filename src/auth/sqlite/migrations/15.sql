-- `steady_time` is the time of purges, in Unix seconds: what expired before it may be deleted. It advances only while a server runs;
-- 0 before the first start. `clock_jumped_at` is the time of the last jump of a server's clock by the clock before it, and
-- `clock_jump` its size in seconds.
ALTER TABLE service ADD COLUMN steady_time INTEGER NOT NULL DEFAULT 0;
ALTER TABLE service ADD COLUMN clock_jumped_at INTEGER;
ALTER TABLE service ADD COLUMN clock_jump INTEGER;

-- Links that sign in.
CREATE TABLE links_with_sign_in (
    account INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    purpose TEXT NOT NULL CHECK (purpose IN ('verification', 'reset', 'sign-in')),
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (account, purpose)
) STRICT, WITHOUT ROWID;
INSERT INTO links_with_sign_in (account, purpose, digest, expires_at)
    SELECT account, purpose, digest, expires_at FROM links;
DROP TABLE links;
ALTER TABLE links_with_sign_in RENAME TO links;

CREATE TABLE outbox_with_sign_in (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    alert INTEGER REFERENCES alerts (id) ON DELETE CASCADE,
    account INTEGER REFERENCES accounts (id) ON DELETE CASCADE,
    webhook INTEGER REFERENCES webhooks (id) ON DELETE CASCADE,
    link TEXT CHECK (link IN ('verification', 'reset', 'sign-in')),
    email TEXT,
    expires_at INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER,
    claimed INTEGER NOT NULL DEFAULT 0 CHECK (claimed IN (0, 1)),
    outcome TEXT,
    CHECK ((alert IS NULL) = (account IS NULL) AND (alert IS NULL) = (link IS NOT NULL)),
    CHECK ((link IS NULL) = (email IS NULL) AND (link IS NULL) = (expires_at IS NULL))
) STRICT;
INSERT INTO outbox_with_sign_in (id, alert, account, webhook, link, email, expires_at, attempts, due_at, claimed, outcome)
    SELECT id, alert, account, webhook, link, email, expires_at, attempts, due_at, claimed, outcome FROM outbox;
-- Numbers are the ids of messages to webhooks and are not given again. The table takes its row along when it is renamed.
DELETE FROM sqlite_sequence WHERE name = 'outbox_with_sign_in';
INSERT INTO sqlite_sequence (name, seq) SELECT 'outbox_with_sign_in', seq FROM sqlite_sequence WHERE name = 'outbox';
DROP TABLE outbox;
ALTER TABLE outbox_with_sign_in RENAME TO outbox;
CREATE INDEX outbox_by_alert ON outbox (alert) WHERE alert IS NOT NULL;
CREATE INDEX outbox_by_account ON outbox (account) WHERE account IS NOT NULL;
CREATE INDEX outbox_by_webhook ON outbox (webhook) WHERE webhook IS NOT NULL;
CREATE INDEX outbox_by_email ON outbox (email) WHERE email IS NOT NULL;
CREATE INDEX outbox_claimed ON outbox (id) WHERE claimed;
CREATE INDEX outbox_due ON outbox (due_at) WHERE due_at IS NOT NULL;
