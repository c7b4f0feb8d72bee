-- Unix seconds at which an operator vouched for the owner of the address. Before this step nothing distinguished accounts created
-- by an operator from those that anybody signed up: all of them start unverified.
ALTER TABLE accounts ADD COLUMN verified_at INTEGER;
