-- Unix seconds from which a key is no longer accepted; NULL if it does not expire. Once it is ended, `revoked_at` is the same time:
-- what counts or lists active keys need not know of expiry. A rotated key and its successor share a counter.
ALTER TABLE keys ADD COLUMN expires_at INTEGER;
CREATE INDEX keys_by_expiry ON keys (expires_at) WHERE expires_at IS NOT NULL AND revoked_at IS NULL;
