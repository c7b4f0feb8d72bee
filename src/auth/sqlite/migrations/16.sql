-- Reviews of firms, with what their authors may still change. `public_id` is random. `version` counts changes. A review that was never
-- public is deleted with its account; of one that was, a row without account and content remains for a while, so that it disappears
-- where it was published. `note` is the operator's last question or reason, `response` the author's answer, `reply` that of the firm.
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    public_id TEXT NOT NULL UNIQUE,
    account INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
    firm TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('draft', 'submitted', 'asked', 'approved', 'rejected', 'hidden', 'withdrawn')),
    role TEXT CHECK (role IN ('founder', 'executive', 'other')),
    stage TEXT,
    contact_month TEXT,
    rating INTEGER CHECK (rating BETWEEN 1 AND 5),
    responsiveness INTEGER CHECK (responsiveness BETWEEN 1 AND 5),
    fairness INTEGER CHECK (fairness BETWEEN 1 AND 5),
    value_add INTEGER CHECK (value_add BETWEEN 1 AND 5),
    ghosted INTEGER CHECK (ghosted IN (0, 1)),
    title TEXT NOT NULL DEFAULT '',
    body TEXT NOT NULL DEFAULT '',
    proof TEXT NOT NULL DEFAULT 'none' CHECK (proof IN ('none', 'email', 'confirmed')),
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    submitted_at INTEGER,
    published_at INTEGER,
    disputed_at INTEGER,
    cleared INTEGER NOT NULL DEFAULT 0 CHECK (cleared IN (0, 1)),
    note TEXT,
    response TEXT,
    reply TEXT,
    replied_at INTEGER,
    version INTEGER NOT NULL DEFAULT 1,
    CHECK (account IS NOT NULL OR state = 'withdrawn'),
    CHECK (state = 'draft' OR account IS NULL OR (rating IS NOT NULL AND submitted_at IS NOT NULL)),
    CHECK (state NOT IN ('approved', 'hidden') OR published_at IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX reviews_draft ON reviews (account, firm) WHERE state = 'draft';
CREATE INDEX reviews_of_account ON reviews (account) WHERE account IS NOT NULL;
CREATE INDEX reviews_of_firm ON reviews (firm);
CREATE INDEX reviews_to_decide ON reviews (changed_at) WHERE state IN ('submitted', 'hidden');
CREATE INDEX reviews_published ON reviews (id) WHERE published_at IS NOT NULL;

CREATE TABLE review_decisions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    review INTEGER NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    operator INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
    decided_at INTEGER NOT NULL,
    action TEXT NOT NULL CHECK (action IN ('approve', 'reject', 'ask', 'hide')),
    reason TEXT NOT NULL
) STRICT;
CREATE INDEX review_decisions_of_review ON review_decisions (review);

-- What strangers and firms have against public reviews.
CREATE TABLE review_reports (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    review INTEGER NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('report', 'objection')),
    reason TEXT NOT NULL,
    email TEXT,
    reported_at INTEGER NOT NULL,
    settled_at INTEGER
) STRICT;
CREATE INDEX review_reports_of_review ON review_reports (review);
CREATE INDEX review_reports_open ON review_reports (review) WHERE settled_at IS NULL;

-- Limits what an account submits a day, also if it deletes its reviews.
CREATE TABLE review_submissions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    submitted_at INTEGER NOT NULL
) STRICT;
CREATE INDEX review_submissions_of_account ON review_submissions (account, submitted_at);

-- May write reviews of a service that takes them by invitation: the operator has created or invited it.
ALTER TABLE accounts ADD COLUMN reviewer INTEGER NOT NULL DEFAULT 0 CHECK (reviewer IN (0, 1));

-- Counts changes of what is public.
ALTER TABLE service ADD COLUMN review_change INTEGER NOT NULL DEFAULT 0;
