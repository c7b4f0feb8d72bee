//! Faults of a dataset, each an edit of a valid one, with the messages it causes.

/// A change of the valid dataset.
pub enum Edit {
    /// In this file, the first text, which occurs once, is replaced by the second.
    Swap(&'static str, &'static str, &'static str),
    /// As `Swap`, with bytes.
    Bytes(&'static str, &'static str, &'static [u8]),
    /// The file has this content.
    Whole(&'static str, &'static str),
    /// The file is missing.
    Remove(&'static str),
}

use Edit::{Bytes, Remove, Swap, Whole};

/// A fault and its messages: `file:line: column: message`.
pub struct Fault {
    pub what: &'static str,
    pub edit: Edit,
    pub messages: &'static [&'static str],
}

const fn fault(what: &'static str, edit: Edit, messages: &'static [&'static str]) -> Fault {
    Fault { what, edit, messages }
}

const META: &str = "snapshot.toml";
const SECTORS: &str = "sectors.csv";
const FIRMS: &str = "firms.csv";
const STARTUPS: &str = "startups.csv";
const ROUNDS: &str = "funding_rounds.csv";
const PEOPLE: &str = "people.csv";
const REVIEWS: &str = "reviews.csv";
const ALIASES: &str = "aliases.csv";

#[rustfmt::skip]
pub const FAULTS: &[Fault] = &[
    // snapshot.toml
    fault("a version of another form", Swap(META, "2026-01-31.1", "v7"), &["snapshot.toml:1: version: \"v7\" is not a version of the form YYYY-MM-DD.N"]),
    fault("a version with an invalid date", Swap(META, "2026-01-31.1", "2026-02-30.1"), &["snapshot.toml:1: version: \"2026-02-30.1\" is not a version of the form YYYY-MM-DD.N"]),
    fault("a version numbered zero", Swap(META, "2026-01-31.1", "2026-01-31.0"), &["snapshot.toml:1: version: \"2026-01-31.0\" is not a version of the form YYYY-MM-DD.N"]),
    fault("a version that is a number", Swap(META, "\"2026-01-31.1\"", "7"), &["snapshot.toml:1: version: is of type integer; expected a string in quotes"]),
    fault("a release date of another form", Swap(META, "released_on = \"2026-01-31\"", "released_on = \"31.01.2026\""), &["snapshot.toml:2: released_on: \"31.01.2026\" is not a date of the form YYYY-MM-DD"]),
    fault("an invalid release date", Swap(META, "released_on = \"2026-01-31\"", "released_on = \"2026-01-32\""), &["snapshot.toml:2: released_on: \"2026-01-32\" is not a date of the form YYYY-MM-DD"]),
    fault("no quotes around a text", Swap(META, "\"Made by a test\"", "Made by a test"), &["snapshot.toml:4: is not TOML: string values must be quoted, expected literal string"]),
    fault("snapshot.toml is not UTF-8", Bytes(META, "Made by", b"Made \xfcber"), &["snapshot.toml:4: is not UTF-8"]),

    // files
    fault("no sectors.csv", Remove(SECTORS), &["firms.csv:2: sectors: no sector has the slug \"fintech\": the dataset has no sectors.csv"]),
    fault("no firms.csv", Remove(FIRMS), &["funding_rounds.csv:2: lead_investors: no firm has the slug \"alder-capital\": the dataset has no firms.csv"]),
    fault("no startups.csv", Remove(STARTUPS), &["funding_rounds.csv:2: startup: no startup has the slug \"tidewick\": the dataset has no startups.csv"]),
    fault("an empty file", Whole(PEOPLE, ""), &["people.csv:1: file is empty; the header line is missing"]),
    fault("a column twice", Swap(PEOPLE, "slug,name,title,", "slug,name,name,"), &[
        "people.csv:1: name: column occurs twice in the header",
    ]),

    // bad UTF-8, in each file
    fault("bad UTF-8 in sectors.csv", Bytes(SECTORS, "Animals", b"Tier\xe4rzte"), &["sectors.csv:6: description: is not UTF-8"]),
    fault("bad UTF-8 in firms.csv", Bytes(FIRMS, "Lisboa", b"\xc9vora"), &["firms.csv:6: city: is not UTF-8"]),
    fault("bad UTF-8 in startups.csv", Bytes(STARTUPS, "Boats", b"Boats\xff"), &["startups.csv:4: description: is not UTF-8"]),
    fault("bad UTF-8 in funding_rounds.csv", Bytes(ROUNDS, "2019-05-04", b"2019\xb705\xb704"), &["funding_rounds.csv:2: announced_on: is not UTF-8"]),
    fault("bad UTF-8 in people.csv", Bytes(PEOPLE, "Olu Tanner", b"\xd3lu Tanner"), &["people.csv:3: name: is not UTF-8"]),
    fault("bad UTF-8 in reviews.csv", Bytes(REVIEWS, "Quick and fair", b"Quick \xe2\x80 fair"), &["reviews.csv:2: body: is not UTF-8"]),

    // lines
    fault("a field too few", Swap(FIRMS, "dunlin-club,Dunlin Club,,", "dunlin-club,Dunlin Club,"), &["firms.csv:6: 13 fields, the header has 14"]),
    fault("a field too many", Swap(ROUNDS, "r-3,lomar,grant,,,,", "r-3,lomar,grant,,,,,"), &["funding_rounds.csv:4: 8 fields, the header has 7"]),
    fault("a line with a single word", Swap(PEOPLE, "olu-tanner,", "stray\nolu-tanner,"), &["people.csv:3: 1 field, the header has 6"]),

    // slugs and ids
    fault("a sector's slug twice", Swap(SECTORS, "pets,Pets", "cards,Pets"), &["sectors.csv:6: slug: \"cards\" is already used in line 4"]),
    fault("a firm's slug twice", Swap(FIRMS, "dunlin-club,", "alder-capital,"), &["firms.csv:6: slug: \"alder-capital\" is already used in line 2"]),
    fault("a startup's slug twice", Swap(STARTUPS, "oxbow,", "tidewick,"), &["startups.csv:4: slug: \"tidewick\" is already used in line 2"]),
    fault("a round's id twice", Swap(ROUNDS, "r-3,", "r-1,"), &["funding_rounds.csv:4: id: \"r-1\" is already used in line 2"]),
    fault("a person's slug twice", Swap(PEOPLE, "olu-tanner,", "ada-birchden,"), &["people.csv:3: slug: \"ada-birchden\" is already used in line 2"]),
    fault("a review's id twice", Swap(REVIEWS, "v-2,", "v-1,"), &["reviews.csv:3: id: \"v-1\" is already used in line 2"]),
    fault("a sector without a slug", Swap(SECTORS, "pets,Pets", ",Pets"), &["sectors.csv:6: slug: is empty; every row needs a value"]),
    fault("a firm without a slug", Swap(FIRMS, "dunlin-club,Dunlin", ",Dunlin"), &["firms.csv:6: slug: is empty; every row needs a value"]),
    fault("a startup without a slug", Swap(STARTUPS, "oxbow,Oxbow", "  ,Oxbow"), &["startups.csv:4: slug: is empty; every row needs a value"]),
    fault("a round without an id", Swap(ROUNDS, "r-3,", ","), &["funding_rounds.csv:4: id: is empty; every row needs a value"]),
    fault("a person without a slug", Swap(PEOPLE, "olu-tanner,", ","), &["people.csv:3: slug: is empty; every row needs a value"]),
    fault("a review without an id", Swap(REVIEWS, "v-2,", ","), &["reviews.csv:3: id: is empty; every row needs a value"]),
    fault("a slug in capitals", Swap(SECTORS, "pets,Pets", "Pets,Pets"), &["sectors.csv:6: slug: \"Pets\" is not a slug: lower-case letters a-z, digits and single `-` between them"]),
    fault("a slug with an underscore", Swap(FIRMS, "dunlin-club,", "dunlin_club,"), &["firms.csv:6: slug: \"dunlin_club\" is not a slug: lower-case letters a-z, digits and single `-` between them"]),
    fault("a slug with an accent", Swap(STARTUPS, "oxbow,Oxbow", "öxbow,Oxbow"), &["startups.csv:4: slug: \"öxbow\" is not a slug: lower-case letters a-z, digits and single `-` between them"]),
    fault("a slug with two hyphens", Swap(PEOPLE, "olu-tanner,", "olu--tanner,"), &["people.csv:3: slug: \"olu--tanner\" is not a slug: lower-case letters a-z, digits and single `-` between them"]),
    fault("a slug that ends in a hyphen", Swap(PEOPLE, "olu-tanner,", "olu-,"), &["people.csv:3: slug: \"olu-\" is not a slug: lower-case letters a-z, digits and single `-` between them"]),
    fault("a round's id with a space", Swap(ROUNDS, "r-3,", "r 3,"), &["funding_rounds.csv:4: id: \"r 3\" is not an id: it contains a space"]),
    fault("a review's id with a space", Swap(REVIEWS, "v-2,", "v 2,"), &["reviews.csv:3: id: \"v 2\" is not an id: it contains a space"]),
    fault("a firm with the slug of a path", Swap(FIRMS, "dunlin-club,Dunlin", "facets,Dunlin"), &["firms.csv:6: slug: `facets` is a path of the API; choose another slug"]),

    // names
    fault("a sector without a name", Swap(SECTORS, "health,Health", "health,"), &["sectors.csv:5: name: is empty; every row needs a value"]),
    fault("a firm without a name", Swap(FIRMS, "Cedar Bank", ""), &["firms.csv:5: name: is empty; every row needs a value"]),
    fault("a startup without a name", Swap(STARTUPS, "Lomar", "   "), &["startups.csv:3: name: is empty; every row needs a value"]),
    fault("a person with an invisible name", Swap(PEOPLE, "Olu Tanner", "\u{200b}"), &["people.csv:3: name: is empty; every row needs a value"]),

    // references
    fault("an unknown parent", Swap(SECTORS, "Payments,fintech", "Payments,finance"), &["sectors.csv:3: parent: no sector has the slug \"finance\""]),
    fault("an unknown sector of a firm", Swap(FIRMS, "fintech|health", "fintech|wealth"), &["firms.csv:2: sectors: no sector has the slug \"wealth\"; did you mean `health`?"]),
    fault("an unknown sector of a startup", Swap(STARTUPS, "payments|cards", "payments|card"), &["startups.csv:2: sectors: no sector has the slug \"card\"; did you mean `cards`?"]),
    fault("a round of an unknown startup", Swap(ROUNDS, "r-3,lomar", "r-3,lomax"), &["funding_rounds.csv:4: startup: no startup has the slug \"lomax\"; did you mean `lomar`?"]),
    fault("a round of a firm", Swap(ROUNDS, "r-3,lomar", "r-3,birch-fund"), &["funding_rounds.csv:4: startup: no startup has the slug \"birch-fund\""]),
    fault("an unknown lead", Swap(ROUNDS, "2019-05-04,alder-capital", "2019-05-04,elder-capital"), &["funding_rounds.csv:2: lead_investors: no firm has the slug \"elder-capital\"; did you mean `alder-capital`?"]),
    fault("an unknown investor", Swap(ROUNDS, "alder-capital|cedar-bank", "alder-capital|cedar-bonk"), &["funding_rounds.csv:3: investors: no firm has the slug \"cedar-bonk\"; did you mean `cedar-bank`?"]),
    fault("an investor by its name", Swap(ROUNDS, "alder-capital|cedar-bank", "Alder Capital|cedar-bank"), &["funding_rounds.csv:3: investors: no firm has the slug \"Alder Capital\"; did you mean `alder-capital`?"]),
    fault("a person of an unknown firm", Swap(PEOPLE, "firm,birch-fund", "firm,birch"), &["people.csv:2: organization: no firm has the slug \"birch\""]),
    fault("a person of an unknown startup", Swap(PEOPLE, "startup,lomar", "startup,lomax"), &["people.csv:3: organization: no startup has the slug \"lomax\"; did you mean `lomar`?"]),
    fault("a person of a startup that is a firm", Swap(PEOPLE, "firm,birch-fund", "startup,birch-fund"), &["people.csv:2: organization: no startup has the slug \"birch-fund\""]),
    fault("a review of an unknown firm", Swap(REVIEWS, "v-2,birch-fund", "v-2,tidewick"), &["reviews.csv:3: firm: no firm has the slug \"tidewick\""]),

    // aliases
    fault("an alias of an unknown firm", Swap(ALIASES, "firm,birch-fund", "firm,birch-fnud"), &["aliases.csv:2: slug: no firm has the slug \"birch-fnud\"; did you mean `birch-fund`?"]),
    fault("an alias of a firm that is a person", Swap(ALIASES, "person,ada-birchden", "firm,ada-birchden"), &["aliases.csv:4: slug: no firm has the slug \"ada-birchden\""]),
    fault("an alias of a sector", Swap(ALIASES, "firm,birch-fund", "sector,cards"), &["aliases.csv:2: kind: \"sector\" is not one of firm, startup, person"]),
    fault("an alias of no kind", Swap(ALIASES, "firm,birch-fund", ",birch-fund"), &["aliases.csv:2: kind: is empty; every row needs a value"]),
    fault("an empty alias", Swap(ALIASES, "Tidewick Tills", " "), &["aliases.csv:3: alias: is empty; every row needs a value"]),
    fault("an alias of no record", Swap(ALIASES, "startup,tidewick", "startup,"), &["aliases.csv:3: slug: is empty; every row needs a value"]),
    fault("two aliases on a line", Swap(ALIASES, "Tidewick Tills", "Tills|Tidetills"), &["aliases.csv:3: alias: \"Tills|Tidetills\" contains `|`; write each alias on a line of its own"]),
    fault("an alias twice", Swap(ALIASES, "startup,tidewick,Tidewick Tills", "firm,birch-fund,Birchwood"), &["aliases.csv:3: alias: \"Birchwood\" is already an alias of this record in line 2"]),

    // vocabularies
    fault("an unknown kind", Swap(FIRMS, ",bank,", ",banks,"), &["firms.csv:5: kind: \"banks\" is not a kind: vc, angel, angel-network, accelerator, corporate, private-equity, family-office, bank, university, government, crowdfunding, other"]),
    fault("an unknown stage of a firm", Swap(FIRMS, "seed|series-a", "seed|series-z"), &["firms.csv:2: stages: \"series-z\" is not a stage: pre-seed, seed, series-a, series-b, series-c, series-d-plus, growth, debt, grant, ipo, other"]),
    fault("an unknown stage of a startup", Swap(STARTUPS, "2018,series-a", "2018,late"), &["startups.csv:2: stage: \"late\" is not a stage: pre-seed, seed, series-a, series-b, series-c, series-d-plus, growth, debt, grant, ipo, other"]),
    fault("an unknown stage of a round", Swap(ROUNDS, "lomar,grant", "lomar,gift"), &["funding_rounds.csv:4: stage: \"gift\" is not a stage: pre-seed, seed, series-a, series-b, series-c, series-d-plus, growth, debt, grant, ipo, other"]),
    fault("an unknown stage of a review", Swap(REVIEWS, "alder-capital,seed", "alder-capital,sead"), &["reviews.csv:2: stage: \"sead\" is not a stage: pre-seed, seed, series-a, series-b, series-c, series-d-plus, growth, debt, grant, ipo, other"]),
    fault("an unknown status of a startup", Swap(STARTUPS, "health,closed", "health,dead"), &["startups.csv:3: status: \"dead\" is not a status: operating, acquired, ipo, closed"]),
    fault("an unknown status of a review", Swap(REVIEWS, ",pending,", ",waiting,"), &["reviews.csv:3: status: \"waiting\" is not a status: pending, approved, rejected"]),
    fault("an unknown role of a reviewer", Swap(REVIEWS, ",founder,", ",boss,"), &["reviews.csv:2: role: \"boss\" is not a reviewer's role: founder, executive, other"]),
    fault("an unknown proof", Swap(REVIEWS, ",email,", ",passport,"), &["reviews.csv:2: proof: \"passport\" is not a proof: none, email, confirmed"]),
    fault("an author by address", Swap(REVIEWS, "0123456789abcdef", "jane@alder.example"), &["reviews.csv:2: author: is not a keyed hash: 16 to 200 of A-Z, a-z, 0-9, `-`, `_`, `+`, `/` and `=`"]),
    fault("an author by name", Swap(REVIEWS, "0123456789abcdef", "Jane Alder"), &["reviews.csv:2: author: is not a keyed hash: 16 to 200 of A-Z, a-z, 0-9, `-`, `_`, `+`, `/` and `=`"]),
    fault("cleared neither true nor false", Swap(REVIEWS, "2025-12-01,false", "2025-12-01,later"), &["reviews.csv:2: cleared: \"later\" is neither `true` nor `false`"]),
    fault("an unknown kind of organization", Swap(PEOPLE, "startup,lomar", "company,lomar"), &["people.csv:3: organization_kind: \"company\" is not an organization_kind: firm, startup"]),
    fault("an unknown country of a firm", Swap(FIRMS, ",,,FR,", ",,,XX,"), &["firms.csv:4: country: \"XX\" is not a country of ISO 3166-1, such as `DE`"]),
    fault("an unknown country of a startup", Swap(STARTUPS, ",GB,", ",Atlantis,"), &["startups.csv:2: country: \"Atlantis\" is not a country of ISO 3166-1, such as `DE`"]),
    fault("an unknown country of a person", Swap(PEOPLE, "birch-fund,FR", "birch-fund,EU"), &["people.csv:2: country: \"EU\" is not a country of ISO 3166-1, such as `DE`"]),
    fault("ghosted neither true nor false", Swap(REVIEWS, ",true,", ",perhaps,"), &["reviews.csv:3: ghosted: \"perhaps\" is neither `true` nor `false`"]),

    // numbers
    fault("a check size in words", Swap(FIRMS, "100000,500000", "5m,500000"), &["firms.csv:2: check_min_usd: \"5m\" is not a whole number of US dollars"]),
    fault("a check size with a sign", Swap(FIRMS, "100000,500000", "100000,-500000"), &["firms.csv:2: check_max_usd: \"-500000\" is not a whole number of US dollars"]),
    fault("assets with a fraction", Swap(FIRMS, "90000000", "90000000.50"), &["firms.csv:2: aum_usd: \"90000000.50\" is not a whole number of US dollars"]),
    fault("an amount with commas", Swap(ROUNDS, "750000", "\"750,000\""), &["funding_rounds.csv:2: amount_usd: \"750,000\" is not a whole number of US dollars"]),
    fault("an amount that is too large", Swap(ROUNDS, "6000000", "99999999999999999999"), &["funding_rounds.csv:3: amount_usd: \"99999999999999999999\" is not a whole number of US dollars"]),
    fault("an invalid year of a firm", Swap(FIRMS, ",1999,", ",about 1999,"), &["firms.csv:4: founded_year: \"about 1999\" is not a year from 1 to 9999"]),
    fault("an invalid year of a startup", Swap(STARTUPS, ",2018,", ",20180,"), &["startups.csv:2: founded_year: \"20180\" is not a year from 1 to 9999"]),

    // ratings
    fault("a rating of 0", Swap(REVIEWS, "birch-fund,,1,", "birch-fund,,0,"), &["reviews.csv:3: rating: \"0\" is not a rating: a whole number from 1 to 5"]),
    fault("a rating of 6", Swap(REVIEWS, "seed,5,4,3,2", "seed,6,4,3,2"), &["reviews.csv:2: rating: \"6\" is not a rating: a whole number from 1 to 5"]),
    fault("responsiveness with a fraction", Swap(REVIEWS, "seed,5,4,3,2", "seed,5,4.5,3,2"), &["reviews.csv:2: responsiveness: \"4.5\" is not a rating: a whole number from 1 to 5"]),
    fault("fairness in words", Swap(REVIEWS, "seed,5,4,3,2", "seed,5,4,good,2"), &["reviews.csv:2: fairness: \"good\" is not a rating: a whole number from 1 to 5"]),
    fault("a value_add of -2", Swap(REVIEWS, "seed,5,4,3,2", "seed,5,4,3,-2"), &["reviews.csv:2: value_add: \"-2\" is not a rating: a whole number from 1 to 5"]),

    // dates
    fault("a round's date of another form", Swap(ROUNDS, "2019-05-04", "04/05/2019"), &["funding_rounds.csv:2: announced_on: \"04/05/2019\" is not a date of the form YYYY-MM-DD, YYYY-MM or YYYY, such as 2026-06-30, 2026-06 or 2026"]),
    fault("a round with an invalid date", Swap(ROUNDS, "2021-02-28", "2021-02-29"), &["funding_rounds.csv:3: announced_on: \"2021-02-29\" is not a date of the form YYYY-MM-DD, YYYY-MM or YYYY, such as 2026-06-30, 2026-06 or 2026"]),
    fault("a review's date of another form", Swap(REVIEWS, "2025-11-30", "2025-11-"), &["reviews.csv:3: created_on: \"2025-11-\" is not a date of the form YYYY-MM-DD, YYYY-MM or YYYY, such as 2026-06-30, 2026-06 or 2026"]),

    fault("a month of contact with a day", Swap(REVIEWS, ",2025-09,", ",2025-09-03,"), &["reviews.csv:2: contact_month: \"2025-09-03\" is not a month of the form YYYY-MM, such as 2026-06"]),
    fault("an account's date in words", Swap(REVIEWS, "2025-08-01", "August"), &["reviews.csv:2: author_since: \"August\" is not a date of the form YYYY-MM-DD, YYYY-MM or YYYY, such as 2026-06-30, 2026-06 or 2026"]),
    fault("an answer's date in words", Swap(REVIEWS, "2025-10-20", "soon"), &["reviews.csv:2: replied_on: \"soon\" is not a date of the form YYYY-MM-DD, YYYY-MM or YYYY, such as 2026-06-30, 2026-06 or 2026"]),
    fault("an objection's date in words", Swap(REVIEWS, "2025-12-01", "yes"), &["reviews.csv:2: disputed_on: \"yes\" is not a date of the form YYYY-MM-DD, YYYY-MM or YYYY, such as 2026-06-30, 2026-06 or 2026"]),

    // required fields
    fault("a round without a startup", Swap(ROUNDS, "r-3,lomar", "r-3,"), &["funding_rounds.csv:4: startup: is empty; every row needs a value"]),
    fault("a person without an organization", Swap(PEOPLE, "startup,lomar", "startup,"), &["people.csv:3: organization: is empty; every row needs a value"]),
    fault("a person without a kind of organization", Swap(PEOPLE, "startup,lomar", ",lomar"), &["people.csv:3: organization_kind: is empty; every row needs a value"]),
    fault("a review without a firm", Swap(REVIEWS, "v-2,birch-fund", "v-2,"), &["reviews.csv:3: firm: is empty; every row needs a value"]),
    fault("a review without a rating", Swap(REVIEWS, "birch-fund,,1,", "birch-fund,,,"), &["reviews.csv:3: rating: is empty; every row needs a value"]),
    fault("a review without a status", Swap(REVIEWS, ",pending,", ",,"), &["reviews.csv:3: status: is empty; every row needs a value"]),
    fault("a review without a date", Swap(REVIEWS, "2025-11-30", ""), &["reviews.csv:3: created_on: is empty; every row needs a value"]),

    // websites
    fault("a website that is a script", Swap(FIRMS, "https://alder.example", "javascript:alert(1)"), &["firms.csv:2: website: \"javascript:alert(1)\" is not a web address; write it as `https://www.example.com`"]),
    fault("a website that is a document", Swap(STARTUPS, "https://tidewick.example", "\"data:text/html,<script>x</script>\""), &["startups.csv:2: website: \"data:text/html,<script>x</script>\" contains a character that no URL has, such as `<` or `\\`; percent-encode it"]),
    fault("a website of another scheme", Swap(STARTUPS, "https://tidewick.example", "ftp://x"), &["startups.csv:2: website: \"ftp://x\" is not a web address; write it as `https://www.example.com`"]),
    fault("a website without a scheme", Swap(STARTUPS, "https://tidewick.example", "//evil.example"), &["startups.csv:2: website: \"//evil.example\" is not a web address; write it as `https://www.example.com`"]),
    fault("two websites", Swap(FIRMS, "https://alder.example", "https://x y"), &["firms.csv:2: website: \"https://x y\" contains a space; give a single URL and write a space in it as `%20`"]),
    fault("a website with a password", Swap(FIRMS, "https://alder.example", "http://user:pw@evil.example/"), &["firms.csv:2: website: \"http://user:pw@evil.example/\" has user information before `@`; remove it, as in `https://www.example.com`"]),
    fault("a website without a host", Swap(FIRMS, "https://alder.example", "https:///about"), &["firms.csv:2: website: \"https:///about\" has no valid host; write it as `https://www.example.com`"]),

    // sector cycles
    fault("a sector that is its own parent", Swap(SECTORS, "fintech,Fintech,,", "fintech,Fintech,fintech,"), &["sectors.csv:2: parent: \"fintech\" is its own ancestor"]),
    fault("a cycle of two sectors", Swap(SECTORS, "fintech,Fintech,,", "fintech,Fintech,payments,"), &[
        "sectors.csv:2: parent: \"fintech\" is its own ancestor",
        "sectors.csv:3: parent: \"payments\" is its own ancestor",
    ]),
    fault("a cycle of three sectors", Swap(SECTORS, "fintech,Fintech,,", "fintech,Fintech,cards,"), &[
        "sectors.csv:2: parent: \"fintech\" is its own ancestor",
        "sectors.csv:3: parent: \"payments\" is its own ancestor",
        "sectors.csv:4: parent: \"cards\" is its own ancestor",
    ]),
];

#[rustfmt::skip]
pub const WARNINGS: &[Fault] = &[
    fault("an unknown column", Swap(PEOPLE, "slug,name,title,organization_kind,organization,country\nada-birchden,Ada Birchden,Partner,firm,birch-fund,FR\nolu-tanner,Olu Tanner,CEO,startup,lomar,", "slug,name,title,organization_kind,organization,country,shoe_size\nada-birchden,Ada Birchden,Partner,firm,birch-fund,FR,39\nolu-tanner,Olu Tanner,CEO,startup,lomar,,44"), &["people.csv:1: unknown column \"shoe_size\""]),
    fault("an unknown key", Swap(META, "title = ", "titel = "), &["snapshot.toml:3: unknown key \"titel\""]),
    fault("minimum check size above the maximum", Swap(FIRMS, "100000,500000", "700000,500000"), &["firms.csv:2: check_min_usd: 700000 is above check_max_usd, 500000"]),
    fault("a firm founded in the future", Swap(FIRMS, ",1999,", ",2027,"), &["firms.csv:4: founded_year: 2027 is after the release"]),
    fault("a startup founded in the future", Swap(STARTUPS, "Lo,,,,,,", "Lo,,,,,2030,"), &["startups.csv:3: founded_year: 2030 is after the release"]),
    fault("a round before its startup", Swap(ROUNDS, "2019-05-04", "2017-12-31"), &["funding_rounds.csv:2: announced_on: 2017-12-31 is before the startup was founded, 2018"]),
    fault("a review after the release", Swap(REVIEWS, "2025-11-30", "2026-02-01"), &["reviews.csv:3: created_on: 2026-02-01 is after the release, 2026-01-31"]),
    fault("a contact after its review", Swap(REVIEWS, ",2025-09,", ",2025-11,"), &["reviews.csv:2: contact_month: 2025-11 is after created_on, 2025-10-01"]),
    fault("an account after its review", Swap(REVIEWS, "2025-08-01", "2025-10-02"), &["reviews.csv:2: author_since: 2025-10-02 is after created_on, 2025-10-01"]),
    fault("an answer before its review", Swap(REVIEWS, "2025-10-20", "2025-09"), &["reviews.csv:2: replied_on: 2025-09 is before created_on, 2025-10-01"]),
    fault("a date without an answer", Swap(REVIEWS, "Thank you", ""), &["reviews.csv:2: replied_on: is the date of a reply, and `reply` is empty"]),
    fault("a round after the release", Swap(ROUNDS, "2021-02-28", "2099-01-01"), &["funding_rounds.csv:3: announced_on: 2099-01-01 is after the release, 2026-01-31"]),
    fault("a round of 0", Swap(ROUNDS, "750000", "0"), &["funding_rounds.csv:2: amount_usd: is 0; leave the field empty if the amount is unknown"]),
    fault("a largest check and assets of 0", Swap(FIRMS, "100000,500000,90000000", "0,0,0"), &[
        "firms.csv:2: check_max_usd: is 0; leave the field empty if the amount is unknown",
        "firms.csv:2: aum_usd: is 0; leave the field empty if the amount is unknown",
    ]),
    fault("a website with a user name", Swap(FIRMS, "https://alder.example", "http://jane@alder.example"), &["firms.csv:2: website: \"http://jane@alder.example\" has a user name before `@` and is left out; remove it"]),
    fault("control characters in a name", Swap(STARTUPS, "lomar,Lomar", "lomar,Lo\u{1b}m\0ar"), &["startups.csv:3: name: \"Lo\\u{1b}m\\0ar\": 2 invisible or control characters were removed"]),
    fault("an invisible character in an alias", Swap(STARTUPS, "Lomar,Lo,", "Lomar,L\u{202e}o,"), &["startups.csv:3: aliases: \"L\\u{202e}o\": 1 invisible or control character was removed"]),
    fault("an invisible character in a review", Swap(REVIEWS, "Quick and fair", "Quick\u{e0041} and fair"), &["reviews.csv:2: body: \"Quick\\u{e0041} and fair\": 1 invisible or control character was removed"]),
    fault("an invisible character in a title", Swap(META, "A small dataset", "A \u{200b}small dataset"), &["snapshot.toml:3: title: \"A \\u{200b}small dataset\": invisible or control characters were removed"]),
    fault("an alias that is the name", Swap(ALIASES, "Birchwood", "BIRCH fund"), &["aliases.csv:2: alias: \"BIRCH fund\" is the name of the firm; remove the line"]),
    fault("an alias that the record has", Swap(ALIASES, "startup,tidewick,Tidewick Tills", "startup,lomar,Lo"), &["aliases.csv:3: alias: \"Lo\" is already in the column `aliases` of its record; remove one"]),
    fault("two firms of one name", Swap(FIRMS, "Birch Fund", "Alder Capital"), &["firms.csv:4: name: \"Alder Capital\" is also the name in line 2"]),
    fault("two startups of one name", Swap(STARTUPS, "lomar,Lomar", "lomar,Tidewick"), &["startups.csv:3: name: \"Tidewick\" is also the name in line 2"]),
    fault("two people of one name", Swap(PEOPLE, "Olu Tanner", "Ada Birchden"), &["people.csv:3: name: \"Ada Birchden\" is also the name in line 2"]),
];
