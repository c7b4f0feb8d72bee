-- Unix seconds at which the password was last entered in a session: before sensitive changes it is asked again after some hours.
ALTER TABLE sessions ADD COLUMN authenticated_at INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET authenticated_at = created_at;
