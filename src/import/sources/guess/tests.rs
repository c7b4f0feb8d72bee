mod languages;
mod lists;
mod strange;

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;

use super::*;
use crate::sources::import::Import;
use crate::sources::input::InputFormat;
use crate::sources::input::tests::{sheet, workbook};
use data::{Date, NoProgress};

/// Headers of public exports, with the fields of their columns; `-` means left out.
const HEADERS: &str = include_str!("../../../../tests/fixtures/headers.txt");

/// Tables with the fields and values of their columns.
const TABLES: &str = include_str!("../../../../tests/fixtures/guesses.txt");

/// Kind of the first section, and the fields of the columns.
fn guessed(path: &str, columns: &[(&str, Vec<String>)]) -> (String, Vec<&'static str>) {
    let headers = columns.iter().map(|(header, _)| (*header).to_owned()).collect();
    let sample =
        Sample { headers, values: columns.iter().map(|(_, values)| values.clone()).collect(), ..Sample::default() };
    let described = FileDescription::default();
    let outlines = [Outline::new(table::meaning_of_file(path), &sample, &described)];
    let mut vocabularies = Vocabularies::new();
    let relations = relations(&outlines).into_iter().next().unwrap();
    let is_known = outlines[0].rows != RowKind::People || relations.organization.is_some();
    let sections = Sections::new(&outlines[0], relations, &mut vocabularies);
    let kind =
        sections.sections.first().filter(|_| is_known).map_or("-".to_owned(), |section| section.kind.to_string());
    let field = |index| sections.fields().get(&index).copied().filter(|_| kind != "-").unwrap_or("-");
    (kind.clone(), (0..columns.len()).map(field).collect())
}

#[test]
fn no_column_of_sixty_tables_gets_a_wrong_field() {
    let mut sets: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let split = |text: &str| text.split(" | ").map(str::to_owned).collect::<Vec<_>>();
    let lines = TABLES.lines().filter(|line| !line.starts_with("# ") || line.contains(" = "));
    let mut blocks: Vec<Vec<&str>> = vec![Vec::new()];
    for line in lines {
        match (line.strip_prefix("= "), line.is_empty()) {
            (Some(set), _) => drop(set.split_once(" | ").map(|(name, values)| sets.insert(name, split(values)))),
            (None, true) => blocks.push(Vec::new()),
            (None, false) if line != "#" => blocks.last_mut().unwrap().push(line),
            _ => {}
        }
    }
    let (mut problems, mut count) = (Vec::new(), 0);
    for block in blocks.iter().filter(|block| !block.is_empty()) {
        let (path, kind) = block[0].rsplit_once(" = ").unwrap();
        let column = |line: &&'static str| {
            let (header, rest) = line.split_once(" = ").unwrap();
            let (field, values) = rest.split_once(' ').unwrap();
            let values = values.strip_prefix("| ").map_or_else(|| sets[values].clone(), split);
            (header, field, values)
        };
        let columns: Vec<_> = block[1..].iter().map(column).collect();
        let given: Vec<_> = columns.iter().map(|(header, _, values)| (*header, values.clone())).collect();
        let (found, fields) = guessed(path, &given);
        if found != kind {
            problems.push(format!("{path}: {found}, not {kind}"));
        }
        for ((header, expected, _), field) in
            columns.iter().zip(fields).filter(|((_, expected, _), field)| expected != field)
        {
            problems.push(format!("{path}: {header}: {field}, not {expected}"));
        }
        count += 1;
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(count >= 60, "{count}");
}

/// Six values of a field.
fn values_of(field: &str) -> Vec<String> {
    let values = match field {
        "name" | "startup" => "Alder Labs|Birchbot|Cedarly|Dunlin|Elmo|Fernwerk",
        "aliases" => "Aldera|Bircha|Cedara|Dunlina|Elma|Ferna",
        "website" => {
            "https://alder.example|https://birch.example|https://cedar.example|https://dorn.example|elm.example|fern.example"
        }
        "location" => "Bremen, Germany|Lille, France|Vigo, Spain|Turin, Italy|Kiel, Germany|Graz, Austria",
        "country" => "Germany|France|Spain|Italy|Germany|Austria",
        "city" => "Bremen|Lille|Vigo|Turin|Kiel|Graz",
        "founded_year" => "2009|2014|2016|2020|2011|2018",
        "announced_on" => "2024-05-01|2024-06-12|2024-07-30|2024-08-02|2024-09-17|2024-10-25",
        "stage" => "Seed|Series A|Series B|Seed|Series A|Seed",
        "stages" => "Seed, Series A|Series A|Series B|Seed|Series A|Seed",
        "kind" => "vc|angel|vc|corporate|bank|vc",
        "status" => "operating|acquired|closed|ipo|operating|operating",
        "amount_usd" | "aum_usd" | "check_min_usd" | "check_max_usd" => {
            "US$1500000|US$9000000|US$2250000|US$700000|US$120000|US$40000"
        }
        "lead_investors" | "investors" => "Alder Capital|Birch Fund|Cedar Capital|Dorn|Elm Fund|Fern",
        "key" => "a1|b2|c3|d4|e5|f6",
        "id.lei" => "529900T8BM49AURSDO55",
        "id.companies-house" => "00445790|00445791|00445792|00445793|00445794|00445795",
        field if field.starts_with("id.") => "320193|320194|320195|320196|320197|320198",
        "-" => "",
        _ => "Wine|Robots|Energy|Health|Food|Ports",
    };
    values.split('|').filter(|value| !value.is_empty()).map(str::to_owned).collect()
}

#[test]
fn nine_of_ten_columns_of_each_real_header_are_guessed_right() {
    let mut files = 0;
    for block in HEADERS.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let mut lines = data::word_file::entries(block);
        let (path, kind) = lines.next().unwrap().split_once(" = ").unwrap();
        let pairs: Vec<(&str, &str)> = lines.map(|line| line.rsplit_once(" = ").unwrap()).collect();
        let columns: Vec<_> = pairs.iter().map(|(header, field)| (*header, values_of(field))).collect();
        let (found, fields) = guessed(path, &columns);
        assert_eq!(found, kind, "{path}");
        let wrong = pairs.iter().zip(fields).filter(|((_, expected), field)| expected != field);
        let wrong: Vec<String> =
            wrong.map(|((header, expected), field)| format!("{header}: {field}, not {expected}")).collect();
        assert!(wrong.len() * 10 <= pairs.len(), "{path}:\n{}", wrong.join("\n"));
        files += 1;
    }
    assert!(files >= 8, "{files}");
}

/// Mapping of files, which is also imported; `Err` if nothing of them is sure.
fn guess(files: &[(&str, &str)]) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let write = |(name, text): &(&str, &str)| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    imported(files.iter().map(write).collect(), folder.path()).map(|(text, _)| text)
}

/// The guessed mapping of files, and the statements that it makes.
fn imported(paths: Vec<PathBuf>, folder: &Path) -> Result<(String, String), String> {
    let text = mapping(&paths).map_err(|error| error.to_string())?;
    let file = folder.join("guessed.toml");
    fs::write(&file, &text).unwrap();
    let sources = folder.join("sources");
    let import = Import::mapping(&file, paths).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let day: Date = "2026-01-01".parse().unwrap();
    import.run(&sources, day, &NoProgress).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let folders = fs::read_dir(&sources).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    let statements = files.filter(|path| path.ends_with("statements.csv"));
    Ok((text, statements.map(|path| fs::read_to_string(path).unwrap()).collect()))
}

#[test]
fn each_sheet_with_records_is_described_and_the_others_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("portfolio.xlsx");
    let portfolio = sheet(
        "Company,City,Website\nAlder Labs,Oslo,alder.example\nBirch Works,Bergen,birch.example\nCedar Bio,Oslo,cedar.example",
    );
    let exits = sheet("Company,City,Year of exit\nDunlin,Oslo,2022\nElmo,Bergen,2023\nFernwerk,Oslo,2023");
    let flows = sheet("Quarter,Calls,Distributions\nQ1 2025,3.1,2\nQ2 2025,2.7,4.4");
    workbook(&path, &[("Companies", "", &portfolio), ("Exits", "", &exits), ("Cash flows", "", &flows)]);
    let (text, statements) = imported(vec![path], folder.path()).unwrap();
    let flows = "# portfolio.xlsx, sheet \"Cash flows\": left out: ";
    for part in ["sheet = \"Companies\"", "sheet = \"Exits\"", flows, "\"Distributions\" (\"2\", \"4.4\")"] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    for name in ["Cedar Bio", "Fernwerk"] {
        assert!(statements.contains(&format!(",{name},")), "no {name} in\n{statements}");
    }
}

#[test]
fn what_is_not_sure_is_a_remark_with_values_and_the_line_that_would_use_it() {
    for (csv, parts) in [
        (
            "Fund,AUM USD\nAlder,250.000\nBirch,1.500.000\n",
            &["aum_usd = { column = \"AUM USD\", currency = \"USD\" }\n"][..],
        ),
        (
            "Fund,AUM USD\nAlder,1.234\nBirch,2.500\n",
            &["# AUM USD: its values have a decimal point or comma", "(\"1.234\", \"2.500\")\n#aum_usd = { column"],
        ),
        (
            "Fund,AUM USD\nAlder,85.5\nBirch,120\n",
            &["# AUM USD: its values are too small without a unit", "unit = \"million\" }\n"],
        ),
        (
            "Fund,AUM ($M)\nAlder,85.5\nBirch,120\n",
            &[
                "\naum_usd = { column = \"AUM ($M)\", currency = \"USD\", unit = \"million\" }  # dollars of the United States?",
            ],
        ),
        (
            "Amounts in millions of USD\n\nFund,Site,AUM\nAlder,alder.example,85.5\nBirch,birch.example,120\n",
            &["currency = \"USD\", unit = \"million\" }  # as above the header: \"Amounts in millions of USD\"\n"],
        ),
        (
            "Fund,AUM\nAlder,1000\nBirch,2000\n",
            &["# AUM: an amount without a currency; if it is US dollars (", "\n#aum_usd = "],
        ),
        (
            "Fund,HQ Country\nAlder,\"Austin, TX\"\nBirch,\"Oslo, Norway\"\n",
            &["country = { column = \"HQ Country\", do = [\"place(country)\"], unknown = \"drop\" }\n"],
        ),
        (
            "Fund,Location\nAlder,\"1 Main St, Austin, TX\"\nBirch,Oslo\n",
            &["# Location: its values are not cities with their country"],
        ),
        ("Member,Stage focus,Member since\nAlder Capital,Seed,2009\nBirch Ventures,Seed,2012\n", &["# Member since: "]),
        ("Fund,E-Mail\nAlder,ana@alder.example\nBirch,ben@birch.example\n", &["# E-Mail: private; left out\n"]),
        ("Fund,Kind of thing\nAlder,x\nBirch,y\n", &["# Kind of thing: "]),
        (
            "Fund,Investor Type\nAlder,Venture Capital\nBirch,Zorblax\n",
            &["\"Venture Capital\" = \"vc\"\n", "\n#\"Zorblax\" = \"\"\n"],
        ),
        (
            "Fund,Founded\nAlder,01/02/2003\nBirch,02/03/2004\n",
            &[
                "# Founded: its days and months may be in either order",
                "\n#founded_year = { column = \"Founded\", dates = [\"%m/%d/%Y\"] }",
            ],
        ),
        (
            "Account Name,Account Type,Billing City\nAlder Capital,Investor,Oslo\nBirch Works,Portfolio Company,Bergen\n\
             Cedar Bio,Prospect,Oslo\nDale Fund,Investor,Oslo\nElm Labs,Sponsor,Oslo\n",
            &["when = { \"Account Type\" = [\"Portfolio Company\"] }", "when = { \"Account Type\" = [\"Investor\"] }"],
        ),
        (
            "Company,Round,When\nAlder Labs,Seed,2021-03-14\nBirch Works,Seed,Mar '22\n",
            &["\nannounced_on = \"When\"\n"],
        ),
        (
            "Company,Round,Date (dd/mm/yyyy)\nAlder Labs,Seed,01/02/2003\nBirch Works,Seed,02/03/2004\n",
            &["\nannounced_on = { column = \"Date (dd/mm/yyyy)\", dates = [\"%d/%m/%Y\"] }\n"],
        ),
        (
            "Company,Round,\"Announced, MM-DD-YYYY\"\nAlder Labs,Seed,01-02-2003\nBirch Works,Seed,02-03-2004\n",
            &["\nannounced_on = { column = \"Announced, MM-DD-YYYY\", dates = [\"%m-%d-%Y\"] }\n"],
        ),
        (
            "Société,Tour,Date (jj/mm/aaaa)\nAlder Labs,Seed,01/02/2003\nBirch Works,Seed,02/03/2004\n",
            &["\nannounced_on = { column = \"Date (jj/mm/aaaa)\", dates = [\"%d/%m/%Y\"] }\n"],
        ),
    ] {
        let text = guess(&[("list.csv", csv)]).unwrap();
        parts.iter().for_each(|part| assert!(text.contains(part), "no {part} in\n{text}"));
        assert!(!text.contains("ana@"), "{text}");
    }
}

#[test]
fn rounds_with_an_investor_in_each_row_are_filled_down() {
    let rows = |cells: [&str; 4]| {
        let [first, more, second, other] = cells;
        format!(
            "Company,City,Round,Date,Amount (USD),Investors\nAlder Labs,Oslo,Seed,2024-03-12,1000000,{first}\n,,,,,{more}\n\
             Birch Works,Bergen,Series A,2024-06-05,7000000,{second}\n,,,,,{other}\nCedar Bio,Oslo,Seed,2024-07-01,500000,Oak Capital\n"
        )
    };
    let line = "fill_down = [\"Company\", \"City\", \"Round\", \"Date\", \"Amount (USD)\"]";
    for (cells, is_filled) in [
        (["Oak Capital", "Elm Ventures", "Ash Partners", "Fir Fund"], true),
        (["\"Oak Capital, Elm Ventures,\"", "Fir Fund", "\"Ash Partners,\"", "Oak Capital"], true),
        // The rest of a name, perhaps.
        (["\"Oak Capital, Elm\"", "Ventures", "\"Ash Partners, Fir\"", "Fund"], false),
    ] {
        let text = guess(&[("deals.csv", &rows(cells))]).unwrap();
        assert_eq!(text.contains(line), is_filled, "{text}");
    }
}

#[test]
fn what_several_rounds_share_is_filled_down_and_what_each_has_is_not() {
    let csv = "Company,City,Date,Round,Amount (USD),Lead\nAlder Labs,Oslo,2023-03-12,Seed,1000000,Oak Capital\n,,2024-06-05,,,Elm Ventures\n\
               Birch Works,Bergen,2024-06-07,Series A,7000000,Ash Partners\nCedar Bio,Oslo,2024-07-01,Seed,500000,Oak Capital\n";
    let text = guess(&[("deals.csv", csv)]).unwrap();
    assert!(text.contains("fill_down = [\"Company\", \"City\"]"), "{text}");
}

#[test]
fn a_particle_is_part_of_a_name_in_any_order() {
    let csv = "Achternaam,Tussenvoegsel,Voornaam,Functie,Fonds\nVeldkamp,,Sanne,Partner,Duin Ventures\nOstrick,van,Daan,Partner,Duin Ventures\n\
               Hoogmade,de,Lotte,Analist,Gracht Capital\nMeerdijk,van der,Femke,Partner,Gracht Capital\n";
    let text = guess(&[("personen.csv", csv)]).unwrap();
    assert!(text.contains("columns = [\"Voornaam\", \"Tussenvoegsel\", \"Achternaam\"]"), "{text}");
}

#[test]
fn a_fund_is_no_firm_next_to_its_manager_and_a_person_no_manager() {
    let of_firms = "Fund,Manager,Country\nAlder Fund I,Alder Capital,Norway\nAlder Fund II,Alder Capital,Norway\nBirch Growth,Birch Partners,Sweden\n";
    assert!(guess(&[("report.csv", of_firms)]).unwrap().contains("name = \"Manager\""));
    let of_people = "Fund,Manager,Country\nAlder Fund,Ada Quill,Norway\nBirch Growth Fund,Ben Marsh,Sweden\nCedar Capital,Cleo Dunn,Norway\n";
    assert!(guess(&[("report.csv", of_people)]).unwrap().contains("name = \"Fund\""));
}

#[test]
fn a_note_behind_a_name_is_the_state_of_the_startup() {
    let csv = "Portfolio company,City\nAlder Labs (written off),Oslo\nBirch Works,Bergen\nCedar Bio (acquired),Oslo\nDunlin (Berlin),Oslo\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("portfolio.csv");
    fs::write(&path, csv).unwrap();
    let (text, statements) = imported(vec![path], folder.path()).unwrap();
    for part in ["name,Alder Labs,", "status,closed,", "name,Cedar Bio,", "status,acquired,", "name,Dunlin (Berlin),"] {
        assert!(statements.contains(part), "no {part} in\n{statements}\n{text}");
    }
}

#[test]
fn headings_of_groups_are_rows_of_no_record() {
    let line = "headings = true";
    let months = "Société,Ville,Date,Tour,Montant (M€),Chef de file\nJanvier 2025,,,,,\nRuche,Angers,2025-01-09,Amorçage,1.2,Aubrac Ventures\n\
                  Houle,Brest,2025-01-21,Série A,7.5,Calanque Partenaires\nMars 2025,,,,,\nChanvre,Le Mans,2025-03-04,Amorçage,0.4,Bocage Capital\n\
                  Dé,Lyon,2025-03-18,Amorçage,2,Aubrac Ventures\n";
    let exits = "Company,Acquirer,City,Country,Founded,% Complete\n2023 exits,,,,,1\nAlder,Birch Software,Leeds,GB,2014,1\n\
                 Cedar,Dorn AG,Ulm,DE,2013,1\n2024 exits,,,,,1\nElm,Fern SA,Lyon,FR,2017,1\nGale,Holm Oy,Turku,FI,2016,1\n";
    let sparse = "Company,City,Founded,Website\nAlder,,,\nBirch,Leeds,2014,birch.example\nCedar,,,\nDorn,Ulm,,dorn.example\nElm,Lyon,2017,elm.example\n";
    for (table, name, has_headings) in [(months, "Ruche", true), (exits, "Alder", true), (sparse, "Alder", false)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("startups.csv");
        fs::write(&path, table).unwrap();
        let text = mapping(std::slice::from_ref(&path)).unwrap();
        assert_eq!(text.contains(line), has_headings, "{text}");
        let format = InputFormat { has_headings, ..InputFormat::default() };
        let read = Sample::read_as(&Member::list(&[path]).unwrap()[0], format);
        let first = read.unwrap().values[0][0].clone();
        assert_eq!(first, name);
    }
}

#[test]
fn a_column_of_known_investors_has_investors_and_names_that_are_known_are_divided() {
    let text = "Company,Round,Raised,Led by,With\nQuoin,Seed,$4m,Oxlip Capital,\"Redewing Ventures, Swale Fund and Bramhall Angels\"\n\
                Kite,Series A,$12m,Corbel and Lintel Partners,Oxlip Capital\nScant,Seed,$900k,Swale Fund,Bramhall Angels\n\
                Tie,Series B,$31m,Parapet Growth,\"Lintel Partners, Corbel and Hern Street\"\nRook,Seed,$2m,Redewing Ventures,\n\
                Vous,Seed,$3m,Hern Street,Swale Fund and Bramhall Angels\nZax,Series A,$16m,Lintel Partners,Parapet Growth\n";
    let guessed = guess(&[("rounds.csv", text)]).unwrap();
    assert!(guessed.contains("\ninvestors = { column = \"With\", do = [\"list\", \"split( and )\"], by"), "{guessed}");
    assert!(guessed.contains("\nlead_investors = { column = \"Led by\", do = [\"split( and )\"], by"), "{guessed}");
    // `Corbel and Lintel` may be one firm if neither name is that of another.
    let text = text
        .replace("Lintel Partners, Corbel and Hern Street", "Alder Capital")
        .replace("$16m,Lintel Partners", "$16m,Moss Fund");
    let guessed = guess(&[("rounds.csv", &text)]).unwrap();
    assert!(!guessed.contains("split("), "{guessed}");
}

#[test]
fn what_crms_and_forms_ask_is_understood() {
    let text = "(Do Not Modify) Account,Account Name,Investor Category,Address 1: City,Address 1: Country/Region,Stage Focus\n\
                9c3f2a10-71aa-ee11-9ae7-6045bd01a2b3,Auburn Ventures,Venture Capital,London,United Kingdom,Seed; Series A\n\
                9c3f48ff-71aa-ee11-9ae7-6045bd01a2b4,Basalt Office,Family Office,Geneva,Switzerland,Series A; Series B\n\
                9c3f67ee-71aa-ee11-9ae7-6045bd01a2b5,Cinnabar Corporate,Corporate VC,Stuttgart,Germany,Seed\n";
    let guessed = guess(&[("accounts.csv", text)]).unwrap();
    for line in [
        "kind = { column = \"Investor Category\"",
        "city = \"Address 1: City\"",
        "country = { column = \"Address 1: Country/Region\"",
    ] {
        assert!(guessed.contains(line), "{guessed}");
    }
    let text = "What's the name of your company?,\"In one sentence, what does it do?\",Do you have a website?,Where are you based? (city),\
                Where are you based? (country),What year did you start?,Who are the founders?,How many people work full-time?\n\
                Anchovy,Predicts fish prices,https://anchovy.example,Vigo,Spain,2022,\"Uxía Bretemas, Paulo Reigosa\",4\n\
                Bluestem,Telehealth for vets,https://bluestem.example,Omaha,United States,2021,Carla Hindmarsh,6\n\
                Cobble,Walking tours,https://cobble.example,Tallinn,Estonia,2023,\"Kert Saarevald, Liis Mägedu\",3\n";
    let guessed = guess(&[("responses.csv", text)]).unwrap();
    for line in [
        "[[startup]]",
        "name = \"What's the name of your company?\"",
        "description = \"In one",
        "city = \"Where are",
        "founded_year = \"What",
    ] {
        assert!(guessed.contains(line), "{line}: {guessed}");
    }
    let text = "Investee Company\u{20}Long Name,Investee Company Nation,Company Investment Stage at Investment Date,\"Deal Value (USD, Millions)\",\
                Firm Investor Long Name,Investment Date\n\
                Abelard,United Kingdom,Seed,2.31,Mossgate Ventures,2023-10-03\nBellhaven,United States,Series A,18.4,Cobalt Partners,2023-10-05\n\
                Chinook,Canada,Series B,44.025,Steeple Capital,2023-10-17\n";
    let guessed = guess(&[("screener.csv", text)]).unwrap();
    for line in [
        "[[round]]",
        "startup = { column = \"Investee",
        "investors = { column = \"Firm Investor",
        "amount_usd = { column = \"Deal Value",
    ] {
        assert!(guessed.contains(line), "{line}: {guessed}");
    }
}

#[test]
fn who_has_investors_or_is_in_a_fund_is_a_startup() {
    let text = "No,Nama Perusahaan,Negara,Kota,Valuasi (miliar USD),Investor utama\n1,Rantai,Indonesia,Jakarta,2.4,\"Nusa Capital, Selat Ventures\"\n\
                2,Warung,Indonesia,Bandung,1.7,Selat Ventures\n3,Mangrove,Malaysia,Melaka,3.1,\"Timur Partners, Nusa Capital\"\n4,Kelapa,Malaysia,Ipoh,1.1,Timur Partners\n";
    let guessed = guess(&[("daftar.csv", text)]).unwrap();
    assert!(guessed.contains("[[startup]]") && guessed.contains("name = \"Nama Perusahaan\""), "{guessed}");
    let text = "Fund,Portfolio company,Headquarters,Stage at entry,Cost\nFund I,Ashlar,\"Lisbon, Portugal\",Seed,1500\n,Burrowes,\"Lyon, France\",Series A,3000\n\
                ,Chantry,\"Turin, Italy\",Series A,4000\n,Dunnock,\"Ulm, Germany\",Seed,1250\nFund II,Easter,\"Graz, Austria\",Seed,2500\n,Ferrule,\"Kiel, Germany\",Series A,5500\n";
    let guessed = guess(&[("soi.csv", text)]).unwrap();
    assert!(guessed.contains("[[startup]]") && guessed.contains("name = \"Portfolio company\""), "{guessed}");
}

#[test]
fn what_is_no_round_of_financing_is_left_out() {
    let text = "Company,Deal type,Amount,Investors,Date\nBright,Series A,$12M,Northfield Ventures,2021-03-12\nHarbor,M&A,$120M,MegaCorp,2021-05-11\n\
                Tofu,Buyout,$80M,Deepwater Capital,2021-08-01\nKelp,Shutdown,,,2021-07-01\nMint,Seed,$1M,\"Northfield Ventures, Oak Lane and Volta\",2021-09-01\n";
    let guessed = guess(&[("deals.csv", text)]).unwrap();
    assert!(guessed.contains("when = { \"Deal type\" = { not = [\"Buyout\", \"M&A\", \"Shutdown\"] } }"), "{guessed}");
    assert!(guessed.contains("investors = { column = \"Investors\", do = [\"list\", \"split( and )\"]"), "{guessed}");
}

#[test]
fn what_single_investors_paid_is_no_amount_of_a_round() {
    let numbered = "Startup,Investor 1,Amount 1,Investor 2,Amount 2,Round,Date\nBright,Northfield Ventures,$6M,Oak Capital,$4M,Series A,2021-03-12\n\
                    Mint,Volta Fund,$1M,Oak Capital,$2M,Seed,2021-05-12\n";
    let held = "Company,Investment date,Investment amount (USD),Series,Current value\nBright,2021-03-12,1000000,A,4000000\nMint,2021-05-12,500000,Seed,700000\n";
    for text in [numbered, held] {
        let guessed = guess(&[("deals.csv", text)]).unwrap();
        assert!(guessed.contains("what one investor paid") && !guessed.contains("\namount_usd"), "{guessed}");
    }
}

#[test]
fn states_of_deals_meetings_and_people_are_not_taken_for_other_things() {
    let text = "Company,Stage,Sector,Status,Website\nBright,Seed,Retail,Open,bright.example\nHarbor,Series A,Energy,Closed,harbor.example\nMint,Seed,Food,Closed,mint.example\n";
    let guessed = guess(&[("pipeline.csv", text)]).unwrap();
    assert!(!guessed.contains("\nstatus"), "{guessed}");
    let text = "Company,Investor,Date,Feedback\nBright,Northfield Ventures,2021-03-12,too early\nHarbor,Volta Fund,2021-03-15,liked team\n";
    assert!(!guess(&[("intros.csv", text)]).is_ok_and(|guessed| guessed.contains("[[round]]")));
    let text = "Investor Name,Company,Title,Check Size,Stage\nAmy Pond,Northfield Ventures,Partner,$250k-$1M,Seed\nJane Doe,Volta Capital,Partner,$25k-$50k,Pre-seed\n\
                Ben Stone,Oak Capital,Principal,$25k-$50k,Seed\n";
    assert!(guess(&[("investors.csv", text)]).is_err_and(|error| error.contains("its investors are people")));
    let text = "Name,Company,Title\nAnn Lee,Brightloom,Founder\nAmy Pond,Northfield Ventures,Partner\nEve Orr,Cooley,Associate\n";
    assert!(guess(&[("contacts.csv", text)]).is_err());
    let text = "Date,Company,Amount,Round,Link\n2021-03-12,Bright,$12M,Series A,https://news.example/2021/bright-raises\n2021-05-11,Harbor,$2M,Seed,https://daily.example/harbor-grid-seed\n";
    let guessed = guess(&[("rounds.csv", text)]).unwrap();
    assert!(!guessed.contains("\nwebsite"), "{guessed}");
}

#[test]
fn who_looks_after_a_deal_does_not_lead_a_round() {
    let text = "Company,Round,Round size,Announced,Lead Investor,Deal Lead (us)\nAnvilry,Seed,$3500000,2024-03-14,Brackwater Ventures,Quentin Abery\n\
                Burlap,Series A,$12000000,2024-04-02,Dunmore Peak,Lois Tranter\nCobalt,Seed,$650000,2024-04-18,Cobb Capital,Quentin Abery\n\
                Drift,Seed,$2250000,2024-05-06,Ember Fund,Lois Tranter\n";
    for text in [text.to_owned(), text.replace("Deal Lead (us)", "Deal Lead")] {
        let guessed = guess(&[("deals.csv", &text)]).unwrap();
        assert!(guessed.contains("lead_investors = { column = \"Lead Investor\", by"), "{guessed}");
    }
}

#[test]
fn the_family_is_first_in_scripts_without_blanks() {
    let text = "会社名,役職,姓,名\n椎の実キャピタル,パートナー,椎葉,遼\n白浪ベンチャーズ,代表取締役,真壁,航\n磐座投資,マネージャー,綿貫,千尋\n";
    let guessed = guess(&[("meishi.csv", text)]).unwrap();
    assert!(guessed.contains("name = { columns = [\"姓\", \"名\"], join = \" \" }"), "{guessed}");
}

#[test]
fn particles_are_part_of_a_name_and_degrees_are_no_titles() {
    let text = "Voornaam;Tussenvoegsel;Achternaam;Functie;Investeringsfonds\nMaaike;van der;Zwaluw;Partner;Dijk Kapitaal\n\
                Joris;;Kievit;Analist;Dijk Kapitaal\nFenna;de;Rietgors;Partner;Polder Fonds\n";
    let guessed = guess(&[("relaties.csv", text)]).unwrap();
    assert!(guessed.contains("columns = [\"Voornaam\", \"Tussenvoegsel\", \"Achternaam\"]"), "{guessed}");
    let text = "Titul,Křestní jméno,Příjmení,Společnost,Pozice\nIng.,Barbora,Jalová,Hvozd Ventures,Partnerka\n\
                ,Radim,Šťov,Hvozd Ventures,Analytik\nMgr.,Zdeňka,Řepa,Kapraď Capital,Partnerka\nprof. Dr.,Aleš,Ďatel,Kapraď Capital,Partner\n";
    let guessed = guess(&[("kontakty.csv", text)]).unwrap();
    assert!(guessed.contains("title = \"Pozice\""), "{guessed}");
}

#[test]
fn the_firm_of_a_fund_is_its_manager() {
    let text = "Rahasto;Hallinnointiyhtiö;Kotipaikka;Rahasto perustettu\nKallio Kasvu I Ky;Kallio Pääomat Oy;Helsinki;2019\n\
                Honka Siemen Ky;Honka Ventures Oy;Tampere;2021\nSuvanto Growth II;Suvanto Partners AB;Turku;2020\n";
    let guessed = guess(&[("rahastot.csv", text)]).unwrap();
    assert!(guessed.contains("[[firm]]") && guessed.contains("name = \"Hallinnointiyhtiö\""), "{guessed}");
    assert!(!guessed.contains("\nfounded_year"), "{guessed}");
}

#[test]
fn a_table_of_which_nothing_is_sure_is_refused_with_its_columns() {
    for csv in ["a,b\n1,2\n", "Name,Country\n1,DE\n2,FR\n", "Shareholder,Shares\nAna Reed,10\nBen Stone,20\n"] {
        let error = guess(&[("x.csv", csv)]).unwrap_err();
        assert!(
            error.contains("x.csv: nothing is mapped: ") && error.contains("name = \\\"COLUMN\\\"")
                || error.contains("name = \"COLUMN\""),
            "{error}"
        );
        assert!(error.contains("its columns: \""), "{error}");
    }
}

#[test]
fn tables_refer_to_each_other_by_what_their_values_share() {
    let text = guess(&[
        ("firms.csv", "Investor,Country\nAlder Capital,DE\nBirch Ventures,FR\n"),
        ("startups.csv", "company_id,Company,City\n7,Moss,Graz\n8,Nettle,Lille\n"),
        ("rounds.csv", "company_id,Company,Round,Date,Investors\n7,Moss,Seed,2024-01-02,Alder Capital\n8,Nettle,Seed,2024-01-03,Birch Ventures\n"),
        ("team.csv", "First name,Last name,Title,Company\nAna,Reed,Partner,Alder Capital\nBen,Stone,Partner,Birch Ventures\n"),
    ])
    .unwrap();
    for part in [
        "key = { column = \"Investor\", by = \"name\" }",
        "key = \"company_id\"\nname = \"Company\"",
        "startup = \"company_id\"",
        "investors = { column = \"Investors\", by = \"name\", create = true }",
        "name = { columns = [\"First name\", \"Last name\"], join = \" \" }",
        "organization = { kind = \"firm\", column = \"Company\", by = \"name\", create = true }",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
}

#[test]
fn no_word_is_true_and_false() {
    let no = values::word_list("no");
    let both: Vec<_> = values::word_list("yes").iter().filter(|word| no.contains(word)).collect();
    assert!(both.is_empty(), "{both:?}");
}

#[test]
fn each_list_has_an_id_of_its_own() {
    let id = |name: &str, csv: &str| {
        let text = guess(&[(name, csv)]).unwrap();
        text.lines().find_map(|line| line.strip_prefix("id = ")).unwrap().to_owned()
    };
    let csv = "Fund,City\nAlder,Graz\nBirch,Lille\n";
    assert_eq!(id("Funds 2024.csv", csv), "\"funds-2024\"");
    assert_ne!(id("export.csv", csv), id("export.csv", "Fund,Town\nAlder,Graz\nBirch,Lille\n"));
    assert_eq!(id("export.csv", csv), id("export.csv", csv));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever headers and values are: a guess is refused, or it is a mapping by which its files are imported.
    #[test]
    fn each_guess_is_a_mapping(
        headers in proptest::collection::vec(
            prop_oneof![
                Just("Company"), Just("Investors"), Just("Investor \"X\""), Just("Name"), Just("Round"), Just("Date"), Just("Amount USD"),
                Just("Stage"), Just("Type"), Just("a.b"), Just(""), Just("Name\n2"), Just("\u{7f}\u{1}x"), Just("机构名称"), Just("Website"),
                Just("Country"), Just("Title"), Just("Email"), Just("First name"), Just("id"), Just("Check size"), Just("it's"), Just("\\"),
            ], 1..8),
        cells in proptest::collection::vec(
            prop_oneof![
                Just("Alder Capital".to_owned()), Just("Birch, Cedar".to_owned()), Just("['a','b']".to_owned()), Just("1.500".to_owned()),
                Just("2024-05-01".to_owned()), Just("https://alder.example".to_owned()), Just("Seed".to_owned()), Just("DE".to_owned()),
                Just("a\u{7f}\n\"'\\".to_owned()), Just("天使轮".to_owned()), Just(String::new()), "\\PC{0,12}",
            ], 0..40),
        name in prop_oneof![Just("deals.csv"), Just("x y.csv"), Just("投资.csv"), Just("it's [1].csv")],
    ) {
        let mut csv = csv::Writer::from_writer(Vec::new());
        csv.write_record(&headers).unwrap();
        cells.chunks_exact(headers.len()).for_each(|row| csv.write_record(row).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, csv.into_inner().unwrap()).unwrap();
        match mapping(std::slice::from_ref(&path)) {
            Ok(text) => {
                let file = folder.path().join("guessed.toml");
                fs::write(&file, &text).unwrap();
                let import = Import::mapping(&file, vec![path]).unwrap_or_else(|error| panic!("{error}\n{text}"));
                // A file without a usable row is refused.
                let _ = import.run(&folder.path().join("sources"), "2026-01-01".parse().unwrap(), &NoProgress);
            }
            Err(error) => {
                let error = error.to_string();
                prop_assert!(!error.contains("the guessed mapping"), "{}", error);
            }
        }
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
        Mapping::read("package.toml", &text, Path::new("")).unwrap_or_else(|error| panic!("{error}\n{text}"));
        text
    };
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, b"slug,name\nmossworks,'=HYPERLINK(1)\noakworks,Oak\n").unwrap();
    fs::write(folder.path().join("startups.csv.gz"), gzip.finish().unwrap()).unwrap();
    let marked = format!("\"{}\": true,", data::formula::MARKED_FORMULAS);
    assert!(package(&marked).contains("\nmarked_formulas = true\n"));
    assert!(!package("").contains("marked_formulas"));
}
