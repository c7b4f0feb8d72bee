-- Where alerts are sent to. The secret that signs them is derived from the number of the address and that of the secret; the one
-- before is used, too, until `previous_until`. `stopped` says why nothing more is sent.
CREATE TABLE webhooks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    secret INTEGER NOT NULL DEFAULT 1,
    previous_until INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    stopped TEXT,
    UNIQUE (account, url)
) STRICT;

-- Saved searches and, without a query, lists of records. `evaluated` is the last release that was compared with the one before.
CREATE TABLE watches (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    records TEXT NOT NULL,
    query TEXT,
    created_at INTEGER NOT NULL,
    evaluated TEXT NOT NULL,
    problem TEXT,
    feed INTEGER NOT NULL DEFAULT 1,
    emails INTEGER NOT NULL DEFAULT 0 CHECK (emails IN (0, 1)),
    webhook INTEGER REFERENCES webhooks (id) ON DELETE SET NULL
) STRICT;
CREATE INDEX watches_by_account ON watches (account);
CREATE INDEX watches_by_webhook ON watches (webhook) WHERE webhook IS NOT NULL;

-- The records of lists, by slug or id.
CREATE TABLE listed (
    watch INTEGER NOT NULL REFERENCES watches (id) ON DELETE CASCADE,
    record TEXT NOT NULL,
    PRIMARY KEY (watch, record)
) STRICT, WITHOUT ROWID;

-- What a release brought a search or list, once per release.
CREATE TABLE alerts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    watch INTEGER NOT NULL REFERENCES watches (id) ON DELETE CASCADE,
    since TEXT NOT NULL,
    version TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    total INTEGER NOT NULL,
    entries TEXT NOT NULL,
    UNIQUE (watch, version)
) STRICT;
CREATE INDEX alerts_by_age ON alerts (created_at);

-- Alerts to be sent, by e-mail if no webhook is named. They are done when nothing is due. While one is sent it is claimed, and due
-- again later.
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    alert INTEGER NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
    account INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    webhook INTEGER REFERENCES webhooks (id) ON DELETE CASCADE,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER,
    claimed INTEGER NOT NULL DEFAULT 0 CHECK (claimed IN (0, 1)),
    outcome TEXT
) STRICT;
CREATE INDEX deliveries_by_alert ON deliveries (alert);
CREATE INDEX deliveries_by_account ON deliveries (account);
CREATE INDEX deliveries_by_webhook ON deliveries (webhook) WHERE webhook IS NOT NULL;
CREATE INDEX deliveries_claimed ON deliveries (id) WHERE claimed;
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE due_at IS NOT NULL;
