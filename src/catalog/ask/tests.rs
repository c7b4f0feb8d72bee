//! Labelled questions: minimal pairs, which differ in a sign only, in six languages, and others, with the parameters
//! that each is read as. Costs are fitted to them.

use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::ask::Interpretation;
use crate::ask::lattice::{COSTS, Costs};
use crate::ask::list::AnswerKind;
use crate::ask::path::Path;
use crate::ask::place::COUNTRIES;
use crate::ask::question::{Question, QuestionWords};
use crate::{Catalog, Resource};
use data::fold::fold;
use data::{Country, word_file};

/// A list, a question, its parameters and its unread words.
struct Labelled {
    resource: Resource,
    question: &'static str,
    parts: Vec<String>,
    unread: &'static str,
}

fn labelled(file: &'static str) -> Vec<Labelled> {
    let mut resource = Resource::Startups;
    let mut questions = Vec::new();
    for line in word_file::entries(file) {
        if let Some(heading) = line.strip_prefix('[') {
            resource = match heading.trim_end_matches(']') {
                "firms" => Resource::Firms,
                "rounds" => Resource::Rounds,
                "people" => Resource::People,
                _ => Resource::Startups,
            };
            continue;
        }
        let (question, meaning) = line.split_once(" =>").expect("a question and its parameters");
        let (parts, unread) = meaning.split_once(" | ").unwrap_or((meaning, ""));
        let mut parts: Vec<String> = parts.split_whitespace().map(|part| part.replace('+', " ")).collect();
        parts.sort();
        questions.push(Labelled { resource, question, parts, unread });
    }
    questions
}

fn all_labelled() -> Vec<Labelled> {
    [include_str!("pairs.txt"), include_str!("questions.txt")].into_iter().flat_map(labelled).collect()
}

fn read(catalog: &Catalog, labelled: &Labelled, costs: &Costs) -> (Vec<String>, String) {
    let words = QuestionWords::new(catalog, catalog.lexicon(), labelled.question);
    let question = Question::new(words, labelled.resource);
    let Interpretation { parts, unread, .. } = Path::read(question, costs);
    let mut parts: Vec<String> = parts.iter().map(|part| format!("{}={}", part.parameter, part.value)).collect();
    parts.sort();
    (parts, unread.join("; "))
}

fn is_right(catalog: &Catalog, labelled: &Labelled, costs: &Costs) -> bool {
    let (parts, unread) = read(catalog, labelled, costs);
    parts == labelled.parts && unread == labelled.unread
}

#[test]
fn labelled_questions_are_read_as_their_parameters() {
    let catalog = crate::bundled().unwrap();
    let labelled = all_labelled();
    let mut wrong = String::new();
    for labelled in &labelled {
        let (parts, unread) = read(&catalog, labelled, &COSTS);
        if parts != labelled.parts || unread != labelled.unread {
            let (question, parts) = (labelled.question, parts.join(" "));
            writeln!(
                wrong,
                "{question}\n  expected {} | {}\n  found    {parts} | {unread}",
                labelled.parts.join(" "),
                labelled.unread
            )
            .unwrap();
        }
    }
    assert!(labelled.len() >= 400);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_question_is_answered_by_the_list_that_it_is_about() {
    let catalog = crate::bundled().unwrap();
    for (question, resource, kind, is_sum) in [
        ("startups that raised a series A of more than $10m", Resource::Rounds, AnswerKind::List, false),
        ("we are raising a $2m seed in London, who should I pitch", Resource::Firms, AnswerKind::List, false),
        ("seed stage fintechs in London, under $1m raised", Resource::Startups, AnswerKind::List, false),
        ("funds that do not invest in German startups", Resource::Firms, AnswerKind::List, false),
        ("Fonds, die nicht in deutsche Startups investieren", Resource::Firms, AnswerKind::List, false),
        ("Investoren von Zzyzx", Resource::Firms, AnswerKind::List, false),
        ("Who is the CEO of Tidewick?", Resource::People, AnswerKind::List, false),
        ("who invested in Tidewick in 2021", Resource::Rounds, AnswerKind::List, false),
        ("investors in Tidewick", Resource::Startups, AnswerKind::Record, false),
        ("which investors led more than 20 rounds", Resource::Firms, AnswerKind::List, false),
        ("investors whose startups raised more than 10m", Resource::Firms, AnswerKind::List, false),
        ("how many rounds did Alder Capital join in 2021", Resource::Rounds, AnswerKind::Count, false),
        ("portfolio of Alder Capital", Resource::Startups, AnswerKind::List, false),
        ("how many employees does Tidewick have", Resource::Startups, AnswerKind::Record, false),
        ("Tidewick vs Tidewick Health", Resource::Startups, AnswerKind::List, false),
        ("which startups have the highest number of rounds", Resource::Startups, AnswerKind::List, false),
        ("startups without rounds in London", Resource::Startups, AnswerKind::List, false),
        ("montants levés par les startups allemandes en 2014", Resource::Rounds, AnswerKind::Count, true),
        ("somma raccolta dalle startup tedesche nel 2014", Resource::Rounds, AnswerKind::Count, true),
    ] {
        let asked = catalog.ask(question);
        assert_eq!((asked.resource, asked.kind, asked.is_sum), (resource, kind, is_sum), "{question}: {}", asked.why);
    }
}

#[test]
fn other_currencies_and_misspelled_words_are_reported() {
    let catalog = crate::bundled().unwrap();
    for question in ["startups that raised over ¥500m", "Startups, die über 5 Mio. € eingesammelt haben"] {
        let notes = catalog.interpret(Resource::Startups, question).notes;
        assert!(notes.iter().any(|note| note.contains("in another currency")), "{question}: {notes:?}");
    }
    assert_eq!(catalog.interpret(Resource::Startups, "startups that raised over $500m").notes, Vec::<String>::new());
    let misspelt = catalog.interpret(Resource::Startups, "startups in Germny").parts;
    assert_eq!(misspelt[0].why, "country or region; `Germny` was taken for `germany`");
}

#[test]
fn countries_of_exonyms_are_known_and_their_cities_folded() {
    assert!(COUNTRIES.len() > 30);
    for (city, country) in COUNTRIES.iter() {
        assert!(Country::from_alpha2(country).is_some() && fold(city) == *city, "{city}");
    }
}

#[test]
fn only_the_first_words_of_a_long_question_are_read_and_the_rest_is_named() {
    let catalog = crate::bundled().unwrap();
    let text = format!("fintech {}startups in London", "and ".repeat(70));
    let interpretation = catalog.interpret(Resource::Startups, &text);
    assert_eq!(interpretation.values().collect::<Vec<_>>(), [("sector".to_owned(), "fintech".to_owned())]);
    assert!(interpretation.unread.last().is_some_and(|rest| rest.ends_with("startups in London")));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// Questions of numbers, units and signs in any order are read, and each word is a part of the text.
    #[test]
    fn each_word_has_its_place_in_the_text(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "5", "500", "000", "%", "20%", "M€", "k€", "Md€", "Mrd£", "US$", "US$5", "R$", "€", "mila", "5M€", "über",
                "unter", "levées", "startups", "Köln", "São", "Paulo,", "excluded", "–", "-", "/", "l’été", "日本", "not", "’s",
            ]),
            0..12,
        ),
    ) {
        static BUNDLED: LazyLock<Catalog> = LazyLock::new(|| crate::bundled().unwrap());
        let catalog = &*BUNDLED;
        let text = parts.join(" ");
        for token in &QuestionWords::new(catalog, catalog.lexicon(), &text).tokens {
            proptest::prop_assert!(text.get(token.place.clone()).is_some(), "{:?} in {}", token, text);
        }
        catalog.ask(&text);
    }
}

/// Writes the costs with which most of the labelled questions are read rightly, from those of the file, if
/// `VENTUREDEX_BLESS` is set: each cost in turn takes the step that reads more questions rightly.
#[test]
fn costs_can_be_fitted_to_the_labelled_questions() {
    if std::env::var_os("VENTUREDEX_BLESS").is_none() {
        return;
    }
    const STEPS: [i32; 6] = [-200, -50, -10, 10, 50, 200];
    let catalog = crate::bundled().unwrap();
    let labelled = all_labelled();
    let right = |costs: &Costs| labelled.iter().filter(|labelled| is_right(&catalog, labelled, costs)).count();
    let mut costs = COSTS.clone();
    let mut best = right(&costs);
    let mut has_changed = best < labelled.len();
    while has_changed {
        has_changed = false;
        for (index, step) in (0..costs.len()).flat_map(|index| STEPS.map(|step| (index, step))) {
            let stepped = costs.with_step(index, step);
            let count = right(&stepped);
            if count > best {
                (costs, best, has_changed) = (stepped, count, true);
            }
        }
    }
    println!("{best} of {} questions are read rightly", labelled.len());
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/ask/costs.txt");
    std::fs::write(file, costs.to_file()).unwrap();
}
