use std::collections::{HashMap, HashSet};

use once_cell::sync::Lazy;

use crate::datagen::quality::FirmQuality;
use crate::datagen::sectors::SECTORS;
use crate::datagen::*;
use data::fold::fold;
use data::vocabulary::Vocabulary;
use data::{Country, FirmKind, OrganizationKind, ReviewStatus, Stage, StartupStatus};

/// One file, read without code of the writer.
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn read(folder: &Path, file: &str) -> Self {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let mut rows = vec![vec![String::new()]];
        let mut quoted = false;
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            let row = rows.last_mut().unwrap();
            match char {
                '"' if quoted && chars.peek() == Some(&'"') => {
                    chars.next();
                    row.last_mut().unwrap().push('"');
                }
                '"' => quoted = !quoted,
                ',' if !quoted => row.push(String::new()),
                '\n' if !quoted => rows.push(vec![String::new()]),
                char => row.last_mut().unwrap().push(char),
            }
        }
        assert_eq!(rows.pop().unwrap(), [""], "{file} ends with a line break");
        let columns = rows.remove(0);
        assert!(rows.iter().all(|row| row.len() == columns.len()), "{file} has a row with a missing or extra value");
        Self { columns, rows }
    }

    fn index(&self, column: &str) -> usize {
        self.columns.iter().position(|name| name == column).unwrap()
    }

    fn column(&self, column: &str) -> Vec<&str> {
        let index = self.index(column);
        self.rows.iter().map(|row| row[index].as_str()).collect()
    }

    fn set(&self, column: &str) -> HashSet<&str> {
        self.column(column).into_iter().collect()
    }

    /// Maps the column `key` of each row to the column `value`.
    fn map(&self, key: &str, value: &str) -> HashMap<&str, &str> {
        self.column(key).into_iter().zip(self.column(value)).collect()
    }
}

struct World {
    sectors: Table,
    firms: Table,
    startups: Table,
    rounds: Table,
    people: Table,
    reviews: Table,
    bytes: u64,
}

static WORLD: Lazy<World> = Lazy::new(|| {
    let folder = tempfile::tempdir().unwrap();
    generate(&GenConfig::bundled(), folder.path()).unwrap();
    let read = |file: &str| Table::read(folder.path(), file);
    World {
        sectors: read("sectors.csv"),
        firms: read("firms.csv"),
        startups: read("startups.csv"),
        rounds: read("funding_rounds.csv"),
        people: read("people.csv"),
        reviews: read("reviews.csv"),
        bytes: fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum(),
    }
});

fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split('|').filter(|item| !item.is_empty())
}

fn bytes_of(config: &GenConfig) -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    generate(config, folder.path()).unwrap();
    let mut files: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap())
        .map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
        .collect();
    files.sort();
    files
}

/// Number of files of a dataset.
const FILES: usize = 11;

#[test]
fn the_same_configuration_gives_the_same_bytes_and_another_seed_others() {
    let config = GenConfig::new(60, 300);
    let once = bytes_of(&config);
    assert_eq!(once.len(), FILES);
    assert_eq!(once, bytes_of(&config));
    let other = bytes_of(&GenConfig { seed: 7, ..config });
    for (one, other) in once.iter().zip(&other) {
        let is_fixed = ["sectors.csv", "sources.csv", "redirects.csv"].contains(&one.0.as_str());
        assert_eq!(one.1 == other.1, is_fixed, "{}", one.0);
    }
}

#[test]
fn counts_are_those_of_the_plan() {
    let config = GenConfig::bundled();
    assert_eq!(WORLD.firms.rows.len(), config.firms as usize);
    assert_eq!(WORLD.startups.rows.len(), config.startups as usize);
    assert_eq!(WORLD.rounds.rows.len(), config.rounds as usize);
    assert_eq!(WORLD.people.rows.len(), config.people as usize);
    assert_eq!(WORLD.reviews.rows.len(), config.reviews as usize);
    assert_eq!((config.rounds, config.people, config.reviews), (4_000, 3_000, 6_000));
    assert!(WORLD.bytes < 4_000_000, "{}", WORLD.bytes);
    for config in [GenConfig::new(0, 0), GenConfig::new(0, 20), GenConfig::new(3, 0), GenConfig::new(1, 1)] {
        assert_eq!(bytes_of(&config).len(), FILES);
    }
}

#[test]
fn slugs_and_names_are_distinct_and_well_formed() {
    let slug_of = |slug: &str| {
        slug.split('-')
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase()))
    };
    for table in [&WORLD.sectors, &WORLD.firms, &WORLD.startups, &WORLD.people] {
        assert_eq!(table.set("slug").len(), table.rows.len());
        let names: HashSet<_> = table.column("name").into_iter().map(fold).collect();
        assert_eq!(names.len(), table.rows.len(), "equal names");
        assert!(table.column("name").iter().all(|name| !name.trim().is_empty()));
        for slug in table.column("slug") {
            assert!(slug_of(slug) && slug != "facets", "{slug}");
        }
    }
    for table in [&WORLD.rounds, &WORLD.reviews] {
        assert_eq!(table.set("id").len(), table.rows.len());
    }
}

#[test]
fn every_reference_finds_its_row() {
    let (firms, startups, sectors) = (WORLD.firms.set("slug"), WORLD.startups.set("slug"), WORLD.sectors.set("slug"));
    for table in [&WORLD.firms, &WORLD.startups] {
        assert!(table.column("sectors").into_iter().flat_map(list).all(|slug| sectors.contains(slug)));
    }
    assert!(WORLD.sectors.column("parent").into_iter().flat_map(list).all(|slug| sectors.contains(slug)));
    assert!(WORLD.rounds.column("startup").iter().all(|slug| startups.contains(slug)));
    for column in ["lead_investors", "investors"] {
        assert!(WORLD.rounds.column(column).into_iter().flat_map(list).all(|slug| firms.contains(slug)));
    }
    assert!(WORLD.reviews.column("firm").iter().all(|slug| firms.contains(slug)));
    for (kind, slug) in WORLD.people.column("organization_kind").into_iter().zip(WORLD.people.column("organization")) {
        let table = if kind == "firm" { &firms } else { &startups };
        assert!(table.contains(slug), "{kind} {slug}");
    }
}

#[test]
fn values_belong_to_their_vocabularies_and_all_of_them_occur() {
    fn all<V: Vocabulary>(table: &Table, column: &str, optional: bool) {
        let mut found = table.column(column).into_iter().flat_map(list).collect::<HashSet<_>>();
        assert_eq!(table.set(column).contains(""), optional, "{column}");
        for value in V::ALL {
            assert!(found.remove(value.name()), "{column}: no {}", value.name());
        }
        assert!(found.is_empty(), "{column}: {found:?}");
    }
    all::<FirmKind>(&WORLD.firms, "kind", true);
    all::<Stage>(&WORLD.firms, "stages", true);
    all::<Stage>(&WORLD.startups, "stage", true);
    all::<StartupStatus>(&WORLD.startups, "status", true);
    all::<Stage>(&WORLD.rounds, "stage", false);
    all::<OrganizationKind>(&WORLD.people, "organization_kind", false);
    all::<ReviewStatus>(&WORLD.reviews, "status", false);
    for table in [&WORLD.firms, &WORLD.startups, &WORLD.people] {
        assert!(table.column("country").iter().all(|code| code.is_empty() || Country::from_alpha2(code).is_some()));
    }
}

#[test]
fn every_optional_column_is_sometimes_empty_and_mostly_set() {
    for (table, columns) in [
        (
            &WORLD.firms,
            &[
                "aliases",
                "website",
                "description",
                "country",
                "city",
                "founded_year",
                "check_min_usd",
                "check_max_usd",
                "aum_usd",
            ][..],
        ),
        (&WORLD.startups, &["website", "description", "country", "city", "founded_year", "sectors", "status"]),
        (&WORLD.rounds, &["amount_usd", "announced_on", "lead_investors", "investors"]),
        (&WORLD.people, &["title", "country"]),
        (&WORLD.reviews, &["stage", "responsiveness", "fairness", "value_add", "ghosted", "title", "body"]),
    ] {
        for column in columns {
            let empty = table.column(column).iter().filter(|value| value.is_empty()).count();
            assert!(
                empty > 0 && empty * 2 < table.rows.len() + empty.min(40),
                "{column}: {empty} of {}",
                table.rows.len()
            );
        }
    }
    assert!(WORLD.sectors.set("description").contains(""));
}

#[test]
fn dates_and_years_are_in_order() {
    let release = GenConfig::bundled().version.date;
    let founded = WORLD.startups.map("slug", "founded_year");
    for (startup, day) in WORLD.rounds.column("startup").into_iter().zip(WORLD.rounds.column("announced_on")) {
        let Ok(day) = day.parse::<Date>() else { continue };
        assert!(day <= release);
        if let Ok(year) = founded[startup].parse::<i32>() {
            assert!(year <= day.year(), "{startup}");
        }
    }
    assert!(WORLD.reviews.column("created_on").iter().all(|day| day.parse::<Date>().unwrap() <= release));
    let min = WORLD.firms.column("check_min_usd");
    for (min, max) in min.into_iter().zip(WORLD.firms.column("check_max_usd")) {
        if let (Ok(min), Ok(max)) = (min.parse::<u64>(), max.parse::<u64>()) {
            assert!(min <= max);
        }
    }
}

#[test]
fn a_startup_that_is_listed_has_an_ipo_round() {
    let mut listed = HashSet::new();
    for (startup, stage) in WORLD.rounds.column("startup").into_iter().zip(WORLD.rounds.column("stage")) {
        if stage == "ipo" {
            listed.insert(startup);
        }
    }
    let status = WORLD.startups.map("slug", "status");
    assert!(status.iter().all(|(slug, status)| *status != "ipo" || listed.contains(slug)));
    assert!(listed.len() > 20, "{}", listed.len());
}

/// Each pair of round and investor, as row numbers.
fn participations() -> Vec<(usize, usize)> {
    let row_of: HashMap<_, _> = WORLD.firms.column("slug").into_iter().zip(0..).collect();
    let (leads, investors) = (WORLD.rounds.index("lead_investors"), WORLD.rounds.index("investors"));
    let mut pairs = Vec::new();
    for (round, row) in WORLD.rounds.rows.iter().enumerate() {
        let firms: HashSet<_> = list(&row[leads]).chain(list(&row[investors])).collect();
        let mut firms: Vec<usize> = firms.into_iter().map(|slug| row_of[slug]).collect();
        firms.sort_unstable();
        pairs.extend(firms.into_iter().map(|firm| (round, firm)));
    }
    pairs
}

#[test]
fn firms_join_rounds_of_their_stages_regions_and_sectors() {
    let config = GenConfig::bundled();
    let firms: Vec<_> = firms::draw_each(&config).map(|(_, firm, _)| firm).collect();
    let startup_of: HashMap<_, _> = WORLD.startups.column("slug").into_iter().zip(0..).collect();
    let (startup, stage) = (WORLD.rounds.column("startup"), WORLD.rounds.column("stage"));
    let (mut all, mut at_stage, mut seed_firms, mut seed_rounds, mut near, mut in_group) = (0, 0, 0, 0, 0, 0);
    for (round, firm) in participations() {
        let firm = &firms[firm];
        let stage = Stage::read(stage[round]).unwrap();
        let random = &mut random::Random::new(config.seed, random::RandomStream::Startup, startup_of[startup[round]]);
        let home = geography::draw_home(random);
        let group = random.weighted(&sectors::GROUP_WEIGHTS) as u8;
        all += 1;
        at_stage += usize::from(firm.invests_at(stage));
        near += usize::from(geography::HOMES[firm.home].region == geography::HOMES[home].region);
        in_group += usize::from(firm.groups.contains(&group));
        if firm.stage_list() == [Stage::Seed] {
            seed_firms += 1;
            seed_rounds += usize::from(matches!(stage, Stage::Seed));
        }
    }
    assert!(all > 6_000, "{all}");
    assert!(at_stage * 100 > all * 75, "{at_stage} of {all} at a stage of the firm");
    assert!(seed_firms > 50 && seed_rounds * 100 > seed_firms * 60, "{seed_rounds} of {seed_firms} seed");
    assert!(near * 100 > all * 60, "{near} of {all} near");
    assert!(in_group * 100 > all * 80, "{in_group} of {all} in a group of the firm");
}

#[test]
fn activity_is_heavy_tailed_and_syndicates_recur() {
    let pairs = participations();
    let mut joined = vec![0u32; WORLD.firms.rows.len()];
    let mut by_round: HashMap<usize, Vec<usize>> = HashMap::new();
    for (round, firm) in &pairs {
        joined[*firm] += 1;
        by_round.entry(*round).or_default().push(*firm);
    }
    joined.sort_unstable_by(|a, b| b.cmp(a));
    let top: u32 = joined[..40].iter().sum();
    assert!(top as usize * 100 > pairs.len() * 35, "the most active tenth joins {top} of {}", pairs.len());
    assert!(joined[0] > 100 && joined[200] < 20, "{} {}", joined[0], joined[200]);
    let mut together: HashMap<(usize, usize), u32> = HashMap::new();
    for firms in by_round.values() {
        for (index, one) in firms.iter().enumerate() {
            for other in &firms[index + 1..] {
                *together.entry((*one, *other)).or_default() += 1;
            }
        }
    }
    assert!(together.values().filter(|times| **times >= 5).count() > 100);
}

#[test]
fn some_firms_have_no_reviews_some_few_some_many() {
    let mut counts: HashMap<&str, usize> = WORLD.firms.column("slug").into_iter().map(|slug| (slug, 0)).collect();
    for firm in WORLD.reviews.column("firm") {
        *counts.get_mut(firm).unwrap() += 1;
    }
    for few in 0..=5 {
        let firms = counts.values().filter(|count| **count == few).count();
        assert!(firms >= 8, "{firms} firms with {few} reviews");
    }
    assert!(counts.values().filter(|count| **count > 60).count() >= 10);
}

#[test]
fn review_bodies_are_distinct() {
    let bodies: Vec<_> = WORLD.reviews.column("body").into_iter().filter(|body| body.len() > 80).collect();
    let distinct = bodies.iter().collect::<HashSet<_>>().len();
    assert!(bodies.len() > 4_500, "{}", bodies.len());
    assert!(distinct * 1000 >= bodies.len() * 990, "{distinct} of {}", bodies.len());
    assert!(bodies.iter().all(|body| !body.contains(['{', '}'])));
}

#[test]
fn look_alikes_aliases_scripts_and_punctuation_occur() {
    let firms = WORLD.firms.set("name");
    for name in ["Alder Capital", "Alder Capital Partners", "Aldern Ventures", "Karst | Venture Studio"] {
        assert!(firms.contains(name), "{name}");
    }
    let names: Vec<&str> =
        [&WORLD.firms, &WORLD.startups, &WORLD.people].iter().flat_map(|table| table.column("name")).collect();
    for (script, range) in [
        ("Greek", 'α'..='ω'),
        ("Cyrillic", 'а'..='я'),
        ("Armenian", 'ա'..='ֆ'),
        ("Hebrew", 'א'..='ת'),
        ("Arabic", 'ا'..='ي'),
        ("Devanagari", 'अ'..='ह'),
        ("Bengali", 'অ'..='হ'),
        ("Tamil", 'அ'..='ஹ'),
        ("Thai", 'ก'..='ฮ'),
        ("Georgian", 'ა'..='ჰ'),
        ("Ethiopic", 'ሀ'..='ፚ'),
        ("Han", '一'..='鿿'),
        ("Kana", 'ぁ'..='ヶ'),
        ("Hangul", '가'..='힣'),
        ("Latin with marks", 'À'..='ž'),
    ] {
        assert!(names.iter().any(|name| name.chars().any(|char| range.contains(&char))), "{script}");
    }
    for column in ["description"] {
        for table in [&WORLD.firms, &WORLD.startups] {
            for mark in ['"', ',', '\n'] {
                assert!(table.column(column).iter().any(|text| text.contains(mark)), "{mark:?}");
            }
        }
    }
    assert!(WORLD.firms.column("aliases").iter().any(|aliases| list(aliases).count() > 1));
    for table in [&WORLD.firms, &WORLD.startups] {
        assert!(
            table
                .column("website")
                .into_iter()
                .filter(|site| !site.is_empty())
                .all(|site| { site.split("://").last().unwrap().split('/').next().unwrap().ends_with(".example") })
        );
    }
}

#[test]
fn words_of_names_are_as_rare_as_real_ones() {
    let mut words: HashMap<String, u32> = HashMap::new();
    for name in WORLD.startups.column("name") {
        for word in fold(name).split(' ') {
            *words.entry(word.to_owned()).or_default() += 1;
        }
    }
    let once = words.values().filter(|count| **count == 1).count();
    assert!(words.len() > 1_500 && once * 100 > words.len() * 60, "{once} of {} words occur once", words.len());
    let single = WORLD.startups.column("name").iter().filter(|name| !fold(name).contains(' ')).count();
    assert!((35..=65).contains(&(single * 100 / WORLD.startups.rows.len())), "{single} names of one word");
}

/// Slug and hidden quality of each firm, in the order of `firms.csv`.
fn hidden_quality(config: &GenConfig) -> Vec<(String, FirmQuality)> {
    let firms = firms::draw_each(config);
    firms.map(|(row, firm, _)| (firm.slug, FirmQuality::draw(config.seed, row))).collect()
}

#[test]
fn hidden_quality_belongs_to_the_rows_of_firms() {
    let hidden = hidden_quality(&GenConfig::bundled());
    let slugs: Vec<_> = hidden.iter().map(|(slug, _)| slug.as_str()).collect();
    assert_eq!(slugs, WORLD.firms.column("slug"));
    // The ratings of the firm with the most reviews approach its quality.
    let mut ratings: HashMap<&str, Vec<f64>> = HashMap::new();
    for (firm, rating) in WORLD.reviews.column("firm").into_iter().zip(WORLD.reviews.column("rating")) {
        ratings.entry(firm).or_default().push(rating.parse().unwrap());
    }
    let (firm, ratings) = ratings.into_iter().max_by_key(|(slug, ratings)| (ratings.len(), *slug)).unwrap();
    let mean = ratings.iter().sum::<f64>() / ratings.len() as f64;
    let expected = hidden.iter().find(|(slug, _)| slug == firm).unwrap().1.expected()[0];
    assert!((mean - expected).abs() < 0.35, "{firm}: {mean} for {expected}");
}

#[test]
fn sectors_of_every_group_are_used() {
    let used: HashSet<_> = WORLD.startups.column("sectors").into_iter().flat_map(list).collect();
    assert!(used.len() * 10 > SECTORS.len() * 9, "{} of {}", used.len(), SECTORS.len());
}

#[test]
fn generated_datasets_compile_without_diagnostics() {
    for config in [
        GenConfig::bundled(),
        GenConfig { seed: 3, ..GenConfig::new(700, 3_000) },
        GenConfig::new(0, 0),
        GenConfig::new(2, 3),
    ] {
        let folder = tempfile::tempdir().unwrap();
        generate(&config, folder.path()).unwrap();
        let report = data::check(folder.path(), &data::NoProgress);
        assert_eq!(report.problems, [], "{config:?}");
    }
}

/// Score of a firm with exactly these expected values.
fn hidden_score(quality: &FirmQuality) -> f64 {
    let [rating, responsiveness, fairness, value_add, ghosting] = quality.expected();
    let points = |max: f64, mean: f64| max * (mean - 1.0) / 4.0;
    points(30.0, rating)
        + points(15.0, responsiveness)
        + points(15.0, fairness)
        + points(15.0, value_add)
        + 25.0 * (1.0 - ghosting)
}

#[test]
fn score_intervals_cover_the_hidden_quality() {
    let firms = if crate::takes_all_cases() { 1_500 } else { 500 };
    for config in [
        GenConfig::bundled(),
        GenConfig { seed: 3, ..GenConfig::new(firms, 0) },
        GenConfig { seed: 4, ..GenConfig::new(firms, 0) },
    ] {
        let folder = tempfile::tempdir().unwrap();
        generate(&config, folder.path()).unwrap();
        let dataset = data::import::read(folder.path(), &data::NoProgress).0.unwrap();
        let (mut scored, mut covered) = (0, 0);
        let (mut lowest, mut highest) = (100, 0);
        for (assessment, (slug, quality)) in data::derive::score::scores(&dataset).iter().zip(hidden_quality(&config)) {
            let score = &assessment.score;
            let (Some(low), Some(value), Some(high)) = (score.low, score.value, score.high) else { continue };
            let hidden = hidden_score(&quality);
            assert!((0.0..=100.0).contains(&hidden), "{slug}");
            scored += 1;
            covered += usize::from(f64::from(low) <= hidden && hidden <= f64::from(high));
            (lowest, highest) = (lowest.min(value), highest.max(value));
        }
        assert!(scored * 2 > config.firms as usize, "{scored}");
        assert!(covered * 100 >= scored * 85, "{covered} of {scored} covered");
        assert!(lowest < 50 && highest > 80, "scores from {lowest} to {highest}");
    }
}
