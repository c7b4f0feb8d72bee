//! Claims of a firm's profile, by accounts with a verified address at the domain of its website.

use askama::Template;

use crate::account::reviews::{firm_name, firm_row};
use crate::account::sign::{form_error, form_status};
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::error_page::sentence;
use crate::layout::PageLayout;
use auth::Visitor;
use auth::firm::{ClaimId, FirmClaim};
use catalog::Catalog;
use data::Table;
use service::firms::{has_firm_address, valid_claim};
use view::format;

pub(super) const CLAIMS: &str = "/vcs/{slug}/claim";
pub(super) const FIRMS: &str = "/account/firms";

#[derive(Template)]
#[template(path = "claim_firm.html")]
struct ClaimPage {
    layout: PageLayout,
    firm: String,
    slug: String,
    email: String,
    is_verified: bool,
    /// True if the address of the account is at the domain of the firm.
    is_of_firm: bool,
    is_claimed: bool,
    notifies: bool,
    sends_mail: bool,
    error: String,
}

#[derive(Template)]
#[template(path = "own_firms.html")]
struct OwnFirmsPage {
    layout: PageLayout,
    rows: Vec<ClaimRow>,
}

struct ClaimRow {
    id: i64,
    firm: String,
    /// Empty if the release does not have the firm.
    slug: String,
    claimed: String,
    notifies: bool,
    /// True if the address of the account is still at the domain of the firm.
    is_valid: bool,
}

async fn claims(request: AccountRequest<'_>, visitor: &Visitor) -> Result<Vec<FirmClaim>, AccountReply> {
    let account = visitor.account.id;
    Ok(request.auth.blocking(move |service| service.store().claims_of(account)).await?)
}

/// The visitor's claim of the firm with this row, if the account still has an address at its domain.
pub(super) async fn valid_claim_of(
    request: AccountRequest<'_>,
    catalog: &Catalog,
    firm: u32,
) -> Result<Option<FirmClaim>, AccountReply> {
    let Some(visitor) = request.visitor().await? else { return Ok(None) };
    let claims = claims(request, &visitor).await?;
    Ok(valid_claim(catalog, &visitor.account, &claims, firm).cloned())
}

pub(super) async fn page(request: AccountRequest<'_>) -> AccountResult {
    let visitor = request.signed_in_to_return().await?;
    show(request, &visitor, "").await
}

async fn show(request: AccountRequest<'_>, visitor: &Visitor, error: &str) -> AccountResult {
    let catalog = request.page.state.releases.current();
    let firm = firm_row(&catalog, request)?;
    let claims = claims(request, visitor).await?;
    let claim = valid_claim(&catalog, &visitor.account, &claims, firm);
    let domain_of = catalog.rows_of_mail_domain(Table::Firms, visitor.account.email.domain());
    let page = ClaimPage {
        layout: request.layout("Claim a profile", "Speak for a firm: answer its reviews and correct its record."),
        firm: catalog.snapshot().name(Table::Firms, firm).to_owned(),
        slug: catalog.snapshot().slug(Table::Firms, firm).to_owned(),
        email: visitor.account.email.to_string(),
        is_verified: visitor.account.verified_at.is_some(),
        is_of_firm: domain_of.contains(&firm),
        is_claimed: claim.is_some(),
        notifies: claim.is_none_or(|claim| claim.notifies),
        sends_mail: request.auth.sends_mail(),
        error: sentence(error),
    };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

pub(super) async fn send(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let catalog = request.page.state.releases.current();
    let firm = firm_row(&catalog, request)?;
    if !has_firm_address(&catalog, &visitor.account, firm) {
        let error = "only an account with a verified address at the domain of the firm's website speaks for it";
        return show(request, &visitor, error).await;
    }
    let slug = catalog.snapshot().slug(Table::Firms, firm).to_owned();
    let notifies = !request.form.text("notifies").is_empty() && request.auth.sends_mail();
    match request.auth.claim_firm(visitor.account.id, slug, notifies, request.now).await {
        Ok(()) => Ok(AccountReply::Redirect(FIRMS.into(), Vec::new())),
        Err(error) => {
            let error = form_error(error)?;
            show(request, &visitor, &error).await
        }
    }
}

/// `GET /account/firms`.
pub(super) async fn list(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let catalog = request.page.state.releases.current();
    let row = |claim: FirmClaim| {
        let firm = catalog.find(Table::Firms, &claim.firm);
        ClaimRow {
            id: claim.id.0,
            slug: firm.map_or_else(String::new, |row| catalog.snapshot().slug(Table::Firms, row).to_owned()),
            firm: firm_name(&catalog, &claim.firm),
            claimed: format::day_of(claim.claimed_at),
            notifies: claim.notifies,
            is_valid: firm.is_some_and(|firm| has_firm_address(&catalog, &visitor.account, firm)),
        }
    };
    AccountReply::shown(&OwnFirmsPage {
        layout: request.layout("Firms that you speak for", "The profiles that you have claimed."),
        rows: claims(request, &visitor).await?.into_iter().map(row).collect(),
    })
}

pub(super) async fn release(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let (account, claim) = (visitor.account.id, ClaimId(request.id));
    match request.auth.blocking(move |service| service.store().release_claim(account, claim)).await? {
        true => Ok(AccountReply::Redirect(FIRMS.into(), Vec::new())),
        false => Err(crate::error_page::PageError::UnknownPage.into()),
    }
}
