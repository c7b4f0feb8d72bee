//! `indexer import … --page`: a page on which people see what an import would make of their files, and correct it.
//!
//! The server listens on the loopback interface only. Other programs and sites cannot use it: its address has an
//! unguessable part, a request must name the host that was printed, and a form must be sent from the page itself.
//! The state is the mapping file, which every change writes at once; people may edit it in an editor meanwhile.

mod html;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Buf;
use futures_util::{Stream, StreamExt};
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, LOCATION, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::watch;
use warp::Filter;
use warp::path::FullPath;

use data::Date;
use data::vocabulary::Vocabulary as _;
use import::sources::import::SourceChanges;
use import::sources::preview::edit::MappingEdit;
use import::sources::preview::meaning::Meaning;
use import::sources::preview::{self, Preview, PreviewSize};
use import::sources::{EntityKind, SourceError, guess};

/// Rows that are shown, and those that are counted so that an answer takes about a second.
pub(super) const SIZE: PreviewSize = PreviewSize { rows: 20, most: 50_000 };

/// Time for the last answer.
const CLOSING: Duration = Duration::from_secs(2);

/// Maximum bytes of a form.
const MAX_FORM: usize = 1 << 20;

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Runs the import; the result is its account or its error.
pub(super) type RunImport = Box<dyn Fn() -> Result<String, String> + Send>;

/// What the page shows and changes.
pub(super) struct ImportPage {
    pub inputs: Vec<PathBuf>,
    pub mapping: PathBuf,
    pub on: Date,
    /// Missing without a folder of sources.
    pub run: Option<RunImport>,
    notes: Notes,
    /// Options besides those that are in the form of the source.
    changes: SourceChanges,
}

/// What the next page says of the last form.
#[derive(Default)]
struct Notes {
    message: Option<Message>,
    /// Account of the import.
    account: Option<String>,
    /// Amount whose currency is wanted before its column can mean it.
    pending: Option<Pending>,
}

struct Message {
    text: String,
    is_error: bool,
}

struct Pending {
    input: String,
    column: String,
    old: Option<Meaning>,
    new: Meaning,
}

impl ImportPage {
    /// Begins with a guess if there is no mapping. Without a name, it is next to the first input.
    pub(super) fn open(
        inputs: Vec<PathBuf>,
        mapping: Option<PathBuf>,
        changes: SourceChanges,
        on: Date,
        run: impl FnOnce(&Path, &SourceChanges) -> Option<RunImport>,
    ) -> Result<Self, SourceError> {
        let next_to = |input: &PathBuf| {
            let is_taken = input.extension().is_some_and(|ending| ending == "toml");
            input.with_extension(if is_taken { "mapping.toml" } else { "toml" })
        };
        let mapping = mapping.unwrap_or_else(|| inputs.first().map(next_to).unwrap_or_default());
        if !mapping.exists() {
            write_whole(&mapping, &guess::mapping(&inputs)?).map_err(|error| SourceError::io(&mapping, error))?;
        }
        let SourceChanges { id, title, license, rates, .. } = &changes;
        let rates = rates.as_deref().map(|rates| seen_from(&mapping, rates)).transpose()?;
        let given = [("id", id.clone()), ("title", title.clone()), ("license", license.clone()), (RATES.0, rates)];
        let changes = SourceChanges { id: None, title: None, license: None, rates: None, ..changes };
        let page = Self { run: run(&mapping, &changes), inputs, mapping, changes, on, notes: Notes::default() };
        page.write_source(given).map_err(|problem| SourceError::Problems(vec![problem]))?;
        Ok(page)
    }

    /// Serves the page until it is closed by its button. `announce` gets its address.
    pub(super) fn serve(self, announce: impl FnOnce(&str) -> io::Result<()>) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let served = runtime.block_on(async {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
            let host = listener.local_addr()?.to_string();
            let mut random = [0; 16];
            getrandom::fill(&mut random).map_err(io::Error::other)?;
            let token = random.map(|byte| format!("{byte:02x}")).concat();
            announce(&format!("http://{host}/{token}/"))?;
            let door = Arc::new(Door { host, prefix: format!("/{token}/") });
            let (page, phase) = (Arc::new(Mutex::new(self)), Arc::new(watch::Sender::new(Phase::Open)));
            let [mut ended, mut closed] = [phase.subscribe(), phase.subscribe()];
            let filter =
                warp::method()
                    .and(warp::path::full())
                    .and(warp::header::headers_cloned())
                    .and(warp::body::stream())
                    .then(move |method: Method, path: FullPath, headers: HeaderMap, body| {
                        let (door, page, phase) = (Arc::clone(&door), Arc::clone(&page), Arc::clone(&phase));
                        async move {
                            with_headers(answer(&door, page, &phase, &method, path.as_str(), &headers, body).await)
                        }
                    });
            // An error would mean that nobody can end the server.
            let server = warp::serve(filter).incoming(listener).graceful(async move {
                let _ = ended.wait_for(|phase| *phase == Phase::Closed).await;
            });
            // A browser may not want the style, or keep a connection that it does not use.
            let limit = async {
                let _ = closed.wait_for(|phase| *phase != Phase::Open).await;
                tokio::time::sleep(CLOSING).await;
            };
            tokio::select! {
                () = server.run() => {}
                () = limit => {}
            }
            Ok(())
        });
        runtime.shutdown_background();
        served
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// The last page is sent.
    Closing,
    Closed,
}

/// Where requests must go.
struct Door {
    /// Address and port.
    host: String,
    /// Begin of all paths, which nobody can guess.
    prefix: String,
}

impl Door {
    /// True if a request names this host, which a page of another name for the address does not.
    fn is_own_host(&self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(HOST).iter();
        hosts.next().is_some_and(|host| host == self.host.as_str()) && hosts.next().is_none()
    }

    /// True if no other site sent the request. A form needs an origin, which browsers send.
    fn is_own_origin(&self, method: &Method, headers: &HeaderMap) -> bool {
        let is_own = |origin: &HeaderValue| {
            origin.to_str().is_ok_and(|origin| origin.strip_prefix("http://") == Some(self.host.as_str()))
        };
        let is_foreign = headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none");
        match headers.get(ORIGIN) {
            Some(origin) => is_own(origin) && !is_foreign,
            None => *method == Method::GET && !is_foreign,
        }
    }
}

async fn answer(
    door: &Door,
    page: Arc<Mutex<ImportPage>>,
    phase: &watch::Sender<Phase>,
    method: &Method,
    path: &str,
    headers: &HeaderMap,
    body: impl Stream<Item = Result<impl Buf, warp::Error>>,
) -> Response<String> {
    let Some(name) = path.strip_prefix(&door.prefix).filter(|_| door.is_own_host(headers)) else {
        return plain(StatusCode::NOT_FOUND, "There is no such page. Open the address that `indexer import` printed.");
    };
    if !door.is_own_origin(method, headers) {
        return plain(StatusCode::FORBIDDEN, "The request comes from another site. Use the form on the page.");
    }
    if *method == Method::GET {
        return match name {
            "" => {
                let shown = tokio::task::spawn_blocking(move || lock(&page).show()).await;
                shown.map_or_else(|_| failed(), |html| of_type("text/html; charset=utf-8", html))
            }
            "page.css" => {
                // The last page has its style now.
                phase.send_if_modified(|phase| {
                    *phase == Phase::Closing && {
                        *phase = Phase::Closed;
                        true
                    }
                });
                of_type("text/css", include_str!("page.css").to_owned())
            }
            "page.js" => of_type("text/javascript", include_str!("page.js").to_owned()),
            _ => plain(StatusCode::NOT_FOUND, "There is no such page."),
        };
    }
    if *method != Method::POST {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "Only GET and POST are used here.");
    }
    let Some(form) = read_form(body).await else {
        return plain(StatusCode::PAYLOAD_TOO_LARGE, "The form is too long or was cut off.");
    };
    let name = name.to_owned();
    let changed = tokio::task::spawn_blocking(move || {
        let mut page = lock(&page);
        page.change(&name, &form).map(|()| html::done(&page.mapping))
    });
    match changed.await {
        Ok(Some(done)) => {
            phase.send_replace(Phase::Closing);
            return of_type("text/html; charset=utf-8", done);
        }
        Ok(None) => {}
        Err(_) => return failed(),
    }
    // After a reload, the form is not sent again.
    let mut response = plain(StatusCode::SEE_OTHER, "");
    if let Ok(place) = HeaderValue::from_str(&door.prefix) {
        response.headers_mut().insert(LOCATION, place);
    }
    response
}

fn lock(page: &Mutex<ImportPage>) -> std::sync::MutexGuard<'_, ImportPage> {
    page.lock().unwrap_or_else(PoisonError::into_inner)
}

fn plain(status: StatusCode, text: &str) -> Response<String> {
    let mut response = of_type("text/plain; charset=utf-8", text.to_owned());
    *response.status_mut() = status;
    response
}

fn failed() -> Response<String> {
    plain(StatusCode::INTERNAL_SERVER_ERROR, "The request failed; see the terminal.")
}

fn of_type(content_type: &'static str, text: String) -> Response<String> {
    let mut response = Response::new(text);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn with_headers(mut response: Response<String>) -> Response<String> {
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Without the address, a form would have no origin.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}

/// Names and values of a form; `None` if it is too long or incomplete.
async fn read_form(body: impl Stream<Item = Result<impl Buf, warp::Error>>) -> Option<Form> {
    let mut body = std::pin::pin!(body);
    let mut bytes = Vec::new();
    while let Some(chunk) = body.next().await {
        let mut chunk = chunk.ok()?;
        if bytes.len() + chunk.remaining() > MAX_FORM {
            return None;
        }
        while chunk.has_remaining() {
            bytes.extend_from_slice(chunk.chunk());
            let read = chunk.chunk().len();
            chunk.advance(read);
        }
    }
    Some(Form(form_urlencoded::parse(&bytes).into_owned().collect()))
}

struct Form(Vec<(String, String)>);

impl Form {
    /// Value of a field; empty if it is missing.
    fn get(&self, name: &str) -> &str {
        self.find(name).unwrap_or_default()
    }

    fn find(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A meaning; `None` if the field is empty.
    fn meaning(&self, name: &str) -> Result<Option<Meaning>, String> {
        let text = self.get(name);
        if text.is_empty() { Ok(None) } else { text.parse().map(Some) }
    }
}

/// A setting, with its name for people and a hint.
type Setting = (&'static str, &'static str, &'static str);

/// Settings of inputs that the page has.
const INPUT_SETTINGS: [Setting; 7] = [
    ("encoding", "Encoding", "such as utf-8, windows-1252 or utf-16"),
    ("delimiter", "Delimiter", "one character, such as ;"),
    ("quote", "Quotation mark", "one character, or none"),
    ("skip", "Lines above the header", "a number"),
    ("sheet", "Sheet", "name of a sheet of a workbook"),
    ("decimal", "Decimal separator of amounts", "a point or a comma"),
    ("none", "Words for a missing value", "with commas between, such as undisclosed, tbc"),
];

/// Values of the source.
const SOURCE_SETTINGS: [Setting; 4] = [
    ("title", "Title", "such as Our list of funds"),
    ("id", "Name of the source", "lowercase letters, digits and single -"),
    ("license", "License", "SPDX identifier, such as CC0-1.0, or LicenseRef-Own"),
    ("url", "Address", "of the page that the data is from, may be empty"),
];

/// The file of rates, which is a setting of the whole mapping.
const RATES: Setting = (
    "rates",
    "File of exchange rates",
    "CSV with currency, date, usd; for amounts in other currencies than US dollars",
);

impl ImportPage {
    fn show(&mut self) -> String {
        let notes = std::mem::take(&mut self.notes);
        let text = fs::read_to_string(&self.mapping).unwrap_or_default();
        let shown = preview::preview(&self.inputs, &self.mapping, &text, &self.changes, self.on, SIZE);
        let preview = shown.unwrap_or_else(|error| Preview { problems: vec![error.to_string()], ..Preview::default() });
        let edit = MappingEdit::parse(&text).ok();
        html::page(&html::View { page: self, preview: &preview, edit: edit.as_ref(), notes: &notes })
    }

    /// Does what a form says. What the page then says is noted. `Some` if the page is to end.
    fn change(&mut self, name: &str, form: &Form) -> Option<()> {
        let changed = match name {
            "meaning" => self.set_meaning(form),
            "kind" => self.set_kind(form),
            "setting" => self.set_settings(form),
            "input" => self.set_tables(&[(&["input", form.get("input")], &INPUT_SETTINGS)], form),
            "constant" => self.set_constant(form),
            "source" => self.set_source(form),
            // Their buttons also save entries about the source that were not set yet.
            "import" => self.set_source(form).and_then(|_| self.import()),
            "done" => match self.set_source(form) {
                Ok(_) => return Some(()),
                Err(problem) => Err(problem),
            },
            _ => Err("There is no such form.".to_owned()),
        };
        self.notes.message = Some(match changed {
            Ok(text) => Message { text, is_error: false },
            Err(text) => Message { text, is_error: true },
        });
        None
    }

    fn set_meaning(&mut self, form: &Form) -> Result<String, String> {
        let (input, column) = (form.get("input"), form.get("column"));
        let (old, new) = (form.meaning("old")?, form.meaning("new")?);
        let currency = form.get("currency").trim();
        let text = self.read()?;
        let suggested =
            new.as_ref().map(|new| preview::suggest(&self.inputs, &self.mapping, &text, input, column, new));
        let mut edit = MappingEdit::parse(&text)?;
        edit.set_meaning(input, column, old.as_ref(), new.as_ref(), suggested.as_deref().unwrap_or_default())?;
        if let Some(new) = new.as_ref().filter(|new| new.is_amount()) {
            if !currency.is_empty() {
                edit.set_setting(new, "currency", currency)?;
                edit.set_setting(new, "unit", form.get("unit"))?;
            } else if edit.setting(new, "currency").is_empty() {
                let (input, column) = (input.to_owned(), column.to_owned());
                self.notes.pending = Some(Pending { input, column, old, new: new.clone() });
                return Err(
                    "Which currency are the amounts in? It is never guessed: write it below the menu.".to_owned()
                );
            }
        }
        self.write(&text, &edit.text())?;
        Ok(match &new {
            Some(new) => format!("{column} is now {}.", new.label()),
            None => format!("{column} is not used."),
        })
    }

    fn set_kind(&mut self, form: &Form) -> Result<String, String> {
        let section = form.meaning("section")?.ok_or("There is no such section.")?;
        let kind = form.get("kind");
        let kind = EntityKind::ALL.iter().copied().find(|known| known.name() == kind);
        let text = self.read()?;
        let mut edit = MappingEdit::parse(&text)?;
        edit.set_kind(&section, kind)?;
        self.write(&text, &edit.text())?;
        Ok(kind.map_or_else(|| "The section is removed.".to_owned(), |kind| format!("Each row is now a {kind}.")))
    }

    fn set_settings(&mut self, form: &Form) -> Result<String, String> {
        let meaning = form.meaning("meaning")?.ok_or("There is no such field.")?;
        let text = self.read()?;
        let mut edit = MappingEdit::parse(&text)?;
        for setting in meaning.settings() {
            if let Some(value) = form.find(setting) {
                edit.set_setting(&meaning, setting, value)?;
            }
        }
        self.write(&text, &edit.text())?;
        Ok(format!("The format of {} is set.", meaning.label()))
    }

    fn set_constant(&mut self, form: &Form) -> Result<String, String> {
        let meaning = form.meaning("field")?.ok_or("Choose a field first.")?;
        let value = form.get("value").trim();
        let text = self.read()?;
        let mut edit = MappingEdit::parse(&text)?;
        edit.set_constant(&meaning, value)?;
        self.write(&text, &edit.text())?;
        Ok(match value.is_empty() {
            true => format!("{} is no longer the same for all rows.", meaning.label()),
            false => format!("{} is {value} in all rows.", meaning.label()),
        })
    }

    fn set_source(&mut self, form: &Form) -> Result<String, String> {
        self.set_tables(&[(&[], &[RATES]), (&["source"], &SOURCE_SETTINGS)], form)
    }

    /// Sets what a form says of tables of the mapping, each by its path and with its settings.
    fn set_tables(&mut self, tables: &[(&[&str], &[Setting])], form: &Form) -> Result<String, String> {
        let text = self.read()?;
        let mut edit = MappingEdit::parse(&text)?;
        for (path, settings) in tables {
            for (setting, ..) in *settings {
                // A delimiter may be a blank.
                if let Some(value) = form.find(setting).filter(|value| edit.table_setting(path, setting) != **value) {
                    edit.set_table_setting(path, setting, if *setting == "delimiter" { value } else { value.trim() })?;
                }
            }
        }
        self.write(&text, &edit.text())?;
        Ok("The settings are set.".to_owned())
    }

    fn import(&mut self) -> Result<String, String> {
        let run = self.run.as_ref().ok_or("Start the page with --sources DIR to import from here.")?;
        self.notes.account = Some(run()?);
        Ok("The files are imported. What came out, and the next step, are at the end of the page.".to_owned())
    }

    /// Writes what the options say about the source into the mapping, so that the form shows it.
    fn write_source(&self, given: [(&str, Option<String>); 4]) -> Result<(), String> {
        if given.iter().all(|(_, value)| value.is_none()) {
            return Ok(());
        }
        let text = self.read()?;
        let mut edit = MappingEdit::parse(&text)?;
        for (key, value) in given {
            let path: &[&str] = if key == RATES.0 { &[] } else { &["source"] };
            value.iter().try_for_each(|value| edit.set_table_setting(path, key, value))?;
        }
        self.write(&text, &edit.text())
    }

    fn read(&self) -> Result<String, String> {
        fs::read_to_string(&self.mapping).map_err(|error| format!("{}: {error}", self.mapping.display()))
    }

    /// Writes a changed mapping, unless the change makes one that cannot be read.
    fn write(&self, before: &str, after: &str) -> Result<(), String> {
        if before == after {
            return Ok(());
        }
        if let Err(error) = preview::check(&self.mapping, after)
            && preview::check(&self.mapping, before).is_ok()
        {
            let error = error.to_string();
            return Err(match error.contains("has neither `key` nor `name`") {
                true => {
                    "Nothing is changed: records need a name, rounds a startup. Choose its column first, or change \
                         what each row is."
                        .to_owned()
                }
                false => format!("Nothing is changed: {error}"),
            });
        }
        write_whole(&self.mapping, after).map_err(|error| format!("{}: {error}", self.mapping.display()))
    }
}

/// Path of a file as a mapping names it: from its own folder, so that both can be moved, otherwise from the root.
fn seen_from(mapping: &Path, file: &Path) -> Result<String, SourceError> {
    let whole = |path: &Path| fs::canonicalize(path).map_err(|error| SourceError::io(path, error));
    let folder = mapping.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (folder, file) = (whole(folder)?, whole(file)?);
    Ok(file.strip_prefix(&folder).unwrap_or(&file).display().to_string())
}

/// Writes a file so that it is there as a whole or not at all, with the permissions that it had.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(known) = fs::metadata(path) else {
        return fs::write(path, text);
    };
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(known.permissions())?;
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(texts: &[(&'static str, &'static str)]) -> HeaderMap {
        texts.iter().map(|(name, text)| (name.parse().unwrap(), HeaderValue::from_static(text))).collect()
    }

    #[test]
    fn only_the_page_itself_may_ask() {
        let door = Door { host: "127.0.0.1:7000".to_owned(), prefix: "/x/".to_owned() };
        for (host, is_own) in [("127.0.0.1:7000", true), ("localhost:7000", false), ("evil.example", false)] {
            assert_eq!(door.is_own_host(&headers(&[("host", host)])), is_own, "{host}");
        }
        assert!(!door.is_own_host(&HeaderMap::new()));
        for (method, texts, is_own) in [
            (Method::GET, vec![], true),
            (Method::GET, vec![("sec-fetch-site", "none")], true),
            (Method::GET, vec![("sec-fetch-site", "cross-site")], false),
            (Method::POST, vec![], false),
            (Method::POST, vec![("origin", "null")], false),
            (Method::POST, vec![("origin", "http://evil.example")], false),
            (Method::POST, vec![("origin", "http://127.0.0.1:7001")], false),
            (Method::POST, vec![("origin", "http://127.0.0.1:7000")], true),
            (Method::POST, vec![("origin", "http://127.0.0.1:7000"), ("sec-fetch-site", "same-site")], false),
        ] {
            assert_eq!(door.is_own_origin(&method, &headers(&texts)), is_own, "{method} {texts:?}");
        }
    }
}
