use serde::Serialize;

use super::print::{note, print, print_json, print_records};
use super::{AdminError, CommandContext, find_account, line_from_stdin};
use crate::app::settings::{AccountCommand, AccountOption};
use auth::account::{Account, AccountId, Email};
use auth::audit::{AuditEntry, AuditEvent};
use auth::link::INVITATION_SECONDS;
use auth::password::Password;
use auth::password::hash::PasswordHash;
use auth::quota::TierLimits;
use auth::{Store, invitation, invited_account, request_invitation};
use data::rfc3339;
use platform::clock::now;

pub(super) fn run(context: &CommandContext<'_>, command: AccountCommand) -> Result<(), AdminError> {
    let CommandContext { store, json, .. } = *context;
    let describe_result = |event: Option<AuditEvent>, account: Account, result: &str| {
        let message = format!("account {} {} {result}", account.id.0, account.email);
        (event, account, message)
    };
    let (event, account, message) = match command {
        AccountCommand::Create { email, tier, password_stdin } => {
            let password = if password_stdin { Some(hash_from_stdin(&email)?) } else { None };
            let account = store.create_account(&email, tier, password.as_ref(), now())?;
            store.set_reviewer(account.id, true)?;
            let account = store.verify_account(account.id, now())?;
            let mut message = describe(store, "created", &account);
            if password.is_none() {
                message += "\nits owner can sign in after a password is set: venturedex account set-password --help";
            }
            (Some(AuditEvent::AccountCreation), account, message)
        }
        AccountCommand::Invite { email, tier, public_url, send } => {
            let (account, now) = (invited_account(store, &email, tier, now())?, now());
            let days = INVITATION_SECONDS / 86_400;
            let link = if send {
                request_invitation(store, &email, now)?;
                None
            } else {
                Some(invitation(store, account.id, &public_url, now)?)
            };
            context.audit(AuditEntry::new(AuditEvent::Invitation, Some(account.id)));
            if json {
                return print_json(&Invited { link, account: ListedAccount::from_account(&account) });
            }
            note(&describe(store, "invited", &account));
            return match link {
                Some(link) => {
                    note(&format!("send its owner this link, which is valid once, for {days} days:"));
                    print(&link)
                }
                None => {
                    note(&format!("a server with --smtp-url sends the link, which is valid once, for {days} days"));
                    Ok(())
                }
            };
        }
        AccountCommand::Verify(AccountOption { email }) => {
            let account = store.verify_account(find_account(store, &email)?.id, now())?;
            let mut message = describe(store, "verified", &account);
            message += &format!(
                "\nif somebody else signed up with the address (created {}), set a password now: this ends their sessions and \
                 revokes their keys",
                rfc3339(account.created_at)
            );
            (Some(AuditEvent::AccountVerification), account, message)
        }
        AccountCommand::SetPassword { email, keep_keys, .. } => {
            let account = find_account(store, &email)?;
            let hash = hash_from_stdin(&account.email)?;
            let revoked = store.reset_password(account.id, &hash, keep_keys, now())?;
            let Account { id, email, active_keys, .. } = &account;
            let keys = match keep_keys {
                true => format!("its {active_keys} active keys still work"),
                false => format!("{revoked} active keys were revoked (--keep-keys keeps them)"),
            };
            let message = format!("set the password of account {} {email}; all its sessions were ended, {keys}", id.0);
            let active_keys = if keep_keys { *active_keys } else { 0 };
            (Some(AuditEvent::PasswordChange), Account { active_keys, ..account }, message)
        }
        AccountCommand::ResetTotp(AccountOption { email }) => {
            let account = find_account(store, &email)?;
            let (event, result) = match store.disable_totp(account.id, None)? {
                true => {
                    let result = "no longer requires codes at sign-in; its sessions and keys are unchanged";
                    (Some(AuditEvent::TotpDeactivation), result)
                }
                false => (None, "does not require codes at sign-in"),
            };
            describe_result(event, Account { totp_enabled_at: None, recovery_codes: 0, ..account }, result)
        }
        AccountCommand::SetOperator { email, revoke } => {
            let before = find_account(store, &email)?;
            if before.verified_at.is_none() && !revoke {
                return Err(AdminError::UnverifiedOperator(before));
            }
            let account = store.set_operator(before.id, !revoke)?;
            let (event, result) = match (before.is_operator, revoke) {
                (false, false) => {
                    (Some(AuditEvent::OperatorGrant), "is an operator now: it finds the pages below /admin")
                }
                (true, false) => (None, "is an operator already"),
                (true, true) => (Some(AuditEvent::OperatorRevocation), "is an operator no longer"),
                (false, true) => (None, "is no operator"),
            };
            describe_result(event, account, result)
        }
        AccountCommand::Block(ref option) | AccountCommand::Unblock(ref option) => {
            let is_blocked = matches!(command, AccountCommand::Block(_));
            let before = find_account(store, &option.email)?;
            let account = store.set_blocked(before.id, is_blocked, now())?;
            let (event, result) = match (before.blocked_at, is_blocked) {
                (None, true) => (
                    Some(AuditEvent::AccountBlock),
                    "is blocked now: its sessions were ended, nobody can sign in, and its keys are rejected",
                ),
                (Some(_), true) => (None, "is blocked already"),
                (Some(_), false) => {
                    (Some(AuditEvent::AccountUnblock), "is no longer blocked: its keys are accepted again")
                }
                (None, false) => (None, "is not blocked"),
            };
            describe_result(event, account, result)
        }
        AccountCommand::Delete(AccountOption { email }) => {
            let account = find_account(store, &email)?;
            store.delete_account(account.id, None, now())?;
            let Account { id, active_keys, ref email, .. } = account;
            let message = format!("deleted account {} {email}; {active_keys} active keys were revoked", id.0);
            (Some(AuditEvent::AccountDeletion), Account { active_keys: 0, ..account }, message)
        }
        AccountCommand::SetTier { email, tier, yes } => {
            let before = find_account(store, &email)?;
            if before.verified_at.is_none() && !yes {
                return Err(AdminError::Unverified(before));
            }
            let account = store.set_tier(&before.email, tier)?;
            let mut message = describe(store, "changed", &account);
            if account.verified_at.is_none() {
                let created = rfc3339(account.created_at);
                message += &format!("\nwarning: the account is unverified; anybody could have created it ({created})");
            }
            (Some(AuditEvent::TierChange), account, message)
        }
        AccountCommand::List => return list(store, json),
    };
    if let Some(event) = event {
        let tier = (event == AuditEvent::TierChange).then_some(account.tier);
        context.audit(AuditEntry { tier, ..AuditEntry::new(event, Some(account.id)) });
    }
    if json {
        return print_json(&ListedAccount::from_account(&account));
    }
    note(&message);
    Ok(())
}

fn list(store: &dyn Store, json: bool) -> Result<(), AdminError> {
    let accounts = store.accounts()?;
    let rows: Vec<ListedAccount<'_>> = accounts.iter().map(ListedAccount::from_account).collect();
    let columns = [
        ("ID", "id"),
        ("E-MAIL", "email"),
        ("TIER", "tier"),
        ("ACTIVE KEYS", "active_keys"),
        ("CREATED", "created_at"),
        ("VERIFIED", "verified_at"),
        ("TWO-STEP SIGN-IN", "totp_enabled_at"),
        ("OPERATOR", "is_operator"),
        ("BLOCKED", "blocked_at"),
    ];
    print_records(json, "accounts", &rows, columns)
}

fn hash_from_stdin(email: &Email) -> Result<PasswordHash, AdminError> {
    Ok(Password::new(&line_from_stdin("password")?, email)?.hash()?)
}

fn describe(store: &dyn Store, verb: &str, account: &Account) -> String {
    let or_unlimited = |limit: Option<u32>| limit.map_or("unlimited".to_owned(), |limit| limit.to_string());
    let Account { id: AccountId(id), email, tier, active_keys, .. } = account;
    let TierLimits { requests, keys } = store.tiers().of(*tier);
    let [requests, keys] = [requests, keys].map(or_unlimited);
    format!("{verb} account {id} {email}: {tier}, {requests} requests per day and key, {active_keys} of {keys} keys")
}

#[derive(Serialize)]
struct Invited<'a> {
    /// `None` if a server sends it.
    link: Option<String>,
    #[serde(flatten)]
    account: ListedAccount<'a>,
}

#[derive(Serialize)]
struct ListedAccount<'a> {
    id: i64,
    email: &'a str,
    tier: &'static str,
    active_keys: u32,
    created_at: String,
    verified_at: Option<String>,
    totp_enabled_at: Option<String>,
    is_operator: bool,
    blocked_at: Option<String>,
}

impl<'a> ListedAccount<'a> {
    fn from_account(account: &'a Account) -> Self {
        Self {
            id: account.id.0,
            email: account.email.as_str(),
            tier: account.tier.name(),
            active_keys: account.active_keys,
            created_at: rfc3339(account.created_at),
            verified_at: account.verified_at.map(rfc3339),
            totp_enabled_at: account.totp_enabled_at.map(rfc3339),
            is_operator: account.is_operator,
            blocked_at: account.blocked_at.map(rfc3339),
        }
    }
}
