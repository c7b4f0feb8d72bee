//! Saving a list, or adding to one, from a text or file. Records named by slug, id or page are added directly; other
//! lines are shown with their candidates, and nothing is saved until each has a record or is left out.

use askama::Template;

use crate::account::saved::{SAVED, own_watch, parse_name, run_in_turn};
use crate::account::sign::{form_error, form_status};
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::admit_batch;
use crate::error_page::{PageError, sentence};
use crate::layout::PageLayout;
use auth::account::KeyName;
use auth::quota::WorkCaller;
use auth::watch::{MAX_LISTED, NewWatch, Watch, WatchChange};
use auth::{StoreError, Visitor};
use catalog::look_up::listed::{ListedLines, row_of};
use catalog::{Catalog, Resource};
use data::import::csv_row::distinct;
use data::vocabulary::Vocabulary;
use data::{LookUpStatus, Table};
use service::alerts::save::table_of;
use view::format;

/// Maximum number of lines looked up per form; each takes a search.
const LOOK_UPS: usize = 300;
const CANDIDATES: usize = 5;
/// The choice that leaves a line out. It is not a valid slug.
const LEFT_OUT: &str = "-";

#[derive(Template)]
#[template(path = "saved_list.html")]
struct SaveListPage {
    layout: PageLayout,
    action: String,
    draft: ListDraft,
    table: &'static str,
    tables: Vec<(&'static str, String)>,
    /// The open lines, each with slug and name of its candidates; none if nothing is similar.
    lines: Vec<(OpenLine, Vec<(String, String)>)>,
    /// Id and name of existing lists that the record can be added to instead.
    lists: Vec<(i64, String)>,
    error: String,
}

/// A line that does not identify a record: its candidates, and the choice among them.
#[derive(Default)]
struct OpenLine {
    number: u64,
    text: String,
    candidates: Vec<String>,
    choice: String,
}

impl OpenLine {
    /// Decodes the format of [`OpenLine::value`].
    fn parse(value: &str, choice: &str) -> Option<Self> {
        let mut parts = value.splitn(3, '\t');
        let (number, candidates, text) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
        let candidates = candidates.split(',').filter(|slug| !slug.is_empty()).map(str::to_owned).collect();
        Some(Self { number, text: text.to_owned(), candidates, choice: choice.to_owned() })
    }

    fn value(&self) -> String {
        format!("{}\t{}\t{}", self.number, self.candidates.join(","), self.text)
    }
}

struct ListDraft {
    name: String,
    table: Table,
    text: String,
    /// Slugs or ids of the records that are already identified.
    records: Vec<String>,
    lines: Vec<OpenLine>,
    /// The list that is extended; `None` for a new one.
    watch: Option<Watch>,
}

impl ListDraft {
    fn new(table: Table, watch: Option<Watch>) -> Self {
        Self { name: String::new(), table, text: String::new(), records: Vec::new(), lines: Vec::new(), watch }
    }
}

/// `GET /account/saved/list?table=vcs&record=alder-capital`: the form, and the lists that the record can be added to.
pub(super) async fn page(request: AccountRequest<'_>) -> AccountResult {
    let visitor = request.signed_in_to_return().await?;
    let table = request.page.parameter("table").and_then(|table| table_of(table.trim()));
    let mut draft = ListDraft::new(table.unwrap_or(Table::Firms), None);
    draft.text = request.page.parameter("record").unwrap_or_default().into_owned();
    show(request, &visitor, draft, "").await
}

async fn show(request: AccountRequest<'_>, visitor: &Visitor, mut draft: ListDraft, error: &str) -> AccountResult {
    let (account, table) = (visitor.account.id, draft.table);
    let is_new = draft.watch.is_none() && draft.lines.is_empty() && !draft.text.is_empty() && error.is_empty();
    let mut lists = Vec::new();
    if is_new {
        let watches = request.auth.blocking(move |service| service.store().watches(account)).await?;
        let of_table = watches.iter().filter(|watch| watch.query.is_none() && watch.table == table);
        lists.extend(of_table.map(|watch| (watch.id.0, watch.name.as_str().to_owned())));
    }
    let catalog = request.page.state.releases.current();
    let title = if draft.watch.is_some() { "Add to a list" } else { "New list" };
    let path_of = |table: &Table| Resource::of_table(*table).path();
    let named = |slug: &String| {
        let name = catalog.find(table, slug).map_or_else(|| slug.clone(), |row| name_with_place(&catalog, table, row));
        (slug.clone(), name)
    };
    let with_names = |line: OpenLine| {
        let candidates: Vec<(String, String)> = line.candidates.iter().map(named).collect();
        (line, candidates)
    };
    let action = match &draft.watch {
        Some(watch) => format!("{SAVED}/{}/add", watch.id.0),
        None => format!("{SAVED}/list"),
    };
    let page = SaveListPage {
        layout: request.layout(title, "Save a list of records to hear what changes."),
        action,
        table: path_of(&table),
        tables: auth::watch::WATCHED.iter().map(|table| (path_of(table), format::word(table.plural()))).collect(),
        lines: std::mem::take(&mut draft.lines).into_iter().map(with_names).collect(),
        draft,
        lists,
        error: sentence(error),
    };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

fn name_with_place(catalog: &Catalog, table: Table, row: u32) -> String {
    let name = service::alerts::record_name(catalog.snapshot(), table, row);
    if table == Table::Rounds {
        return name;
    }
    let city = if table == Table::People { None } else { catalog.text_field((table, row), "city") };
    match format::place(&city, &catalog.text_field((table, row), "country")) {
        place if place.is_empty() => name,
        place => format!("{name} ({place})"),
    }
}

/// `POST /account/saved/list`, or `POST /account/saved/{id}/add` of a list.
pub(super) async fn send(request: AccountRequest<'_>, visitor: Visitor, is_addition: bool) -> AccountResult {
    let watch = if is_addition { Some(own_watch(request, &visitor).await?) } else { None };
    if watch.as_ref().is_some_and(|watch| watch.query.is_some()) {
        return Err(PageError::UnknownPage.into());
    }
    let table = watch.as_ref().map(|watch| watch.table).or_else(|| table_of(&request.form.text("table")));
    let mut draft = ListDraft::new(table.unwrap_or(Table::Firms), watch);
    draft.name = request.form.text("name").into_owned();
    // A file takes precedence over the text.
    let file = request.form.file("file");
    let text = if file.trim_ascii().is_empty() { request.form.text("text") } else { String::from_utf8_lossy(file) };
    draft.text = text.into_owned();
    let is_undecided = read_choices(request, &mut draft);
    let name = draft.watch.as_ref().map_or_else(|| parse_name(request), |watch| Ok(watch.name.clone()));
    let name = match name {
        Ok(name) => name,
        Err(error) => return show(request, &visitor, draft, &error).await,
    };
    if std::str::from_utf8(file).is_err() {
        draft.text.clear();
        return show(request, &visitor, draft, "the file is not UTF-8; save it as text or CSV in UTF-8").await;
    }
    if let Err(error) = read_text(request, &mut draft).await? {
        return show(request, &visitor, draft, &error).await;
    }
    if is_undecided {
        let error = "choose a record for each line, or leave the line out; nothing is saved yet";
        return show(request, &visitor, draft, error).await;
    }
    // A line with a preselected record may be one that the sender has not seen yet.
    let has_guesses = draft.lines.len() > request.form.texts("open").len();
    if has_guesses || draft.lines.iter().any(|line| line.choice.is_empty()) {
        return show(request, &visitor, draft, "").await;
    }
    let chosen: Vec<String> = draft.lines.iter().map(|line| line.choice.clone()).collect();
    let records = distinct(draft.records.iter().cloned().chain(chosen.into_iter().filter(|key| key != LEFT_OUT)));
    if records.is_empty() {
        return show(request, &visitor, draft, "there is no record to save; name one on each line, or choose a file")
            .await;
    }
    save(request, &visitor, draft, name, records).await
}

/// Reads records and choices of the form; true if a choice is missing. A record that is gone becomes an open line.
fn read_choices(request: AccountRequest<'_>, draft: &mut ListDraft) -> bool {
    let catalog = request.page.state.releases.current();
    let table = draft.table;
    let key_of = |text: &str| catalog.find(table, text).map(|row| catalog.snapshot().slug(table, row).to_owned());
    for text in request.form.text("records").split_whitespace() {
        match key_of(text) {
            Some(key) => draft.records.push(key),
            None => draft.lines.push(OpenLine { text: text.to_owned(), ..OpenLine::default() }),
        }
    }
    let (open, choices) = (request.form.texts("open"), request.form.texts("choice"));
    for (index, value) in open.iter().enumerate() {
        let choice = choices.get(index).map_or("", |choice| choice.trim());
        let Some(mut line) = OpenLine::parse(value, choice) else { continue };
        if choice != LEFT_OUT {
            line.choice = key_of(choice).unwrap_or_default();
        }
        draft.lines.push(line);
    }
    draft.lines.iter().any(|line| line.choice.is_empty())
}

/// Adds exactly named records; other lines become open lines with candidates. The inner error is a message.
async fn read_text(request: AccountRequest<'_>, draft: &mut ListDraft) -> Result<Result<(), String>, AccountReply> {
    if draft.text.trim().is_empty() {
        return Ok(Ok(()));
    }
    let state = request.page.state;
    let catalog = state.releases.current();
    let table = draft.table;
    let read = run_in_turn(request, || {
        let lines = ListedLines::parse(&draft.text, table, &state.public_url, CANDIDATES);
        let named: Vec<Option<u32>> = (0..lines.len()).map(|index| lines.row(&catalog, index)).collect();
        (lines, named)
    });
    let (lines, named) = read.await?;
    let open: Vec<usize> = (0..lines.len()).filter(|index| named[*index].is_none()).collect();
    if lines.len() > MAX_LISTED as usize {
        return Ok(Err(StoreError::TooManyListed.to_string()));
    }
    if open.len() > LOOK_UPS {
        return Ok(Err(format!(
            "{} lines are not slugs, ids or pages, and at most {LOOK_UPS} are looked up at a time; nothing is saved. Send fewer, or \
             look the list up at /docs/resolve first and send the CSV that it returns",
            open.len()
        )));
    }
    admit_batch(request.page, request.address, open.len())?;
    for row in named.into_iter().flatten() {
        draft.records.push(catalog.snapshot().slug(table, row).to_owned());
    }
    if !open.is_empty() {
        let (caller, meter) = (WorkCaller::Address(request.address), request.page.trace.work());
        let mut turns = state.work.batch(caller, meter).map_err(PageError::from)?;
        for index in open {
            draft.lines.push(turns.run(|| look_up(&catalog, table, &lines, index)).await);
        }
    }
    draft.text.clear();
    Ok(Ok(()))
}

fn look_up(catalog: &Catalog, table: Table, lines: &ListedLines, index: usize) -> OpenLine {
    let answer = lines.look_up(catalog, index);
    let is_match = answer.status == LookUpStatus::Match.name();
    let of_table = |id: &String| row_of(catalog, table, "", id).is_some();
    let candidates = answer.candidates.into_iter().filter(|candidate| of_table(&candidate.id));
    let candidates: Vec<String> = candidates.map(|candidate| candidate.slug).collect();
    let choice = candidates.first().filter(|_| is_match).cloned().unwrap_or_default();
    let text: String = lines.label(index).chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    OpenLine { number: lines.number(index), text, candidates, choice }
}

async fn save(
    request: AccountRequest<'_>,
    visitor: &Visitor,
    draft: ListDraft,
    name: KeyName,
    records: Vec<String>,
) -> AccountResult {
    let (account, table, now) = (visitor.account.id, draft.table, request.now);
    let served = request.page.state.releases.current().version();
    let id = draft.watch.as_ref().map(|watch| watch.id);
    let saved = request.auth.blocking(move |service| {
        let store = service.store();
        match id {
            Some(id) => store.change_watch(account, id, WatchChange::Add(records)),
            None => {
                store.add_watch(account, NewWatch { name: &name, table, query: None, records: &records, served }, now)
            }
        }
    });
    match saved.await {
        Ok(watch) => Ok(AccountReply::Redirect(format!("{SAVED}/{}", watch.id.0).into(), Vec::new())),
        Err(error) => show(request, visitor, draft, &form_error(error)?).await,
    }
}
