//! Creating and revoking keys.

use askama::Template;
use http::StatusCode;

use crate::auth::account::{KeyId, KeyName};
use crate::site::account::form::FormData;
use crate::site::account::overview::{AccountMessages, show};
use crate::site::account::sign::form_error;
use crate::site::account::{AccountRequest, Reply};
use crate::site::format;
use crate::site::layout::PageLayout;

#[derive(Template)]
#[template(path = "new_key.html")]
struct NewKeyPage {
    layout: PageLayout,
    name: String,
    key: String,
    base: String,
}

#[derive(Template)]
#[template(path = "revoke_key.html")]
struct RevokePage {
    layout: PageLayout,
    id: i64,
    name: String,
    masked: String,
    last_used: String,
}

/// `POST /account/keys`: creates a key and shows it once.
pub(crate) async fn create(request: AccountRequest<'_>, form: &FormData) -> Result<Reply, Reply> {
    let visitor = request.signed_in().await?;
    let name: KeyName = match form.text("name").parse() {
        Ok(name) => name,
        Err(error) => {
            // The text may be a key by mistake, so it is not shown again.
            return show(request, &visitor, AccountMessages::key_error(&error.to_string())).await;
        }
    };
    let auth = &request.page.state.auth;
    match auth.create_key(visitor.account.id, name, request.now).await {
        Ok(created) => {
            let catalog = request.page.state.releases.current();
            let page = NewKeyPage {
                layout: request.layout(catalog.snapshot(), "Your new key", "A key that was just created."),
                name: created.record.name,
                key: created.key.reveal().to_owned(),
                base: request.page.state.public_url.clone(),
            };
            Ok(Reply::Page(StatusCode::CREATED, page.render()?))
        }
        Err(error) => show(request, &visitor, AccountMessages::key_error(&form_error(error)?)).await,
    }
}

/// `GET /account/keys/{id}/revoke`: asks for confirmation.
pub(crate) async fn revoke_page(request: AccountRequest<'_>, id: KeyId) -> Result<Reply, Reply> {
    let visitor = request.signed_in().await?;
    let key = request.page.state.auth.active_key(visitor.account.id, id, request.now).await?;
    let catalog = request.page.state.releases.current();
    let page = RevokePage {
        layout: request.layout(catalog.snapshot(), "Revoke a key", "Revoke an API key."),
        id: id.0,
        name: key.name,
        masked: key.masked.to_string(),
        last_used: key
            .last_used_at
            .map_or_else(|| "never used".to_owned(), |at| format!("last used {}", format::instant(at))),
    };
    Ok(Reply::Page(StatusCode::OK, page.render()?))
}

/// `POST /account/keys/{id}/revoke`.
pub(crate) async fn revoke(request: AccountRequest<'_>, id: KeyId) -> Result<Reply, Reply> {
    let visitor = request.signed_in().await?;
    request.page.state.auth.revoke_key(visitor.account.id, id, request.now).await?;
    Ok(Reply::Redirect("/account", None))
}
