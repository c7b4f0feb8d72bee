//! The bundle that desktop clients install: its manifest, and the program that it starts.

use std::io::{BufRead, BufReader, Cursor, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use auth::quota::Tier;
use serde_json::{Value, json};
use service::{Brand, Operator};
use tempfile::TempDir;
use zip::ZipArchive;

use crate::pages::docs::has;
use crate::support::harness::Server;

fn unpacked(server: &Server) -> TempDir {
    let url = format!("http://{}/docs/venturedex.mcpb", server.address);
    let bytes = ureq::get(url).call().unwrap().body_mut().read_to_vec().unwrap();
    let folder = tempfile::tempdir().unwrap();
    ZipArchive::new(Cursor::new(bytes)).unwrap().extract(folder.path()).unwrap();
    folder
}

fn manifest(folder: &TempDir) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.path().join("manifest.json")).unwrap()).unwrap()
}

/// The program of the bundle, started with these values of its configuration.
struct BundleProgram {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl BundleProgram {
    fn start(folder: &TempDir, endpoint: &str, key: &str) -> Self {
        let server = &manifest(folder)["server"];
        assert_eq!(server["mcp_config"]["args"], json!(["${__dirname}/server/index.js"]));
        let mut command = Command::new(server["mcp_config"]["command"].as_str().unwrap());
        command.arg(folder.path().join(server["entry_point"].as_str().unwrap())).env_remove("LD_PRELOAD");
        for (name, text) in server["mcp_config"]["env"].as_object().unwrap() {
            let value = text.as_str().unwrap().replace("${user_config.endpoint}", endpoint);
            command.env(name, value.replace("${user_config.key}", key));
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn send(&mut self, message: &str) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn answer(&mut self, message: &Value) -> Value {
        self.send(&message.to_string());
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &message["id"]));
        answer
    }

    /// Ends its input, whereupon it ends and says nothing more.
    fn end(mut self) {
        drop(self.input);
        let mut rest = String::new();
        self.output.read_line(&mut rest).unwrap();
        assert_eq!(rest, "");
        assert!(self.child.wait().unwrap().success());
    }
}

fn request(id: u32, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[test]
fn the_manifest_names_this_service() {
    let server = Server::named("https://venturedex.example");
    let folder = unpacked(&server);
    let manifest = manifest(&folder);
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["user_config"]["endpoint"]["default"], "https://venturedex.example/api/mcp");
    assert_eq!(
        (&manifest["user_config"]["key"]["sensitive"], &manifest["display_name"]),
        (&json!(true), &json!("VentureDex"))
    );
    assert!(folder.path().join(manifest["server"]["entry_point"].as_str().unwrap()).is_file());
    assert!(!manifest.to_string().contains("{base}"));
}

#[test]
fn a_brand_may_end_in_a_quotation_mark() {
    let brand = Brand { name: "Deals of \"Alder\"".parse().unwrap(), color: None };
    let server = Server::run_by("https://venturedex.example", Operator { brand, ..Operator::default() });
    assert_eq!(manifest(&unpacked(&server))["display_name"], "Deals of \"Alder\"");
}

#[test]
fn the_manifest_passes_the_validator_of_its_format() {
    if has("mcpb") {
        let folder = unpacked(&Server::bundled());
        let output = Command::new("mcpb").arg("validate").arg(folder.path().join("manifest.json")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn the_program_of_the_bundle_passes_messages_on() {
    if !has("node") {
        return;
    }
    let server = Server::bundled();
    let (folder, client) = (unpacked(&server), server.account_client(Tier::Pro));
    let endpoint = format!("http://{}/api/mcp", server.address);
    let handshake = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let mut program = BundleProgram::start(&folder, &endpoint, client.key.as_deref().unwrap());
    let begun = program.answer(&request(1, "initialize", handshake.clone()));
    assert_eq!(begun["result"]["protocolVersion"], "2025-11-25");
    program.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let tools = program.answer(&request(2, "tools/list", json!({})));
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 6);
    let used = client.used();
    let call = json!({ "name": "search_vcs", "arguments": { "query": "alder capital", "limit": 1 } });
    let found = program.answer(&request(3, "tools/call", call.clone()));
    assert_eq!(found["result"]["structuredContent"]["items"][0]["slug"], "alder-capital");
    assert_eq!(client.used(), used + 1, "calls count against the key");
    let unknown = program.answer(&request(4, "nothing/like-it", json!({})));
    assert_eq!(unknown["error"]["code"], -32601);
    program.end();

    // A client without a handshake names the revision in each message; the key was left empty, or its placeholder in place.
    for key in ["", "${user_config.key}"] {
        let mut program = BundleProgram::start(&folder, &endpoint, key);
        let mut params = call.clone();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        });
        let found = program.answer(&request(1, "tools/call", params));
        assert_eq!(found["result"]["structuredContent"]["items"][0]["slug"], "alder-capital", "{found}");
        program.end();
    }

    let wrong = format!("vdx_{}", "a".repeat(36));
    let mut program = BundleProgram::start(&folder, &endpoint, &wrong);
    assert_eq!(program.answer(&request(1, "initialize", handshake.clone()))["error"]["code"], 1401);
    program.end();
    let mut program = BundleProgram::start(&folder, "http://127.0.0.1:1/api/mcp", "");
    let away = program.answer(&request(7, "initialize", handshake));
    assert_eq!(away["error"]["code"], -32603);
    assert!(away["error"]["message"].as_str().unwrap().starts_with("http://127.0.0.1:1/api/mcp: "), "{away}");
    program.end();
}
