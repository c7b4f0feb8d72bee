//! The page `/resolve`: a form that works without script, with the answers of the API.

use crate::support::harness::{Client, Reply, Server};
use auth::quota::Tier;

/// Sends the form as a browser does.
fn submit(client: &Client, fields: &[(&str, &str)]) -> Reply {
    let mut body = String::new();
    for (name, value) in fields {
        let file = if *name == "file" { "; filename=\"list.csv\"\r\nContent-Type: text/csv" } else { "" };
        body += &format!("--frontier\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{value}\r\n");
    }
    body += "--frontier--\r\n";
    let request = client.agent.post(format!("{}/resolve", client.base));
    let mut response =
        request.header("content-type", "multipart/form-data; boundary=frontier").send(body.as_bytes()).unwrap();
    let text = response.body_mut().read_to_string().unwrap();
    Reply { status: response.status().as_u16(), headers: response.headers().clone(), text }
}

const TABLE: &str = "name,country\r\nAlder Capital,US\r\nAlder Capitl,\r\n\"Zzqx, <b>\",\r\nAlder,Atlantis\r\n";

#[test]
fn a_list_is_looked_up_and_downloaded() {
    let server = Server::bundled();
    let client = server.anonymous();
    let empty = client.get("/resolve");
    assert_eq!(empty.status, 200);
    assert!(empty.text.contains("<form action=\"/resolve\" method=\"post\" enctype=\"multipart/form-data\">"));
    assert!(!empty.text.contains("id=\"result\""));

    let page = submit(&client, &[("kind", "firm"), ("text", TABLE), ("file", "")]);
    assert_eq!(page.status, 200, "{}", page.text);
    assert!(page.text.contains("4 rows, 1 with a match.") || page.text.contains("4 rows, 2 with a match."));
    assert!(page.text.contains("<a href=\"/vcs/alder-capital\">Alder Capital</a>"));
    assert!(page.text.contains("Zzqx, &#60;b&#62;") && !page.text.contains("<b>"), "{}", page.text);
    assert!(page.text.contains("line 5, column `country`: `Atlantis` is not a country"));
    assert!(page.text.contains("<option value=\"firm\" selected>"));

    let csv = submit(&client, &[("kind", "firm"), ("text", TABLE), ("file", ""), ("format", "csv")]);
    assert!(csv.header("content-disposition").starts_with("attachment; filename=\"resolved-"));
    let key = server.client(Tier::Pro);
    let request = key.agent.post(format!("{}/api/v3/resolve?kind=firm", key.base)).header("content-type", "text/csv");
    let request = request.header("authorization", format!("Bearer {}", key.key.as_ref().unwrap()));
    let expected = request.send(TABLE).unwrap().body_mut().read_to_string().unwrap();
    assert_eq!(csv.text, expected);
}

#[test]
fn names_are_looked_up_line_by_line_and_a_file_precedes_the_text() {
    let server = Server::bundled();
    let client = server.anonymous();
    let names = "Alder Capital\n\n  Tidewick, \"the\" one  \nzzqx wv";
    let page = submit(&client, &[("text", names), ("file", "")]);
    assert!(page.text.contains("3 rows, "), "{}", page.text);
    assert!(page.text.contains("<th scope=\"row\">Tidewick, &#34;the&#34; one</th>"), "{}", page.text);
    let file = submit(&client, &[("text", names), ("file", "Alder Capital\n")]);
    assert!(file.text.contains("1 row, "), "{}", file.text);
    for fields in [&[("text", " \n")][..], &[], &[("text", "name\n")], &[("kind", "fund"), ("text", "a")]] {
        let page = submit(&client, fields);
        assert_eq!(page.status, 422, "{}", page.text);
        assert!(page.text.contains("role=\"alert\""));
    }
    let many: String = (0..130).map(|number| format!("zzqx {number}\n")).collect();
    let page = submit(&client, &[("text", &many)]);
    assert!(page.text.contains("100 rows, 0 with a match. 30 rows beyond the first 100 left out."));
    let large = submit(&client, &[("text", &"a\n".repeat(100_000))]);
    assert_eq!(large.status, 200);
    let put = client.send("PUT", "/resolve", &[]);
    assert_eq!((put.status, put.header("allow")), (405, "GET, HEAD, POST, OPTIONS"));
}

#[test]
fn ten_rows_count_as_a_page() {
    let server = Server::allowing(20, 5);
    let client = server.anonymous();
    let names = |count: usize| (0..count).map(|number| format!("zzqx {number}\n")).collect::<String>();
    assert_eq!(submit(&client, &[("text", &names(100))]).status, 200);
    assert_eq!(submit(&client, &[("text", &names(90))]).status, 200);
    assert_eq!(submit(&client, &[("text", &names(20))]).status, 429);
}
