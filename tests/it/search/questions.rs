//! Questions in words (`ask`): read as parameters, which the answer lists, on lists, pages and in tools.

use std::sync::{Arc, LazyLock};

use auth::quota::Tier;
use catalog::{Catalog, ParseOptions, Resource};
use data::ReviewStatus;
use mcp::Tool;
use proptest::prelude::*;
use proptest::sample::select;
use scraper::Html;
use serde_json::{Value, json};

use crate::mcp::tools::TestTools;
use crate::pages::charts::all_of;
use crate::pages::{list_of, rendered};
use crate::support::harness::{Client, Server, bundled, cases, code, real_catalog};
use crate::support::html::{Markup, parse, text_of};

/// List, question, parameters, unread words.
const QUESTIONS: &[(&str, &str, &str, &str)] = &[
    ("startups", "fintech startups in London founded after 2010", "sector=fintech city=london founded_from=2011", ""),
    (
        "startups",
        "AI startups for diagnostics in Berlin that raised a seed round last year",
        "sector_all=artificial-intelligence sector_all=diagnostics city=berlin stage=seed last_round_since=2025-01-01 \
         last_round_until=2025-12-31",
        "",
    ),
    ("startups", "startups without a website in London", "unknown=website city=london", ""),
    ("startups", "startups without revenue in London", "city=london", "without revenue"),
    ("startups", "fintech startups with a website", "sector=fintech known=website", ""),
    ("startups", "startups in Austin, TX", "country=US city=austin", ""),
    ("startups", "startups by Indian founders in London", "city=london", "Indian; founders"),
    ("startups", "companies founded by women", "text=women", "women"),
    ("startups", "startups not founded before 2010", "founded_from=2010", ""),
    ("startups", "startups not founded in 2010", "", "in 2010"),
    ("startups", "startups older than 2000", "founded_to=1999", ""),
    ("startups", "startups with 2000 employees", "", "2000 employees"),
    ("startups", "startups like mine", "", "like; mine"),
    ("startups", "startups with at most 2 rounds", "max_rounds=2", ""),
    ("startups", "startups with 4 rounds or less", "max_rounds=4", ""),
    ("startups", "startups with not more than 5 rounds", "max_rounds=5", ""),
    ("startups", "startups founded in or before 2010", "founded_to=2010", ""),
    ("startups", "startups that have not raised a series c", "", "not raised a series c"),
    ("startups", "all but fintech startups in London", "not_sector=fintech city=london", ""),
    ("startups", "startups no London", "", "no London"),
    ("rounds", "rounds not above 20 million dollars", "max_amount_usd=20000000", ""),
    ("rounds", "rounds of companies founded after 2011", "", "after 2011"),
    ("rounds", "rounds seit 2008", "since=2008-01-01", ""),
    ("vcs", "firms with a score below 40", "max_health_score=39", ""),
    ("vcs", "firms with a ghosting rate above 60%", "min_ghosting_rate=60", ""),
    ("startups", "raised $1M - $5M", "min_raised_usd=1000000 max_raised_usd=5000000", ""),
    ("startups", "raised more than a million", "min_raised_usd=1000000", ""),
    ("startups", "raised more than a million US dollars", "min_raised_usd=1000000", ""),
    ("startups", "raised over half a billion", "min_raised_usd=500000000", ""),
    ("startups", "over a hundred million dollars raised", "min_raised_usd=100000000", ""),
    ("startups", "startups that raised over 5 million €", "", "over 5 million €"),
    ("startups", "active fintech startups", "status=operating sector=fintech", ""),
    ("startups", "startups with the most funding rounds", "sort=-round_count", ""),
    ("startups", "series B+ startups", "stage=series-b,series-c,series-d-plus", ""),
    ("startups", "Series A-C startups", "stage=series-a,series-b,series-c", ""),
    ("startups", "seed or earlier", "stage=pre-seed,seed", ""),
    ("startups", "between seed and series B", "stage=seed,series-a,series-b", "between"),
    ("startups", "post seed startups", "", "post; seed"),
    ("startups", "biotehc startups in London", "sector=biotech city=london", ""),
    ("rounds", "seed to series B rounds of 2024", "stage=seed,series-a,series-b since=2024-01-01 until=2024-12-31", ""),
    ("rounds", "rounds with undisclosed amounts", "unknown=amount_usd", ""),
    ("people", "founder at a startup in London", "role=founder kind=startup city=london", ""),
    ("people", "founders backed by Alder Capital", "role=founder", "Alder Capital"),
    ("vcs", "most reviewed investors in London", "sort=-review_count city=london", ""),
    ("rounds", "biggest funding rounds of 2024", "sort=-amount_usd since=2024-01-01 until=2024-12-31", ""),
    ("rounds", "the biggest funding round of 2024", "sort=-amount_usd limit=1 since=2024-01-01 until=2024-12-31", ""),
    ("vcs", "firms that have gone quiet since 2020", "active_until=2019-12-31", "gone"),
    ("vcs", "which VC has the largest portfolio in London", "sort=-portfolio_count limit=1 city=london", ""),
    ("people", "non-founder CEOs", "not_role=founder role=ceo", ""),
    ("startups", "startups Alder Capital has backed, by stage", "investor=alder-capital group_by=stage", ""),
    ("startups", "not Germany, France or Spain", "not_country=DE not_country=FR not_country=ES", ""),
    ("startups", "turkey farms", "text=turkey+farms", "turkey; farms"),
    ("startups", "startups that never raised", "", "never raised"),
    ("startups", "how many startups were acquired by sector", "status=acquired group_by=sector", ""),
    ("startups", "startups acquired per year", "status=acquired", "per; year"),
    ("startups", "startups without a known website", "unknown=website", ""),
    ("vcs", "most recently active investors in London", "sort=-last_investment_on city=london", ""),
    ("startups", "STARTUPS IN LONDON OR BERLIN", "city=london city=berlin", ""),
    ("startups", "fintech or insurtech, Germany", "sector=fintech sector=insurtech country=DE", ""),
    (
        "startups",
        "German payments companies that raised more than $1.5m",
        "country=DE sector=payments min_raised_usd=1500000",
        "",
    ),
    (
        "startups",
        "between 1 and 3 million dollars raised, not in the US or Canada",
        "min_raised_usd=1000000 max_raised_usd=3000000 not_country=US not_country=CA",
        "",
    ),
    (
        "startups",
        "the 5 most funded biotech companies in the Nordics",
        "sort=-total_raised_usd limit=5 sector=biotech country=nordics",
        "",
    ),
    ("startups", "acquired SaaS startups with at least 2 rounds", "status=acquired sector=saas min_rounds=2", ""),
    (
        "startups",
        "companies that closed a series A in 2024",
        "stage=series-a last_round_since=2024-01-01 last_round_until=2024-12-31",
        "",
    ),
    ("startups", "Series A/B startups", "stage=series-a,series-b", ""),
    ("startups", "backed by Alder Capital and Aldern Ventures", "investor_all=alder-capital,aldern-ventures", ""),
    ("startups", "startups backed by Alder Capital or Aldern Ventures", "investor=alder-capital,aldern-ventures", ""),
    ("startups", "Alder Capital portfolio in the UK", "investor=alder-capital country=GB", ""),
    ("startups", "the newest solar startup", "sort=-founded_year limit=1 sector=solar", ""),
    ("startups", "health AI not health", "sector=health sector=artificial-intelligence not_sector=health", ""),
    ("startups", "solar startups like Tidewick that glow", "sector=solar like=tidewick", "glow"),
    (
        "startups",
        "pre-seed travel startups founded between 2018 and 2020",
        "stage=pre-seed sector=travel founded_from=2018 founded_to=2020",
        "",
    ),
    ("startups", "raised over €5m", "", "over €5m"),
    ("startups", "startups that do both payments and lending", "sector_all=payments sector_all=lending", ""),
    (
        "startups",
        "raised half a million or more, founded in 2019 or 2020",
        "min_raised_usd=500000 founded_from=2019 founded_to=2020",
        "",
    ),
    ("startups", "valuation over $50m", "", "valuation over $50m"),
    ("startups", "payments startups in Ruritania called Tidewick", "sector=payments q=Tidewick", "Ruritania"),
    ("startups", "whose last round was before 2024", "last_round_until=2023-12-31", ""),
    ("vcs", "most active seed investors in France", "sort=-investment_count stage=seed country=FR", ""),
    ("vcs", "angel networks and accelerators in Austin", "kind=angel-network kind=accelerator city=austin", ""),
    ("vcs", "VCs investing in German startups", "", "German"),
    ("vcs", "top 10 corporate VCs that write $500k checks", "limit=10 kind=corporate check_usd=500000", ""),
    (
        "vcs",
        "family offices with at least 3 companies, active since March 2024",
        "kind=family-office min_portfolio=3 active_since=2024-03-01",
        "",
    ),
    (
        "rounds",
        "largest fintech rounds in Q2 2024",
        "sort=-amount_usd sector=fintech since=2024-04-01 until=2024-06-30",
        "",
    ),
    (
        "rounds",
        "seed deals over 2 million in the past three months",
        "stage=seed min_amount_usd=2000000 since=2026-08-20",
        "",
    ),
    ("rounds", "rounds led by Alder Capital since 2023", "lead=alder-capital since=2023-01-01", ""),
    ("rounds", "who invested in Tidewick Health?", "startup=tidewick-health", ""),
    ("people", "partners at Alder Capital", "role=partner organization=alder-capital", ""),
    ("people", "who is Nora Kelridge?", "q=Nora Kelridge", ""),
    ("people", "partners at firms", "role=partner kind=firm", ""),
    ("vcs", "firms that have not invested since 2020", "active_until=2019-12-31", ""),
    (
        "vcs",
        "accelerators by portfolio size, not in the US",
        "kind=accelerator sort=-portfolio_count not_country=US",
        "",
    ),
    ("rounds", "the first round of Tidewick Health", "sort=announced_on limit=1 startup=tidewick-health", ""),
    ("people", "founders of Tidewick", "role=founder organization=tidewick", ""),
    ("startups", "how many fintech startups by country", "sector=fintech group_by=country", ""),
    ("startups", "which cities have the most payments startups?", "sector=payments group_by=city", ""),
    ("startups", "count of acquired companies for each sector and stage", "status=acquired group_by=sector,stage", ""),
    ("startups", "backed by investors in seed rounds", "stage=seed", ""),
    ("vcs", "number of accelerators per country", "kind=accelerator group_by=country", ""),
    ("rounds", "seed deals grouped by year", "stage=seed group_by=year", ""),
    ("people", "partners split by country", "role=partner group_by=country", ""),
    ("startups", "health startups in California", "sector=health city=california country=US", ""),
    ("startups", "health startups in Bavaria", "sector=health city=bavaria country=DE", ""),
    ("startups", "Scottish health startups", "sector=health city=scotland country=GB", ""),
    ("startups", "health startups in Ontario", "sector=health city=ontario+province country=CA", ""),
    ("startups", "health startups in Toronto, Ontario", "sector=health city=toronto country=CA", ""),
    ("vcs", "funds in New South Wales", "city=new+south+wales country=AU", ""),
    ("startups", "startups in British Columbia", "city=british+columbia country=CA", ""),
    ("startups", "education technology startups", "sector=edtech", ""),
    ("vcs", "investors that stopped investing before 2012", "active_until=2011-12-31", ""),
    (
        "vcs",
        "family-friendly VCs with women partners in London",
        "city=london text=family+friendly+women+partners",
        "family; friendly; women; partners",
    ),
    (
        "startups",
        "companies with a Series B in 2013",
        "stage=series-b last_round_since=2013-01-01 last_round_until=2013-12-31",
        "",
    ),
    ("rounds", "$5m seed rounds", "min_amount_usd=4000000 max_amount_usd=6000000 stage=seed", ""),
    ("rounds", "seed rounds that exceeded $5m", "min_amount_usd=5000000 stage=seed", ""),
    ("rounds", "deals since mid 2013", "since=2013-05-01", ""),
    ("rounds", "the last 20 seed rounds", "sort=-announced_on limit=20 stage=seed", ""),
    ("people", "founder and CEO in London", "role_all=founder role_all=ceo city=london", ""),
    ("people", "founders and CEOs in London", "role=founder role=ceo city=london", ""),
    ("vcs", "investors that have a website in London", "known=website city=london", ""),
    ("vcs", "who has invested in payments lately", "sector=payments sort=-last_investment_on", ""),
    ("startups", "Alder Capital exits", "investor=alder-capital status=acquired,ipo", ""),
    (
        "rounds",
        "rounds of Tidewick, Kedamwald Pharma Solutions and Tidewick Health",
        "startup=tidewick,kedamwald-pharma-solutions,tidewick-health",
        "",
    ),
    ("startups", "startups backed by Alder Capital, London", "investor=alder-capital city=london", ""),
    (
        "startups",
        "twenty medical device companies sorted by the year they were founded",
        "limit=20 sector=medical-devices sort=founded_year",
        "",
    ),
    ("startups", "payments startups by the number of rounds", "sector=payments sort=-round_count", ""),
    ("startups", "companies other than games and payments startups", "not_sector=games not_sector=payments", ""),
    ("startups", "startups with more than 50 employees in London", "city=london", "more than 50 employees"),
    ("vcs", "women led vcs london", "city=london", "women; led"),
    ("startups", "hiring fintech startups in London", "sector=fintech city=london", "hiring"),
    ("startups", "Tidewick-like startups", "like=tidewick", ""),
    ("startups", "tidewick like companies in London", "like=tidewick city=london", ""),
    ("startups", "fintech startups that raised < 1m", "sector=fintech max_raised_usd=1000000", ""),
    ("startups", "fintech startups that raised ≥ $5m", "sector=fintech min_raised_usd=5000000", ""),
    ("startups", "raised ~5m", "min_raised_usd=4000000 max_raised_usd=6000000", ""),
    ("startups", "raised btw 1m and 10m", "min_raised_usd=1000000 max_raised_usd=10000000", ""),
    ("rounds", "debt rounds over 50 mil", "stage=debt min_amount_usd=50000000", ""),
    ("rounds", "seed rounds at 50m+ valuation", "stage=seed", "50m+ valuation"),
    ("vcs", "vcs who reply quickly in London", "sort=-responsiveness city=london", ""),
    ("vcs", "London vcs with websites", "city=london known=website", ""),
    ("startups", "health startups in austin tx", "sector=health city=austin country=US", ""),
    ("startups", "Portland or Seattle startups", "city=portland city=seattle", ""),
    ("startups", "health startups, ny", "sector=health city=new+york", ""),
    ("startups", "health startups with no funding after 2012", "sector=health last_round_until=2012-12-31", ""),
    ("startups", "fintech startups by date of last round", "sector=fintech sort=-last_round_on", ""),
    ("startups", "startups backed by VCs in London", "", "London"),
    ("startups", "health firms in London", "sector=health city=london", ""),
    ("rounds", "investors in US health rounds", "country=US sector=health", ""),
    ("rounds", "rounds by investors from London", "", "London"),
    ("rounds", "rounds with corporate investors in London", "kind=corporate city=london", ""),
    ("vcs", "VCs in Germany investing in the US", "country=DE", "US"),
    ("vcs", "London firms with a good health record", "city=london", "health; record"),
    (
        "rounds",
        "rounds in which angels and accelerators both took part",
        "kind_all=angel kind_all=accelerator",
        "took; part",
    ),
    ("people", "VC partners in London", "kind=firm role=partner city=london", ""),
    ("people", "startup founders in London", "kind=startup role=founder city=london", ""),
    ("people", "CEOs of startups in London", "role=ceo kind=startup city=london", ""),
    ("startups", "health startups in Baden-Württemberg", "sector=health city=baden+wurttemberg country=DE", ""),
    ("vcs", "angel netwrok in Canada", "kind=angel-network country=CA", ""),
    ("startups", "machien learning startups", "sector=machine-learning", ""),
    ("vcs", "investors in adtech, active 2014+", "active_since=2014-01-01", "adtech"),
    ("vcs", "gov funds in Singapore", "kind=government country=SG", ""),
    ("vcs", "seed + series A both, London", "stage_all=seed stage_all=series-a city=london", ""),
    ("vcs", "funds younger than 2010 in London", "founded_from=2011 city=london", ""),
    ("vcs", "highest health score in London", "sort=-health_score city=london", ""),
    ("startups", "acquired by tidewick", "status=acquired", "by tidewick"),
    ("rounds", "rounds at pre-money > 50m in London", "city=london", "pre-money > 50m"),
    ("rounds", "seed rounds in the last month of 2014", "stage=seed since=2014-12-01 until=2014-12-31", ""),
    (
        "rounds",
        "Deals that Alder Capital joined in 2012",
        "investor=alder-capital since=2012-01-01 until=2012-12-31",
        "joined",
    ),
    ("rounds", "rounds of between 5 and 20 million dollars", "min_amount_usd=5000000 max_amount_usd=20000000", ""),
    (
        "startups",
        "Which payments companies has Alder Capital not invested in?",
        "sector=payments not_investor=alder-capital",
        "",
    ),
    (
        "startups",
        "Alder Capital + Aldern Ventures both, payments",
        "investor_all=alder-capital investor_all=aldern-ventures sector=payments",
        "",
    ),
    ("startups", "health startups, no funding in last 2 yrs", "sector=health last_round_until=2024-11-19", ""),
    ("startups", "founded by London graduates, in Boston", "city=boston", "London; graduates"),
    ("vcs", "vc est. after 2005 in London", "founded_from=2006 city=london", ""),
    ("startups", "ipo'd fintech us", "status=ipo sector=fintech country=US", ""),
    ("rounds", "ser b rounds", "stage=series-b", ""),
    ("vcs", "corp vc in London", "kind=corporate city=london", ""),
    ("vcs", "funds that write checks of about 250k", "check_usd=250000", ""),
    ("people", "founders who are also CEO", "role_all=founder role_all=ceo", ""),
    ("people", "partners @ Alder Capital", "role=partner organization=alder-capital", ""),
    ("vcs", "Which investors in Spain back payments startups?", "country=ES sector=payments", ""),
    ("vcs", "VCs that invest in German startups", "", "German"),
    ("rounds", "Series C rounds and later in London", "stage=series-c,series-d-plus city=london", ""),
    ("rounds", "rounds in London without Aldern Ventures", "city=london not_investor=aldern-ventures", ""),
    ("vcs", "platforms that finance payments startups in London", "sector=payments city=london", "platforms; finance"),
    ("startups", "payments startups in Georgia or Austin", "sector=payments country=GE city=austin", ""),
    ("vcs", "funds in the Pacific Northwest", "city=oregon,washington+state country=US", ""),
    ("startups", "health startups in EMEA", "sector=health country=emea", ""),
    ("vcs", "angel networks in Austin, Texas", "kind=angel-network city=austin country=US", ""),
    ("startups", "US solar startups outside Texas", "country=US sector=solar not_city=texas", ""),
    ("startups", "neither in fintech nor in payments", "not_sector=fintech not_sector=payments", ""),
    ("startups", "startups that are not in Germany but weren't closed", "not_country=DE not_status=closed", ""),
    (
        "startups",
        "startups that Alder Capital backed but Aldern Ventures hasn't",
        "investor=alder-capital not_investor=aldern-ventures",
        "",
    ),
    ("startups", "10 fintech companies in London", "limit=10 sector=fintech city=london", ""),
    ("startups", "payments startups, limit 5", "sector=payments limit=5", ""),
    ("startups", "solar startups sorted by name, first 20", "sector=solar sort=name limit=20", ""),
    ("startups", "who competes with Tidewick?", "like=tidewick", ""),
    ("vcs", "an alternative to Alder Capital in France", "like=alder-capital country=FR", ""),
    ("startups", "women-led health startups", "sector=health text=women", "women; led"),
    (
        "rounds",
        "deals over $5m in the first half of 2024, oldest first",
        "min_amount_usd=5000000 since=2024-01-01 until=2024-06-30 sort=announced_on",
        "",
    ),
    (
        "rounds",
        "rounds in which Alder Capital co-invested with Aldern Ventures",
        "investor_all=alder-capital,aldern-ventures",
        "",
    ),
    ("people", "people of investment firms in Berlin", "kind=firm city=berlin", ""),
    ("people", "do you have Nora Kelridge", "slug=nora-kelridge", ""),
    (
        "startups",
        "payments startups of the 2010s that died",
        "sector=payments founded_from=2010 founded_to=2019 status=closed",
        "",
    ),
    ("startups", "health startups from the 90s", "sector=health founded_from=1990 founded_to=1999", ""),
    ("startups", "number of solar startups by founding year", "sector=solar group_by=founded_year", ""),
    (
        "rounds",
        "deals above 2 mln usd between January and April 2024",
        "min_amount_usd=2000000 since=2024-01-01 until=2024-04-30",
        "",
    ),
    ("rounds", "how many seed rounds every year in France", "stage=seed group_by=year country=FR", ""),
    ("rounds", "seed rounds with a bank as investor", "stage=seed kind=bank", ""),
    ("rounds", "for a university assignment: seed rounds", "stage=seed", "university; assignment"),
    (
        "rounds",
        "French rounds between 15 March 2024 and 30 June 2024",
        "country=FR since=2024-03-15 until=2024-06-30",
        "",
    ),
    ("rounds", "rounds since July 1, 2024 in chronological order", "since=2024-07-01 sort=announced_on", ""),
    ("rounds", "seed deals in the first quarter of 2024", "stage=seed since=2024-01-01 until=2024-03-31", ""),
    (
        "rounds",
        "rounds in London from 2024 onwards, other than seed",
        "city=london since=2024-01-01 not_stage=seed",
        "",
    ),
    ("rounds", "seed rounds, how many a year", "stage=seed group_by=year", ""),
    ("startups", "solar startups acquired by Google", "sector=solar status=acquired", "by Google"),
    ("startups", "health apps in Berlin", "sector=health city=berlin", ""),
    ("startups", "ex-google payments startups", "sector=payments", "ex-google"),
    ("startups", "least funded startups that resemble Tidewick", "sort=total_raised_usd like=tidewick", ""),
    ("vcs", "non-dilutive seed funds by number of deals", "stage=seed sort=-investment_count", "non-dilutive"),
    ("vcs", "evergreen funds in Berlin", "city=berlin", "evergreen"),
    ("people", "people working for startups in Berlin", "kind=startup city=berlin", ""),
    ("people", "who set up Tidewick?", "role=founder organization=tidewick", ""),
    ("startups", "tech startups in Berlin", "city=berlin", ""),
    ("startups", "solar startups acquired in 2023", "sector=solar status=acquired", "in 2023"),
    ("startups", "solar startups shut down since 2020", "sector=solar status=closed", "since 2020"),
    (
        "startups",
        "acquired solar startups founded in 2015",
        "status=acquired sector=solar founded_from=2015 founded_to=2015",
        "",
    ),
    ("startups", "fintech startups that have exited", "sector=fintech status=acquired,ipo", ""),
    ("rounds", "amount not disclosed, series b", "unknown=amount_usd stage=series-b", ""),
    ("rounds", "undisclosed rounds in France", "unknown=amount_usd country=FR", ""),
    ("rounds", "rounds of unknown stage in France", "unknown=stage country=FR", ""),
    ("rounds", "fintech rounds without a stage", "sector=fintech unknown=stage", ""),
    ("rounds", "seed rounds without disclosed amounts", "stage=seed unknown=amount_usd", ""),
    ("vcs", "investors not interested, France", "country=FR", "interested"),
    ("startups", "pre-2010 solar startups", "founded_to=2009 sector=solar", ""),
    ("startups", "solar startups prior to 2010", "sector=solar founded_to=2009", ""),
    ("startups", "post-2010 solar startups", "founded_from=2011 sector=solar", ""),
    ("startups", "solar startups beyond series B", "sector=solar stage=series-c,series-d-plus", ""),
    ("rounds", "rounds earlier than series A in France", "stage=pre-seed,seed country=FR", ""),
    ("startups", "ipo or acquired solar startups", "status=ipo status=acquired sector=solar", ""),
    ("startups", "solar startups that IPO'd", "sector=solar status=ipo", ""),
    ("rounds", "undisclosed series a rounds in France", "unknown=amount_usd stage=series-a country=FR", ""),
    ("rounds", "eur 2m seed rounds", "stage=seed", "eur 2m"),
    ("rounds", "down rounds in France", "country=FR", "down"),
    ("vcs", "gov backed funds in Canada", "kind=government country=CA", ""),
    ("startups", "the most common sectors in France", "group_by=sector country=FR", ""),
    ("startups", "solar startups with no website listed", "sector=solar unknown=website", "listed"),
    ("rounds", "seed rounds where the amount wasn't disclosed", "stage=seed unknown=amount_usd", ""),
    ("people", "managing directors at firms", "kind=firm text=managing", "managing; directors"),
    (
        "startups",
        "what has Alder Capital invested in since 2012",
        "investor=alder-capital last_round_since=2012-01-01",
        "",
    ),
    (
        "startups",
        "companies backed by Alder Capital in 2021",
        "investor=alder-capital last_round_since=2021-01-01 last_round_until=2021-12-31",
        "",
    ),
    ("rounds", "seed rounds in the last quarter of 2023", "stage=seed since=2023-10-01 until=2023-12-31", ""),
    ("startups", "companies hiring engineers in London", "city=london", "hiring; engineers"),
    ("startups", "solar startups w/o a website", "sector=solar unknown=website", ""),
    ("startups", "solar startups sold in 2014", "sector=solar", "sold; in 2014"),
    ("startups", "payments services in London", "sector=payments city=london", ""),
    ("rounds", "sub-500k seed rounds", "max_amount_usd=500000 stage=seed", ""),
    ("rounds", "sub $1m rounds", "max_amount_usd=1000000", ""),
    ("rounds", "roughly $10m series a", "min_amount_usd=8000000 max_amount_usd=12000000 stage=series-a", ""),
    ("rounds", "a $10m series a", "min_amount_usd=8000000 max_amount_usd=12000000 stage=series-a", ""),
    ("rounds", "exactly $2m", "min_amount_usd=2000000 max_amount_usd=2000000", ""),
    ("rounds", "seven-figure seed rounds", "min_amount_usd=1000000 max_amount_usd=9999999 stage=seed", ""),
    ("rounds", "rounds in the summer of 2023", "since=2023-06-01 until=2023-08-31", ""),
    ("startups", "solar / payments startups in Berlin", "sector=solar sector=payments city=berlin", ""),
    ("startups", "us fintech startups", "country=US sector=fintech", ""),
    ("vcs", "us and uk seed investors", "country=US country=GB stage=seed", ""),
    ("startups", "solar startups us", "sector=solar country=US", ""),
    ("vcs", "show us seed investors", "stage=seed", ""),
    ("startups", "payments startups founded before solar", "sector=payments", "before; solar"),
    ("vcs", "universities in Germany, a to z", "kind=university country=DE sort=name", ""),
];

fn path(list: &str) -> String {
    format!("/api/v3/{}", if list == "rounds" { "funding-rounds" } else { list })
}

fn ask(client: &Client, list: &str, question: &str) -> Value {
    let reply = client.list(&path(list), &[("ask", question)]);
    assert_eq!(reply.status, 200, "{question}: {}", reply.text);
    reply.json()
}

fn read(meta: &Value) -> Vec<String> {
    let text = |part: &Value, name: &str| part[name].as_str().unwrap().to_owned();
    let parts = meta["interpreted"].as_array().unwrap().iter();
    let mut read: Vec<String> =
        parts.map(|part| format!("{}={}", text(part, "parameter"), text(part, "value"))).collect();
    read.sort();
    read
}

#[test]
fn questions_are_read_as_parameters() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (list, question, parameters, unread) in QUESTIONS {
        let meta = ask(&client, list, question)["meta"].clone();
        // A value of `q` is the last, and may have spaces.
        let (others, name) =
            parameters.split_once("q=").map_or((*parameters, None), |(others, name)| (others, Some(name)));
        let named = name.map(|name| format!("q={name}"));
        let mut expected: Vec<String> =
            others.split_whitespace().map(|part| part.replace('+', " ")).chain(named).collect();
        expected.sort();
        assert_eq!(read(&meta), expected, "{question}: {meta}");
        let unread: Vec<&str> = unread.split("; ").filter(|words| !words.is_empty()).collect();
        assert_eq!(meta["unread"], json!(unread), "{question}");
        for part in meta["interpreted"].as_array().unwrap() {
            let words = part["text"].as_str().unwrap();
            assert!(question.contains(words) && !part["why"].as_str().unwrap().is_empty(), "{question}: {part}");
        }
    }
}

#[test]
fn the_equivalent_url_and_arguments_give_the_same_records() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let tools = TestTools::bundled();
    for (list, question, ..) in QUESTIONS {
        let asked = ask(&client, list, question);
        let url = asked["meta"]["url"].as_str().unwrap();
        let at = url.find("/api/v3/").unwrap();
        assert!(!url.contains("ask="), "{url}");
        let plain = client.get(&url[at..]).json();
        assert_eq!(plain["data"], asked["data"], "{question}");
        assert_eq!(plain["pagination"]["total"], asked["pagination"]["total"], "{question}");
        assert!(plain["meta"].get("interpreted").is_none());
        let tool = match *list {
            "startups" => Tool::SearchStartups,
            "vcs" => Tool::SearchVcs,
            "rounds" => Tool::GetFundingRounds,
            _ => Tool::SearchPeople,
        };
        let result = tools.call(tool, &asked["meta"]["arguments"]).unwrap();
        assert_eq!(result["total"], asked["pagination"]["total"], "{question}");
    }
}

/// The counts of a question on a page, in the first line that begins so: names, numbers, and the lists of their rows.
fn counted_values<'p>(page: &'p Html, start: &str) -> Vec<(String, String, &'p str)> {
    let mut lines = page.all("section[aria-labelledby=question] > p").into_iter();
    let line = lines.find(|line| text_of(*line).starts_with(start)).unwrap();
    let links = line.all("a").into_iter().zip(line.texts("span.number"));
    links.map(|(link, count)| (text_of(link), count, link.attr("href").unwrap())).collect()
}

#[test]
fn what_records_are_counted_by_is_read() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let meta = ask(&client, "startups", "how many fintech startups by country")["meta"].clone();
    let url = meta["groups_url"].as_str().unwrap();
    let counts = client.get(&url[url.find("/api/v3/").unwrap()..]).json();
    let groups = counts["data"]["groups"][0]["values"].as_array().unwrap();
    assert!(groups.len() > 3, "{counts}");
    // The tool has them at once.
    let result = TestTools::bundled()
        .call(Tool::SearchStartups, &json!({"query": "how many fintech startups by country"}))
        .unwrap();
    assert_eq!(result["groups"][0]["values"], counts["data"]["groups"][0]["values"]);
    assert_eq!(result["question"]["arguments"], json!({"sector": "fintech", "count_by": "country"}));
    assert_eq!(meta["arguments"], result["question"]["arguments"]);
    // So do pages, each count with the list of its rows.
    let page = parse(&rendered(&server, "/?q=how+many+fintech+startups+by+country"));
    let shown = counted_values(&page, "By country: ");
    for group in groups.iter().take(12) {
        let (name, count) = (group["name"].as_str().unwrap(), group["count"].as_u64().unwrap());
        let (_, number, href) = shown.iter().find(|(known, ..)| known == name).unwrap();
        assert_eq!(*number, count.to_string(), "{name}");
        let list = parse(&rendered(&server, href));
        let noun = if count == 1 { "startup" } else { "startups" };
        assert_eq!(text_of(list.first("strong.number")), format!("{count} {noun}"), "{href}");
    }
    for question in ["fintech startups by year", "fintech startups by sector", "how many startups by stage"] {
        let page = parse(&rendered(&server, &format!("/?q={}", question.replace(' ', "+"))));
        let shown = counted_values(&page, "By ");
        let (_, number, href) = &shown[0];
        let list = parse(&rendered(&server, href));
        let total = text_of(list.first("strong.number"));
        assert!(total.starts_with(&format!("{number} startup")), "{question}: {href} {number} {total}");
    }
    assert_eq!(ask(&client, "startups", "fintech startups")["meta"].get("groups_url"), None);
}

#[test]
fn other_parameters_go_before_the_question() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let with = |parameters: &[(&str, &str)]| client.list("/api/v3/startups", parameters);
    let question = ("ask", "fintech startups in London");
    let reply = with(&[question, ("city", "Berlin"), ("limit", "3")]).json();
    assert_eq!(
        reply["pagination"]["total"],
        with(&[("sector", "fintech"), ("city", "berlin")]).json()["pagination"]["total"]
    );
    assert_eq!(
        (read(&reply["meta"]), &reply["meta"]["unread"]),
        (vec!["sector=fintech".to_owned()], &json!(["London"]))
    );
    // The same filters without or with another question are another response, in caches too.
    for _ in 0..3 {
        let asked = with(&[question]);
        let plain = with(&[("sector", "fintech"), ("city", "london")]);
        assert_eq!(asked.json()["data"], plain.json()["data"]);
        assert_ne!(asked.text, plain.text);
        assert_ne!(asked.header("etag"), plain.header("etag"));
    }
    let long = "seed ".repeat(101);
    assert_eq!(code(&with(&[("ask", &long)])), (400, "invalid_parameter".to_owned()));
    assert_eq!(with(&[("ask", "fintech"), ("ask", "seed")]).status, 400);
    assert_eq!(with(&[("ask", "")]).json()["meta"].get("interpreted"), None);
    assert!(client.get("/api/v1/startups?ask=fintech").text.contains("unknown"));
    assert_eq!(code(&client.get("/api/v3/sectors?ask=fintech")).0, 400);
}

#[test]
fn a_cursor_continues_the_question() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let question = "seed startups in the US";
    let (mut slugs, mut cursor) = (Vec::new(), String::new());
    loop {
        let continued = [("ask", question), ("limit", "7"), ("cursor", cursor.as_str())];
        let page = client.list("/api/v3/startups", &continued[..if cursor.is_empty() { 2 } else { 3 }]);
        assert_eq!(page.status, 200, "{}", page.text);
        slugs.extend(page.slugs());
        match page.json()["pagination"]["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => break,
        }
    }
    let all = client.list("/api/v3/startups", &[("stage", "seed"), ("country", "US"), ("limit", "1000")]);
    assert!(slugs.len() > 14);
    assert_eq!(slugs, all.slugs());
    let other = client.list("/api/v3/startups", &[("ask", "fintech"), ("cursor", &cursor)]);
    assert_eq!(other.status, 400, "{}", other.text);
}

#[test]
fn a_search_that_is_no_name_is_read_as_a_question() {
    let server = Server::bundled();
    let page = server.anonymous().get("/?q=seed+fintech+startups+in+the+US+that+glow").text;
    for text in [
        "Read as a question",
        "stage=seed",
        "sector=fintech",
        "country=US",
        "“glow”",
        "<th scope=\"row\"><a href=\"/startups/",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // Each chip leads to the list without it.
    let page = parse(&page);
    let chips = page.values("a.chip.on", "href");
    assert_eq!(chips.len(), 3);
    for href in chips {
        let list = server.anonymous().get(href);
        assert_eq!(list.status, 200, "{href}");
        assert_eq!(href.matches('=').count(), 2, "{href}");
    }
    // A list has the rows that the question means, next to its other conditions.
    let list = server.anonymous().get("/vcs?q=seed+accelerators+in+the+US&sort=name").text;
    assert!(list.contains("Read as a question") && list.contains("kind=accelerator"), "{list}");
    assert!(list.contains("No firm is named “seed accelerators in the US”. It was read as a question."), "{list}");
    let as_filters = rendered(&server, "/vcs?stage=seed&kind=accelerator&country=US&sort=name");
    let rows = |page: &str| list_of(&parse(page)).first("tbody").html();
    assert_eq!(rows(&list), rows(&as_filters));
    // What is neither may be in descriptions.
    let page = rendered(&server, "/?q=pilot+customers");
    assert!(page.contains("These have its words") && page.contains("/startups?text=pilot+customers"), "{page}");
    assert!(page.contains("<mark>customers</mark>"), "{page}");
    let list = rendered(&server, "/startups?q=pilot+customers&country=US");
    let of_text = rendered(&server, "/startups?text=pilot+customers&country=US");
    assert!(list.contains("No startup is named “pilot customers”"), "{list}");
    assert_eq!(rows(&list), rows(&of_text));
    assert!(rows(&list).contains("<mark>"), "{list}");
    // The field keeps the words, and a filter that is added to them leaves them there.
    let list = parse(&list);
    let form = list.first("form#conditions");
    assert_eq!(form.values("[name=q]", "value"), ["pilot customers"]);
    assert!(form.find("[name=text]").is_none(), "{}", form.html());
    let next = "/startups?text=pilot+customers&country=US&page=2";
    assert!(list.links().iter().any(|href| href.contains(next)), "{:?}", list.links());
    // What qualifies a noun that is not understood is no condition: descriptions may have all words.
    let page = rendered(&server, "/startups?q=payments+pilot");
    assert!(page.contains("No startup is named “payments pilot”") && page.contains("<mark>"), "{page}");
    for path in ["/?q=payments+pilot+customers", "/startups?q=payments+pilot+customers"] {
        assert!(rendered(&server, path).contains("<mark>pilot</mark>"), "{path}");
    }
    // Fewer than all of the words are no match.
    let none = rendered(&server, "/startups?q=workflow+zzyzx");
    assert!(none.contains("No results.") && !none.contains("No startup is named"), "{none}");
    for name in ["Alder Capital", "Tidewick"] {
        let page = server.anonymous().get(&format!("/?q={}", name.replace(' ', "+"))).text;
        assert!(!page.contains("Read as a question"), "{name}");
    }
}

#[test]
fn words_that_are_not_understood_suggest_sectors_by_the_startups_that_use_them() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let startups = all_of(&client, "startups", "fields=slug,name,description");
    for (word, stem) in [("freelancers", "freelanc"), ("disks", "disk"), ("currencies", "currenc")] {
        let has_word = |startup: &&Value| {
            let texts = ["name", "description"].map(|field| startup[field].as_str().unwrap_or("").to_lowercase());
            let text = texts.join(" ");
            text.split(|char: char| !char.is_alphanumeric()).any(|word| word.starts_with(stem))
        };
        let with_word: Vec<&str> =
            startups.iter().filter(has_word).map(|startup| startup["slug"].as_str().unwrap()).collect();
        assert!(with_word.len() > 5, "{word}");
        let meta = ask(&client, "startups", &format!("US startups for {word}"))["meta"].clone();
        assert_eq!(meta["unread"], json!([word]));
        let suggested = meta["suggested"].as_array().unwrap();
        assert!((1..=2).contains(&suggested.len()), "{meta}");
        for suggestion in suggested {
            let sector = suggestion["sector"].as_str().unwrap();
            let of_sector = all_of(&client, "startups", &format!("sector={sector}"));
            let both =
                of_sector.iter().filter(|startup| with_word.contains(&startup["slug"].as_str().unwrap())).count();
            assert_eq!((&suggestion["count"], &suggestion["of"]), (&json!(both), &json!(with_word.len())), "{word}");
            // As often as among all, and among a sample of those with a description.
            let usual = both as f64 / with_word.len() as f64 * startups.len() as f64 / of_sector.len() as f64;
            let lift = suggestion["lift"].as_f64().unwrap();
            assert!((5.0..usual + 0.051).contains(&lift) && lift > usual / 2.0, "{suggestion}: {usual}");
        }
        // It is only a suggestion; the word ranks by descriptions.
        assert_eq!(read(&meta), ["country=US".to_owned(), format!("text={word}")]);
        let page = parse(&rendered(&server, &format!("/?q=US+startups+for+{word}")));
        let first = &suggested[0];
        let sector = format!("sector={}", first["sector"].as_str().unwrap());
        let counted = format!("({} of {})", first["count"], first["of"]);
        let named = page.texts(&format!("a[href^='/startups?'][href*='{sector}']"));
        assert!(named.iter().any(|name| name.ends_with(&counted)), "{sector}: {named:?}");
    }
    // A word of every kind of startup suggests none, and neither does one that no startup has.
    for word in ["customers", "zzyzx"] {
        let meta = ask(&client, "startups", &format!("US startups for {word}"))["meta"].clone();
        assert_eq!((&meta["unread"], meta.get("suggested")), (&json!([word]), None), "{meta}");
    }
}

#[test]
fn a_tool_reads_a_query_that_is_no_name_as_a_question() {
    let tools = TestTools::bundled();
    let result = tools.call(Tool::SearchStartups, &json!({"query": "seed startups in the US", "limit": 5})).unwrap();
    assert_eq!(read(&result["question"]), ["country=US", "stage=seed"]);
    assert_eq!(result["question"]["arguments"], json!({"country": "US", "stage": "seed"}));
    assert!(result["notes"][0].as_str().unwrap().contains("was read as a question"), "{}", result["notes"]);
    let plain = tools.call(Tool::SearchStartups, &json!({"stage": "seed", "country": "US", "limit": 5})).unwrap();
    assert_eq!(result["items"], plain["items"]);
    // The next page with the same arguments.
    let cursor = &result["next_cursor"];
    let next = tools
        .call(Tool::SearchStartups, &json!({"query": "seed startups in the US", "limit": 5, "cursor": cursor}))
        .unwrap();
    let plain_next = tools.call(Tool::SearchStartups, &json!({"limit": 5, "cursor": plain["next_cursor"]})).unwrap();
    assert_eq!(next["items"], plain_next["items"]);
    // A name stays a name, and so does what cannot be read.
    for query in ["Tidewick", "zzyzx qqq"] {
        let result = tools.call(Tool::SearchStartups, &json!({"query": query})).unwrap();
        assert_eq!(result.get("question"), None, "{query}");
    }
    // What is no name and cannot be read is looked for in descriptions, if these have all of its words.
    let query = json!({"query": "pilot customers", "country": "US", "limit": 3});
    let result = tools.call(Tool::SearchStartups, &query).unwrap();
    let plain =
        tools.call(Tool::SearchStartups, &json!({"text": "pilot customers", "country": "US", "limit": 3})).unwrap();
    assert_eq!((&result["items"], &result["total"]), (&plain["items"], &plain["total"]));
    assert!(result["total"].as_u64().is_some_and(|total| total > 3), "{result}");
    let note = result["notes"][0].as_str().unwrap();
    assert!(note.starts_with("no startup is named `pilot customers`: `query` was searched as `text`"), "{note}");
    let mut next = query.clone();
    next["cursor"] = result["next_cursor"].clone();
    let next = tools.call(Tool::SearchStartups, &next).unwrap();
    let plain = tools.call(Tool::SearchStartups, &json!({"limit": 3, "cursor": plain["next_cursor"]})).unwrap();
    assert_eq!(next["items"], plain["items"]);
    let result = tools.call(Tool::SearchStartups, &json!({"query": "seed startups in the US for pilots"})).unwrap();
    assert_eq!(result["question"]["unread"], json!(["pilots"]));
    let result = tools.call(Tool::SearchStartups, &json!({"query": "payments pilot"})).unwrap();
    let plain = tools.call(Tool::SearchStartups, &json!({"text": "payments pilot"})).unwrap();
    assert_eq!(result["items"], plain["items"]);
    let result = tools.call(Tool::SearchStartups, &json!({"query": "workflow zzyzx"})).unwrap();
    assert_eq!(result["total"], 0);
    // Names that have some of the words go first, and it is said where the rest is.
    let result = tools.call(Tool::SearchStartups, &json!({"query": "Tidewick workflow"})).unwrap();
    assert!(result["total"].as_u64().is_some_and(|total| total > 0), "{result}");
    // What is given otherwise goes first.
    let result =
        tools.call(Tool::SearchStartups, &json!({"query": "seed startups in the US", "country": "DE"})).unwrap();
    let question = &result["question"];
    assert_eq!((read(question), &question["unread"]), (vec!["stage=seed".to_owned()], &json!(["US"])));
}

const WORDS: &[&str] = &[
    "by",
    "country",
    "per",
    "each",
    "every",
    "which",
    "cities",
    "have",
    "most",
    "first",
    "half",
    "H1",
    "January",
    "90s",
    "Texas",
    "California",
    "hasn't",
    "don't",
    "nor",
    "limit",
    "sorted",
    "name",
    "alongside",
    "co-invested",
    "with",
    "competitors",
    "tidewick.example",
    "women-led",
    "space",
    "the",
    "5",
    "10",
    "top",
    "largest",
    "newest",
    "most",
    "active",
    "funded",
    "AI",
    "fintech",
    "health",
    "startups",
    "VCs",
    "rounds",
    "in",
    "Berlin",
    "London",
    "not",
    "Germany",
    "or",
    "US",
    "Nordics",
    "seed",
    "series",
    "A",
    "B/C",
    "founded",
    "raised",
    "after",
    "since",
    "before",
    "2019",
    "2020-2022",
    "last",
    "year",
    "past",
    "3",
    "months",
    "over",
    "under",
    "$5m",
    "€1m",
    "between",
    "and",
    "1",
    "million",
    "at",
    "least",
    "20%",
    "backed",
    "by",
    "Alder",
    "Capital",
    "Tidewick",
    "led",
    "of",
    "like",
    "angel",
    "acquired",
    "closed",
    "99999999999999999999",
    "Q1",
    "2024",
    "founders",
    "check",
    "score",
    "0",
    "-",
    "’s",
    "<",
    "½",
    "१",
    "",
];

/// The bundled data and, if it is there, real data.
static CATALOGS: LazyLock<Vec<Arc<Catalog>>> =
    LazyLock::new(|| [Some(bundled()), real_catalog()].into_iter().flatten().collect());

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1_500, 25), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_asked_is_read_as_valid_parameters(words in prop::collection::vec(select(WORDS), 0..12)) {
        let text = words.join(" ");
        for catalog in CATALOGS.iter() {
            for resource in [Resource::Firms, Resource::Startups, Resource::Rounds, Resource::People] {
                let read = catalog.interpret(resource, &text);
                let again = catalog.interpret(resource, &text);
                prop_assert_eq!(&read, &again);
                let values: Vec<(String, String)> = read.values().filter(|(name, _)| name != "limit").collect();
                let options =
                    ParseOptions { strict: true, review_statuses: &[ReviewStatus::Approved], other_names: &[] };
                let parsed = catalog.parse(resource, &values, options).map_err(|issues| issues.report(catalog));
                prop_assert!(parsed.is_ok(), "{text}: {parsed:?}");
                for part in &read.parts {
                    prop_assert!(text.contains(&part.text), "{}: {:?}", text, part);
                }
            }
        }
    }
}
