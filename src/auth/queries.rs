//! Queries that both databases understand; conditions with parameters are added by each.

pub(crate) const ACCOUNTS: &str = "SELECT accounts.id, accounts.email, accounts.tier, accounts.created_at, \
     (SELECT count(DISTINCT counter) FROM keys WHERE keys.account = accounts.id AND keys.revoked_at IS NULL) AS active_keys, \
     accounts.verified_at, accounts.totp_enabled_at, \
     (SELECT count(*) FROM recovery_codes WHERE recovery_codes.account = accounts.id) AS recovery_codes, \
     accounts.operator, accounts.blocked_at FROM accounts";

/// Without the usage of the day, which is read by counter.
pub(crate) const KEYS: &str = "SELECT keys.id, keys.account, accounts.email, accounts.tier, keys.name, keys.shown, \
     keys.created_at, CASE WHEN keys.revoked_at < coalesce(keys.expires_at, keys.revoked_at + 1) THEN keys.revoked_at END, \
     keys.last_used_at, keys.counter, keys.expires_at \
     FROM keys JOIN accounts ON accounts.id = keys.account";

/// What authentication needs to know of keys.
pub(crate) const KEY_STATES: &str = "SELECT keys.id, keys.counter, keys.account, coalesce(accounts.tier, 'free'), \
     accounts.blocked_at IS NOT NULL OR keys.revoked_at IS NOT NULL AND \
     (accounts.id IS NULL OR keys.revoked_at < coalesce(keys.expires_at, keys.revoked_at + 1)), \
     keys.digest, keys.shown, keys.expires_at FROM keys LEFT JOIN accounts ON accounts.id = keys.account";

pub(crate) const WATCHES: &str = "SELECT watches.id, watches.account, watches.name, watches.records, watches.query, \
     CASE WHEN watches.query IS NULL THEN (SELECT count(*) FROM listed WHERE listed.watch = watches.id) ELSE 0 END, \
     watches.created_at, watches.evaluated, watches.problem, watches.feed, watches.emails, watches.webhook FROM watches";

pub(crate) const WEBHOOKS: &str = "SELECT id, account, url, secret, previous_until, created_at, stopped FROM webhooks";
