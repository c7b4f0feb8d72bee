-- The keys of an account are read by state, active ones and those revoked since a time, so that a page does not cost more with
-- each key ever revoked. Usage is found by account, so that nothing looks up keys by counter.
DROP INDEX keys_of_account;
DROP INDEX keys_by_counter;
CREATE INDEX keys_of_account ON keys (account, revoked_at);
