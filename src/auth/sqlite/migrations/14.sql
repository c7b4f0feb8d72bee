-- Every message that is to be sent. An alert, by e-mail if no webhook is named: it is done when nothing is due, and deleted with the
-- alert. Or a requested link, for an e-mail address that may have no account: the link is made when it is sent, so that no secret
-- waits here, and the row is deleted then or when it expires. While a message is sent it is claimed, and due again later.
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    alert INTEGER REFERENCES alerts (id) ON DELETE CASCADE,
    account INTEGER REFERENCES accounts (id) ON DELETE CASCADE,
    webhook INTEGER REFERENCES webhooks (id) ON DELETE CASCADE,
    link TEXT CHECK (link IN ('verification', 'reset')),
    email TEXT,
    expires_at INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER,
    claimed INTEGER NOT NULL DEFAULT 0 CHECK (claimed IN (0, 1)),
    outcome TEXT,
    CHECK ((alert IS NULL) = (account IS NULL) AND (alert IS NULL) = (link IS NOT NULL)),
    CHECK ((link IS NULL) = (email IS NULL) AND (link IS NULL) = (expires_at IS NULL))
) STRICT;
INSERT INTO outbox (id, alert, account, webhook, attempts, due_at, claimed, outcome)
    SELECT id, alert, account, webhook, attempts, due_at, claimed, outcome FROM deliveries;
-- Numbers are the ids of messages to webhooks and are not given again.
DELETE FROM sqlite_sequence WHERE name = 'outbox';
INSERT INTO sqlite_sequence (name, seq) SELECT 'outbox', seq FROM sqlite_sequence WHERE name = 'deliveries';
DROP TABLE deliveries;
CREATE INDEX outbox_by_alert ON outbox (alert) WHERE alert IS NOT NULL;
CREATE INDEX outbox_by_account ON outbox (account) WHERE account IS NOT NULL;
CREATE INDEX outbox_by_webhook ON outbox (webhook) WHERE webhook IS NOT NULL;
CREATE INDEX outbox_by_email ON outbox (email) WHERE email IS NOT NULL;
CREATE INDEX outbox_claimed ON outbox (id) WHERE claimed;
CREATE INDEX outbox_due ON outbox (due_at) WHERE due_at IS NOT NULL;
