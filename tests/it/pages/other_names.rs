//! Names that people try, in place of those that the service uses, lead to what they mean.

use auth::quota::Tier;

use crate::support::harness::{Client, Server, agent_without_redirects};
use crate::support::html::{Markup, parse};

#[test]
fn pages_are_found_by_the_names_that_people_try() {
    let server = Server::bundled();
    let client = Client { agent: agent_without_redirects(), ..server.anonymous() };
    for (tried, page) in [
        ("/firms", "/vcs"),
        ("/investors?stage=seed&country=DE", "/vcs?stage=seed&country=DE"),
        ("/firms/alder-capital", "/vcs/alder-capital"),
        ("/firms/alder-capital.json", "/vcs/alder-capital.json"),
        ("/investors.csv", "/vcs.csv"),
        ("/companies", "/startups"),
        ("/funding-rounds.md", "/rounds.md"),
        ("/deals", "/rounds"),
        ("/founders", "/people"),
    ] {
        let reply = client.get(tried);
        assert_eq!((reply.status, reply.header("location")), (308, page), "{tried}");
        assert_eq!(client.get(page).status, 200, "{page}");
    }
    for path in ["/firmsx", "/firms/a/b", "/firms.xml", "/investors/alder-capital.png/x"] {
        assert_eq!(client.get(path).status, 404, "{path}");
    }
}

#[test]
fn paths_and_parameters_of_the_api_are_suggested_for_the_names_that_people_try() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    for (tried, meant) in [
        ("firms", "/vcs"),
        ("investors", "/vcs"),
        ("rounds", "/funding-rounds"),
        ("firms/alder-capital", "/vcs/alder-capital"),
        ("investors/alder-capital/portfolio", "/vcs/alder-capital/portfolio"),
        ("companies", "/startups"),
    ] {
        let reply = client.get(&format!("/api/v3/{tried}"));
        assert_eq!((reply.status, &reply.json()["did_you_mean"][0]), (404, &meant.into()), "{tried}");
    }
    for (query, meant) in [("hq=Berlin", "city"), ("location=Berlin", "city"), ("region=DE", "country")] {
        let error = client.get(&format!("/api/v3/vcs?{query}")).json()["errors"][0].clone();
        assert_eq!(error["did_you_mean"], meant, "{query}: {error}");
    }
    let page = parse(&client.get("/vcs?hq=Berlin").text);
    assert!(page.texts(".notice").join(" ").contains("city"), "{:?}", page.texts(".notice"));
    // A question is no name: the list says which conditions it has, and the address that answers it.
    let reply = client.list("/api/v3/vcs", &[("q", "seed investors in Berlin")]).json();
    let warnings = reply["meta"]["warnings"].to_string();
    assert!(warnings.contains("stage=seed") && warnings.contains("city=berlin"), "{warnings}");
}
