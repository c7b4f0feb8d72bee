//! Saving a search: a preview of the query in words, with a form that saves it.

use askama::Template;

use crate::account::saved::wording::filters;
use crate::account::saved::{SAVED, parse_name, run_in_turn};
use crate::account::sign::{form_error, form_status};
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::error_page::sentence;
use crate::layout::PageLayout;
use api::options::is_presentation;
use auth::Visitor;
use catalog::{Catalog, ListPosition, ParameterError, Resource};
use data::Table;
use service::alerts::save::{NOT_A_LIST, SavableSearch, list_of_address, table_of};
use view::format;

/// Maximum length of a proposed name in characters.
const MAX_NAME: usize = 100;

#[derive(Template)]
#[template(path = "saved_search.html")]
struct SaveSearchPage {
    layout: PageLayout,
    address: String,
    name: String,
    /// `None` if there is nothing to save yet.
    search: Option<SearchView>,
    errors: Vec<ParameterError>,
    error: String,
}

struct SearchView {
    table: &'static str,
    table_name: &'static str,
    query: String,
    conditions: String,
    counted: String,
    notes: Vec<String>,
}

#[derive(Default)]
struct SearchDraft {
    address: String,
    name: String,
    list: Option<(Table, String)>,
    error: String,
}

/// `GET /account/saved/new?table=vcs&…`, where the other parameters are filters; or `?address=` with the URL of a list.
pub(super) async fn page(request: AccountRequest<'_>) -> AccountResult {
    request.signed_in_to_return().await?;
    let address = request.page.parameter("address").unwrap_or_default().into_owned();
    let table = request.page.parameter("table").unwrap_or_default();
    let list = match (address.trim(), table.trim()) {
        ("", "") => Ok(None),
        ("", table) => table_of(table).map(|table| Some((table, filters_of(request)))).ok_or("table"),
        (address, _) => list_of_address(address).map(|(table, query)| Some((table, query.to_owned()))).ok_or("address"),
    };
    let error = match list {
        Err("table") => format!("no list is called `{table}`; there are vcs, startups, funding-rounds and people"),
        Err(_) => NOT_A_LIST.to_owned(),
        Ok(_) => String::new(),
    };
    show(request, SearchDraft { address, list: list.ok().flatten(), error, ..SearchDraft::default() }).await
}

/// The query without the parameters of this page.
fn filters_of(request: AccountRequest<'_>) -> String {
    let pairs = form_urlencoded::parse(request.page.query.as_bytes());
    let pairs = pairs.filter(|(name, _)| !matches!(name.as_ref(), "table" | "address"));
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

async fn show(request: AccountRequest<'_>, draft: SearchDraft) -> AccountResult {
    let catalog = request.page.state.releases.current();
    let parsed = run_in_turn(request, || draft.list.map(|(table, query)| preview(&catalog, table, &query))).await?;
    let (search, errors) = match parsed.transpose() {
        Ok(search) => (search, Vec::new()),
        Err(errors) => (None, errors),
    };
    let is_wrong = !draft.error.is_empty() || !errors.is_empty();
    let proposed = search.as_ref().map_or_else(String::new, |search| {
        let name = format!("{}: {}", format::word(search.table_name), search.conditions);
        name.chars().take(MAX_NAME).collect()
    });
    let page = SaveSearchPage {
        layout: request.layout("Save a search", "Save a search to hear what is new."),
        address: draft.address,
        name: if draft.name.is_empty() { proposed } else { draft.name },
        search,
        errors,
        error: sentence(&draft.error),
    };
    Ok(AccountReply::Page(form_status(if is_wrong { "wrong" } else { "" }), page.render()?))
}

fn preview(catalog: &Catalog, table: Table, query: &str) -> Result<SearchView, Vec<ParameterError>> {
    let search = SavableSearch::parse(catalog, table, query, is_presentation)?;
    let total = catalog.list(&search.query, ListPosition::default(), 1).total;
    let pairs = search.canonical.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Ok(SearchView {
        table: Resource::of_table(table).path(),
        table_name: table.plural(),
        query: search.text(),
        conditions: filters(catalog, pairs),
        counted: format::counted(total, "record matches", "records match"),
        notes: search.notes.iter().map(|note| sentence(&note.detail)).collect(),
    })
}

pub(super) async fn save(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let (table, query) = (table_of(&request.form.text("table")), request.form.text("query").into_owned());
    let Some(table) = table else { return Ok(AccountReply::Redirect(format!("{SAVED}/new").into(), Vec::new())) };
    let draft = |error: String| SearchDraft {
        name: request.form.text("name").into_owned(),
        list: Some((table, query.clone())),
        error,
        ..SearchDraft::default()
    };
    let name = match parse_name(request) {
        Ok(name) => name,
        Err(error) => return show(request, draft(error)).await,
    };
    let catalog = request.page.state.releases.current();
    let Ok(search) = run_in_turn(request, || SavableSearch::parse(&catalog, table, &query, is_presentation)).await?
    else {
        return show(request, draft(String::new())).await;
    };
    let saved = search.save(&request.page.state.auth, visitor.account.id, name, catalog.version(), request.now);
    match saved.await {
        Ok(watch) => Ok(AccountReply::Redirect(format!("{SAVED}/{}", watch.id.0).into(), Vec::new())),
        Err(error) => show(request, draft(form_error(error)?)).await,
    }
}
