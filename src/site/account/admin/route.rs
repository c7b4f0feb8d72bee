//! The paths below `/admin`.

use auth::account::{AccountId, KeyId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdminRoute {
    Overview,
    Duplicates,
    Accounts,
    Account(AccountId),
    Tier(AccountId),
    Verification(AccountId),
    Block(AccountId),
    Unblock(AccountId),
    RevokeKey(AccountId, KeyId),
}

impl AdminRoute {
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let mut segments = path.strip_prefix("/admin")?.split('/');
        let number = |text: &str| text.parse().ok().filter(|id: &i64| id.to_string() == text);
        // Before the first slash.
        segments.next().filter(|rest| rest.is_empty())?;
        let route = match (segments.next(), segments.next()) {
            (None, None) => Self::Overview,
            (Some("duplicates"), None) => Self::Duplicates,
            (Some("accounts"), None) => Self::Accounts,
            (Some("accounts"), Some(id)) => {
                let account = AccountId(number(id)?);
                match (segments.next(), segments.next(), segments.next()) {
                    (None, None, None) => Self::Account(account),
                    (Some("tier"), None, None) => Self::Tier(account),
                    (Some("verification"), None, None) => Self::Verification(account),
                    (Some("block"), None, None) => Self::Block(account),
                    (Some("unblock"), None, None) => Self::Unblock(account),
                    (Some("keys"), Some(key), Some("revoke")) => Self::RevokeKey(account, KeyId(number(key)?)),
                    _ => return None,
                }
            }
            _ => return None,
        };
        segments.next().is_none().then_some(route)
    }

    /// The path without its numbers.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Overview => "/admin",
            Self::Duplicates => "/admin/duplicates",
            Self::Accounts => "/admin/accounts",
            Self::Account(_) => "/admin/accounts/{id}",
            Self::Tier(_) => "/admin/accounts/{id}/tier",
            Self::Verification(_) => "/admin/accounts/{id}/verification",
            Self::Block(_) => "/admin/accounts/{id}/block",
            Self::Unblock(_) => "/admin/accounts/{id}/unblock",
            Self::RevokeKey(..) => "/admin/accounts/{id}/keys/{key}/revoke",
        }
    }

    /// True if the page accepts POST.
    pub(crate) fn takes_forms(self) -> bool {
        !matches!(self, Self::Duplicates | Self::Accounts | Self::Account(_))
    }

    /// True if the page can be read with GET.
    pub(crate) fn is_read(self) -> bool {
        matches!(self, Self::Overview | Self::Duplicates | Self::Accounts | Self::Account(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_these_paths_are_routes() {
        let account = AccountId(7);
        for (path, route) in [
            ("/admin", Some(AdminRoute::Overview)),
            ("/admin/duplicates", Some(AdminRoute::Duplicates)),
            ("/admin/accounts", Some(AdminRoute::Accounts)),
            ("/admin/accounts/7", Some(AdminRoute::Account(account))),
            ("/admin/accounts/7/tier", Some(AdminRoute::Tier(account))),
            ("/admin/accounts/7/verification", Some(AdminRoute::Verification(account))),
            ("/admin/accounts/7/block", Some(AdminRoute::Block(account))),
            ("/admin/accounts/7/unblock", Some(AdminRoute::Unblock(account))),
            ("/admin/accounts/7/keys/3/revoke", Some(AdminRoute::RevokeKey(account, KeyId(3)))),
            ("/administer", None),
            ("/admin/", None),
            ("/admin/account", None),
            ("/admin/duplicates/7", None),
            ("/admin/accounts/07", None),
            ("/admin/accounts/x", None),
            ("/admin/accounts/7/", None),
            ("/admin/accounts/7/tier/x", None),
            ("/admin/accounts/7/keys/3", None),
            ("/admin/accounts/7/keys/3/revoke/x", None),
        ] {
            assert_eq!(AdminRoute::parse(path), route, "{path}");
        }
    }
}
