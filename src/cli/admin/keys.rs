use serde::Serialize;

use super::print::{note, print, print_json, print_records};
use super::{AdminError, CommandContext, find_account, line_from_stdin};
use crate::app::settings::{KeyArgument, KeyCommand};
use auth::account::{KeyId, KeyRecord, KeyRef, Rotation, expiry};
use auth::audit::AuditEvent;
use auth::{ApiKey, Store};
use data::import::clean::is_hidden;
use data::{Date, rfc3339};
use platform::clock::now;

pub(super) fn run(context: &CommandContext<'_>, command: KeyCommand) -> Result<(), AdminError> {
    let CommandContext { store, json, .. } = *context;
    match command {
        KeyCommand::Create { email, name, expires_in } => {
            let (key, now) = (ApiKey::generate()?, now());
            let id = find_account(store, &email)?.id;
            let record = store.create_key(id, &name, &key, expiry(expires_in, now), now)?;
            context.audit_key(AuditEvent::KeyCreation, &record);
            print_key(context, &key, &record, None)
        }
        KeyCommand::Rotate { key, overlap, expires_in } => {
            let (key, successor, now) = (key_ref(key)?, ApiKey::generate()?, now());
            let days = expires_in.or(store.key(key, Date::from_unix(now))?.lifetime());
            let (rotated, record) = store.rotate_key(key, &successor, Rotation::new(overlap, days, now), now)?;
            context.audit_key(AuditEvent::KeyRotation, &rotated);
            print_key(context, &successor, &record, Some(&rotated))
        }
        KeyCommand::Revoke { key } => revoke_key(context, key_ref(key)?),
        KeyCommand::List { email } => {
            let account = email.map(|email| find_account(store, &email)).transpose()?;
            let keys = store.keys(account.map(|account| account.id), Date::from_unix(now()))?;
            let rows: Vec<ListedKey<'_>> = keys.iter().map(|key| ListedKey::from_record(store, key)).collect();
            let columns = [
                ("ID", "id"),
                ("KEY", "shown"),
                ("E-MAIL", "email"),
                ("NAME", "name"),
                ("TODAY", "used_today"),
                ("CREATED", "created_at"),
                ("LAST USED", "last_used_at"),
                ("EXPIRES", "expires_at"),
                ("REVOKED", "revoked_at"),
            ];
            print_records(json, "keys", &rows, columns)
        }
    }
}

fn key_ref(key: KeyArgument) -> Result<KeyRef, AdminError> {
    match key {
        KeyArgument::Key(key) => Ok(key),
        KeyArgument::Stdin => Ok(line_from_stdin("key")?.parse()?),
    }
}

fn print_key(
    context: &CommandContext<'_>,
    key: &ApiKey,
    record: &KeyRecord,
    rotated: Option<&KeyRecord>,
) -> Result<(), AdminError> {
    let printed = if context.json {
        print_json(&CreatedKey {
            key: key.reveal(),
            record: ListedKey::from_record(context.store, record),
            rotated: rotated.map(|key| ListedKey::from_record(context.store, key)),
        })
    } else {
        let KeyRecord { id: KeyId(id), name, email, tier, expires_at, .. } = record;
        let expiry = expires_at.map_or_else(String::new, |at| format!(", expires at {}", rfc3339(at)));
        note(&format!("created key {id} `{name}` of {email} ({tier}{expiry}); store it now, it is shown only once"));
        if let Some(KeyRecord { id, expires_at: Some(end), .. }) = rotated {
            note(&format!("it replaces key {}, which is accepted until {}", id.0, rfc3339(*end)));
        }
        print(key.reveal())
    };
    if printed.is_err() {
        // Nobody has seen the key, so nobody can use it.
        context.store.revoke_key(KeyRef::Id(record.id), now())?;
        context.audit_key(AuditEvent::KeyRevocation, record);
        note(&format!("key {} could not be printed and was revoked", record.id.0));
    }
    printed
}

fn revoke_key(context: &CommandContext<'_>, key: KeyRef) -> Result<(), AdminError> {
    let now = now();
    let record = context.store.revoke_key(key, now)?;
    if record.revoked_at == Some(now) {
        context.audit_key(AuditEvent::KeyRevocation, &record);
    }
    if context.json {
        return print_json(&ListedKey::from_record(context.store, &record));
    }
    let KeyRecord { id, masked, email, revoked_at, expires_at, .. } = &record;
    let result = match (revoked_at, expires_at) {
        (Some(before), _) if *before < now => format!("was already revoked at {}", rfc3339(*before)),
        (None, Some(end)) => format!("has already expired at {}", rfc3339(*end)),
        _ => "was revoked".to_owned(),
    };
    let name = name(&record).map_or_else(String::new, |name| format!(" `{name}`"));
    note(&format!("key {} {masked}{name} of {email} {result}", id.0));
    Ok(())
}

/// The name of a key; `None` if it was purged. Invisible characters, which only occur in old names, are escaped.
fn name(key: &KeyRecord) -> Option<String> {
    let visible = |char: char| if is_hidden(char) { char.escape_unicode().to_string() } else { char.to_string() };
    Some(key.name.chars().map(visible).collect()).filter(|name: &String| !name.is_empty())
}

#[derive(Serialize)]
struct CreatedKey<'a> {
    key: &'a str,
    #[serde(flatten)]
    record: ListedKey<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rotated: Option<ListedKey<'a>>,
}

#[derive(Serialize)]
struct ListedKey<'a> {
    id: i64,
    shown: String,
    /// `None` if it was purged.
    name: Option<String>,
    email: &'a str,
    tier: &'static str,
    daily_limit: Option<u32>,
    used_today: u32,
    created_at: String,
    last_used_at: Option<String>,
    expires_at: Option<String>,
    revoked_at: Option<String>,
}

impl<'a> ListedKey<'a> {
    fn from_record(store: &dyn Store, key: &'a KeyRecord) -> Self {
        let tier = key.tier;
        Self {
            id: key.id.0,
            shown: key.masked.to_string(),
            name: name(key),
            email: key.email.as_str(),
            tier: tier.name(),
            daily_limit: store.tiers().of(tier).requests,
            used_today: key.used_today,
            created_at: rfc3339(key.created_at),
            last_used_at: key.last_used_at.map(rfc3339),
            expires_at: key.expires_at.map(rfc3339),
            revoked_at: key.revoked_at.map(rfc3339),
        }
    }
}
