//! A connection with blocking calls, and its errors.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;

use bytes::BytesMut;
use futures_util::future::try_join_all;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Column, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::StoreError;
use crate::postgres::address::{PostgresAddress, with_causes};
use crate::sql::{EachResult, Failure, Sql, SqlError, SqlResult, SqlRow, SqlValue};

pub(crate) type Params<'p> = &'p [&'p (dyn ToSql + Sync)];

/// Timeout of one statement, longer than the server's own, so it only applies if the server does not answer at all.
const CALL_LIMIT: Duration = Duration::from_secs(20);

/// Limits within the server, and defaults that the store relies on (such as durable commits), whatever the role has.
const SESSION: &str = "SET default_transaction_isolation = 'read committed'; SET default_transaction_read_only = off; \
     SET statement_timeout = '15s'; SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '30s'; \
     SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// Must not be used within an async runtime: calls block.
pub(crate) struct Connection {
    client: Client,
    runtime: Handle,
    statements: RefCell<HashMap<String, Statement>>,
    limit: Cell<Duration>,
    /// True if its state is unknown, so that it cannot be used again.
    is_broken: Cell<bool>,
}

impl Connection {
    /// [`StoreError::Unreachable`], which says how to fix it.
    pub(crate) fn open(
        runtime: &Handle,
        address: &PostgresAddress,
        tls: Option<&MakeRustlsConnect>,
        limit: Duration,
    ) -> SqlResult<Self> {
        let connecting = async {
            // The task ends when the client is dropped.
            let config = &address.config;
            let client = match tls {
                Some(tls) => {
                    let (client, connection) = config.connect(tls.clone()).await?;
                    runtime.spawn(connection);
                    client
                }
                None => {
                    let (client, connection) = config.connect(NoTls).await?;
                    runtime.spawn(connection);
                    client
                }
            };
            client.batch_execute(SESSION).await?;
            Ok(client)
        };
        let client = runtime
            .block_on(async { timeout(limit, connecting).await })
            .map_err(|_| unreachable(address, "no answer; check host, port and firewall".to_owned()))?
            .map_err(|error| unreachable(address, explain_failure(address, &error)))?;
        Ok(Self {
            client,
            runtime: runtime.clone(),
            statements: RefCell::default(),
            limit: Cell::new(CALL_LIMIT),
            is_broken: Cell::new(false),
        })
    }

    pub(crate) fn is_usable(&self) -> bool {
        !self.is_broken.get() && !self.client.is_closed()
    }

    pub(crate) fn with_limit<T>(&self, limit: Duration, call: impl FnOnce() -> T) -> T {
        let before = self.limit.replace(limit);
        let result = call();
        self.limit.set(before);
        result
    }

    pub(crate) fn rows(&self, sql: &str, params: Params<'_>) -> SqlResult<Vec<tokio_postgres::Row>> {
        let statement = self.statement(sql)?;
        self.run(self.client.query(&statement, params))
    }

    pub(crate) fn execute(&self, sql: &str, params: Params<'_>) -> SqlResult<usize> {
        let statement = self.statement(sql)?;
        let changed = self.run(self.client.execute(&statement, params))?;
        usize::try_from(changed).map_err(|_| SqlError::Data("too many rows".to_owned()))
    }

    /// Runs `work` in a transaction; `begin` is `BEGIN` and any settings sent with it.
    pub(crate) fn transact<T>(&self, begin: &str, work: impl FnOnce(&Self) -> SqlResult<T>) -> SqlResult<T> {
        self.batch(begin)?;
        match work(self) {
            Ok(result) => match self.batch("COMMIT") {
                Err(error) if error.is(Failure::Lost) || error.is(Failure::Timeout) => {
                    let reason = "the connection was lost while the change was committed; check whether it was stored before \
                                  you repeat it";
                    Err(SqlError::Database { failure: Failure::Other, source: reason.into() })
                }
                committed => committed.map(|()| result),
            },
            Err(error) => {
                if self.is_usable() && self.batch("ROLLBACK").is_err() {
                    self.is_broken.set(true);
                }
                Err(error)
            }
        }
    }

    /// Runs statements without parameters, in one message.
    pub(crate) fn batch(&self, sql: &str) -> SqlResult<()> {
        self.run(self.client.batch_execute(sql))
    }

    fn statement(&self, sql: &str) -> SqlResult<Statement> {
        if let Some(known) = self.statements.borrow().get(sql) {
            return Ok(known.clone());
        }
        let statement = self.run(self.client.prepare(&sql.replace('?', "$")))?;
        self.statements.borrow_mut().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn run<T>(&self, call: impl Future<Output = Result<T, tokio_postgres::Error>>) -> SqlResult<T> {
        let limit = self.limit.get();
        let (is_broken, error) = match self.runtime.block_on(async { timeout(limit, call).await }) {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(error)) => (error.code().is_none_or(ends_connection), SqlError::from(error)),
            Err(_) => {
                let source = format!("the server did not answer within {limit:?}").into();
                (true, SqlError::Database { failure: Failure::Timeout, source })
            }
        };
        if is_broken {
            self.is_broken.set(true);
        }
        Err(error)
    }
}

impl Sql for Connection {
    fn query_each(&self, sql: &str, params: &[&[SqlValue<'_>]], each: EachResult<'_>) -> SqlResult<()> {
        let statement = self.statement(sql)?;
        let params: Vec<_> = params.iter().map(|params| as_params(params)).collect();
        // Calls that are polled together are sent in order before the first answer is awaited.
        let calls = params.iter().map(|params| self.client.query(&statement, params));
        let results = self.run(try_join_all(calls))?;
        results.iter().enumerate().try_for_each(|(index, rows)| rows.iter().try_for_each(|row| each(index, row)))
    }

    fn execute(&self, sql: &str, params: &[SqlValue<'_>]) -> SqlResult<usize> {
        Self::execute(self, sql, &as_params(params))
    }

    fn locks_rows(&self) -> bool {
        true
    }

    fn json_elements(&self) -> &'static str {
        "json_array_elements"
    }

    fn lock_claims(&self) -> SqlResult<()> {
        self.rows("SELECT pg_advisory_xact_lock(1447314777, hashtext(current_schema()))", &[]).map(drop)
    }
}

fn as_params<'p>(params: &'p [SqlValue<'_>]) -> Vec<&'p (dyn ToSql + Sync)> {
    params.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

impl ToSql for SqlValue<'_> {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match *self {
            SqlValue::Null => Ok(IsNull::Yes),
            // A flag of SQLite.
            SqlValue::Number(number) if *of == Type::BOOL => (number != 0).to_sql(of, out),
            SqlValue::Number(number) => number.to_sql_checked(of, out),
            SqlValue::Flag(flag) => flag.to_sql_checked(of, out),
            SqlValue::Text(json) if *of == Type::JSON => {
                out.extend_from_slice(json.as_bytes());
                Ok(IsNull::No)
            }
            SqlValue::Text(text) => without_nul(text).to_sql_checked(of, out),
            SqlValue::Bytes(bytes) => bytes.to_sql_checked(of, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        // Each value checks its own type.
        true
    }

    to_sql_checked!();
}

impl SqlRow for tokio_postgres::Row {
    fn value(&self, column: usize) -> SqlResult<SqlValue<'_>> {
        let of = self.columns().get(column).map(Column::type_);
        let value = match of {
            Some(&Type::INT8) => self.try_get::<_, Option<i64>>(column)?.map(SqlValue::Number),
            Some(&Type::BOOL) => self.try_get::<_, Option<bool>>(column)?.map(SqlValue::Flag),
            Some(&Type::TEXT) => self.try_get::<_, Option<&str>>(column)?.map(SqlValue::Text),
            Some(&Type::BYTEA) => self.try_get::<_, Option<&[u8]>>(column)?.map(SqlValue::Bytes),
            of => return Err(SqlError::Data(format!("column {column} is {of:?}"))),
        };
        Ok(value.unwrap_or(SqlValue::Null))
    }
}

/// Replaces NUL, which PostgreSQL does not store in texts; SQLite does.
pub(crate) fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

impl From<tokio_postgres::Error> for SqlError {
    fn from(error: tokio_postgres::Error) -> Self {
        let is_io = error.source().is_some_and(|cause| cause.is::<std::io::Error>());
        let is = |states: &[SqlState]| error.code().is_some_and(|code| states.contains(code));
        let failure = if error.is_closed() || error.code().map_or(is_io, ends_connection) {
            Failure::Lost
        } else if is(&[SqlState::T_R_DEADLOCK_DETECTED, SqlState::T_R_SERIALIZATION_FAILURE]) {
            Failure::Conflict
        } else if is(&[SqlState::LOCK_NOT_AVAILABLE, SqlState::QUERY_CANCELED]) {
            Failure::Busy
        } else if is(&[SqlState::DISK_FULL]) {
            Failure::Full
        } else {
            Failure::Other
        };
        Self::Database { failure, source: describe(&error).into() }
    }
}

fn ends_connection(code: &SqlState) -> bool {
    [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::IDLE_SESSION_TIMEOUT,
        SqlState::DATABASE_DROPPED,
    ]
    .contains(code)
}

/// Omits the detail of the server's message, which may quote stored values.
fn describe(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("{} (SQLSTATE {})", error.message(), error.code().code()),
        None => with_causes(error),
    }
}

fn unreachable(address: &PostgresAddress, reason: String) -> SqlError {
    StoreError::Unreachable { place: address.setting(), reason }.into()
}

fn explain_failure(address: &PostgresAddress, error: &tokio_postgres::Error) -> String {
    let text = describe(error);
    let code = error.code();
    let is = |state: SqlState| code == Some(&state);
    let advice = if is(SqlState::INVALID_PASSWORD) || is(SqlState::INVALID_AUTHORIZATION_SPECIFICATION) {
        match address.config.get_password() {
            Some(_) => "check the user, its password and the server's pg_hba.conf",
            None => "name a file with the user's password with --store-password-file",
        }
    } else if is(SqlState::INVALID_CATALOG_NAME) {
        "create the database: CREATE DATABASE … OWNER …"
    } else if is(SqlState::TOO_MANY_CONNECTIONS) {
        "lower --store-connections, or raise the server's max_connections"
    } else if code.is_some() {
        return text;
    } else if text.contains("password missing") {
        "name a file with the user's password with --store-password-file"
    } else if text.contains("TLS") || text.contains("certificate") {
        "name the certificate to trust in the URL with sslrootcert=FILE, or leave encryption out with sslmode=disable"
    } else {
        "check that PostgreSQL runs and accepts connections there"
    };
    format!("{text}; {advice}")
}
