-- The outbox of step 14 of the SQLite store, which describes it. Servers of the version before know of alerts only, and use the
-- view.
ALTER TABLE deliveries RENAME TO outbox;
ALTER TABLE outbox
    ALTER COLUMN alert DROP NOT NULL,
    ALTER COLUMN account DROP NOT NULL,
    ADD COLUMN link TEXT CHECK (link IN ('verification', 'reset')),
    ADD COLUMN email TEXT COLLATE "C",
    ADD COLUMN expires_at BIGINT,
    ADD CHECK ((alert IS NULL) = (account IS NULL) AND (alert IS NULL) = (link IS NOT NULL)),
    ADD CHECK ((link IS NULL) = (email IS NULL) AND (link IS NULL) = (expires_at IS NULL));
CREATE INDEX outbox_by_email ON outbox (email) WHERE email IS NOT NULL;
CREATE VIEW deliveries AS
    SELECT id, alert, account, webhook, attempts, due_at, claimed, outcome FROM outbox WHERE alert IS NOT NULL;
