//! `/resolve`: looks up the records that a list of names means, without a key. Forms are sent by POST because a list is
//! too long for a URL; they change nothing.

use std::net::IpAddr;

use askama::Template;
use http::{Response, StatusCode};

use crate::layout::PageLayout;
use crate::{PageRequest, PageResult, PathValues, admit_batch, charge_work, fail, respond, respond_with};
use catalog::look_up::sheet::{RowEnds, Sheet, SheetOptions, SheetRow};
use catalog::{Catalog, Item, LookUpAnswer, ParameterError};
use transport::headers::set;
use view::{form_data, format};

pub(crate) const MAX_BYTES: usize = 256 * 1024;
const MAX_ROWS: usize = 100;
const CANDIDATES: usize = 3;

const DESCRIPTION: &str =
    "Look up the firms, startups and people that a list of names means, and download the result as CSV.";

#[derive(Template)]
#[template(path = "resolve.html")]
struct ResolvePage {
    layout: PageLayout,
    form: ResolveForm,
    error: String,
    /// Labels of rows, and what was found.
    rows: Vec<(String, LookUpAnswer)>,
    /// Rows beyond the first [`MAX_ROWS`].
    left_out: usize,
}

impl ResolvePage {
    fn new(catalog: &Catalog, request: PageRequest<'_>, form: ResolveForm) -> Self {
        let layout = PageLayout::new(catalog.snapshot(), "Look up a list", DESCRIPTION, "/resolve")
            .with_operator(&request.state.operator);
        Self { layout, form, error: String::new(), rows: Vec::new(), left_out: 0 }
    }

    fn matched(&self) -> usize {
        self.rows.iter().filter(|(_, answer)| answer.status == "match").count()
    }
}

#[derive(Default)]
struct ResolveForm {
    kind: String,
    text: String,
    is_download: bool,
}

impl ResolveForm {
    /// A file takes precedence over the text.
    fn parse(body: &[u8]) -> Self {
        let field = |name: &str| form_data::field(body, name).unwrap_or_default();
        let text = |name: &str| String::from_utf8_lossy(field(name)).into_owned();
        let file = text("file");
        Self {
            kind: text("kind"),
            text: if file.trim().is_empty() { text("text") } else { file },
            is_download: text("format") == "csv",
        }
    }

    /// Parses the text into a sheet and its rows: as CSV if the first line names columns, otherwise one name per line.
    fn sheet(&self, base: &str) -> Result<(Sheet, Vec<SheetRow>), Vec<ParameterError>> {
        let tables = Item::tables_of(&self.kind).map_err(|error| vec![error])?;
        let options = SheetOptions { tables, candidates: CANDIDATES, base: base.to_owned() };
        let mut ends = RowEnds::default();
        let end = self.text.bytes().position(|byte| ends.push(byte)).map_or(self.text.len(), |end| end + 1);
        let (header, rest) = self.text.split_at(end);
        if let Ok(mut sheet) = Sheet::open(header.as_bytes(), &[], options.clone()) {
            let rows = sheet.rows(rest.as_bytes());
            return Ok((sheet, rows));
        }
        let quoted = self.text.lines().map(|line| format!("\"{}\"\n", line.trim().replace('"', "\"\"")));
        let lines: String = quoted.filter(|line| line.len() > 3).collect();
        let mut sheet = Sheet::open(b"name\n", &[], options)?;
        let rows = sheet.rows(lines.as_bytes());
        Ok((sheet, rows))
    }
}

pub(super) fn page(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    Ok(ResolvePage::new(catalog, request, ResolveForm::default()).render()?)
}

/// Looks up the rows of a form one by one. Every ten rows, rounded up, are charged to `address` as one page.
pub(crate) async fn answer(request: PageRequest<'_>, body: &[u8], address: IpAddr) -> Response<Vec<u8>> {
    let catalog = request.state.releases.current();
    answer_form(&catalog, request, body, address).await.unwrap_or_else(|error| fail(&error, &catalog, request))
}

async fn answer_form(catalog: &Catalog, request: PageRequest<'_>, body: &[u8], address: IpAddr) -> PageResult {
    let mut turns = request.state.work.batch(request.work_caller(address), request.trace.work())?;
    let read = || {
        let form = ResolveForm::parse(body);
        let read = form.sheet(&request.state.public_url);
        (form, read)
    };
    let (form, read) = turns.run(read).await;
    let read = read.map_err(|errors| errors.into_iter().map(|error| error.detail).collect::<Vec<_>>().join("; "));
    let (sheet, mut rows) = match read {
        Ok((sheet, rows)) if !rows.is_empty() => (sheet, rows),
        refused => {
            let nothing = "There is nothing to look up: paste names, one a line, or choose a file.";
            let error = refused.err().unwrap_or_else(|| nothing.to_owned());
            let html = ResolvePage { error, ..ResolvePage::new(catalog, request, form) }.render()?;
            return Ok(respond(request, StatusCode::UNPROCESSABLE_ENTITY, html));
        }
    };
    let left_out = rows.len().saturating_sub(MAX_ROWS);
    rows.truncate(MAX_ROWS);
    admit_batch(request, address, rows.len())?;
    if form.is_download {
        let mut csv = sheet.header();
        for row in &rows {
            csv.extend(turns.run(|| sheet.answered_row(catalog, row)).await);
        }
        charge_work(request, address, rows.len());
        let mut response = respond_with(request, StatusCode::OK, csv, "text/csv; charset=utf-8; header=present");
        let name = format!("attachment; filename=\"resolved-{}.csv\"", catalog.version());
        set(response.headers_mut(), "content-disposition", &name);
        return Ok(response);
    }
    let mut page = ResolvePage { left_out, ..ResolvePage::new(catalog, request, form) };
    for row in &rows {
        page.rows.push(turns.run(|| (sheet.label(row), sheet.answer(catalog, row))).await);
    }
    charge_work(request, address, rows.len());
    let html = turns.run(move || page.render()).await?;
    Ok(respond(request, StatusCode::OK, html))
}
