//! A small pool of connections that all calls share.
//!
//! Connections are opened on demand, up to the budget, and dropped when they fail. While none can be opened, one call
//! at a time tries, and the others fail at once. The pool runs them on a runtime of its own, so that every wait has a
//! limit and a client can be dropped anywhere.

use std::ops::Deref;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::postgres::address::PostgresAddress;
use crate::postgres::connection::Connection;
use crate::sql::{SqlError, SqlResult};
use crate::{ReadKind, StoreError, StoreResult};
use platform::tls;

const WAIT: Duration = Duration::from_secs(5);
const AWAY: Duration = Duration::from_millis(500);

pub(crate) struct ConnectionPool {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    pub(crate) address: PostgresAddress,
    tls: Option<MakeRustlsConnect>,
    pub(crate) size: usize,
    state: Mutex<PoolState>,
    freed: Condvar,
}

#[derive(Default)]
struct PoolState {
    idle: Vec<Connection>,
    /// Open connections, including those in use.
    open: usize,
    lists: usize,
    /// Reason that no connection could be opened, and the time of the next attempt.
    away: Option<(String, Instant)>,
}

impl ConnectionPool {
    /// Opens no connection yet. [`StoreError::Unusable`] if `sslrootcert` cannot be used or no thread can be started.
    pub(crate) fn new(address: PostgresAddress, size: usize) -> StoreResult<Self> {
        let unusable = |reason: String| StoreError::Unusable { place: address.setting(), reason };
        let tls = match address.config.get_ssl_mode() {
            SslMode::Disable => None,
            _ => {
                let config = tls::client_config(address.root_file.as_deref());
                Some(MakeRustlsConnect::new(config.map_err(|error| unusable(format!("sslrootcert: {error}")))?))
            }
        };
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("postgres").enable_all().build();
        let runtime = runtime.map_err(|error| unusable(error.to_string()))?;
        let state = Mutex::default();
        Ok(Self { runtime: Some(runtime), address, tls, size: size.max(1), state, freed: Condvar::new() })
    }

    /// Takes a connection for one call; a change takes it like a look-up. Lists share half of the connections, so that
    /// they neither delay a rejection nor keep a revoked key. [`StoreError::Busy`], [`StoreError::Unreachable`].
    pub(crate) fn take(&self, work: ReadKind) -> SqlResult<PooledConnection<'_>> {
        self.take_by(work, WAIT, self.address.connect_limit())
    }

    /// Like [`ConnectionPool::take`], with limits of the time to wait for a connection and to open one.
    pub(crate) fn take_by(&self, work: ReadKind, wait: Duration, open: Duration) -> SqlResult<PooledConnection<'_>> {
        let deadline = Instant::now() + wait;
        let mut state = self.state();
        loop {
            let lists = self.size.div_ceil(2);
            if work == ReadKind::LookUp || state.lists < lists {
                let known = pop_usable(&mut state);
                if known.is_some() || state.open < self.size {
                    if known.is_none() {
                        self.begin_to_connect(&mut state)?;
                    }
                    state.lists += usize::from(work == ReadKind::List);
                    drop(state);
                    // From here on, dropping the lease frees the place, even if no connection can be opened.
                    let mut lease = PooledConnection { pool: self, work, connection: known };
                    if lease.connection.is_none() {
                        lease.connection = Some(self.connect(open)?);
                    }
                    return Ok(lease);
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(StoreError::Busy.into());
            }
            state = self.freed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Reserves the place of a connection; fails while none can be opened.
    fn begin_to_connect(&self, state: &mut PoolState) -> SqlResult<()> {
        if let Some((reason, until)) = &mut state.away {
            let now = Instant::now();
            if now < *until {
                return Err(StoreError::Unreachable { place: self.address.setting(), reason: reason.clone() }.into());
            }
            // This call tries; others fail at once instead of waiting for it.
            *until = now + self.address.connect_limit();
        }
        state.open += 1;
        Ok(())
    }

    /// Records that the server did not answer in time: other calls fail until a connection can be opened again.
    pub(crate) fn mark_lost(&self) {
        self.drop_idle();
        self.state().away = Some(("the server does not answer".to_owned(), Instant::now()));
    }

    /// Drops idle connections: after one was lost, the others may be too.
    pub(crate) fn drop_idle(&self) {
        let mut state = self.state();
        state.open -= state.idle.len();
        state.idle.clear();
        self.freed.notify_all();
    }

    fn connect(&self, limit: Duration) -> SqlResult<Connection> {
        let runtime = self.runtime.as_ref().expect("the runtime ends with the pool");
        let started = Instant::now();
        let connection = Connection::open(runtime.handle(), &self.address, self.tls.as_ref(), limit);
        let reason = connection.as_ref().err().map(|error| match error {
            SqlError::Rule(StoreError::Unreachable { reason, .. }) => reason.clone(),
            error => error.to_string(),
        });
        // A call that gave up early cannot tell if the server is away; the next call finds out.
        let gave_up = limit < self.address.connect_limit() && started.elapsed() >= limit;
        let mut state = self.state();
        match (reason, &mut state.away) {
            (Some(_), Some((_, until))) if gave_up => *until = Instant::now(),
            (Some(_), None) if gave_up => {}
            (reason, away) => *away = reason.map(|reason| (reason, Instant::now() + AWAY)),
        }
        drop(state);
        connection
    }

    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pop_usable(state: &mut PoolState) -> Option<Connection> {
    while let Some(connection) = state.idle.pop() {
        if connection.is_usable() {
            return Some(connection);
        }
        state.open -= 1;
    }
    None
}

impl Drop for ConnectionPool {
    fn drop(&mut self) {
        self.state().idle.clear();
        // The last handle may be dropped within another runtime, where waiting for this one would panic.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

pub(crate) struct PooledConnection<'p> {
    pool: &'p ConnectionPool,
    work: ReadKind,
    /// `None` until it is open.
    connection: Option<Connection>,
}

impl Deref for PooledConnection<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("a lease that was handed out has its connection")
    }
}

impl Drop for PooledConnection<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state();
        state.lists -= usize::from(self.work == ReadKind::List);
        // A call that panicked may have left a transaction open.
        match self.connection.take().filter(|connection| connection.is_usable() && !std::thread::panicking()) {
            Some(connection) => state.idle.push(connection),
            None => state.open -= 1,
        }
        self.pool.freed.notify_all();
    }
}
