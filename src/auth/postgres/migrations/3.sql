-- Sign-ins, sign-ups and e-mails of clients in windows of time.
CREATE TABLE windows (
    -- A client, or a network of several, by its hash for one kind of limit.
    counter BIGINT PRIMARY KEY,
    -- Unix seconds.
    started_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    count BIGINT NOT NULL
);
CREATE INDEX windows_end ON windows (ends_at);
