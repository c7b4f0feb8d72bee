//! Files that the operator publishes below `/.well-known/`, such as proofs of ownership; read once, at startup.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use bytes::Bytes;
use http::{HeaderMap, Method, Response};
use thiserror::Error;

use transport::static_asset::StaticAsset;

const MAX_BYTES: u64 = 256 * 1_024;
const MAX_FILES: usize = 100;
const PREFIX: &str = "/.well-known/";

#[derive(Debug, Error)]
#[error("{}: {reason}", path.display())]
pub struct WellKnownError {
    path: PathBuf,
    reason: String,
}

#[derive(Default)]
pub struct WellKnown(BTreeMap<String, StaticAsset>);

impl WellKnown {
    /// Loads a folder. `is_taken` is true for paths that the server itself serves.
    pub fn load(folder: &Path, is_taken: impl Fn(&str) -> bool) -> Result<Self, WellKnownError> {
        let refused = |path: &Path, reason: &str| WellKnownError { path: path.to_owned(), reason: reason.to_owned() };
        let unreadable = |path: &Path| {
            let path = path.to_owned();
            |error: io::Error| WellKnownError { path, reason: error.to_string() }
        };
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder).map_err(unreadable(folder))? {
            let path = entry.map_err(unreadable(folder))?.path();
            let details = fs::metadata(&path).map_err(unreadable(&path))?;
            let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|name| is_plain(name)) else {
                let reason = "a name has letters, digits, `-`, `_` and `.`, and does not begin with `.`; rename the file, \
                              such as mcp-registry-auth";
                return Err(refused(&path, reason));
            };
            let at = format!("{PREFIX}{name}");
            if is_taken(&at) {
                return Err(refused(&path, "the server publishes this itself; remove the file"));
            }
            if !details.is_file() || details.len() > MAX_BYTES {
                let reason = "only files of at most 256 KB are published; move it to another folder";
                return Err(refused(&path, reason));
            }
            if files.len() >= MAX_FILES {
                return Err(refused(folder, &format!("more than {MAX_FILES} files")));
            }
            let body = fs::read(&path).map_err(unreadable(&path))?;
            files.insert(at, StaticAsset::new(content_type(name, &body), body));
        }
        Ok(Self(files))
    }

    /// Responds to a request: `None` if the path has no file, `Some(None)` if the method is not GET, HEAD or OPTIONS.
    pub fn answer(&self, path: &str, method: &Method, headers: &HeaderMap) -> Option<Option<Response<Bytes>>> {
        self.0.get(path).map(|file| file.answer(method, headers))
    }
}

fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !name.starts_with('.') && name.bytes().all(is_plain)
}

fn content_type(name: &str, body: &[u8]) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "json")) => "application/json",
        _ if std::str::from_utf8(body).is_ok() => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_files_that_the_server_does_not_publish_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let load = || WellKnown::load(folder.path(), |path| path == "/.well-known/security.txt");
        fs::write(folder.path().join("mcp-registry-auth"), "v=MCPv1; k=ed25519; p=AAAA").unwrap();
        fs::write(folder.path().join("apple-app-site-association.json"), "{}").unwrap();
        let files = load().unwrap();
        let get = |path: &str| files.answer(path, &Method::GET, &HeaderMap::new());
        let found = get("/.well-known/mcp-registry-auth").unwrap().unwrap();
        assert_eq!(found.body().as_ref(), b"v=MCPv1; k=ed25519; p=AAAA");
        assert_eq!(found.headers()["content-type"], "text/plain; charset=utf-8");
        let found = get("/.well-known/apple-app-site-association.json").unwrap().unwrap();
        assert_eq!(found.headers()["content-type"], "application/json");
        for path in ["/.well-known/", "/.well-known/other", "/mcp-registry-auth", "/.well-known/../mcp-registry-auth"] {
            assert!(get(path).is_none(), "{path}");
        }
        for (name, expected) in
            [("security.txt", "publishes this itself"), (".hidden", "a name has"), ("ü", "a name has")]
        {
            fs::write(folder.path().join(name), "x").unwrap();
            let error = load().err().unwrap().to_string();
            assert!(error.contains(expected) && error.contains(name), "{error}");
            fs::remove_file(folder.path().join(name)).unwrap();
        }
        fs::create_dir(folder.path().join("mcp")).unwrap();
        assert!(load().err().unwrap().to_string().contains("only files"));
        let missing = WellKnown::load(&folder.path().join("none"), |_| false).err().unwrap().to_string();
        assert!(missing.contains("none"), "{missing}");
    }
}
