-- Unix seconds since which an account is blocked: nobody can sign in, and its keys are rejected. NULL if it is not.
ALTER TABLE accounts ADD COLUMN blocked_at INTEGER;
