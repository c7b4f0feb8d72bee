//! Corrections of a firm's record, proposed with a source by those who speak for it.

use askama::Template;

use crate::account::keys::SelectOption;
use crate::account::reviews::claim::valid_claim_of;
use crate::account::reviews::firm_row;
use crate::account::sign::{form_error, form_status};
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::error_page::sentence;
use crate::layout::PageLayout;
use auth::Visitor;
use auth::firm::{Correction, CorrectionState, FirmClaim, NewCorrection};
use catalog::Catalog;
use data::{Date, Table};
use service::firms::{CORRECTABLE, is_web_address, parse_correction};
use view::format;

pub(super) const CORRECTIONS: &str = "/vcs/{slug}/correction";

#[derive(Template)]
#[template(path = "correct_firm.html")]
struct CorrectionPage {
    layout: PageLayout,
    firm: String,
    slug: String,
    fields: Vec<SelectOption>,
    value: String,
    source: String,
    /// Earlier corrections of the account: name of the field, value, what became of it.
    proposed: Vec<(&'static str, String, String)>,
    /// Field with a fault; empty if it is in none.
    wrong: &'static str,
    error: String,
}

/// The visitor's claim of the firm in the path; leads others to the claim.
async fn claimed(request: AccountRequest<'_>, catalog: &Catalog) -> Result<(u32, FirmClaim), AccountReply> {
    let firm = firm_row(catalog, request)?;
    let slug = catalog.snapshot().slug(Table::Firms, firm);
    let claim = valid_claim_of(request, catalog, firm).await?;
    let to_claim = || AccountReply::Redirect(format!("/vcs/{slug}/claim").into(), Vec::new());
    Ok((firm, claim.ok_or_else(to_claim)?))
}

pub(super) async fn page(request: AccountRequest<'_>) -> AccountResult {
    let visitor = request.signed_in_to_return().await?;
    show(request, &visitor, ("", String::new())).await
}

pub(super) async fn send(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let catalog = request.page.state.releases.current();
    let (_, claim) = claimed(request, &catalog).await?;
    let form = |field: &str| request.form.text(field).into_owned();
    let today = Date::from_unix(request.now);
    let (field, value) = match parse_correction(&form("field"), &form("value"), today) {
        Ok(correction) => correction,
        Err(fault) => return show(request, &visitor, fault).await,
    };
    let source = form("source").trim().to_owned();
    if !is_web_address(&source) {
        let fault = "name the address of a page that shows it, such as https://alder.example/about";
        return show(request, &visitor, ("source", fault.to_owned())).await;
    }
    let (account, now) = (visitor.account.id, request.now);
    let correction = NewCorrection { firm: claim.firm, field, value, source };
    let proposed = request.auth.blocking(move |service| service.store().propose_correction(account, &correction, now));
    match proposed.await {
        Ok(_) => Ok(AccountReply::Redirect(request.page.path.to_owned().into(), Vec::new())),
        Err(error) => {
            let error = form_error(error)?;
            show(request, &visitor, ("", error)).await
        }
    }
}

async fn show(request: AccountRequest<'_>, visitor: &Visitor, (wrong, error): (&'static str, String)) -> AccountResult {
    let catalog = request.page.state.releases.current();
    let (firm, _) = claimed(request, &catalog).await?;
    let account = visitor.account.id;
    let known = request.auth.blocking(move |service| service.store().corrections_of(account)).await?;
    let is_of_firm = |correction: &Correction| catalog.find(Table::Firms, &correction.firm) == Some(firm);
    let form = |field: &str| request.form.text(field).into_owned();
    let chosen = form("field");
    let option = |(name, text): &(&str, &str)| SelectOption {
        value: (*name).to_owned(),
        text: (*text).to_owned(),
        is_selected: *name == chosen,
    };
    let page = CorrectionPage {
        layout: request.layout("Correct the record", "Propose corrections of a firm's record."),
        firm: catalog.snapshot().name(Table::Firms, firm).to_owned(),
        slug: catalog.snapshot().slug(Table::Firms, firm).to_owned(),
        fields: CORRECTABLE.iter().map(option).collect(),
        value: form("value"),
        source: form("source"),
        proposed: known.into_iter().filter(is_of_firm).map(in_words).collect(),
        wrong,
        error: sentence(&error),
    };
    Ok(AccountReply::Page(form_status(&error), page.render()?))
}

/// The name of a column for people.
pub(crate) fn field_in_words(field: &str) -> &'static str {
    CORRECTABLE.iter().find(|(name, _)| *name == field).map_or("", |(_, text)| text)
}

fn in_words(correction: Correction) -> (&'static str, String, String) {
    let outcome = match (correction.state, correction.decided_at) {
        (CorrectionState::Accepted, Some(at)) => format!("accepted on {}", format::day_of(at)),
        (CorrectionState::Rejected, Some(at)) => {
            format!("not accepted on {}: {}", format::day_of(at), correction.reason.unwrap_or_default())
        }
        _ => "waits for the operator".to_owned(),
    };
    (field_in_words(&correction.field), correction.value, outcome)
}
