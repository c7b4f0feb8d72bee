//! A dataset of two firms and two startups with the rows that a test adds, and a server of it.

use std::fs;
use std::path::Path;

use auth::quota::Tier;
use tempfile::TempDir;

use crate::support::harness::{Client, Server, catalog_of};

const META: &str = "version = \"2026-01-31.1\"\nreleased_on = \"2026-01-31\"\ntitle = \"A small dataset\"\n\
                    source = \"Made by a test\"\nlicense = \"CC0-1.0\"\n";

/// A dataset of two firms and two startups, with these rounds and people.
pub fn dataset(rounds: &str, people: &str) -> TempDir {
    dataset_with("", "", rounds, people)
}

/// The same with more firms and startups.
pub fn dataset_with(firms: &str, startups: &str, rounds: &str, people: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
    write("snapshot.toml", META);
    write("sectors.csv", "slug,name,parent,description\nfintech,Fintech,,\n");
    let header = "slug,name,aliases,kind,website,description,country,city,founded_year,stages,sectors,check_min_usd,\
                  check_max_usd,aum_usd";
    let two = "alder,Alder Capital,,vc,,,DE,,,,,,,\nbirch,Birch Fund,,vc,,,,,,,,,,\n";
    write("firms.csv", &format!("{header}\n{two}{firms}"));
    let header = "slug,name,aliases,website,description,country,city,founded_year,stage,sectors,status";
    let two = "tidewick,Tidewick,,,,GB,,,,fintech,\nlomar,Lomar,,,,,,,,,\n";
    write("startups.csv", &format!("{header}\n{two}{startups}"));
    let rounds = format!("id,startup,stage,amount_usd,announced_on,lead_investors,investors\n{rounds}");
    write("funding_rounds.csv", &rounds);
    write("people.csv", &format!("slug,name,title,organization_kind,organization,country\n{people}"));
    write(
        "reviews.csv",
        "id,firm,stage,rating,responsiveness,fairness,value_add,ghosted,title,body,status,created_on\n",
    );
    folder
}

/// A server of a dataset, and a client with plenty of requests.
pub fn serve(folder: &Path) -> (Server, Client) {
    let server = Server::of(catalog_of(folder));
    let client = server.client(Tier::Enterprise);
    (server, client)
}
