-- Step 15 of the SQLite store, which describes it. Servers of the version before send a link to set a password in place of one that
-- signs in.
ALTER TABLE service
    ADD COLUMN steady_time BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN clock_jumped_at BIGINT,
    ADD COLUMN clock_jump BIGINT;
ALTER TABLE links
    DROP CONSTRAINT links_purpose_check,
    ADD CONSTRAINT links_purpose_check CHECK (purpose IN ('verification', 'reset', 'sign-in'));
ALTER TABLE outbox
    DROP CONSTRAINT outbox_link_check,
    ADD CONSTRAINT outbox_link_check CHECK (link IN ('verification', 'reset', 'sign-in'));
