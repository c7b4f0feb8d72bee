//! A dataset of extreme and unlucky values.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::harness::Numbers;

/// Writes a small dataset of extreme and unlucky values: amounts from 0 to a thousand trillion, the first and last years,
/// dates that are months or years,
/// names of cities that differ in accents or have commas, sectors in a deep tree, and much that is not known.
pub(super) fn write(folder: &Path) {
    let mut random = Numbers(3);
    let mut file = |name: &str, header: &str, rows: usize, row: &dyn Fn(usize, &mut Numbers) -> String| {
        let rows: Vec<String> = (0..rows).map(|index| row(index, &mut random)).collect();
        std::fs::write(folder.join(name), format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    };
    const CITIES: [&str; 8] = ["", "", "São Paulo", "sao paulo", "\"Washington, D.C.\"", "!!!", "北京", "Köln"];
    const KINDS: [&str; 4] = ["", "vc", "angel", "bank"];
    const STAGES: [&str; 5] = ["", "seed", "series-a", "ipo", "other"];
    const YEARS: [&str; 5] = ["", "1000", "1999", "2020", "9999"];
    const SITES: [&str; 4] = ["", "https://www.One.example/a", "http://one.example:8080", "https://two.example"];
    const USD: [&str; 7] = ["", "", "0", "1", "2", "1000000", "1000000000000000"];
    const DATES: [&str; 16] = [
        "",
        "1000-01-01",
        "1999",
        "1999-12",
        "1999-12-31",
        "2000",
        "2000-01-01",
        "2020",
        "2020-01",
        "2020-02",
        "2020-02-29",
        "2020-03-31",
        "2020-04",
        "2020-04-01",
        "9999",
        "9999-12-31",
    ];
    let several = |prefix: &'static str, end: usize, random: &mut Numbers| -> String {
        let values: BTreeSet<String> = (0..random.below(4)).map(|_| format!("{prefix}{}", random.below(end))).collect();
        values.into_iter().collect::<Vec<_>>().join("|")
    };
    std::fs::write(
        folder.join("snapshot.toml"),
        "version = \"2026-01-31.1\"\nreleased_on = \"2026-01-31\"\ntitle = \"Hostile\"\nsource = \"A test\"\nlicense = \"CC0-1.0\"\n",
    )
    .unwrap();
    file("sectors.csv", "slug,name,parent,description", 12, &|index, _| match index {
        0 => "s0,Sector 0,,".to_owned(),
        _ => format!("s{index},Sector {index},s{},", (index - 1) / 2 * (index % 4).min(1)),
    });
    let firms = "slug,name,aliases,kind,website,description,country,city,founded_year,stages,sectors,check_min_usd,check_max_usd,aum_usd";
    file("firms.csv", firms, 70, &|index, random| {
        let (kind, site, city) = (*random.pick(&KINDS), *random.pick(&SITES), *random.pick(&CITIES));
        let (year, stage, sectors) = (*random.pick(&YEARS), *random.pick(&STAGES), several("s", 12, random));
        let (min, max, aum) = (*random.pick(&USD), *random.pick(&USD), *random.pick(&USD));
        let country = *random.pick(&["", "DE", "US"]);
        format!("f{index},Firm {index},,{kind},{site},,{country},{city},{year},{stage},{sectors},{min},{max},{aum}")
    });
    let startups = "slug,name,aliases,website,description,country,city,founded_year,stage,sectors,status";
    file("startups.csv", startups, 130, &|index, random| {
        let (site, city, year) = (*random.pick(&SITES), *random.pick(&CITIES), *random.pick(&YEARS));
        let (stage, sectors) = (*random.pick(&["", "seed", "ipo"]), several("s", 12, random));
        let (country, status) = (*random.pick(&["", "FR", "US"]), *random.pick(&["", "closed", "ipo"]));
        format!("c{index},Company {index},,{site},,{country},{city},{year},{stage},{sectors},{status}")
    });
    let rounds = "id,startup,stage,amount_usd,announced_on,lead_investors,investors";
    file("funding_rounds.csv", rounds, 260, &|index, random| {
        let (startup, stage) = (random.below(130), *random.pick(&STAGES));
        let (usd, date) = (*random.pick(&USD), *random.pick(&DATES));
        let (leads, investors) = (several("f", 70, random), several("f", 70, random));
        format!("r{index},c{startup},{stage},{usd},{date},{leads},{investors}")
    });
    file("people.csv", "slug,name,title,organization_kind,organization,country", 90, &|index, random| {
        let title = *random.pick(&["", "Partner", "\"Partner, Berlin\"", "Co-founder & CEO", "…"]);
        let organization = random.pick(&["firm,f1", "firm,f2", "startup,c1", "startup,c2"]);
        format!("p{index},Person {index},{title},{organization},")
    });
    let reviews = "id,firm,stage,rating,responsiveness,fairness,value_add,ghosted,title,body,status,created_on";
    file("reviews.csv", reviews, 200, &|index, random| {
        let (firm, stage, rating) = (random.below(5), *random.pick(&["", "seed"]), 1 + random.below(5));
        let (one, other) = (*random.pick(&["", "1", "5"]), *random.pick(&["", "2"]));
        let (ghosted, status) = (*random.pick(&["", "yes", "0"]), *random.pick(&["approved", "pending", "rejected"]));
        let date = *random.pick(&DATES[1..]);
        format!("v{index},f{firm},{stage},{rating},{one},{other},{one},{ghosted},,,{status},{date}")
    });
}
