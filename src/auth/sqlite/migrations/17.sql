-- Accounts that speak for a firm, with a verified address at the domain of its website.
CREATE TABLE firm_claims (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    firm TEXT NOT NULL,
    claimed_at INTEGER NOT NULL,
    notifies INTEGER NOT NULL CHECK (notifies IN (0, 1)),
    UNIQUE (account, firm)
) STRICT;
CREATE INDEX firm_claims_of_firm ON firm_claims (firm);

-- E-mails to be sent about approved reviews. While one is sent it is due again later; then it is deleted.
CREATE TABLE review_notices (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    claim INTEGER NOT NULL REFERENCES firm_claims (id) ON DELETE CASCADE,
    review INTEGER NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL
) STRICT;
CREATE INDEX review_notices_due ON review_notices (due_at);
CREATE INDEX review_notices_of_claim ON review_notices (claim);
CREATE INDEX review_notices_of_review ON review_notices (review);

-- Values that a firm proposes for its record, each with the address of a page that shows it.
CREATE TABLE corrections (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
    firm TEXT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    source TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'proposed' CHECK (state IN ('proposed', 'accepted', 'rejected')),
    proposed_at INTEGER NOT NULL,
    decided_at INTEGER,
    operator INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
    reason TEXT
) STRICT;
CREATE INDEX corrections_of_account ON corrections (account) WHERE account IS NOT NULL;
CREATE INDEX corrections_by_state ON corrections (state, id);
