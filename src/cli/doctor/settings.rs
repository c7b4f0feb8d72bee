//! Settings that are valid, but contradict each other, are risky, or name something unusable.

use std::net::IpAddr;
use std::path::Path;

use http::Uri;
use tracing::level_filters::LevelFilter;

use crate::app::router::is_own_path;
use crate::app::serve::mail_transport;
use crate::app::settings::{ServeSettings, unknown_variables};
use crate::cli::doctor::finding::Findings;
use crate::cli::doctor::machine;
use auth::quota::IpRange;
use service::SignUp;
use service::well_known::WellKnown;
use transport::origin_policy::Hosts;

pub(super) fn check(settings: &ServeSettings, variables: impl IntoIterator<Item = String>, findings: &mut Findings) {
    let unknown = unknown_variables(variables);
    if unknown.is_empty() {
        findings.ok("settings.environment", "every VENTUREDEX_ variable is a setting");
    }
    for (name, nearest) in unknown {
        let remedy = nearest.map_or("remove it; `venturedex --help` lists the settings".to_owned(), |nearest| {
            format!("rename it to {nearest}, or remove it")
        });
        findings.warning("settings.environment", format!("the variable {name} is not a setting"), remedy);
    }
    access(settings, findings);
    public_url(settings, findings);
    trusted_proxies(settings, findings);
    connections(settings, findings);
    if settings.log == LevelFilter::OFF {
        findings.warning("settings.log", "nothing is logged, not even errors", "set --log to warn or info");
    }
    if let Some(folder) = &settings.well_known {
        match WellKnown::load(folder, is_own_path) {
            Ok(_) => findings.ok("settings.well_known", format!("{} can be published", folder.display())),
            Err(error) => {
                findings.problem("settings.well_known", error.to_string(), "fix the folder, or leave out --well-known");
            }
        }
    }
    for (check, flag, path) in [
        ("settings.audit_log", "--audit-log", &settings.audit_log),
        ("settings.access_log", "--access-log", &settings.access_log),
    ] {
        if let Some(path) = path.as_deref().filter(|path| path.as_os_str() != "-") {
            log_file(check, flag, path, findings);
        }
    }
    mail(settings, findings);
}

fn access(settings: &ServeSettings, findings: &mut Findings) {
    const CHECK: &str = "settings.access";
    let (access, sign_up) = (settings.access, settings.sign_up());
    if access.is_private() && sign_up == SignUp::Open {
        let detail =
            format!("--access {access}, but --sign-up open: strangers can create an account and see everything");
        return findings.warning(CHECK, detail, "set --sign-up to invite or off");
    }
    if access.is_private() && settings.metrics_listen.is_some_and(|listen| !listen.ip().is_loopback()) {
        let detail =
            format!("--access {access}, but whoever reaches the address of --metrics-listen reads the metrics");
        return findings.warning(CHECK, detail, "listen on loopback, or let only Prometheus reach the address");
    }
    findings.ok(CHECK, format!("access {access}, sign-up {sign_up}"));
}

fn is_local(url: &str) -> bool {
    let url: Option<Uri> = url.parse().ok();
    // Without the brackets of an IPv6 address.
    let host = url.as_ref().and_then(Uri::host).map(|host| host.trim_matches(['[', ']']));
    host.is_some_and(|host| host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback()))
}

fn public_url(settings: &ServeSettings, findings: &mut Findings) {
    const CHECK: &str = "settings.public_url";
    let listen = settings.listen;
    let listens_publicly = !listen.ip().is_loopback();
    let Some(url) = &settings.public_url else {
        if !listens_publicly {
            return findings.ok(CHECK, "not set; the service is for this machine only");
        }
        let detail = format!(
            "--listen {listen} is open to other machines, but --public-url is not set: links and e-mails name the \
             listening address, and requests for any IP address are answered"
        );
        let remedy = "set --public-url to the address that clients use, such as https://venturedex.example.com";
        return findings.warning(CHECK, detail, remedy);
    };
    if let Err(error) = Hosts::new(url, false) {
        return findings.problem(CHECK, error.to_string(), "set it to a URL such as https://venturedex.example.com");
    }
    let is_local = is_local(url);
    if url.starts_with("http://") && !is_local {
        let detail = format!("{url} is not https: API keys, passwords and sessions can be read on the way");
        let remedy = "put a proxy with TLS in front of the server, and set --public-url to its https address";
        findings.warning(CHECK, detail, remedy);
    } else if is_local && listens_publicly {
        let detail = format!("{url} is an address of this machine, but --listen {listen} is open to others");
        let remedy = "set --public-url to the address that clients use, or --listen to 127.0.0.1:8080";
        findings.warning(CHECK, detail, remedy);
    } else {
        findings.ok(CHECK, url.clone());
    }
}

fn trusted_proxies(settings: &ServeSettings, findings: &mut Findings) {
    const CHECK: &str = "settings.trusted_proxies";
    let (proxies, listen) = (&settings.trusted_proxies, settings.listen.ip());
    let is_https = settings.public_url.as_ref().is_some_and(|url| url.starts_with("https://"));
    if proxies.is_empty() {
        let detail = "--public-url is https, so a proxy is in front of the server, but --trusted-proxies names none: all \
                      visitors count as one client";
        return match is_https {
            true => findings.warning(CHECK, detail, "set --trusted-proxies to the proxy's address, such as 127.0.0.1"),
            false => findings.ok(CHECK, "none"),
        };
    }
    let lacks_own = listen.is_loopback() && !proxies.iter().any(|range| range.contains(listen));
    if lacks_own {
        let detail =
            format!("a proxy reaches {listen} from this machine only, but --trusted-proxies does not contain {listen}");
        findings.warning(CHECK, detail, format!("add {listen} to --trusted-proxies"));
    }
    let wide: Vec<&IpRange> = proxies.iter().filter(|range| range.is_wide_and_public()).collect();
    for range in &wide {
        let detail =
            format!("{range} are many public addresses: who has one of them chooses the address of each request");
        findings.warning(CHECK, detail, "name only the addresses of your own proxies");
    }
    if !lacks_own && wide.is_empty() {
        let named: Vec<String> = proxies.iter().map(ToString::to_string).collect();
        findings.ok(CHECK, named.join(", "));
    }
}

fn connections(settings: &ServeSettings, findings: &mut Findings) {
    let (all, each) = (settings.max_connections, settings.max_connections_per_address);
    if each >= all && all > 1 {
        let detail = format!("one address may take all {all} connections (--max-connections-per-address {each})");
        let remedy = format!("set --max-connections-per-address to {} or less", (all / 4).max(1));
        findings.warning("settings.connections", detail, remedy);
    } else {
        findings.ok("settings.connections", format!("at most {all}, {each} of one address"));
    }
}

fn log_file(check: &'static str, flag: &str, path: &Path, findings: &mut Findings) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let target = if path.exists() { path } else { folder };
    if path.is_dir() || !machine::is_writable(target) {
        let detail = format!("{flag} {}: cannot be written", path.display());
        findings.problem(check, detail, "name a file in a folder that the user of the server may write to");
    } else if !machine::warn_if_open(check, path, findings) {
        findings.ok(check, path.display().to_string());
    }
}

fn mail(settings: &ServeSettings, findings: &mut Findings) {
    const CHECK: &str = "settings.mail";
    let transport = match mail_transport(settings) {
        Ok(Some(transport)) => transport,
        Ok(None) => return,
        Err(error) => {
            let remedy = "write the password to a file that only the server reads";
            return findings.problem(CHECK, error.to_string(), remedy);
        }
    };
    if let Some(path) = &settings.smtp_password_file {
        machine::warn_if_open(CHECK, path, findings);
    }
    if settings.public_url.is_none() {
        let detail = "links in e-mails lead to the listening address, because --public-url is not set";
        findings.warning(CHECK, detail, "set --public-url to the address that clients use");
    }
    match transport.check() {
        Ok(()) => findings.ok(CHECK, "the mail server accepts connections of this service; nothing was sent"),
        Err(error) => findings.warning(
            CHECK,
            error.to_string(),
            "check --smtp-url and --smtp-password-file, and that this machine may connect to the mail server",
        ),
    }
}
