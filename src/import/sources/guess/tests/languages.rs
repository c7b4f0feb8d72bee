//! Lists of deals, firms and contacts in many languages, whose words are from a table of their own.

use super::*;
use crate::sources::mapping::date_format::{DateEvidence, WrittenDate};
use crate::sources::missing::MissingIn;
use crate::sources::money::{AmountForm, MoneyCell, Notation, Sign};
use data::meaning::Meaning as _;
use data::{Country, Stage};

const LANGUAGES: &str = include_str!("../../../../../tests/fixtures/languages.txt");

const DEALS: [(&str, &str); 9] = [
    ("startup", "Alderon|Birchbot|Cedarly|Dunlin|Elmo|Fernwerk"),
    ("sectors", "Wine|Robots|Energy|Health|Food|Ports"),
    ("country", "Germany|France|Spain|Italy|Germany|Austria"),
    ("city", "Bremen|Lille|Vigo|Turin|Kiel|Graz"),
    ("stage", ""),
    ("announced_on", ""),
    ("amount_usd", ""),
    ("lead_investors", "Alder Capital|Birch Fund|Cedar Capital|Dorn|Elm Fund|Fern"),
    ("investors", "Gale Capital|Hazel Fund, Iris Ventures|Juniper Capital|Kelp|Larch Fund|Moss"),
];

const FIRMS: [(&str, &str); 10] = [
    ("name", "Alder Capital|Birch Fund|Cedar Capital|Dorn|Elm Fund|Fern"),
    ("kind", "vc|angel|vc|corporate|bank|vc"),
    (
        "website",
        "https://alder.example|https://birch.example|https://cedar.example|https://dorn.example|elm.example|fern.example",
    ),
    ("country", "Germany|France|Spain|Italy|Germany|Austria"),
    ("city", "Bremen|Lille|Vigo|Turin|Kiel|Graz"),
    ("founded_year", "2009|2014|2016|2020|2011|2018"),
    ("stages", "Seed, Series A|Series A|Series B|Seed|Series A|Seed"),
    (
        "check_max_usd",
        "US$200000-1000000|US$300000-1000000|US$250000-2000000|US$100000-500000|US$100000-700000|US$100000-300000",
    ),
    ("aum_usd", "US$150000000|US$90000000|US$22500000|US$70000000|US$120000000|US$40000000"),
    ("description", "Invests early.|Backs robots.|For energy.|Health alone.|All kinds of food.|Ports and ships."),
];

const CONTACTS: [(&str, &str); 6] = [
    ("name", "Ada|Ben|Cleo|Dan|Eva|Finn"),
    ("name", "Quill|Reed|Stone|Thorn|Umber|Vale"),
    ("title", "Partner|Principal|Partner|Analyst|Partner|Associate"),
    ("organization", "Alder Capital|Birch Fund|Cedar Capital|Dorn Ventures|Elm Fund|Fern Partners"),
    ("-", "ada@alder.example|ben@birch.example|cleo@cedar.example|dan@dorn.example|eva@elm.example|finn@fern.example"),
    ("-", "+49 30 5550100|+49 30 5550101|+49 30 5550102|+49 30 5550103|+49 30 5550104|+49 30 5550105"),
];

/// What values are of, and a test of one.
type WordTest<'t> = (&'static str, &'t dyn Fn(&str) -> bool);

struct Language {
    name: &'static str,
    /// The headers of deals, firms and contacts, and words of values.
    lines: [Vec<Vec<&'static str>>; 4],
}

fn languages() -> Vec<Language> {
    let block = |block: &'static str| {
        let (name, lines) = block.split_once('\n').unwrap();
        let mut lines = data::word_file::entries(lines);
        let mut line = |kind: &str| {
            let line =
                lines.next().and_then(|line| line.strip_prefix(kind)).unwrap_or_else(|| panic!("{name}: {kind}"));
            let cells = line.strip_prefix(" | ").unwrap().split(" | ");
            cells.map(|cell| cell.split(" / ").map(str::trim).filter(|word| *word != "-").collect()).collect()
        };
        Language { name: name.trim(), lines: [line("deals"), line("firms"), line("contacts"), line("words")] }
    };
    LANGUAGES.split("\n= ").skip(1).map(block).collect()
}

impl Language {
    fn values(&self, field: &str, values: &str) -> Vec<String> {
        let own = |at: usize| self.lines[3][at].iter().map(|word| (*word).to_owned());
        match field {
            "stage" => own(0).chain(own(1)).cycle().take(6).collect(),
            "announced_on" => own(3).cycle().take(6).collect(),
            "amount_usd" => own(4).cycle().take(6).collect(),
            _ => values.split('|').map(str::to_owned).collect(),
        }
    }

    /// What of a list with the headers of one line is read otherwise than as the fields say.
    fn problems(&self, line: usize, kind: &str, fields: &[(&'static str, &str)]) -> Vec<String> {
        let headers = &self.lines[line];
        assert_eq!(headers.len(), fields.len(), "{}: {kind}", self.name);
        let mut problems = Vec::new();
        // The gate reads one list in three, another one for each kind.
        let (first, step) = if crate::takes_all_cases() { (0, 1) } else { (line % 3, 3) };
        for turn in (first..headers.iter().map(Vec::len).max().unwrap_or_default().max(first + 1)).step_by(step) {
            let mut given: Vec<(&str, Vec<String>)> = Vec::new();
            for (words, (field, values)) in headers.iter().zip(fields) {
                let mut in_turn = words.iter().cycle().skip(turn).take(words.len());
                let header = in_turn.find(|word| given.iter().all(|(known, _)| known != *word)).unwrap();
                given.push((header, self.values(field, values)));
            }
            let (found, read) = guessed("list.csv", &given);
            if found != kind {
                let headers: Vec<&str> = given.iter().map(|(header, _)| *header).collect();
                problems.push(format!("{}: {found}, not {kind}: {headers:?}", self.name));
                continue;
            }
            let pairs = given.iter().zip(fields).zip(read).filter(|((_, (field, _)), read)| field != read);
            problems.extend(
                pairs.map(|(((header, _), (field, _)), read)| format!("{}: {header}: {read}, not {field}", self.name)),
            );
        }
        problems
    }

    /// Values that are read otherwise than they are meant.
    fn wrong_words(&self) -> Vec<String> {
        let words = &self.lines[3];
        let is_amount = |word: &str| {
            let cell =
                MoneyCell::read(word).and_then(|cell| cell.amount(&AmountForm::default(), &Notation::default()).ok());
            cell == Some((2.5e6, Some(Sign::Code("EUR".to_owned()))))
        };
        let day: data::PartialDate = "2024-03-03".parse().unwrap();
        let tests: [WordTest<'_>; 9] = [
            ("seed", &|word| matches!(Stage::meaning(word), Some(Stage::Seed | Stage::PreSeed))),
            ("series A", &|word| Stage::meaning(word) == Some(Stage::SeriesA)),
            ("Germany", &|word| Country::read(word).is_some_and(|country| country.alpha2() == "DE")),
            ("date", &|word| {
                let date = WrittenDate::read(word).and_then(|date| date.decide(None, &DateEvidence::default()).ok());
                date == Some(day)
            }),
            ("amount", &is_amount),
            ("missing", &|word| MissingIn::Amount.is_missing(word)),
            ("undisclosed", &|word| MissingIn::Amount.is_missing(word)),
            ("total", &|word| crate::sources::input::is_total(word)),
            ("and", &|and| {
                let names = ["Alder Hill Capital", "Birch Wood Ventures", "Cedar Lake Partners"];
                let text = format!("{}, {} {and} {}", names[0], names[1], names[2]);
                crate::sources::mapping::list::split_list(&text).is_ok_and(|found| found == names)
            }),
        ];
        assert_eq!(words.len(), tests.len(), "{}", self.name);
        let wrong = |(words, (what, is_right)): (&Vec<&'static str>, &WordTest<'_>)| {
            let wrong: Vec<_> = words.iter().filter(|word| !is_right(word)).collect();
            (!wrong.is_empty()).then(|| format!("{}: {what}: {wrong:?}", self.name))
        };
        words.iter().zip(&tests).filter_map(wrong).collect()
    }
}

#[test]
fn lists_of_deals_firms_and_contacts_are_read_in_every_language() {
    let languages = languages();
    assert!(languages.len() >= 59, "{}", languages.len());
    let read = |language: &Language| {
        let lists = [(0, "round", &DEALS[..]), (1, "firm", &FIRMS), (2, "person", &CONTACTS)];
        lists.into_iter().flat_map(|(line, kind, fields)| language.problems(line, kind, fields)).collect::<Vec<_>>()
    };
    let mut problems: Vec<String> = languages.iter().flat_map(read).collect();
    problems.dedup();
    assert!(problems.is_empty(), "{}:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn values_are_read_in_every_language() {
    let problems: Vec<String> = languages().iter().flat_map(Language::wrong_words).collect();
    assert!(problems.is_empty(), "{}:\n{}", problems.len(), problems.join("\n"));
}
