use std::fs;

use super::sample::Sample;
use super::*;

/// Headers of public exports, with the fields of their columns; `-` means left out.
const TRUTH: &str = include_str!("../../../../tests/fixtures/headers.txt");

#[test]
fn nine_of_ten_columns_of_each_real_header_are_guessed_right() {
    let mut files = 0;
    for block in TRUTH.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let mut lines = data::word_file::entries(block);
        let (path, kind) = lines.next().unwrap().split_once(" = ").unwrap();
        let pairs: Vec<(&str, &str)> = lines.map(|line| line.rsplit_once(" = ").unwrap()).collect();
        let headers = pairs.iter().map(|(header, _)| (*header).to_owned()).collect();
        let sample = Sample { headers, values: vec![Vec::new(); pairs.len()], ..Sample::default() };
        let guess = guess(path, &sample, &FileDescription::default());
        assert_eq!(guess.kind.to_string(), kind, "{path}");
        let wrong: Vec<String> = guess
            .columns
            .iter()
            .zip(&pairs)
            // An amount without a currency is recognized but not used: the currency is never guessed.
            .filter(|(column, (_, expected))| {
                let is_amount = expected.ends_with("_usd")
                    && column.line.as_ref().is_err_and(|line| line.starts_with("an amount without"));
                !is_amount && column.field.unwrap_or("-") != *expected
            })
            .map(|(column, (_, expected))| format!("{}: {:?}, not {expected}", column.header, column.field))
            .collect();
        let share = 1.0 - wrong.len() as f64 / pairs.len() as f64;
        assert!(share >= 0.9, "{path}: {share:.2}\n{}", wrong.join("\n"));
        files += 1;
    }
    assert!(files >= 8, "{files}");
}

#[test]
fn a_guessed_mapping_is_valid_and_says_what_is_not_sure() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).unwrap();
    write("Funds.csv", "Name;Country;AUM;Min check;Stages;Email;Founded\nCaf\u{e9};FR;1000;$50k;Seed|Angel round;a@b.example;04.03.2001\n".replace('\u{e9}', "\u{fffd}").replace('\u{fffd}', "e").as_bytes());
    write("rounds.csv", b"Company,Series,Amount USD,Date,Investors\nAlder,Seed,100000,2024-01-02,\"Birch, Cedar\"\n");
    write("team.json", br#"[{"first_name": "Ana", "last_name": "Reed", "company": "Alder", "title": "CEO"}]"#);
    let text = mapping(&[folder.path().to_owned()]).unwrap();
    for part in [
        "[input.\"funds\"]",
        "delimiter = \";\"",
        "country = { column = \"Country\", unknown = \"drop\" }",
        "# AUM: an amount without a currency; if it is US dollars: aum_usd",
        "check_min_usd = { column = \"Min check\", currency = \"USD\" }  # dollars of the United States?",
        "stages = { column = \"Stages\", do = [\"split(|)\"], map = \"stages\", unknown = \"drop\" }",
        "# Email: private; left out",
        "\"Angel round\" = \"\"",
        "\"Seed\" = \"seed\"",
        "dates = [\"%d.%m.%Y\"]",
        "amount_usd = { column = \"Amount USD\", currency = \"USD\" }",
        "investors = { column = \"Investors\", do = [\"split(,)\"], by = \"name\", create = true }",
        "name = { columns = [\"first_name\", \"last_name\"], join = \" \" }",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    let text = text.replace("[input.\"funds\"]", "[input.funds]");
    crate::sources::mapping::Mapping::read("guessed.toml", &text, std::path::Path::new(""))
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
}

#[test]
fn amounts_and_locations_that_the_values_do_not_explain_are_left_open() {
    let folder = tempfile::tempdir().unwrap();
    let guess = |csv: &str| {
        let path = folder.path().join("funds.csv");
        fs::write(&path, csv).unwrap();
        let text = mapping(&[path]).unwrap();
        crate::sources::mapping::Mapping::read("guessed.toml", &text, std::path::Path::new(""))
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        text
    };
    for (header, values, line) in [
        ("AUM USD", ["250.000", "1.500.000"], "aum_usd = { column = \"AUM USD\", currency = \"USD\" }\n"),
        ("AUM USD", ["1.234", "2.500"], "# AUM USD: its values have a decimal point or comma, or groups of digits"),
        (
            "AUM USD",
            ["85.5", "120"],
            "# AUM USD: its values are too small without a unit; if they are millions: aum_usd",
        ),
        (
            "AUM ($M)",
            ["85.5", "120"],
            "aum_usd = { column = \"AUM ($M)\", currency = \"USD\", unit = \"million\" }  # dollars of",
        ),
        (
            "Global HQ",
            ["\"Austin, TX\"", "\"Oslo, Norway\""],
            "country = { column = \"Global HQ\", do = [\"split(,)\", \"last\"], unknown = \"drop\" }\ncity = ",
        ),
        (
            "HQ Country",
            ["\"Austin, TX\"", "\"Oslo, Norway\""],
            "country = { column = \"HQ Country\", do = [\"split(,)\", \"last\"], unknown = \"drop\" }\n",
        ),
        (
            "Location",
            ["\"1 Main St, Austin, TX\"", "Oslo"],
            "# Location: its values are not cities with their country\n",
        ),
    ] {
        let text = guess(&format!("Fund name,{header}\nAlder,{}\nBirch,{}\n", values[0], values[1]));
        assert!(text.contains(line), "{header}: no {line} in\n{text}");
    }
}

#[test]
fn a_package_of_bulk_files_is_read_and_its_marks_of_formulas_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let package = |marker: &str| {
        let file = r#"{"name": "startups", "path": "startups.csv.gz", MARKER "schema": {"primaryKey": ["slug"]}}"#;
        let file = file.replace("MARKER", marker);
        let text = format!(r#"{{"name": "own", "licenses": [{{"name": "CC0-1.0"}}], "resources": [{file}]}}"#);
        fs::write(folder.path().join("datapackage.json"), text).unwrap();
        let text = package::mapping(&Member::list(&[folder.path().to_owned()]).unwrap()).unwrap();
        crate::sources::mapping::Mapping::read("package.toml", &text, std::path::Path::new(""))
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        text
    };
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, b"slug,name\nmossworks,'=HYPERLINK(1)\n").unwrap();
    fs::write(folder.path().join("startups.csv.gz"), gzip.finish().unwrap()).unwrap();
    let marked = format!("\"{}\": true,", data::formula::MARKED_FORMULAS);
    assert!(package(&marked).contains("\nmarked_formulas = true\n"));
    assert!(!package("").contains("marked_formulas"));
}
