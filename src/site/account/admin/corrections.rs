//! Corrections that firms propose: the queue, and the accepted ones as a file for the import.

use askama::Template;

use crate::account::admin::confirmed;
use crate::account::reviews::{field_in_words, firm_name};
use crate::account::sign::{form_error, form_status};
use crate::account::{AccountReply, AccountRequest, AccountResult, CSV};
use crate::browse::{PER_PAGE, Pager, read_page};
use crate::error_page::sentence;
use crate::layout::PageLayout;
use auth::firm::{Correction, CorrectionId, CorrectionState};
use service::firms::corrections_csv;
use view::format;
use view::link::Link;

const QUEUE: &str = "/admin/corrections";
const MAX_REASON: usize = 1_000;
/// Accepted corrections in the file.
const MAX_ACCEPTED: u32 = 100_000;

#[derive(Template)]
#[template(path = "admin_corrections.html")]
struct CorrectionsPage {
    layout: PageLayout,
    total: u32,
    accepted: u32,
    rows: Vec<CorrectionRow>,
    pager: Pager,
    error: String,
}

struct CorrectionRow {
    id: i64,
    firm: String,
    slug: String,
    field: &'static str,
    value: String,
    source: String,
    proposed: String,
}

pub(super) async fn queue(request: AccountRequest<'_>, error: &str) -> AccountResult {
    let (_, page) = read_page(request.page.query);
    let start = u32::try_from((page - 1).saturating_mul(PER_PAGE)).unwrap_or(u32::MAX);
    let read = request.auth.blocking(move |service| {
        let store = service.store();
        let accepted = store.corrections(CorrectionState::Accepted, 0, 0)?.0;
        Ok((store.corrections(CorrectionState::Proposed, start, PER_PAGE as u32)?, accepted))
    });
    let ((total, corrections), accepted) = read.await?;
    let catalog = request.page.state.releases.current();
    let row = |correction: Correction| CorrectionRow {
        id: correction.id.0,
        firm: firm_name(&catalog, &correction.firm),
        slug: correction.firm,
        field: field_in_words(&correction.field),
        value: correction.value,
        source: correction.source,
        proposed: format::instant(correction.proposed_at),
    };
    let page = CorrectionsPage {
        layout: request.layout("Corrections", "Corrections that firms propose."),
        total,
        accepted,
        rows: corrections.into_iter().map(row).collect(),
        pager: Pager::new(&Link::new(QUEUE, Vec::new()), page, total.into()),
        error: sentence(error),
    };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

/// `GET /admin/corrections/vcs.csv`.
pub(super) async fn accepted(request: AccountRequest<'_>) -> AccountResult {
    let read = |service: &auth::AuthService| service.store().corrections(CorrectionState::Accepted, 0, MAX_ACCEPTED);
    let accepted = request.auth.blocking(read).await?.1;
    let csv = corrections_csv(&request.page.state.releases.current(), &accepted);
    Ok(AccountReply::File("vcs.csv".to_owned(), CSV, csv.into_bytes()))
}

/// `POST /admin/corrections/{id}`: accepts it, or rejects it with a reason.
pub(super) async fn decide(request: AccountRequest<'_>) -> AccountResult {
    let operator = confirmed(request, "decide on the correction", &["action", "reason"]).await?;
    let reason = request.form.text("reason").trim().to_owned();
    let rejection = match &*request.form.text("action") {
        "accept" => None,
        "reject" if reason.is_empty() => return queue(request, "write a reason: whoever proposed it reads it").await,
        "reject" if reason.chars().count() > MAX_REASON => {
            return queue(request, &format!("the reason is longer than {MAX_REASON} characters")).await;
        }
        "reject" => Some(reason),
        _ => return queue(request, "choose whether to accept the correction").await,
    };
    match request.auth.decide_correction(operator, CorrectionId(request.id), rejection, request.now).await {
        Ok(_) => Ok(AccountReply::Redirect(QUEUE.into(), Vec::new())),
        Err(error) => {
            let error = form_error(error)?;
            queue(request, &error).await
        }
    }
}
