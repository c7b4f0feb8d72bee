//! The files in `deploy/` fit the program: settings exist, limits agree, and the docs name files that are there.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use transport::server::Limits;
use venturedex::app::settings::unknown_variables;

use crate::support::harness::{files_below, root};

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The number after `name` in a file, without its unit.
fn number(file: &str, name: &str) -> u64 {
    let text = text(file);
    let rest = text.split_once(name).unwrap_or_else(|| panic!("{file} has no {name}")).1;
    let digits = rest.trim_start_matches([' ', '=']).split(|char: char| !char.is_ascii_digit()).next().unwrap();
    digits.parse().unwrap_or_else(|_| panic!("{file}: {name}{}", rest.lines().next().unwrap()))
}

#[test]
fn every_variable_is_a_setting() {
    let mut names = Vec::new();
    for path in files_below(&root().join("deploy")) {
        let text = fs::read_to_string(&path).unwrap();
        for (start, _) in text.match_indices("VENTUREDEX_") {
            let name: String =
                text[start..].chars().take_while(|char| char.is_ascii_uppercase() || *char == '_').collect();
            names.push(name);
        }
    }
    assert!(names.len() > 15, "{names:?}");
    let unknown: Vec<String> = unknown_variables(names).into_iter().map(|(name, _)| name).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn files_name_the_version_of_the_program() {
    let version = env!("CARGO_PKG_VERSION");
    for (file, line) in [
        ("deploy/compose.yaml", format!("image: venturedex:{version}\n")),
        ("deploy/kubernetes/kustomization.yaml", format!("newTag: {version}\n")),
        ("deploy/clients/python/pyproject.toml", format!("version = \"{version}\"\n")),
        ("deploy/clients/typescript/package.json", format!("\"version\": \"{version}\",\n")),
        ("src/site/docs/text/operate/doctor.html", format!("\"program\":\"venturedex {version}\"")),
        ("CHANGELOG.md", format!("## {version}\n")),
        ("README.md", format!("venturedex_{version}_amd64.deb")),
        ("src/site/docs/text/operate.html", format!("venturedex-{version}-1.x86_64.rpm")),
        ("src/site/docs/text/operate/upgrade.html", format!("venturedex_{version}_amd64.deb")),
    ] {
        assert!(text(file).contains(&line), "{file} does not name version {version}");
    }
}

#[test]
fn limits_of_units_and_proxies_fit_those_of_the_server() {
    let limits = Limits::default();
    let unit = "deploy/systemd/venturedex.service";
    let stop = Duration::from_secs(number(unit, "TimeoutStopSec="));
    // The longest default drain delay is five seconds.
    assert!(stop >= limits.drain + Duration::from_secs(5 + 10), "{stop:?}");
    assert!(number(unit, "LimitNOFILE=") >= limits.connections as u64 + 256);
    let (caddy, nginx) = ("deploy/caddy/Caddyfile", "deploy/nginx/venturedex.conf");
    for (file, head, body, keep) in [
        (caddy, "read_header ", "read_body ", "\tkeepalive "),
        (nginx, "client_header_timeout ", "client_body_timeout ", "keepalive_timeout "),
    ] {
        assert_eq!(number(file, head), limits.head.as_secs(), "{file}");
        assert_eq!(number(file, body), limits.body.as_secs(), "{file}");
        assert!(number(file, keep) < limits.idle.as_secs(), "{file}");
    }
    assert_eq!(number(caddy, "max_header_size ") * 1024, limits.head_bytes as u64);
    assert_eq!(number(nginx, "large_client_header_buffers 4 ") * 1024, limits.head_bytes as u64);
}

#[test]
fn replicas_behind_a_balancer_have_time_to_stop_and_room_for_heads() {
    let limits = Limits::default();
    let (haproxy, compose) = ("deploy/haproxy/haproxy.cfg", "deploy/compose.yaml");
    let (server, settings) = ("deploy/kubernetes/server.yaml", "deploy/kubernetes/kustomization.yaml");
    assert_eq!(number(haproxy, "timeout http-request "), limits.head.as_secs());
    assert!(number(haproxy, "timeout server ") >= limits.drain.as_secs());
    // HAProxy keeps 1,024 bytes of the buffer for headers that it adds.
    assert!(number(haproxy, "tune.bufsize ") >= limits.head_bytes as u64 + 1_024);
    assert!(number(compose, "ulimits: {nofile: ") >= limits.connections as u64 + 256);
    for (file, grace, delay) in [
        (compose, "stop_grace_period: ", 5),
        (server, "terminationGracePeriodSeconds: ", number(settings, "VENTUREDEX_DRAIN_DELAY=")),
    ] {
        let needed = limits.drain + limits.last_request + Duration::from_secs(delay + 10);
        assert!(number(file, grace) >= needed.as_secs(), "{file}");
    }
    for file in ["deploy/kubernetes/server.yaml", "deploy/kubernetes/indexer.yaml", compose] {
        assert!(!text(file).contains(":latest"), "{file}");
    }
}

#[test]
fn files_that_the_docs_name_exist() {
    let mut pages = vec![root().join("README.md"), root().join("SECURITY.md"), root().join("deploy/README.md")];
    pages.extend(files_below(&root().join("src/site/docs/text")));
    let mut found = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for (start, _) in text.match_indices("deploy/") {
            let name: String = text[start..]
                .chars()
                .take_while(|char| char.is_ascii_alphanumeric() || "/.-_*".contains(*char))
                .collect();
            let name = name.trim_end_matches(['.', '/']);
            // `deploy/systemd/*.service`
            let folder = name.split('*').next().unwrap().trim_end_matches('/');
            assert!(root().join(folder).exists(), "{}: {name}", page.display());
            found += 1;
        }
    }
    assert!(found > 10);
}

#[test]
fn every_metric_of_the_dashboard_and_the_alert_rules_is_documented() {
    // Tests of the metrics compare this page with what the server gives.
    let known = names(&text("src/site/docs/text/operate/metrics.html"));
    for file in ["deploy/prometheus/venturedex.rules.yml", "deploy/grafana/venturedex.json"] {
        let used = names(&text(file));
        assert!(used.len() > 8, "{file}: {used:?}");
        let is_known = |name: &str| {
            // The series of a histogram.
            let histogram = ["_bucket", "_count"].into_iter().find_map(|series| name.strip_suffix(series));
            known.contains(name) || histogram.is_some_and(|name| known.contains(name))
        };
        let unknown: Vec<_> = used.iter().filter(|name| !is_known(name)).collect();
        assert!(unknown.is_empty(), "{file}: {unknown:?}");
    }
}

/// The names of metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|char: char| !(char.is_ascii_alphanumeric() || char == '_'));
    let is_metric = |word: &&str| word.starts_with("venturedex_") || word.starts_with("process_");
    words.filter(is_metric).map(str::to_owned).collect()
}
