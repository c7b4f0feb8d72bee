//! `indexer import … --page`: the page is asked as a browser asks it, and as others do.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

const CSV: &str = "Fund,Home,E-mail\nAlder <b>Capital</b>,Norway,ana@alder.example\nBirch Ventures,Nowhere,\n,Chile,\n";
const MAPPING: &str = "# Ours.\n[source]\nid = \"ours\"\ntitle = \"Ours\"\nlicense = \"CC0-1.0\"\n\n[input.funds]\n\n\
                       [[firm]]\nname = \"Fund\"  # as registered\n";

/// The server of a page; dropping it kills the process.
struct PageServer {
    child: Child,
    host: String,
    path: String,
}

impl PageServer {
    fn start(folder: &Path, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_indexer"));
        command.current_dir(folder).args(["import", "funds.csv", "--page"]).args(more);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (_, url) = line.trim().split_once("http://").expect("the program prints the address");
        let (host, path) = url.split_once('/').unwrap();
        Self { child, host: host.to_owned(), path: format!("/{path}") }
    }

    /// Status and text of an answer to a request with these headers.
    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        write!(stream, "{head}\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer)
    }

    fn page(&self) -> String {
        let (status, answer) = self.send("GET", &self.path, &[("Host", &self.host)], "");
        assert_eq!(status, 200, "{answer}");
        answer
    }

    /// Sends a form as the page does.
    fn submit(&self, form: &str, fields: &[(&str, &str)]) -> (u16, String) {
        let body: String = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let origin = format!("http://{}", self.host);
        let headers = [("Host", self.host.as_str()), ("Origin", origin.as_str())];
        self.send("POST", &format!("{}{form}", self.path), &headers, &body)
    }

    fn post(&self, form: &str, fields: &[(&str, &str)]) {
        let (status, answer) = self.submit(form, fields);
        assert_eq!(status, if form == "done" { 200 } else { 303 }, "{answer}");
    }
}

/// A folder with `funds.csv` and `map.toml`.
fn folder_of(csv: &str, mapping: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("funds.csv"), csv).unwrap();
    fs::write(folder.path().join("map.toml"), mapping).unwrap();
    folder
}

impl Drop for PageServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_change_on_the_page_is_in_the_mapping_and_in_the_preview() {
    let folder = folder_of(CSV, MAPPING);
    let path = |name: &str| folder.path().join(name);
    let mut server = PageServer::start(folder.path(), &["--mapping", "map.toml", "--sources", "sources"]);
    let page = server.page();
    assert!(page.contains("Alder &lt;b&gt;Capital&lt;/b&gt;") && !page.contains("<b>Capital"), "{page}");
    assert!(
        page.contains("left out: it has no value in a column that is used") && page.contains("<li>2 firms</li>"),
        "{page}"
    );

    let home = [("input", "funds"), ("column", "Home"), ("old", ""), ("new", "firm.0.country")];
    server.post("meaning", &home);
    let text = fs::read_to_string(path("map.toml")).unwrap();
    assert!(text.starts_with(MAPPING) && text.contains("Home"), "{text}");
    let page = server.page();
    assert!(page.contains("Home is now firm: country.") && page.contains("becomes NO"), "{page}");
    assert!(page.contains("Nowhere<span class=\"reason\">left out: "), "{page}");
    // A message is shown once.
    assert!(!server.page().contains("Home is now"));
    server.post("meaning", &[("input", "funds"), ("column", "Home"), ("old", "firm.0.country"), ("new", "")]);
    assert_eq!(fs::read_to_string(path("map.toml")).unwrap(), MAPPING);

    // What would leave no name is refused.
    server.post("meaning", &home);
    let before = fs::read_to_string(path("map.toml")).unwrap();
    server.post("meaning", &[("input", "funds"), ("column", "Fund"), ("old", "firm.0.name"), ("new", "")]);
    assert!(server.page().contains("Nothing is changed"));
    assert_eq!(fs::read_to_string(path("map.toml")).unwrap(), before);

    server.post("import", &[]);
    let page = server.page();
    assert!(page.contains("imported 3 rows") && path("sources/ours/statements.csv").exists(), "{page}");
    server.post("done", &[]);
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_page_begins_with_a_guess_next_to_the_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("funds.csv"), CSV).unwrap();
    let server = PageServer::start(folder.path(), &[]);
    assert!(fs::read_to_string(folder.path().join("funds.toml")).unwrap().contains("[source]"));
    assert!(server.page().contains("indexer import --mapping funds.toml funds.csv"));
}

#[test]
fn other_hosts_sites_and_addresses_get_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("funds.csv"), CSV).unwrap();
    fs::write(folder.path().join("funds.toml"), MAPPING).unwrap();
    let server = PageServer::start(folder.path(), &[]);
    let (host, path) = (server.host.as_str(), server.path.as_str());
    let change = format!("{path}meaning");
    let own = format!("http://{host}");
    for (method, path, headers, expected) in [
        ("GET", "/", vec![("Host", host)], 404),
        ("GET", "/page.css", vec![("Host", host)], 404),
        ("GET", path, vec![("Host", "evil.example")], 404),
        ("GET", path, vec![("Host", host), ("Sec-Fetch-Site", "cross-site")], 403),
        ("GET", path, vec![("Host", host), ("Origin", "http://evil.example")], 403),
        ("POST", &change, vec![("Host", host)], 403),
        ("POST", &change, vec![("Host", host), ("Origin", "null")], 403),
        ("POST", &change, vec![("Host", host), ("Origin", "http://evil.example")], 403),
        ("POST", &change, vec![("Host", "evil.example"), ("Origin", "http://evil.example")], 404),
        ("PUT", &change, vec![("Host", host), ("Origin", &own)], 405),
    ] {
        let (status, answer) = server.send(method, path, &headers, "input=funds&column=Home&old=&new=firm.0.city");
        assert_eq!(status, expected, "{method} {path} {headers:?}: {answer}");
        assert!(!answer.contains("Alder") && !answer.to_lowercase().contains("access-control"), "{answer}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("funds.toml")).unwrap(), MAPPING);
    let page = server.page();
    assert!(page.contains("default-src 'none'; style-src 'self'; script-src 'self'"), "{page}");
}

#[test]
fn the_page_shows_what_the_options_say() {
    let mapping = format!("{MAPPING}check_min_usd = {{ column = \"Ticket (EUR)\", currency = \"EUR\" }}\n");
    let folder = folder_of("Fund,Ticket (EUR)\nAlder Capital,250000\nBirch Ventures,500000\n", &mapping);
    let path = |name: &str| folder.path().join(name);
    fs::write(path("rates.csv"), "currency,date,usd\nEUR,2020-01-01,1.5\n").unwrap();
    let options = ["--mapping", "map.toml", "--sources", "sources", "--rates", "rates.csv", "--title", "Our funds"];
    let mut server = PageServer::start(folder.path(), &options);
    let page = server.page();
    assert!(page.contains("becomes $375,000") && !page.contains("has the currency EUR"), "{page}");
    assert!(page.contains("value=\"Our funds\"") && page.contains("value=\"rates.csv\""), "{page}");
    // The next import finds the rates without the option.
    assert!(fs::read_to_string(path("map.toml")).unwrap().contains("rates = \"rates.csv\"\n"));
    // The form is the last to say what the source is.
    server.post("source", &[("title", "Their funds")]);
    server.post("import", &[]);
    let page = server.page();
    assert!(page.contains("next: indexer build --sources sources"), "{page}");
    let source = fs::read_to_string(path("sources").join("ours").join("source.toml")).unwrap();
    assert!(source.contains("title = \"Their funds\""), "{source}");
    server.child.kill().unwrap();
}

#[test]
fn what_is_written_about_the_source_is_kept_by_the_import_and_at_the_end() {
    let folder = folder_of(CSV, MAPPING);
    let path = |name: &str| folder.path().join(name);
    let mut server = PageServer::start(folder.path(), &["--mapping", "map.toml", "--sources", "sources"]);
    let page = server.page();
    assert!(
        page.contains("form=\"source-form\" formaction=\"import\"") && page.contains("formaction=\"done\""),
        "{page}"
    );
    server.post("import", &[("title", "Their funds"), ("license", "CC-BY-4.0")]);
    let source = fs::read_to_string(path("sources/ours/source.toml")).unwrap();
    assert!(source.contains("title = \"Their funds\"") && source.contains("license = \"CC-BY-4.0\""), "{source}");
    // A wrong entry is refused, and the page stays open.
    assert_eq!(server.submit("done", &[("id", "No id")]).0, 303);
    assert!(server.page().contains("Nothing is changed"));
    server.post("done", &[("title", "Funds of others")]);
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert!(fs::read_to_string(path("map.toml")).unwrap().contains("title = \"Funds of others\""));
}

#[test]
fn all_rows_may_have_one_value_and_an_amount_gets_currency_and_unit_at_once() {
    let folder = folder_of("Fund,Ticket\nAlder Capital,2\nBirch Ventures,5\n", MAPPING);
    let path = |name: &str| folder.path().join(name);
    let server = PageServer::start(folder.path(), &["--mapping", "map.toml"]);
    server.post("constant", &[("field", "firm.0.country"), ("value", "Norway")]);
    let page = server.page();
    assert!(page.contains("firm: country is Norway in all rows.") && page.contains("value=\"Norway\""), "{page}");
    server.post("constant", &[("field", "firm.0.name"), ("value", "Norway")]);
    assert!(server.page().contains("differs from record to record"));
    let amount = [("input", "funds"), ("column", "Ticket"), ("old", ""), ("new", "firm.0.check_min_usd")];
    server.post("meaning", &amount);
    assert!(server.page().contains("name=\"unit\""));
    let [input, column, old, new] = amount;
    server.post("meaning", &[input, column, old, new, ("currency", "USD"), ("unit", "million")]);
    assert!(server.page().contains("becomes $2,000,000"));
    let text = fs::read_to_string(path("map.toml")).unwrap();
    assert!(text.contains("country = { value = \"Norway\" }") && text.contains("unit = \"million\""), "{text}");
}
