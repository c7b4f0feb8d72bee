//! Files of which a plausible reading would publish something else than they say.

use super::lists::{assert_has, assert_lacks, read};
use super::*;
use crate::sources::import::{Import, ImportSummary, Omission, SourceChanges, total};

/// The guessed mapping of a file, the statements of its import with rates, and the summary.
fn read_with_rates(text: &str, rates: &str) -> (String, String, ImportSummary) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("deals.csv"), text).unwrap();
    fs::write(path("rates.csv"), rates).unwrap();
    let guessed = mapping(&[path("deals.csv")]).unwrap();
    fs::write(path("map.toml"), &guessed).unwrap();
    let changes = SourceChanges { rates: Some(path("rates.csv")), ..SourceChanges::default() };
    let import = Import::mapping(&path("map.toml"), vec![path("deals.csv")]).unwrap().with(changes).unwrap();
    let to = folder.path().join("sources");
    let summary = import
        .run(&to, "2026-01-01".parse().unwrap(), &NoProgress)
        .unwrap_or_else(|error| panic!("{error}\n{guessed}"));
    let folder = fs::read_dir(&to).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    (guessed, fs::read_to_string(folder.join("statements.csv")).unwrap(), summary)
}

const RATES: &str =
    "currency,date,usd\nEUR,2010-01-01,1.5\nEUR,2025-01-01,3\nPLN,2010-01-01,0.5\nPLN,2025-01-01,5\nUSD,,1\n";

/// What a field left out, and what it kept with a remark.
fn told(summary: &ImportSummary, field: &str) -> (Vec<Omission>, Vec<Omission>) {
    let fields = || summary.sections.iter().flat_map(|section| &section.fields).filter(|known| known.field == field);
    (
        fields().flat_map(|field| field.dropped.clone()).collect(),
        fields().flat_map(|field| field.noted.clone()).collect(),
    )
}

fn amounts(statements: &str) -> Vec<&str> {
    let mut amounts: Vec<&str> =
        statements.lines().filter_map(|line| line.split_once(",amount_usd,")?.1.split(',').next()).collect();
    amounts.sort_unstable();
    amounts
}

#[test]
fn no_amount_takes_the_rate_of_another_day_without_a_word() {
    // A day that is missing or no date leaves its amount out.
    let text = "Spółka,Runda,Kwota,Data,Inwestorzy\nBrzoza,Seed,2 mln EUR,2020-03-01,Dąb Capital\nKlon,Seed,4 mln EUR,,Dąb Capital\n\
                Lipa,Seed,6 mln EUR,wkrótce,Sosna Fund\nJesion,Seed,8 mln EUR,2021-05-05,Sosna Fund\nWiąz,Seed,9 mln EUR,2021-06-05,Dąb Capital\n";
    let (guessed, statements, summary) = read_with_rates(text, RATES);
    assert_eq!(amounts(&statements), ["12000000", "13500000", "3000000"], "{guessed}");
    let (dropped, noted) = told(&summary, "amount_usd");
    assert!(total(&dropped) == 2 && dropped[0].reason.contains("the day for its rate is not known"), "{dropped:?}");
    assert!(dropped[0].first.contains("deals.csv:3: \"4 mln EUR\" in Kwota") && noted.is_empty(), "{dropped:?}");
    // The same of different currencies, also if the mapping does not name the day.
    let text = "Company,Round,Amount,Date,Investors\nAlder,Seed,€2M,2020-03-01,Oak Capital\nBirch,Seed,$4M,2020-04-01,Oak Capital\n\
                Cedar,Seed,zł8M,,Elm Fund\nDorn,Seed,zł10M,2021-04-01,Elm Fund\n";
    let (guessed, statements, _) = read_with_rates(text, RATES);
    assert_has(&guessed, &["currency = { written = [\"USD\"] }, rate_on = \"Date\""]);
    assert_eq!(amounts(&statements), ["3000000", "4000000", "5000000"]);
    // Without any day there is that of the import, which is reported of the column.
    let text = "Company,Round,Amount,Investors\nAlder,Seed,€2M,Oak Capital\nBirch,Series A,€4M,Elm Fund\nCedar,Seed,€5M,Elm Fund\n";
    let (_, statements, summary) = read_with_rates(text, RATES);
    assert_eq!(amounts(&statements), ["12000000", "15000000", "6000000"]);
    let (_, noted) = told(&summary, "amount_usd");
    assert_eq!((noted.len(), noted[0].count), (1, 3));
    assert!(noted[0].reason.contains("by the rate of the day of the import, 2026-01-01"), "{noted:?}");
    let json = serde_json::to_value(&summary).unwrap();
    let fields = json["sections"][0]["fields"].as_array().unwrap();
    let field = fields.iter().find(|field| field["field"] == "amount_usd").unwrap();
    assert_eq!(field["noted"][0]["count"], 3, "{json}");
    // One rate for all days is that of any day.
    let (_, statements, summary) = read_with_rates(text, "currency,date,usd\nEUR,,2\n");
    assert_eq!(amounts(&statements), ["10000000", "4000000", "8000000"]);
    assert!(told(&summary, "amount_usd").1.is_empty());
}

#[test]
fn an_amount_without_a_currency_is_never_of_the_united_states() {
    let text = "Company,Round,Amount,Date,Lead\nAlder,Seed,$2M,2021-03-01,Oak Capital\nBirch,Seed,€3M,2021-03-02,Elm Fund\n\
                Cedar,Seed,4M,2021-03-03,Elm Fund\nDorn,Seed,Rs 50 lakh,2021-03-04,Oak Capital\nElm,Seed,₹ 2 crore,2021-03-05,Oak Capital\n";
    let (guessed, statements, summary) = read_with_rates(text, &format!("{RATES}INR,2010-01-01,0.1\n"));
    assert_has(&guessed, &["currency = { written = [\"INR\", \"USD\"] }"]);
    assert_eq!(amounts(&statements), ["2000000", "2000000", "4500000", "500000"]);
    let (dropped, _) = told(&summary, "amount_usd");
    assert!(total(&dropped) == 1 && dropped[0].first.contains("\"4M\""), "{dropped:?}");
    // Names and signs of currencies in a column of their own, one of which is none.
    let text = "Firma,Runde,Betrag,Währung,Datum\nErle,Seed,2000000,Euro,2021-03-01\nBirke,Seed,4000000,US-Dollar,2021-03-02\n\
                Ulme,Seed,$6000000,diverse,2021-03-03\nEiche,Seed,8000000,?,2021-03-04\nLinde,Seed,1000000,zł,2021-03-05\n";
    let (guessed, statements, summary) = read_with_rates(text, RATES);
    assert_has(&guessed, &["currency = { column = \"Währung\" }"]);
    assert_eq!(amounts(&statements), ["3000000", "4000000", "500000"], "{guessed}");
    assert_eq!(total(&told(&summary, "amount_usd").0), 2);
}

#[test]
fn the_number_of_a_company_in_a_register_is_no_key_of_its_rounds() {
    for header in [
        "KRS",
        "IČO",
        "NIF",
        "Registration no.",
        "Handelsregister-Nr",
        "CIF",
        "P.IVA",
        "KvK-nummer",
        "Y-tunnus",
        "ОГРН",
        "統一編號",
        "사업자등록번호",
        "Vergi No",
        "Numéro SIRET",
        "número de registro",
    ] {
        let text = format!(
            "{header},Company,Round,Amount (USD),Date,Investors\n552081317,Alder Works,Seed,1000000,2021-03-01,Oak Capital\n\
             732829320,Birch Works,Series A,5000000,2021-04-01,Elm Fund\n443061841,Cedar Works,Seed,2000000,2021-05-01,Oak Capital\n"
        );
        let (guessed, _) = read("deals.csv", &text);
        assert_has(&guessed, &["[[round]]", "key = { columns = [\"Company\", \"Date\", \"Round\"], by = \"name\" }"]);
    }
    // A list of companies is identified by it.
    let (guessed, _) =
        read("companies.csv", "IČO,Company,Country\n27082440,Alder,CZ\n45274649,Birch,CZ\n60193336,Cedar,CZ\n");
    assert_has(&guessed, &["[[startup]]", "key = \"IČO\""]);
}

#[test]
fn deals_that_are_not_closed_are_no_rounds() {
    for (header, states) in [
        ("Status", ["Closed", "Expected", "LOI", "On Hold"]),
        ("Estado", ["Cerrada", "En negociación", "Pendiente", "Aplazada"]),
        ("Statut", ["Clôturé", "Prévu", "Reporté", "En négociation"]),
        ("Durum", ["Tamamlandı", "Planlanan", "Görüşmede", "İptal edildi"]),
        ("Статус", ["Завершена", "Планируется", "Отменена", "Переговоры"]),
        ("状态", ["已完成", "洽谈中", "计划中", "已取消"]),
        ("Deal stage", ["Closed", "Term sheet", "Passed", "Due diligence"]),
    ] {
        let names = ["Alder Works", "Birch Works", "Cedar Works", "Dorn Works"];
        let row = |(name, state): (&str, &str)| format!("{name},Seed,1000000,2021-03-01,{state},Oak Capital\n");
        let rows: String = names.into_iter().zip(states).map(row).collect();
        let (guessed, statements) =
            read("deals.csv", &format!("Company,Round,Amount (USD),Date,{header},Investors\n{rows}"));
        let count = statements.lines().filter(|line| line.contains(",startup,")).count();
        assert_eq!(count, 1, "{header}\n{guessed}");
    }
}

#[test]
fn a_quarter_without_an_investment_is_no_round_and_a_round_that_quarters_repeat_is_refused() {
    let text = "Company,Quarter,Round,Invested (EUR k),Fair value (EUR k)\nAlder,Q1 2021,Seed,300,300\nAlder,Q2 2021,Seed,0,450\n\
                Birch,Q2 2021,Series A,900,900\nBirch,Q3 2021,Series A,0,700\n";
    let (guessed, statements) = read("marks.csv", text);
    assert_has(&guessed, &["when = { \"Invested (EUR k)\" = { matches = \"[1-9]\" } }"]);
    assert_eq!(statements.lines().filter(|line| line.contains(",startup,")).count(), 2, "{statements}");
    let text = "Company,Quarter,Round,Amount (USD)\nAlder,2021-Q1,Seed,300000\nAlder,2021-Q2,Seed,300000\nBirch,2021-Q2,Seed,900000\n";
    assert!(guess(&[("list.csv", text)]).unwrap_err().contains("the same round in several; give each round one row"));
}

#[test]
fn rows_that_are_marked_as_no_records_are_left_out() {
    let text = "id,company_name,round_type,amount_usd,announced_on,investors,archived_at,is_test,published\n\
                1,Alder,seed,1000000,2020-01-02,Oak Capital,,f,t\n2,Birch,seed,2000000,2020-01-03,Oak Capital,2022-03-04 10:00:00,f,t\n\
                3,Cedar,seed,3000000,2020-01-04,Elm Fund,,t,t\n4,Dorn,seed,4000000,2020-01-05,Elm Fund,,f,f\n5,Elm,seed,5000000,2020-01-06,Elm Fund,,f,t\n";
    let (guessed, statements) = read("rounds.csv", text);
    assert_has(&guessed, &["\"archived_at\" = { matches_not = \"[0-9]{4}\" }", "\"is_test\" = { not = [\"t\"] }"]);
    assert_eq!(amounts(&statements), ["1000000", "5000000"], "{guessed}");
    assert_lacks(&statements, &["Birch", "Cedar", "Dorn"]);
    let text = "Firma;Land;Gründungsjahr;Gelöscht\nErle;DE;2015;nein\nBirke;DE;2016;ja\nUlme;DE;2017;nein\n";
    let (_, statements) = read("startups.csv", text);
    assert_has(&statements, &[",name,Erle,", ",name,Ulme,"]);
    assert_lacks(&statements, &["Birke"]);
}

#[test]
fn a_column_of_kinds_tells_what_each_row_is() {
    for text in [
        "Name,Record type,Country,Founded\nAlder,Company,NO,2015\nBirch,Company,SE,2016\nOak Capital,Fund,DK,2001\nIda Lund,Person,NO,\n\
         Vasa Institute,University,SE,1890\n",
        "Nombre,Tipo,País,Fundación\nAlder,Empresa,España,2015\nBirch,Empresa,Francia,2016\nOak Capital,Inversor,Italia,2001\n\
         Ida Lund,Persona,España,\nVasa Institute,Universidad,España,1890\n",
    ] {
        let (guessed, statements) = read("list.csv", text);
        assert_has(&guessed, &["[[startup]]", "[[firm]]"]);
        assert_has(&statements, &["startup:alder", "startup:birch", "firm:oak capital"]);
        assert_lacks(&statements, &["Ida Lund", "Vasa", "startup:oak", "firm:alder"]);
    }
    let text = "Name,Type,Country\nAlder,Startup,DE\nBirch,Startup,DE\nOak Capital,VC,DE\nElm Angels,Angel,DE\n";
    assert_has(&read("list.csv", text).1, &[",kind,vc,", ",kind,angel,"]);
    // Kinds of investors alone are a field.
    let text = "Investor,Type,Country\nOak Capital,VC,DE\nElm Angels,Angel,DE\nVasa Holding,Corporate,SE\n";
    let (guessed, statements) = read("investors.csv", text);
    assert_lacks(&guessed, &["when = "]);
    assert_has(&statements, &[",kind,corporate,"]);
}

#[test]
fn others_behind_a_name_are_no_part_of_it() {
    let cells = [
        ("Oak Capital and other investors", "Oak Capital"),
        ("Oak Capital & Co-Investors", "Oak Capital"),
        ("Oak Capital (+4)", "Oak Capital"),
        ("Oak Capital sowie Business Angels", "Oak Capital"),
        ("Oak Capital et 2 autres", "Oak Capital"),
        ("Oak Capital oraz inni", "Oak Capital"),
        ("Oak Capital и ещё 3", "Oak Capital"),
        ("한강벤처스 등 5곳", "한강벤처스"),
        ("한강벤처스 외 다수", "한강벤처스"),
        ("长河资本等多家机构", "长河资本"),
        ("青葉キャピタル 他", "青葉キャピタル"),
        ("Oak Capital và các nhà đầu tư khác", "Oak Capital"),
    ];
    for (cell, name) in cells {
        let text = format!(
            "Company,Round,Amount (USD),Date,Investors\nAlder,Seed,1000000,2021-03-01,{cell}\nBirch,Seed,2000000,2021-03-02,Elm Fund\n"
        );
        let (_, statements) = read("deals.csv", &text);
        assert_has(&statements, &[&format!(",name,{name},"), ",name,Elm Fund,"]);
        assert_eq!(
            statements.lines().filter(|line| line.starts_with("firm:") && line.contains(",name,")).count(),
            2,
            "{statements}"
        );
        let (_, listed) = read("deals.csv", &text.replace(cell, &format!("\"Fir Ventures, {cell}\"")));
        assert_has(&listed, &[&format!(",name,{name},"), ",name,Fir Ventures,"]);
    }
}

#[test]
fn a_sum_of_any_digits_and_with_other_words_is_no_round() {
    for (text, count) in [
        (
            "الشركة,الجولة,المبلغ,التاريخ\nزيتون,بذرية,٢ مليون دولار,2021-03-04\nأرز,بذرية,3000000 دولار,2021-03-05\nالمجموع,,٥٫٠ مليون,\n",
            2,
        ),
        (
            "企業名,ラウンド,調達額,調達日\nハル,シード,3億円,2021年3月5日\nナツ,シード,2億円,2021年3月6日\n累計,,5億円,\n",
            2,
        ),
        (
            "Company,Country,Round,Amount,Date,Notes\nAlder,DE,Seed,$3M,2021-03-04,x\nBirch,DE,Seed,$2M,2021-03-05,y\nTotal,,two,$5M,2021,all\n",
            2,
        ),
    ] {
        let (guessed, statements) = read("deals.csv", text);
        let found = statements.lines().filter(|line| line.contains(",startup,")).count();
        assert_eq!(found, count, "{guessed}\n{statements}");
    }
}

#[test]
fn notes_below_a_table_are_no_records() {
    for note in [
        "^ b. Sold in 2023.",
        "[2] ^ Annual report",
        "2) as the authors say",
        "(3 rows)",
        "-- end --",
        "Page 2 of 4",
        "Voir aussi : Liste",
        "https://wiki.example/list",
    ] {
        let text = format!(
            "Company,Country,Founded,Industry\nAlder,Germany,2015,Finance\nBirch,France,2016,Health\nCedar,Spain,2017,Energy\n\"{note}\",,,\n"
        );
        let (_, statements) = read("startups.csv", &text);
        assert_eq!(statements.lines().filter(|line| line.contains(",name,")).count(), 3 + 3, "{note}\n{statements}");
    }
}

#[test]
fn two_rows_of_headers_are_found_above_untidy_cells() {
    let text = "Startup,Headquarters,,Funding,,,Investors,\nName,City,Country,Stage,Amount,Date,Lead,Others\n\
                Alder Works,Oslo,Norway,Seed,$2M,FY21,,Fir Ventures\nBirch Works,Bergen,Norway,Series A,$5M,2021-03-01,Oak Capital,\n\
                Cedar Works,Oslo,Norway,Seed,n/a,spring,Elm Fund,Fir Ventures\n";
    let (guessed, statements) = read("deals.csv", text);
    assert_has(&guessed, &["header = 2", "[[round]]", "lead_investors = "]);
    assert_has(&statements, &[",name,Oak Capital,", ",name,Elm Fund,", ",city,Oslo,"]);
    assert_lacks(&statements, &[",name,Lead,", ",name,Name,"]);
}

#[test]
fn nobody_and_two_people_are_no_names() {
    let text = "Firm,Contact Person,Position,City\nOak Capital,Ida Lund,Partner,Oslo\nElm Ventures,Jon Berg; Eva Dahl,Partners,Bergen\n\
                (selbständig),Per Holm,Partner,Oslo\nFir Partners,Liv Moe,Partner,Oslo\n";
    let (_, statements) = read("contacts.csv", text);
    assert_has(&statements, &[",name,Ida Lund,", ",name,Liv Moe,", ",name,Fir Partners,"]);
    assert_lacks(&statements, &["Jon Berg; Eva Dahl,", "selbst"]);
}

#[test]
fn the_size_of_one_fund_is_not_what_its_manager_has() {
    let text = "Manager,Fund,Vintage,Fund size (USD m),Country\nOak Capital,Oak III,2018,180,Norway\nElm Ventures,Elm I,2020,90,Sweden\n\
                Fir Partners,Fir II,2019,250,Denmark\n";
    let (guessed, statements) = read("funds.csv", text);
    assert_has(&guessed, &["[[firm]]", "Fund size (USD m): the size of one fund, not what its firm manages"]);
    assert_lacks(&statements, &["aum_usd"]);
}

#[test]
fn suggested_lines_are_below_their_section_and_cents_are_no_dollars() {
    let text = "id,company_name,city,round_type,raised_cents,currency,announced_on,lead_investor\n1,Alder,Oslo,seed,150000000,USD,2021-03-01,Oak Capital\n\
                2,Birch,Bergen,seed,75000000,USD,2021-04-01,Elm Fund\n3,Cedar,Oslo,series_a,900000000,USD,2021-05-01,Elm Fund\n";
    let (guessed, statements) = read("rounds.csv", text);
    assert_has(&guessed, &["unit = \"cents\""]);
    assert_eq!(amounts(&statements), ["1500000", "750000", "9000000"]);
    let text = "Company,City,Round,Amount,Date,Investors\nAlder,Oslo,Seed,1500000,2021-03-01,Oak Capital\nBirch,Bergen,Seed,750000,2021-04-01,Elm Fund\n";
    let (guessed, _) = read("deals.csv", text);
    let suggestion = guessed.lines().find(|line| line.starts_with("#amount_usd = ")).unwrap();
    let used = guessed.replace(suggestion, &suggestion[1..]);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("deals.csv"), text).unwrap();
    fs::write(path("map.toml"), used).unwrap();
    assert!(Import::mapping(&path("map.toml"), vec![path("deals.csv")]).is_ok(), "{guessed}");
}

#[test]
fn rows_with_a_name_more_than_the_header_are_those_of_r() {
    let text = "firm\tcountry\tkind\n1\tOak Capital\tNorway\tvc\n2\tElm Ventures\tSweden\tangel\n3\tFir Partners\tNorway\tvc\n";
    let (_, statements) = read("firms.tsv", text);
    assert_has(&statements, &[",name,Oak Capital,", ",country,NO,", ",kind,angel,"]);
}

#[test]
fn a_table_of_markdown_is_a_table() {
    let text = "# Deals\n\nOf this week.\n\n| Company | Round | Amount (USD) | Date | Lead |\n|---|:-:|--:|---|---|\n\
                | [Alder](https://alder.example) | Seed | **1,500,000** | 2021-03-01 | Oak Capital |\n\
                | Birch | Series A | 5,250,000 | 2021-03-02 | [Elm Fund](https://elm.example) |\n\
                | Cedar | Seed | 2,000,000 | 2021-03-03 | Oak Capital |\n| ~~Dorn~~ | Seed | 9,000,000 | 2021-03-04 | Oak Capital |\n\
                | Elm | Seed | 3,000,000 | 2021-03-05 | Pine Row |\n| Fir | Seed | 4,000,000 | 2021-03-06 | Pine Row & Oak Capital |\n";
    let (_, statements) = read("deals.md", text);
    assert_eq!(amounts(&statements), ["1500000", "2000000", "3000000", "4000000", "5250000"]);
    assert_has(&statements, &[",name,Alder,", ",name,Elm Fund,"]);
    assert_lacks(&statements, &["Dorn", ",name,Pine Row &"]);
}

#[test]
fn what_is_kept_as_less_than_it_says_is_reported() {
    let text = "Company,Round,Amount (USD),Date,Investors\nAlder,Seed,ca. 1000000,Q3 2021,Oak Capital\nBirch,Seed,over 2000000,3. Quartal 2021,Elm Fund\n\
                Cedar,Seed,3000000,2. çeyrek 2022,Elm Fund\nDorn,Seed,4000000,2021-04-05,Elm Fund\n";
    let (_, statements, summary) = read_with_rates(text, RATES);
    assert_has(&statements, &[",announced_on,2021,", ",announced_on,2022,", ",announced_on,2021-04-05,"]);
    let (_, noted) = told(&summary, "announced_on");
    assert!(
        noted.len() == 1 && noted[0].count == 3 && noted[0].reason.contains("of which the year is kept"),
        "{noted:?}"
    );
    let (_, noted) = told(&summary, "amount_usd");
    let reasons: Vec<&str> = noted.iter().map(|noted| &*noted.reason).collect();
    assert_eq!(
        reasons,
        ["is approximate, and kept as if it were exact", "is a smallest amount, and kept as if it were exact"]
    );
}
