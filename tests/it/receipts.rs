//! Receipts of answers, verified by openssl and by what the response says otherwise.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use auth::quota::Tier;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::harness::{Client, Reply, Server, bundled_folder, catalog_of, code, copy_as, runs};
use crate::releases::Installation;

/// The head and claims of a receipt, what is signed, and the signature.
#[track_caller]
fn parts(reply: &Reply) -> (Value, Value, String, Vec<u8>) {
    let receipt = reply.header("x-receipt").to_owned();
    assert!(!receipt.is_empty(), "{} without a receipt: {}", reply.status, reply.text);
    let (signed, signature) = receipt.rsplit_once('.').unwrap();
    let (head, claims) = signed.split_once('.').unwrap();
    let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
    let json = |text: &str| serde_json::from_slice(&decode(text)).unwrap();
    (json(head), json(claims), signed.to_owned(), decode(signature))
}

fn check_claims(client: &Client, path: &str, query: &str, reply: &Reply) {
    let (_, claims, ..) = parts(reply);
    let sha256: String = Sha256::digest(&reply.text).iter().map(|byte| format!("{byte:02x}")).collect();
    let snapshots = client.get("/api/v3/snapshots").json();
    let served = snapshots["data"].as_array().unwrap().iter().find(|release| release["serving"] == true).unwrap();
    assert_eq!(
        claims,
        json!({
            "iss": client.base, "iat": claims["iat"], "snapshot": reply.header("x-snapshot"),
            "checksum": served["checksum"], "path": path, "query": query, "sha256": sha256,
        })
    );
}

const REQUESTS: [(&str, &str, &str); 8] = [
    ("/api/v3/vcs", "", ""),
    ("/api/v3/vcs", "stage=Seed&limit=020&country=germany", "country=DE&stage=seed"),
    ("/api/v3/vcs/birch-lane", "fields=slug,NAME", "fields=name%2Cslug"),
    ("/api/v3/stats", "", ""),
    ("/api/v3/vcs/facets", "kind=VC", "kind=vc"),
    ("/api/v3/suggest", "q=Bi&limit=10", "q=Bi"),
    ("/api/v3/snapshots", "", ""),
    ("/api/v3/usage", "utm_source=x", ""),
];

#[test]
fn openssl_verifies_a_receipt_with_the_published_key() {
    if !runs("openssl", &["version"]) {
        return;
    }
    let installation = Installation::new();
    installation.publish("2026-11-20.1");
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let openssl = |words: &[&str]| Command::new("openssl").args(words).output().unwrap().status.success();
    assert!(openssl(&["genpkey", "-algorithm", "ed25519", "-out", &file("key.pem")]));
    let server = installation.serve_with(&["--receipt-key", &file("key.pem")]);
    let client = server.client(&installation.key());

    let keys = client.get("/.well-known/jwks.json");
    assert_eq!((keys.status, keys.header("content-type")), (200, "application/json"));
    let key = keys.json()["keys"][0].clone();
    assert_eq!((&key["kty"], &key["crv"], &key["alg"]), (&json!("OKP"), &json!("Ed25519"), &json!("EdDSA")));
    // RFC 8410: the key of 32 bytes after the object that says which kind it is.
    let mut der = vec![0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
    der.extend(URL_SAFE_NO_PAD.decode(key["x"].as_str().unwrap()).unwrap());
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", STANDARD.encode(der));
    fs::write(file("public.pem"), pem).unwrap();
    let verifies = |signed: &str, signature: &[u8]| {
        fs::write(file("signed"), signed).unwrap();
        fs::write(file("signature"), signature).unwrap();
        let [key, text, signature] = ["public.pem", "signed", "signature"].map(file);
        openssl(&["pkeyutl", "-verify", "-pubin", "-inkey", &key, "-rawin", "-in", &text, "-sigfile", &signature])
    };
    for (path, query, canonical) in REQUESTS {
        let reply = client.get(&format!("{path}?{query}&receipt=1"));
        assert_eq!(reply.status, 200, "{path}?{query}: {}", reply.text);
        check_claims(&client, path, canonical, &reply);
        let (head, claims, signed, signature) = parts(&reply);
        assert_eq!((&head["alg"], &head["kid"]), (&json!("EdDSA"), &key["kid"]));
        assert!(verifies(&signed, &signature), "{path}");
        let other = signed.replacen('.', ".e", 1);
        assert!(!verifies(&other, &signature), "{path}");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        assert!(now.abs_diff(claims["iat"].as_u64().unwrap()) < 120);
    }
    let other = Installation::new();
    let mut refused = other.command(env!("CARGO_BIN_EXE_venturedex"));
    let refused = refused.args(["--receipt-key", &file("public.pem")]).output().unwrap();
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("\nerror: --receipt-key: ") && error.contains("openssl genpkey"), "{error}");
}

#[test]
fn a_receipt_is_of_the_bytes_that_were_sent() {
    let server = Server::of(catalog_of(&bundled_folder()));
    let client = server.client(Tier::Enterprise);
    assert_eq!(client.get("/.well-known/jwks.json").json(), json!({ "keys": [] }));
    let path = "/api/v3/vcs?limit=3&receipt=1";
    let first = client.get(path);
    // Neither cached nor unlike the answer without a receipt.
    for _ in 0..3 {
        let again = client.get(path);
        assert_eq!(again.text, client.get("/api/v3/vcs?limit=3").text);
        check_claims(&client, "/api/v3/vcs", "limit=3", &again);
        let (head, _, _, signature) = parts(&again);
        assert_eq!((head, signature.len()), (json!({ "alg": "none" }), 0));
    }
    let packed = client.send("GET", path, &[("accept-encoding", "gzip")]);
    check_claims(&client, "/api/v3/vcs", "limit=3", &packed);
    let cursor = first.json()["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    let next = client.get(&format!("/api/v3/vcs?cursor={cursor}&receipt=true"));
    assert_eq!(parts(&next).1["query"], format!("cursor={cursor}&limit=3"));
    let without = client.get("/api/v3/vcs?limit=3&receipt=0");
    assert!(without.headers.get("x-receipt").is_none());

    // A 304 has a receipt of the bytes that the client has.
    let known = client.send("GET", path, &[("if-none-match", first.header("etag"))]);
    assert_eq!((known.status, parts(&known).1["sha256"].clone()), (304, parts(&first).1["sha256"].clone()));
    let copy = copy_as(&bundled_folder(), "2026-11-21.1");
    let record = "/api/v3/people/".to_owned() + &client.get("/api/v3/people?limit=1").slugs()[0];
    let etags = [record.clone(), format!("{record}?receipt=1")].map(|path| client.get(&path).header("etag").to_owned());
    server.state.releases.replace(Arc::new(catalog_of(copy.path())));
    let status = |path: &str, etag: &str| client.send("GET", path, &[("if-none-match", etag)]).status;
    assert_eq!(status(&record, &etags[0]), 304);
    assert_eq!(status(&format!("{record}?receipt=1"), &etags[1]), 200, "`meta` names another release");
    let pinned = client.get(&format!("{record}?receipt=1&snapshot=2026-11-20.1"));
    assert_eq!(parts(&pinned).1["snapshot"], "2026-11-20.1");

    for (path, status) in [
        ("/api/v3/vcs.csv?receipt=1", 400),
        ("/api/v3/vcs?receipt=yes", 400),
        ("/api/v3/vcs?receipt=maybe&limit=0", 400),
        ("/api/v3/vcs/nowhere?receipt=1", 404),
    ] {
        let reply = client.get(path);
        assert_eq!(reply.status, status, "{path}");
        assert!(reply.headers.get("x-receipt").is_none());
    }
    let both = client.get("/api/v3/vcs?receipt=maybe&limit=0").json();
    assert_eq!(both["errors"].as_array().unwrap().len(), 2);
    let cities: Vec<String> = (0..90).map(|number| format!("a-long-name-{number}-of-a-firm")).collect();
    let long = client.get(&format!("/api/v3/vcs?slug={}&receipt=1", cities.join(",")));
    assert!(long.status == 400 || code(&long) == (414, "url_too_long".to_owned()), "{}", long.text);
    let warned = client.get("/api/v2/vcs?receipt=1&limit=1");
    assert_eq!(warned.json()["meta"]["warnings"][0]["code"], "unknown_parameter");
}
