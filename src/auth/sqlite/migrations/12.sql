-- Operators see all accounts, and change them, on the pages below /admin. Commands make them.
ALTER TABLE accounts ADD COLUMN operator INTEGER NOT NULL DEFAULT 0 CHECK (operator IN (0, 1));
