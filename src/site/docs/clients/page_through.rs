//! Prints every record of a list, one JSON line per record: `cargo run -- vcs 'stage=seed&country=DE'`
//!
//! [dependencies]
//! serde_json = "1"
//! ureq = { version = "3", features = ["json"] }

use std::collections::HashSet;
use std::error::Error;
use std::time::Duration;

use serde_json::Value;

/// The response to one request, or `None` if the cursor has expired. After a 429 or 503 it waits as long as `Retry-After`
/// says and tries again.
fn get(agent: &ureq::Agent, url: &str, key: &str) -> Result<Option<Value>, Box<dyn Error>> {
    loop {
        let mut response = agent.get(url).header("Authorization", format!("Bearer {key}")).call()?;
        let status = response.status().as_u16();
        let wait = response.headers().get("Retry-After").and_then(|wait| wait.to_str().ok()?.parse().ok()).unwrap_or(1);
        match status {
            200 => return Ok(Some(response.body_mut().read_json()?)),
            410 => return Ok(None),
            429 | 503 if wait <= 3600 => std::thread::sleep(Duration::from_secs(wait)),
            _ => {
                let problem: Value = response.body_mut().read_json()?;
                return Err(format!("{status} {}: {}", problem["code"], problem["detail"]).into());
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (url, key) = (std::env::var("VENTUREDEX_URL")?, std::env::var("VENTUREDEX_KEY")?);
    let list = std::env::args().nth(1).unwrap_or_else(|| "vcs".to_owned());
    let query = std::env::args().nth(2).unwrap_or_default();
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let mut seen = HashSet::new();
    let mut cursor = String::new(); // `&cursor=` with its value, from the second page on.
    loop {
        let page = format!("{url}/api/v3/{list}?{query}&limit=100{cursor}");
        let Some(response) = get(&agent, &page, &key)? else {
            cursor.clear(); // The release has expired: restart, without records that were already printed.
            continue;
        };
        for record in response["data"].as_array().into_iter().flatten() {
            let name = record["slug"].as_str().or(record["id"].as_str()).unwrap_or_default();
            if seen.insert(name.to_owned()) {
                println!("{record}");
            }
        }
        match response["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(()),
        }
    }
}
