//! `POST /resolve` with a table: its rows come back as they are, with the answers that JSON gives.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use auth::quota::Tier;
use csv::{ByteRecord, ReaderBuilder};
use serde_json::{Value, json};

use crate::support::harness::{Client, Dice, Reply, Server, code};

const PATH: &str = "/api/v3/resolve";
const ADDED: usize = 8;

fn send(client: &Client, path: &str, table: &[u8]) -> Reply {
    let request = client.agent.post(format!("{}{path}", client.base)).header("content-type", "text/csv");
    let request = request.header("authorization", format!("Bearer {}", client.key.as_ref().unwrap()));
    let mut response = request.send(table).unwrap();
    let bytes = response.body_mut().with_config().limit(1 << 30).read_to_vec().unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Reply { status: response.status().as_u16(), headers: response.headers().clone(), text }
}

fn rows(table: &[u8], delimiter: u8) -> Vec<ByteRecord> {
    let reader = ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(table);
    reader.into_byte_records().map(Result::unwrap).collect()
}

fn text(row: &ByteRecord, cell: usize) -> &str {
    std::str::from_utf8(&row[cell]).unwrap()
}

/// A table of names of the dataset, some misspelled, in a file that a spreadsheet may have written.
fn table(server: &Server, dice: &mut Dice, count: usize) -> Vec<u8> {
    let catalog = server.state.releases.current();
    let table = data::Table::Firms;
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["Nr", "Account", "Land", "Notes"]).unwrap();
    for number in 0..count {
        let row = dice.upto(u64::from(catalog.snapshot().rows(table))) as u32;
        let mut name = catalog.snapshot().name(table, row).to_owned();
        if dice.upto(3) == 0 {
            let mut letters: Vec<char> = name.chars().collect();
            letters.remove(letters.len() / 2);
            name = letters.into_iter().collect();
        }
        let country = ["", "US", "Germany", "Atlantis"][dice.upto(4) as usize];
        let notes =
            ["", "a, b; c", "two\nlines, \"quoted\"", "=SUM(A1:A9)", "Müller", "\"", "\r\n"][dice.upto(7) as usize];
        writer.write_record([&number.to_string(), &name, country, notes]).unwrap();
    }
    writer.into_inner().unwrap()
}

const COLUMNS: &str = "name_column=Account&country_column=Land&kind=firm";

#[test]
fn a_table_comes_back_with_the_answers_of_json() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let sent = table(&server, &mut Dice(7), 120);
    let reply = send(&client, &format!("{PATH}?{COLUMNS}"), &sent);
    assert_eq!((reply.status, reply.header("content-type")), (200, "text/csv; charset=utf-8; header=present"));
    let (sent, got) = (rows(&sent, b','), rows(reply.text.as_bytes(), b','));
    assert_eq!(sent.len(), got.len());
    let items: Vec<Value> =
        sent[1..].iter().map(|row| json!({ "kind": "firm", "name": text(row, 1), "country": text(row, 2) })).collect();
    let answers = client.post(PATH, &json!({ "items": items }).to_string()).json()["data"].clone();
    let mut statuses = std::collections::BTreeSet::new();
    for (index, (sent, got)) in sent.iter().zip(&got).enumerate() {
        assert_eq!(got.len(), sent.len() + ADDED);
        assert!(sent.iter().zip(got).all(|(sent, got)| sent == got), "{sent:?} {got:?}");
        let Some(index) = index.checked_sub(1) else { continue };
        let (answer, added) = (&answers[index], |cell: usize| text(got, sent.len() + cell));
        assert_eq!(added(0), answer["status"], "{answer}");
        statuses.insert(added(0).to_owned());
        let best = &answer["candidates"][0];
        match added(0) {
            "match" => {
                assert_eq!(
                    (added(1), added(2), added(3)),
                    ("firm", best["slug"].as_str().unwrap(), best["name"].as_str().unwrap())
                );
                assert_eq!((added(4), added(5)), (best["url"].as_str().unwrap(), best["score"].to_string().as_str()));
                let reasons = best["reasons"].as_array().unwrap().iter();
                let reasons =
                    reasons.map(|reason| format!("{} {}", reason["evidence"].as_str().unwrap(), reason["points"]));
                assert_eq!(added(6), reasons.collect::<Vec<_>>().join("; "));
                assert_eq!(added(7), "");
            }
            "invalid" => assert!(added(6).contains("column `Land`: `Atlantis` is not a country"), "{}", added(6)),
            _ => {
                assert_eq!((added(1), added(2), added(5)), ("", "", ""));
                let listed = answer["candidates"].as_array().unwrap().iter();
                let listed = listed.map(|found| format!("{} {}", found["id"].as_str().unwrap(), found["score"]));
                assert_eq!(added(7), listed.collect::<Vec<_>>().join("; "));
            }
        }
    }
    assert!(statuses.len() >= 3, "{statuses:?}");
}

#[test]
fn the_form_of_a_table_stays() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let sent = b"\xef\xbb\xbfCompany;Raw\r\n\"Alder; Capital\";x\xff\r\n\r\nAlder Capital;\"a\"\"b\"\r\nshort\r\nAlder Capital;b;c;d".to_vec();
    let request =
        client.agent.post(format!("{}{PATH}?kind=vc", client.base)).header("content-type", "text/csv; charset=utf-8");
    let mut response =
        request.header("authorization", format!("Bearer {}", client.key.as_ref().unwrap())).send(&sent[..]).unwrap();
    let got = response.body_mut().read_to_vec().unwrap();
    assert!(got.starts_with(b"\xef\xbb\xbfCompany;Raw;venturedex_status;") && got.ends_with(b"\r\n"));
    let got = rows(&got[3..], b';');
    assert_eq!(got.len(), 5);
    assert_eq!((&got[1][0], &got[1][1]), (&b"Alder; Capital"[..], &b"x\xff"[..]));
    assert_eq!((&got[2][1], text(&got[2], 2), text(&got[2], 4)), (&b"a\"b"[..], "match", "alder-capital"));
    assert_eq!((&got[3][0], &got[3][1], got[3].len()), (&b"short"[..], &b""[..], 2 + ADDED));
    // Cells beyond the header are an error, and stay.
    assert_eq!((text(&got[4], 2), &got[4][10], &got[4][11]), ("invalid", &b"c"[..], &b"d"[..]));
    assert!(text(&got[4], 8).starts_with("line 6: the row has 4 cells and the header 2"), "{}", text(&got[4], 8));
}

#[test]
fn what_the_quota_leaves_out_is_answered_when_the_result_is_sent_again() {
    let server = Server::bundled();
    let (free, other) = (server.client(Tier::Free), server.client(Tier::Enterprise));
    let sent = table(&server, &mut Dice(11), 1_013);
    let path = format!("{PATH}?{COLUMNS}");
    let all = send(&other, &path, &sent);
    let part = send(&free, &path, &sent);
    assert_eq!(part.status, 200);
    let statuses: Vec<String> = rows(part.text.as_bytes(), b',').iter().map(|row| text(row, 4).to_owned()).collect();
    assert_eq!(statuses.iter().position(|status| status == "unanswered"), Some(1_001));
    assert!(statuses[1_001..].iter().all(|status| status == "unanswered"));
    assert_eq!(free.get("/api/v3/usage").json()["data"]["remaining"], 0);
    assert_eq!(code(&send(&free, &path, b"Account,Land\nAlder,\n")), (429, "quota_exceeded".to_owned()));
    // Only the open rows count.
    let pro = server.client(Tier::Pro);
    let rest = send(&pro, &path, part.text.as_bytes());
    assert_eq!(rest.text, all.text);
    assert_eq!(pro.get("/api/v3/usage").json()["data"]["used"], 2);
}

/// Sends a body in chunks of random sizes, and reads the response meanwhile.
fn send_in_chunks(
    server: &Server,
    client: &Client,
    path: &str,
    body: &[u8],
    dice: &mut Dice,
) -> (String, Vec<u8>, bool) {
    let mut connection = TcpStream::connect(server.address).unwrap();
    let key = client.key.as_ref().unwrap();
    write!(
        connection,
        "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {key}\r\ncontent-type: text/csv\r\n\
         transfer-encoding: chunked\r\nconnection: close\r\n\r\n",
        server.address
    )
    .unwrap();
    let mut writer = connection.try_clone().unwrap();
    let mut rest = body.to_vec();
    let sizes: Vec<usize> = (0..body.len()).map(|_| 1 + dice.upto(40) as usize).collect();
    let sender = std::thread::spawn(move || {
        for size in sizes {
            let part: Vec<u8> = rest.drain(..size.min(rest.len())).collect();
            let is_last = part.is_empty();
            let sent = write!(writer, "{:x}\r\n", part.len())
                .and_then(|()| writer.write_all(&part))
                .and_then(|()| writer.write_all(b"\r\n"));
            if is_last || sent.is_err() {
                return;
            }
        }
        let _ = writer.write_all(b"0\r\n\r\n");
    });
    let mut reader = BufReader::new(connection);
    let mut status = String::new();
    reader.read_line(&mut status).unwrap();
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line).unwrap();
    }
    let (mut bytes, mut is_whole) = (Vec::new(), false);
    loop {
        line.clear();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            break;
        }
        let size = usize::from_str_radix(line.trim(), 16).unwrap();
        is_whole = size == 0;
        let mut part = vec![0; size + 2];
        reader.read_exact(&mut part).unwrap();
        bytes.extend_from_slice(&part[..size]);
        if is_whole {
            break;
        }
    }
    sender.join().unwrap();
    (status, bytes, is_whole)
}

#[test]
fn a_table_in_parts_of_any_size_is_answered_alike() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let path = format!("{PATH}?{COLUMNS}");
    for seed in 0..3 {
        let sent = table(&server, &mut Dice(seed), 60);
        let expected = send(&client, &path, &sent).text;
        let (status, got, is_whole) = send_in_chunks(&server, &client, &path, &sent, &mut Dice(seed));
        assert!(status.contains(" 200 ") && is_whole, "{status}");
        assert_eq!(String::from_utf8(got).unwrap(), expected);
    }
    // A quotation mark is missing: the result does not end properly.
    let broken = format!("name\nAlder Capital\n\"{}", "x,\n".repeat(150_000));
    let sent = [broken.as_bytes(), b"\n"].concat();
    let (status, got, is_whole) = send_in_chunks(&server, &client, PATH, &sent, &mut Dice(1_000));
    let got = String::from_utf8(got).unwrap();
    assert!(status.contains(" 200 ") && !is_whole, "{status}");
    assert!(got.contains("Alder Capital,match") && got.contains("line 3: a row is longer than"), "{got}");
}

#[test]
fn a_row_with_an_answer_is_kept_and_costs_nothing() {
    let server = Server::bundled();
    let client = server.client(Tier::Free);
    let sent = "name,venturedex_status,venturedex_slug\nAlder Capital,none,mine\nAlder Capital,unanswered,x\nAlder Capital,,\n";
    let reply = send(&client, PATH, sent.as_bytes());
    let got = rows(reply.text.as_bytes(), b',');
    assert!(got.iter().all(|row| row.len() == 1 + ADDED), "{}", reply.text);
    assert_eq!((text(&got[1], 1), text(&got[1], 2), text(&got[1], 4)), ("none", "mine", ""));
    assert!(got[2..].iter().all(|row| (text(row, 1), text(row, 2)) == ("match", "alder-capital")), "{}", reply.text);
    let table = format!("name,venturedex_status\n{}", "Alder Capital,none\n".repeat(5_000));
    assert_eq!(send(&client, PATH, table.as_bytes()).text.lines().count(), 5_001);
    assert_eq!(client.get("/api/v3/usage").json()["data"]["used"], 2);
}

#[test]
fn a_row_whose_quoted_cell_swallows_others_is_invalid_and_not_looked_up() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let sent = "name,city\nAlder Capital,\nAlder Capital,\"Kiel\nAlder Capital,Bonn\n";
    let reply = send(&client, PATH, sent.as_bytes());
    let got = rows(reply.text.as_bytes(), b',');
    assert_eq!((got.len(), text(&got[1], 2), text(&got[2], 2)), (3, "match", "invalid"), "{}", reply.text);
    let reasons = got[2].iter().nth(2 + 6).map(|cell| String::from_utf8_lossy(cell).into_owned()).unwrap();
    assert!(reasons.contains("line 3: a quotation mark opens a cell that is never closed"), "{reasons}");
    // Its cells stay.
    assert_eq!(text(&got[2], 1), "Kiel\nAlder Capital,Bonn\n");
    // Closed by the opening mark of another cell; what follows is answered.
    let sent = "name,city\n\"Alder Capital,Kiel\nBirch Lane,\"Bonn\"\nAlder Capital,\n";
    let reply = send(&client, PATH, sent.as_bytes());
    assert!(reply.text.contains("line 2: the quoted cell that opens here goes on over line breaks"), "{}", reply.text);
    let got = rows(reply.text.as_bytes(), b',');
    assert_eq!((got.len(), text(&got[2], 2)), (3, "match"), "{}", reply.text);
}

#[test]
fn a_wrong_header_is_an_error_before_any_row() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    for (query, table, parameter, part) in [
        ("", &b"Deal,Amount\nx,1\n"[..], "name_column", "`Deal`, `Amount`"),
        ("?name_column=Dael", b"Deal,Amount\nx,1\n", "name_column", "no column is named `Dael`"),
        ("", b"", "body", "the header row is empty"),
        ("", b"\xff\xfen\0a\0m\0e\0\n\0", "body", "line 1, column 1: the header row is not UTF-8"),
        ("?colour=1", b"name\n", "colour", "colour"),
        ("?kind=fund", b"name\n", "kind", "fund"),
        ("?limit=0", b"name\n", "limit", "0"),
    ] {
        let reply = send(&client, &format!("{PATH}{query}"), table);
        assert_eq!(reply.status, 400, "{query}: {}", reply.text);
        let error = reply.json()["errors"][0].clone();
        assert_eq!(error["parameter"], parameter, "{error}");
        assert!(error["detail"].as_str().unwrap().contains(part), "{error}");
    }
    assert_eq!(send(&client, PATH, b"name").text.lines().count(), 1);
    assert_eq!(code(&send(&client, &format!("{PATH}?as_of=1999"), b"name\n")).0, 410);
}

#[test]
fn a_table_that_its_client_cuts_short_is_no_fault_of_the_server() {
    let server = Server::bundled();
    let key = server.client(Tier::Enterprise).key.unwrap();
    let telemetry = &server.state.telemetry;
    for count in 1..=2 {
        let mut socket = TcpStream::connect(server.address).unwrap();
        write!(
            socket,
            "POST {PATH} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {key}\r\ncontent-type: text/csv\r\n\
             content-length: 1000\r\n\r\nname\nAlder Capital\n",
            server.address
        )
        .unwrap();
        let mut status = [0; 12];
        socket.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 200");
        // The first client closes its sending side only, the second leaves.
        if count == 1 {
            socket.shutdown(std::net::Shutdown::Write).unwrap();
            let _ = socket.read_to_end(&mut Vec::new());
        }
        drop(socket);
        let began = Instant::now();
        while telemetry.abandoned.get() < count && began.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!((telemetry.abandoned.get(), telemetry.aborted.get()), (count, 0));
    }
}
