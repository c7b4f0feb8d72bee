//! Lists of people with their firms, of shares, and of companies with all their rounds, as people and tools write them.

use super::*;

/// The guessed mapping of a file, and the statements that it makes.
pub(super) fn read(name: &str, text: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    imported(vec![path], folder.path()).unwrap()
}

pub(super) fn assert_has(text: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(text.contains(part), "no {part} in\n{text}"));
}

pub(super) fn assert_lacks(text: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(!text.contains(part), "{part} in\n{text}"));
}

#[test]
fn a_given_name_next_to_a_surname_is_no_firm() {
    let lists = [
        "Nom;Prénom;Fonction;Fonds;Type;Site;Ville\nAubin;Claire;Associée;Calanque Partenaires;Capital-risque;calanque.example;Lyon\n\
         Brun;Hugo;Analyste;Calanque Partenaires;Capital-risque;calanque.example;Lyon\nColin;Anne;Associée;Bocage Capital;Family office;bocage.example;Paris\n",
        "Apellidos,Nombre,Cargo,Empresa,Tipo,Web,Ciudad\nRivas,Lucía,Socia,Olmo Capital,Venture Capital,olmo.example,Madrid\n\
         Soto,Marcos,Analista,Olmo Capital,Venture Capital,olmo.example,Madrid\nVega,Irene,Socia,Haya Inversiones,Family office,haya.example,Bilbao\n",
        "Name,Vorname,Position,Gesellschaft,Investorentyp,Website,Stadt\nKrug,Ada,Partnerin,Erle Capital,Venture Capital,erle.example,Kiel\n\
         Voss,Jan,Analyst,Erle Capital,Venture Capital,erle.example,Kiel\nLang,Ute,Partnerin,Ulme Ventures,Family Office,ulme.example,Ulm\n",
    ];
    let expected = [
        ("Claire Aubin", "Calanque Partenaires", "calanque.example", "Lyon"),
        ("Lucía Rivas", "Olmo Capital", "olmo.example", "Madrid"),
        ("Ada Krug", "Erle Capital", "erle.example", "Kiel"),
    ];
    for (list, (person, firm, site, city)) in lists.iter().zip(expected) {
        let (text, statements) = read("list.csv", list);
        assert_has(&text, &["[[person]]", "[[firm]]", "kind = { column = "]);
        assert_has(
            &statements,
            &[&format!(",name,{person},"), &format!(",name,{firm},"), site, &format!(",city,{city},")],
        );
        let given = person.split(' ').next().unwrap();
        assert_lacks(&statements, &[&format!(",name,{given},")]);
    }
}

#[test]
fn firms_of_people_have_what_all_their_rows_say() {
    let list = "Contact,Firm,Role,Website,HQ,Stage,Check size,About\n\
                Ada Quill,Alder Row (https://wiki.example/alder),Partner,alder.example,\"Oslo, Norway\",Seed,$250k - $1M,Likes robots\n\
                Ben Marsh,Birch Yard (https://wiki.example/birch),Principal,birch.example,\"Lyon, France\",Series A,$1M - $4M,Runs\n\
                Cleo Dunn,Alder Row (https://wiki.example/alder),Associate,alder.example,\"Oslo, Norway\",Seed,$250k - $1M,Sails\n";
    let (text, statements) = read("crm.csv", list);
    assert_has(
        &text,
        &[
            "organization = { kind = \"firm\", column = \"Firm\", do = [\"names\"], by = \"name\", create = true }",
            "key = { column = \"Firm\", do = [\"names\"], by = \"name\" }",
            "stages = { column = \"Stage\"",
            "check_max_usd = { column = \"Check size\"",
            "country = { column = \"HQ\"",
        ],
    );
    assert_lacks(&text, &["\ndescription"]);
    assert_lacks(&statements, &[",Alder Row (https", "robots"]);
    // What differs between the people of a firm is not of the firm, and if no firm has two, a place may be that of the person.
    let differs = list.replace("\"Oslo, Norway\",Seed,$250k - $1M,Sails", "\"Bergen, Norway\",Seed,$250k - $1M,Sails");
    let one_each = list.replace("Cleo Dunn,Alder Row (https://wiki.example/alder)", "Cleo Dunn,Cedar Lane");
    for list in [differs.replace("HQ", "City"), differs, one_each.replace("HQ", "Location")] {
        let (text, _) = read("crm.csv", &list);
        assert_lacks(&text, &["\ncity", "\ncountry"]);
        assert_has(&text, &["stages = { column = \"Stage\""]);
    }
}

#[test]
fn people_in_front_of_their_firms_are_people() {
    for text in [
        "Full Name,Organization,Job Title,Industry,Organization Website,Check Size,Current Location\nAda Quill,Alder Capital,Partner,Venture Capital,alder.example,$1M - $2M,\"Oslo, Norway\"\n\
         Ben Marsh,Birch Ventures,Principal,Private Equity,birch.example,$2M - $5M,\"London, UK\"\nCleo Dunn,Cedar Partners,GP,Venture Capital,cedar.example,$1M - $3M,\"Paris, France\"\n",
        "氏名,役職,会社名,種別,URL,所在地\n椎葉遼,パートナー,白浪ベンチャーズ,ベンチャーキャピタル,https://shiranami.example,東京都\n\
         綿貫千尋,代表,磐座キャピタル,ベンチャーキャピタル,https://iwakura.example,京都府\n",
    ] {
        let guessed = guess(&[("people.csv", text)]).unwrap();
        assert_has(&guessed, &["[[person]]", "[[firm]]", "website = { column = "]);
        assert_lacks(&guessed, &["\ncity", "\ncountry", "\nsectors"]);
    }
    let text = "Founder,Startup,Role,Website,Sector,Founded\nAda Quill,Mossworks,CEO,moss.example,Robots,2019\nBen Marsh,Gridline,CTO,grid.example,Energy,2020\n";
    assert_has(&guess(&[("startups.csv", text)]).unwrap(), &["[[startup]]", "sectors = \"Sector\""]);
}

#[test]
fn firms_with_a_person_each_keep_their_places_and_angels_are_no_firms() {
    let text = "Fund,Website,Stage,City,First name,Last name,Title,Email\nAlder Capital,alder.example,Seed,Oslo,Ada,Quill,Partner,ada@alder.example\n\
                Birch Ventures,birch.example,Series A,Lyon,Ben,Marsh,Partner,ben@birch.example\nCedar Fund,cedar.example,Seed,Turin,Cleo,Dunn,Partner,c@cedar.example\n";
    let guessed = guess(&[("funds.csv", text)]).unwrap();
    assert_has(&guessed, &["[[firm]]", "name = \"Fund\"", "city = \"City\""]);
    let text = "Nome,Cognome referente,Tipologia,Sito web\nLanterna,Albarosa,Venture capital,lanterna.example\n\
                Girasole,Calendoli,Family office,girasole.example\nDarsena,Novarese,Venture capital,darsena.example\n";
    assert_has(&guess(&[("fondi.csv", text)]).unwrap(), &["[[firm]]", "name = \"Nome\""]);
    let text = "Name,Company,Title,Check size\nAda Quill,Mossworks,CTO,$10k - $25k\nBen Marsh,Grid,VP Product,$5k - $10k\nCleo Dunn,Mossworks,Engineer,$25k - $50k\n";
    assert!(guess(&[("angels.csv", text)]).is_err());
    let text = "First name,Last name,Email,Company,Website,Check size,Stage\nAda,Quill,ada@x.example,Mossworks,moss.example,$10k - $25k,Seed\n\
                Ben,Marsh,ben@x.example,Gridline,grid.example,$5k - $10k,Pre-Seed\nCleo,Dunn,c@x.example,Birch Ventures,birch.example,$25k - $50k,Seed\n";
    assert!(!guess(&[("angels.csv", text)]).is_ok_and(|guessed| guessed.contains("[[firm]]")));
    let text = "Name,Company,Title,Check size\nAda Quill,Alder Capital,Partner,$10k - $25k\nBen Marsh,Birch Ventures,Partner,$5k - $10k\nCleo Dunn,Mossworks,Founder,$25k - $50k\n";
    assert!(!guess(&[("people.csv", text)]).is_ok_and(|guessed| guessed.contains("[[firm]]")));
}

#[test]
fn the_shares_of_one_company_are_no_list_of_records() {
    for (name, text) in [
        (
            "shares.csv",
            "Stakeholder ID,Name,Type,Common,Fully diluted\nS1,Ada Quill,Founder,5000,5000\nS2,Alder Ventures,Investor,,2000\n",
        ),
        (
            "pro forma.csv",
            "Investor,Shares,Ownership,Investment\nAda Quill,4000,57%,\nAlder Ventures,2000,29%,500000\nBirch Capital,1000,14%,250000\n",
        ),
        ("captable.csv", "Name,Amount (USD),Closing\nAda Quill,1000,2024-01-02\nAlder Ventures,500000,2024-01-02\n"),
        (
            "list.csv",
            "Cap table of Mossworks,,\n\nName,Type,Amount (USD)\nAda Quill,Founder,1000\nAlder Ventures,Fund,500000\n",
        ),
        (
            "anteile.csv",
            "Name;Stammaktien;Vorzugsaktien;Quote\nAda Quill;12500;;50,0\nAlder Ventures GmbH;;5000;20,0\nPool;;1000;4,0\n",
        ),
        (
            "actions.csv",
            "Détenteur;Catégorie d'actions;Nombre d'actions\nClaire Aubin;Ordinaires;1000\nAubrac Ventures;Préférence;500\n",
        ),
        ("acciones.csv", "Nombre,Acciones ordinarias,Totalmente diluido\nLucía Rivas,1000,40\nOlmo Capital,1500,60\n"),
        (
            "safes.csv",
            "Investor Name,Security,Principal,Issue Date,Valuation Cap\nAda Quill,SAFE,25000,2021-01-02,8000000\nAlder Ventures,Note,250000,2021-03-02,8000000\n",
        ),
        ("meibo.csv", "株主名,持株数,持株比率\n椎葉遼,7000,70%\n白浪ベンチャーズ,3000,30%\n"),
        ("guquan.csv", "姓名,持股数量,持股比例,出资额\n张伟,7000,70%,700\n星河创投,3000,30%,300\n"),
    ] {
        let error = guess(&[(name, text)]).unwrap_err();
        assert!(error.contains("it is a cap table"), "{name}: {error}");
    }
    // Startups may have shareholders, ecosystems stakeholders, and a portfolio has shares of many companies.
    let text = "Firma,Ort,Branche,Gründungsjahr,Gesellschafter\nErle,Kiel,Robots,2014,Ada Krug\nBirke,Ulm,Health,2016,Jan Voss\nZeder,Graz,Food,2018,Ute Lang\n";
    assert_has(&guess(&[("startups.csv", text)]).unwrap(), &["[[startup]]", "name = \"Firma\""]);
    let text = "Name,Type,Website\nAlder Capital,Venture Capital,alder.example\nBirch Ventures,Angel,birch.example\nCedar Fund,Venture Capital,cedar.example\n";
    assert_has(&guess(&[("stakeholders.csv", text)]).unwrap(), &["[[firm]]"]);
    let text = "Company,Shares,Fully Diluted Ownership,Country,Sector\nAlder Labs,100000,4.5%,Norway,Robots\nBirchbot,200000,8.5%,France,Health\n";
    assert_has(&guess(&[("holdings.csv", text)]).unwrap(), &["[[startup]]", "name = \"Company\""]);
}

#[test]
fn several_rounds_in_a_cell_are_not_one() {
    for (text, name) in [
        (
            "NAME,HQ CITY,CLOSING YEAR,INVESTORS,EACH ROUND TYPE,EACH ROUND DATE\nAlder,Oslo,,Birch Capital;Elm Fund,SEED;SERIES A,jun/2019;may/2022\n\
             Cedar,Lyon,2024,Elm Fund,SEED,feb/2018\nDorn,Kiel,,,,\nElmo,Graz,,Fir Ventures,SEED;SERIES A;SERIES B,jan/2016;may/2017;mar/2019\n",
            "NAME",
        ),
        (
            "Firma,Land,Rundendaten,Rundenbeträge,Runden,Investoren\nErle,Germany,2018-01-02|2020-03-04,$1M|$5M,Seed|Series A,Ulme Capital|Buche Fund\n\
             Birke,Austria,2019-06-05,$2M,Seed,Buche Fund\nZeder,Germany,2016-01-09|2018-02-02|2021-07-01,$1M|$4M|$20M,Seed|Series A|Series B,Ulme Capital\n",
            "Firma",
        ),
        (
            "Société,Ville,Dates des tours,Tours\nRuche,Angers,\"2018, 2020\",\"Amorçage, Série A\"\nHoule,Brest,2019,Amorçage\n\
             Dé,Lyon,\"2016, 2018, 2021\",\"Amorçage, Série A, Série B\"\n",
            "Société",
        ),
        (
            "Company,City,Rounds\nAlder,Oslo,Seed|Series A\nBirch,Lyon,Seed\nCedar,Kiel,Seed|Series A|Series B\n",
            "Company",
        ),
    ] {
        let (guessed, statements) = read("startups.csv", text);
        assert_has(&guessed, &["[[startup]]", &format!("name = \"{name}\""), "a row has several rounds"]);
        assert_lacks(&guessed, &["[[round]]"]);
        assert_lacks(&statements, &["round:"]);
    }
    // Stages of a firm next to its checks or the sizes of its funds, and the amounts of the investors of one round, are no lists of rounds.
    let text = "Fund,Stages,Check size,Zorb\nAlder Capital,Seed; Series A,$1M; $5M,10; 20\nBirch Ventures,Seed,$1M,10\nCedar Fund,Series A; Series B,$5M; $9M,30; 40\n";
    assert_has(&guess(&[("funds.csv", text)]).unwrap(), &["stages = { column = \"Stages\""]);
    let text = "Company,Date,Round,Investors,Amounts (USD)\nAlder,2024-01-02,Seed,Birch Capital; Elm Fund,1000000; 500000\n\
                Cedar,2024-02-02,Series A,Elm Fund; Fir Ventures,4000000; 900000\n";
    assert_has(&guess(&[("deals.csv", text)]).unwrap(), &["[[round]]"]);
}

#[test]
fn a_row_without_a_round_makes_none_and_the_state_of_a_startup_does_not_end_its_rounds() {
    let text = "Company,Company status,Round,Date,Amount (USD),Investors\nAlder,Acquired,Seed,2020-01-02,1000000,Birch Capital\n\
                Cedar,Operating,Series A,2021-02-03,5000000,Elm Fund\nDorn,Operating,,,,\n";
    let (guessed, statements) = read("deals.csv", text);
    assert_has(&guessed, &["when = { \"Round\" = { present = true } }", "status = { column = \"Company status\""]);
    assert_eq!(statements.lines().filter(|line| line.contains(",startup,")).count(), 2, "{statements}");
    assert_has(&statements, &[",name,Dorn,"]);
    let (guessed, _) = read("deals.csv", &text.replace("Operating,Series A", "Operating,Merger"));
    assert_has(&guessed, &["when = { \"Round\" = { not = [\"Merger\"], present = true } }"]);
}

#[test]
fn a_column_of_companies_and_funds_has_the_startups_of_a_portfolio() {
    for text in [
        "Status,Company/Fund,Invest Date,Investment Entity,Lead,Round,Unrealized Value\nLive,Alder,2021-03-02,\"ALD 21, a series of Moss\",Moss Syndicate,Seed,$500\n\
         Dead,Birch,2022-05-01,\"BIR 22, a series of Moss\",Moss Syndicate,Series A,$0\nLive,Cedar,2023-06-09,\"CED 23, a series of Oak\",Oak Syndicate,Seed,$900\n",
        "Estado,Empresa / Fondo,Fecha de inversión,Ronda,Inversor líder\nActiva,Alder,2021-03-02,Semilla,Olmo Capital\n\
         Cerrada,Birch,2022-05-01,Serie A,Fresno Ventures\nActiva,Cedar,2023-06-09,Semilla,Olmo Capital\n",
    ] {
        let (guessed, statements) = read("portfolio.csv", text);
        assert_has(&guessed, &["[[round]]", "lead_investors = { column = "]);
        assert_lacks(&guessed, &["when = "]);
        assert_has(&statements, &[",name,Alder,", ",name,Birch,", ",name,Cedar,"]);
        assert_lacks(&statements, &["a series of"]);
    }
}

#[test]
fn a_remark_below_the_rows_is_no_further_round() {
    for (text, count) in [
        (
            "Datum;Startup;Runde;Volumen (Mio. US$);Investoren\n03.04.2026;Erle;Seed;1,5;Ulme Capital\n09.04.2026;Birke;Serie A;7,25;Buche Fund\n\
             14.04.2026;Zeder;Seed;2,0;Ulme Capital\n;Summe;;10,75;\nKeine Haftung für die Zahlen;;;;\n",
            3,
        ),
        (
            "Date,Company,Round,Amount (USD),Investors\n2025-01-03,Alder,Seed,1500000,Birch Capital\n2025-01-14,Cedar,Series A,7200000,Elm Fund\n\
             2025-01-20,Dorn,Seed,2000000,Birch Capital\nWe do not vouch for what others told us,,,,\n",
            3,
        ),
    ] {
        let (guessed, statements) = read("deals.csv", text);
        assert_lacks(&guessed, &["fill_down"]);
        assert_eq!(statements.lines().filter(|line| line.contains(",startup,")).count(), count, "{statements}");
    }
}

#[test]
fn a_loan_in_japanese_is_any_financing_in_chinese() {
    let japanese = "社名,調達日,ラウンド,引受先\nひかり工房,2025-01-03,シード,白浪ベンチャーズ\n椎の実,2025-02-03,融資,北前銀行\n磐座,2025-02-09,銀行融資,北前銀行\n";
    let (_, statements) = read("rounds.csv", japanese);
    assert_eq!(statements.matches(",stage,debt,").count(), 2, "{statements}");
    let chinese =
        "公司名稱,日期,輪次,投資人\n晨星科技,2025-01-03,種子輪,河岸創投\nアオタ生技,2025-02-03,融資,山嵐資本\n";
    let (_, statements) = read("rounds.csv", chinese);
    assert_lacks(&statements, &["debt"]);
}

#[test]
fn years_months_and_days_of_several_columns_are_one_date() {
    let rows = |delimiter: &str, header: &str, dates: &[&str]| {
        let startups = ["Alderly", "Birchbot", "Cedarly", "Dunlin"];
        let row = |(startup, date): (&str, &&str)| format!("{startup}|{date}|Seed|2000000|Elm Capital\n");
        let rows: String = startups.into_iter().zip(dates).map(row).collect();
        format!("{header}\n{rows}").replace('|', delimiter)
    };
    let german = "Startup|Jahr|Monat|Tag|Runde|Betrag (USD)|Investoren";
    let spanish = "Empresa|Mes|Año|Ronda|Importe (USD)|Inversores";
    let english = "Company|Stage|Year announced|Month announced|Amount (USD)|Investors";
    let polish = "Spółka|Rok|Miesiąc|Dzień|Runda|Kwota (USD)|Inwestorzy";
    for (text, dates) in [
        (
            rows(";", german, &["2021|März|3", "2022|Mai|14", "2023|Oktober|9", "2024|Juni|30"]),
            ["2021-03-03", "2023-10-09"],
        ),
        (rows(";", polish, &["2021|1|3", "2022|5|", "2023|11|9", "2024|6|30"]), ["2021-01-03", "2022-05"]),
        (rows(",", spanish, &["2|2019", "11|2020", "|2021", "7|2022"]), ["2019-02", "2021"]),
    ] {
        let (guessed, statements) = read("deals.csv", &text);
        assert_has(&guessed, &["announced_on = { columns = [", "join = \"-\""]);
        assert_has(&statements, &dates.map(|date| format!(",announced_on,{date},")).each_ref().map(String::as_str));
        assert_lacks(&guessed, &["# Mes", "# Mon", "# Tag", "# Dzi"]);
    }
    // Rounds of one year and stage differ by their months.
    let text = "Startup,Année,Mois,Tour,Investisseurs\nRuche,2022,avril,Amorçage,Aulne Capital\nRuche,2022,août,Amorçage,Aulne Capital\n\
                Houle,2023,mai,Amorçage,Aulne Capital\nChanvre,2024,juin,Série A,Houx Ventures\n";
    let (_, statements) = read("levees.csv", text);
    assert_has(&statements, &[",announced_on,2022-04,", ",announced_on,2022-08,"]);
    // A day without its month is no month, and what is not sure becomes a remark.
    let text = rows(";", german, &["2021|3|3", "2022||5", "2023|10|9", "2024|6|30"]);
    let (guessed, statements) = read("deals.csv", &text);
    assert_has(&guessed, &["columns = [\"Jahr\", \"Monat\"]", "# Tag: not joined with the dates"]);
    assert_has(&statements, &[",announced_on,2022,", ",announced_on,2023-10,"]);
    let text = english.replace("Month", "Quarter").replace('|', ",");
    let text =
        format!("{text}\nAlderly,Seed,2021,Q3,2000000,Elm Capital\nCedarly,Series A,2022,Q1,4000000,Elm Capital\n");
    let (guessed, statements) = read("deals.csv", &text);
    assert_has(&guessed, &["# Quarter announced: perhaps a part of the dates, which have only years"]);
    assert_has(&statements, &[",announced_on,2021,"]);
    // Whole dates go before years.
    let text = "Company,Year,Month,Date,Stage,Investors\nAlderly,2021,3,2021-03-11,Seed,Elm Capital\nCedarly,2022,5,2022-05-19,Series A,Elm Capital\n";
    let (guessed, _) = read("deals.csv", text);
    assert_has(&guessed, &["announced_on = \"Date\"", "# Month: "]);
}

#[test]
fn funds_with_names_like_people_are_of_their_managers() {
    for (text, firm) in [
        (
            "Société de gestion,Nom du fonds,Millésime,Taille (M€),Ville,Ticket min ($)\nAulne Capital,Aulne Rivage,2016,32,Lyon,200000\n\
             Aulne Capital,Aulne Santé,2021,55,Lyon,900000\nHoux et Fils,Houx Climat,2018,140,Paris,300000\nCade,Cade Mer,2020,40,Nice,300000\n",
            "Houx et Fils",
        ),
        (
            "Fonds,Kapitalverwaltungsgesellschaft,Auflagejahr,Volumen (Mio. €),Strategie\nErle Saat,Erle Capital,2019,40,Seed\nErle Klima,Erle Capital,2022,80,Seed\n\
             Erle Wachstum,Erle Capital,2024,90,Growth\nUlme Bio,Ulme Ventures,2020,60,Seed\nUlme Stadt,Ulme Ventures,2021,60,Seed\n",
            "Erle Capital",
        ),
        (
            "Fondo,Gestora,Añada,Tamaño (M€)\nOlmo Semilla,Olmo,2019,40\nOlmo Norte,Olmo,2022,80\nHaya Clima,Haya Azul,2020,60\n",
            "Haya Azul",
        ),
        (
            "Name,Firm,Vintage,Size ($M)\nAlder Early Stage,Alder Capital,2019,40\nBirch Climate,Birch Ventures,2020,60\n",
            "Alder Capital",
        ),
    ] {
        let (guessed, statements) = read("list.csv", text);
        assert_has(&guessed, &["[[firm]]"]);
        assert_has(&statements, &[&format!(",name,{firm},")]);
        assert_lacks(&statements, &["Klima", "Clima", "Norte", "Santé", "founded_year", "aum_usd", "check_min_usd"]);
    }
    // Investors that are people next to their firms are still none.
    let text = "Investor,Firm,Check size\nAda Quill,Alder Capital,$10k - $25k\nBen Marsh,Birch Ventures,$5k - $10k\n";
    assert!(guess(&[("angels.csv", text)]).unwrap_err().contains("its investors are people"));
}

#[test]
fn who_is_appointed_by_firms_is_on_the_boards_of_startups() {
    for text in [
        "Apellidos;Nombre;Cargo;Empresa;Sede;Designado por\nRivas;Lucía;Vocal;Mosto Vivo;Vigo;Olmo Capital\nSoto;Marcos;Presidente;Faro Norte;Lugo;Haya Inversiones\n\
         Vega;Irene;Vocal;Faro Norte;Lugo;\n",
        "Cognome;Nome;Carica;Società;Sede;Nominato da\nBruni;Sara;Consigliere;Corte Alta;Pisa;Ponte Capital\nConti;Ugo;Presidente;Fonte Blu;Pavia;Ginestra Ventures\n\
         Donati;Lia;Consigliere;Fonte Blu;Pavia;\n",
    ] {
        let (guessed, statements) = read("seats.csv", text);
        assert_has(&guessed, &["organization = { kind = \"startup\""]);
        assert_lacks(&statements, &["Capital", "Ventures", "Inversiones"]);
    }
}
