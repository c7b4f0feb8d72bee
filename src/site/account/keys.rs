//! Making and revoking keys.

use askama::Template;
use http::StatusCode;

use crate::auth::account::{KeyId, KeyName, KeyRecord};
use crate::auth::{AuthError, Visitor};
use crate::site::error_page::{PageError, sentence};
use crate::site::format;
use crate::site::layout::PageLayout;

use crate::site::account::form::FormData;
use crate::site::account::overview::{AccountNotes, show};
use crate::site::account::sign::mendable;
use crate::site::account::{AccountRequest, Reply};

#[derive(Template)]
#[template(path = "new_key.html")]
struct NewKeyPage {
    frame: PageLayout,
    name: String,
    key: String,
    base: String,
}

#[derive(Template)]
#[template(path = "revoke_key.html")]
struct RevokePage {
    frame: PageLayout,
    id: i64,
    name: String,
    shown: String,
    last_used: String,
}

/// `POST /account/keys`: makes a key and shows it, this once.
pub(crate) async fn create(asked: AccountRequest<'_>, form: &FormData) -> Result<Reply, Reply> {
    let visitor = asked.signed_in().await?;
    let given = form.text("name");
    let unfit = StatusCode::UNPROCESSABLE_ENTITY;
    let name: KeyName = match given.parse() {
        Ok(name) => name,
        Err(error) => {
            // What is refused may be a key: it is not shown again.
            let notes = AccountNotes { key: sentence(&format!("this is {error}")), ..AccountNotes::default() };
            return show(asked, &visitor, unfit, notes).await;
        }
    };
    let access = &asked.visit.state.access;
    match access.create_key(visitor.account.id, name, asked.now).await {
        Ok(made) => {
            let catalog = asked.visit.state.live.current();
            let page = NewKeyPage {
                frame: asked.frame(catalog.snapshot(), "Your new key", "A key that was just made."),
                name: made.record.name,
                key: made.key.reveal().to_owned(),
                base: asked.visit.state.public_url.clone(),
            };
            Ok(Reply::Page(StatusCode::CREATED, page.render()?))
        }
        Err(error) => {
            let (status, wrong) = mendable(error)?;
            show(asked, &visitor, status, AccountNotes { key: sentence(&wrong), ..AccountNotes::default() }).await
        }
    }
}

/// The visitor's active key of this number; that of another account is as unknown as one that never was.
async fn own_key(asked: AccountRequest<'_>, visitor: &Visitor, id: KeyId) -> Result<KeyRecord, Reply> {
    let keys = asked.visit.state.access.keys(visitor.account.id, asked.now).await?;
    keys.into_iter().find(|key| key.id == id && key.revoked_at.is_none()).ok_or_else(|| PageError::NoPage.into())
}

/// `GET /account/keys/{id}/revoke`: asks whether it is meant.
pub(crate) async fn revoke_page(asked: AccountRequest<'_>, id: KeyId) -> Result<Reply, Reply> {
    let visitor = asked.signed_in().await?;
    let key = own_key(asked, &visitor, id).await?;
    let catalog = asked.visit.state.live.current();
    let page = RevokePage {
        frame: asked.frame(catalog.snapshot(), "Revoke a key", AuthError::Revoked.code()),
        id: id.0,
        name: key.name,
        shown: key.masked.to_string(),
        last_used: key
            .last_used_at
            .map_or_else(|| "never used".to_owned(), |at| format!("last used {}", format::instant(at))),
    };
    Ok(Reply::Page(StatusCode::OK, page.render()?))
}

/// `POST /account/keys/{id}/revoke`: revokes the key at once.
pub(crate) async fn revoke(asked: AccountRequest<'_>, id: KeyId) -> Result<Reply, Reply> {
    let visitor = asked.signed_in().await?;
    asked.visit.state.access.revoke_key(visitor.account.id, id, asked.now).await?;
    Ok(Reply::To("/account", None))
}
