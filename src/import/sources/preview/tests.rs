use std::fs;

use super::edit::MappingEdit;
use super::*;
use crate::sources::EntityKind;

const MAPPING: &str = r#"# Ours.
[source]
id = "our-list"  # never changes
title = "Our list"
license = "LicenseRef-Own"

[input.funds]
file = "**/funds.csv"
none = ["N/A"]

[[firm]]
from = "funds"
name = "Fund"  # as registered
# Checked by hand.
country = { column = "Home", unknown = "drop" }
sectors = ["Focus", "Tags"]
key = { column = "Fund", by = "name" }
id.lei = "LEI"
# Phone: private

[vocabulary.stages]
"early" = "seed"
"#;

fn meaning(text: &str) -> Meaning {
    text.parse().unwrap()
}

#[test]
fn setting_and_unsetting_a_meaning_returns_the_text() {
    for new in [
        "firm.0.website",
        "firm.0.sectors",
        "firm.0.id.cik",
        "firm.0.aliases",
        "startup.0.name",
        "firm.1.name",
        "round.0.startup",
        "round.0.investors",
        "person.0.organization",
    ] {
        let new = meaning(new);
        let mut edit = MappingEdit::parse(MAPPING).unwrap();
        edit.set_meaning("funds", "New", None, Some(&new), "").unwrap();
        let text = edit.text();
        assert_ne!(text, MAPPING, "{new}");
        // Rounds need a startup, people a name.
        if !["round.0.investors", "person.0.organization"].contains(&new.to_string().as_str()) {
            check(Path::new("map.toml"), &text).unwrap_or_else(|error| panic!("{new}: {error}\n{text}"));
        }
        let mut edit = MappingEdit::parse(&text).unwrap();
        edit.set_meaning("funds", "New", Some(&new), None, "").unwrap();
        assert_eq!(edit.text(), MAPPING, "{new}");
    }
}

#[test]
fn setting_and_unsetting_a_setting_returns_the_text() {
    for (of, setting, value, expected) in [
        ("firm.0.sectors", "split", ";", "sectors = { column = [\"Focus\", \"Tags\"], do = [\"split(;)\"] }"),
        ("firm.0.id.lei", "split", ",", "id.lei = { column = \"LEI\", do = [\"split(,)\"] }"),
    ] {
        let of = meaning(of);
        let mut edit = MappingEdit::parse(MAPPING).unwrap();
        edit.set_setting(&of, setting, value).unwrap();
        assert!(edit.text().contains(expected), "{}", edit.text());
        assert_eq!(edit.setting(&of, setting), value);
        edit.set_setting(&of, setting, "").unwrap();
        assert_eq!(edit.text(), MAPPING, "{of} {setting}");
    }
    let mut edit = MappingEdit::parse(MAPPING).unwrap();
    for (key, value) in [("encoding", "windows-1252"), ("skip", "2"), ("delimiter", ";")] {
        edit.set_table_setting(&["input", "funds"], key, value).unwrap();
        assert_eq!(edit.table_setting(&["input", "funds"], key), value);
    }
    assert!(edit.text().contains("skip = 2\n"), "{}", edit.text());
    for key in ["encoding", "skip", "delimiter"] {
        edit.set_table_setting(&["input", "funds"], key, "").unwrap();
    }
    assert_eq!(edit.text(), MAPPING);
    edit.set_table_setting(&["input", "funds"], "none", "undisclosed, tbc").unwrap();
    assert!(edit.text().contains("none = [\"undisclosed\", \"tbc\"]\n"), "{}", edit.text());
    assert_eq!(edit.table_setting(&["input", "funds"], "none"), "undisclosed, tbc");
    edit.set_table_setting(&["input", "funds"], "none", "N/A").unwrap();
    assert_eq!(edit.text(), MAPPING);
    edit.set_table_setting(&[], "rates", "rates.csv").unwrap();
    assert!(edit.text().starts_with("rates = \"rates.csv\"\n"), "{}", edit.text());
    assert_eq!(edit.table_setting(&[], "rates"), "rates.csv");
    edit.set_table_setting(&[], "rates", "").unwrap();
    assert_eq!(edit.text(), MAPPING);
    assert!(edit.set_setting(&meaning("firm.0.name"), "currency", "USD").is_err());
    assert!(edit.set_table_setting(&["input", "none"], "skip", "1").is_err());
}

#[test]
fn a_value_of_all_rows_is_written_changed_and_removed() {
    let section = meaning("firm.0.key");
    for (field, value, expected) in [
        ("firm.0.city", "Oslo", "city = { value = \"Oslo\" }"),
        ("firm.0.kind", "angel", "kind = { value = \"angel\" }"),
    ] {
        let of = meaning(field);
        let mut edit = MappingEdit::parse(MAPPING).unwrap();
        assert_eq!(edit.constants(&section), []);
        edit.set_constant(&of, value).unwrap();
        assert!(edit.text().contains(expected), "{}", edit.text());
        check(Path::new("map.toml"), &edit.text()).unwrap();
        assert_eq!(edit.constants(&section), [(of.clone(), value.to_owned())]);
        edit.set_constant(&of, "other").unwrap();
        assert_eq!(edit.constants(&section), [(of.clone(), "other".to_owned())]);
        edit.set_constant(&of, "").unwrap();
        assert_eq!(edit.text(), MAPPING);
    }
    let mut edit = MappingEdit::parse(MAPPING).unwrap();
    // A field with a column, and fields that differ from record to record.
    for field in ["firm.0.country", "firm.0.name", "firm.0.key", "firm.0.id.lei", "firm.0.check_min_usd"] {
        assert!(edit.set_constant(&meaning(field), "x").is_err(), "{field}");
    }
    assert_eq!(edit.text(), MAPPING);
    // A reference is made by its name.
    let rounds = MAPPING
        .replace("[[firm]]", "[[round]]\nfrom = \"funds\"\nstartup = { column = \"Fund\", by = \"name\" }\nkey = { column = \"Fund\", by = \"name\" }\n\n[[firm]]");
    let mut edit = MappingEdit::parse(&rounds).unwrap();
    edit.set_constant(&meaning("round.0.investors"), "Alder Capital").unwrap();
    assert_eq!(edit.constants(&meaning("round.0.key")), [(meaning("round.0.investors"), "Alder Capital".to_owned())]);
    check(Path::new("map.toml"), &edit.text()).unwrap_or_else(|error| panic!("{error}\n{}", edit.text()));
    let mapping =
        MAPPING.replace("country = { column = \"Home\", unknown = \"drop\" }", "country = { value = \"Norway\" }");
    let preview = shown(&mapping, "Fund,Focus,Tags,LEI\nAlder,Energy,Water,\n", SIZE);
    assert_eq!(preview.problems, Vec::<String>::new());
    assert_eq!(preview.tables[0].rows[0].records, ["firm"]);
}

#[test]
fn a_field_with_one_value_is_taken_over_and_comments_stay() {
    let mut edit = MappingEdit::parse(MAPPING).unwrap();
    edit.set_meaning("funds", "Legal name", None, Some(&meaning("firm.0.name")), "").unwrap();
    let text = edit.text();
    assert!(text.contains("name = \"Legal name\"  # as registered\n"), "{text}");
    assert!(text.contains("key = { column = \"Legal name\", by = \"name\" }\n"), "{text}");
    edit.set_meaning("funds", "home", Some(&meaning("firm.0.country")), Some(&meaning("firm.0.city")), "").unwrap();
    let text = edit.text();
    assert!(!text.contains("country") && text.contains("# Checked by hand.\nsectors"), "{text}");
    assert!(text.contains("city = \"home\"\n") && text.contains("# Phone: private\n"), "{text}");
    edit.set_meaning("funds", "Focus", Some(&meaning("firm.0.sectors")), None, "").unwrap();
    assert!(edit.text().contains("sectors = \"Tags\"\n"), "{}", edit.text());
}

#[test]
fn a_suggested_line_is_used_if_it_is_of_the_column() {
    for (line, expected) in [
        (
            "founded_year = { column = \"Since\", dates = [\"%d.%m.%Y\"] }",
            "founded_year = { column = \"Since\", dates =",
        ),
        ("founded_year = { column = \"Other\", dates = [\"%d.%m.%Y\"] }", "founded_year = \"Since\"\n"),
        ("founded_year = {", "founded_year = \"Since\"\n"),
    ] {
        let mut edit = MappingEdit::parse(MAPPING).unwrap();
        edit.set_meaning("funds", "Since", None, Some(&meaning("firm.0.founded_year")), line).unwrap();
        assert!(edit.text().contains(expected), "{}", edit.text());
    }
}

#[test]
fn meanings_are_written_as_they_are_read() {
    for text in ["firm.0.name", "startup.2.id.lei", "round.1.key"] {
        assert_eq!(meaning(text).to_string(), text);
    }
    for text in ["", "firm", "firm.x.name", "firm.0.nothing", "fund.0.name", "firm.0.id."] {
        assert!(text.parse::<Meaning>().is_err(), "{text}");
    }
}

fn shown(mapping: &str, csv: &str, size: PreviewSize) -> Preview {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("funds.csv");
    fs::write(&file, csv).unwrap();
    preview(
        &[file],
        &folder.path().join("map.toml"),
        mapping,
        &SourceChanges::default(),
        "2026-11-20".parse().unwrap(),
        size,
    )
    .unwrap()
}

const SIZE: PreviewSize = PreviewSize { rows: 20, most: 1_000 };

#[test]
fn a_preview_has_what_became_of_every_cell() {
    let csv = "Fund,Home,Focus,Tags,LEI,E-mail\nAlder,Norway,Energy,Water,N/A,a@alder.example\nBirch,Nowhere,,Water,x,\n,Chile,,,,\n";
    let preview = shown(MAPPING, csv, SIZE);
    assert_eq!(preview.problems, Vec::<String>::new());
    let table = &preview.tables[0];
    let cells = |row: usize| -> Vec<String> {
        let of = |cell: &PreviewCell| match (&*cell.values, &*cell.left_out) {
            ([], []) => "-".to_owned(),
            (values, []) => values.iter().map(|value| &*value.text).collect::<Vec<_>>().join("|"),
            (_, reasons) => format!("out: {}", reasons.join("|")),
        };
        table.rows[row].cells.iter().map(of).collect()
    };
    assert_eq!(cells(0), ["Alder", "NO", "Energy", "Water", "-", "-"]);
    let second = cells(1);
    assert_eq!(second[0], "Birch");
    assert!(second[1].starts_with("out: ") && second[1].contains("country"), "{second:?}");
    assert!(second[4].starts_with("out: "), "{second:?}");
    assert_eq!(table.rows[0].records, ["firm"]);
    assert!(table.rows[2].records.is_empty() && table.rows[2].left_out[0].contains("is empty"));
    let means = |column: usize| -> Vec<String> {
        table.columns[column].meanings.iter().map(|known| known.meaning.to_string()).collect()
    };
    assert_eq!(means(0), ["firm.0.name"]);
    assert_eq!(means(3), ["firm.0.sectors"]);
    assert!(means(5).is_empty() && table.columns[5].is_private);
    let entities = &preview.summary.as_ref().unwrap().entities;
    assert!(entities.contains(&("firm", 2)), "{entities:?}");
    let text = outline::Outline(&preview).to_string();
    assert!(text.contains("Alder") && text.contains("left out: Home \"Nowhere\""), "{text}");
}

#[test]
fn a_preview_counts_no_more_rows_than_it_may() {
    let rows: String = (0..50).map(|row| format!("Fund {row},,,,\n")).collect();
    let csv = format!("Fund,Home,Focus,Tags,LEI\n{rows}");
    for (most, firms, is_part) in [(50, 50, false), (49, 49, true), (7, 7, true)] {
        let preview = shown(MAPPING, &csv, PreviewSize { rows: 5, most });
        let summary = preview.summary.unwrap();
        assert_eq!(preview.tables[0].rows.len(), 5);
        assert_eq!((summary.entities[0], summary.rows(), summary.is_part), (("firm", firms), most, is_part));
    }
}

#[test]
fn a_preview_without_a_column_or_with_a_broken_mapping_shows_the_rows() {
    let preview = shown(MAPPING, "Name;Home\nAlder;Norway\n", SIZE);
    assert!(preview.problems.iter().any(|problem| problem.contains("no column `Fund`")), "{:?}", preview.problems);
    let table = &preview.tables[0];
    assert_eq!(table.rows[0].cells[0].text, "Alder");
    let missing: Vec<&str> =
        table.columns.iter().filter(|column| !column.is_there).map(|column| &*column.name).collect();
    assert_eq!(missing, ["Fund", "Focus", "Tags", "LEI"]);
    // Without a section, the columns can still get a meaning.
    let begin = MAPPING.split("[[firm]]").next().unwrap();
    let preview = shown(begin, "Fund,Home\nAlder,Norway\n", SIZE);
    assert!(preview.problems[0].contains("maps nothing") && preview.summary.is_none(), "{:?}", preview.problems);
    assert_eq!((&*preview.tables[0].input, preview.tables[0].columns.len()), ("funds", 2));
    let preview = shown("[source\n", "Fund,Home\nAlder,Norway\n", SIZE);
    assert!(!preview.problems.is_empty());
    assert_eq!(preview.tables[0].rows[0].cells[1].text, "Norway");
}

#[test]
fn values_that_reject_an_import_are_problems_of_its_preview() {
    let rows: String = (0..30).map(|row| format!("Fund {row},,,,x{row}\n")).collect();
    let preview = shown(MAPPING, &format!("Fund,Home,Focus,Tags,LEI\n{rows}"), SIZE);
    assert!(preview.problems.iter().any(|problem| problem.contains("id:lei: 30 of 30")), "{:?}", preview.problems);
    assert!(preview.summary.is_some_and(|summary| summary.entities.contains(&("firm", 30))));
}

#[test]
fn a_section_gets_another_kind_with_the_fields_that_both_have() {
    for (kind, has, lacks) in [
        (EntityKind::Startup, "[[startup]]\nfrom = \"funds\"\nname = \"Fund\"", "[[firm]]"),
        (EntityKind::Person, "[[person]]\nfrom = \"funds\"\nname = \"Fund\"", "sectors"),
        (EntityKind::Round, "startup = { column = \"Fund\", by = \"name\", create = true }", "name = \"Fund\""),
    ] {
        let mut edit = MappingEdit::parse(MAPPING).unwrap();
        edit.set_kind(&meaning("firm.0.name"), Some(kind)).unwrap();
        let text = edit.text();
        assert!(text.contains(has) && !text.contains(lacks) && text.contains("# Checked by hand."), "{text}");
        check(Path::new("map.toml"), &text).unwrap();
    }
    let mut edit = MappingEdit::parse(MAPPING).unwrap();
    edit.set_kind(&meaning("firm.0.name"), None).unwrap();
    assert!(!edit.text().contains("firm") && edit.text().contains("[vocabulary.stages]"), "{}", edit.text());
}
