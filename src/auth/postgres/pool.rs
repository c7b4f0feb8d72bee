//! A few connections that all calls share.
//!
//! They are made when they are needed, at most as many as the budget allows, and dropped when they fail. While none can be made,
//! one call after the other tries it, and the others fail at once. A runtime of its own drives them, so that every wait has a limit
//! and a client can be dropped anywhere.

use std::ops::Deref;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::StoreError;
use crate::postgres::address::Address;
use crate::postgres::connection::Connection;
use crate::sql::SqlError;
use platform::tls;

/// How long a call waits for a connection that others use.
const WAIT: Duration = Duration::from_secs(5);
/// How long after a connection could not be made no other is tried.
const AWAY: Duration = Duration::from_millis(500);

/// What a connection is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// A look-up or a change.
    Short,
    /// Reads any number of rows. Such calls share half of the connections, so that nobody is rejected late, or remains accepted
    /// after a revocation, because others read long lists.
    List,
}

pub(crate) struct Pool {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    address: Address,
    tls: Option<MakeRustlsConnect>,
    size: usize,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    /// With those that are in use.
    open: usize,
    /// Those in use for lists.
    lists: usize,
    /// Why no connection could be made, and when that may be tried again.
    away: Option<(String, Instant)>,
}

impl Pool {
    /// Makes no connection.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] if `sslrootcert` cannot be used or no thread can be started.
    pub(crate) fn new(address: Address, size: usize) -> Result<Self, StoreError> {
        let unusable = |reason: String| StoreError::Unusable { place: address.setting(), reason };
        let tls = match address.encryption {
            SslMode::Disable => None,
            _ => {
                let config = tls::client_config(address.root_file.as_deref());
                Some(MakeRustlsConnect::new(config.map_err(|error| unusable(format!("sslrootcert: {error}")))?))
            }
        };
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("postgres").enable_all().build();
        let runtime = runtime.map_err(|error| unusable(error.to_string()))?;
        Ok(Self {
            runtime: Some(runtime),
            address,
            tls,
            size: size.max(1),
            state: Mutex::default(),
            freed: Condvar::new(),
        })
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// A connection for one call.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if none is free in time, [`StoreError::Unreachable`].
    pub(crate) fn take(&self, work: Work) -> Result<Lease<'_>, SqlError> {
        self.take_by(work, WAIT, self.address.connect_limit())
    }

    /// A connection for one short call that cannot wait long, also not until one is made.
    ///
    /// # Errors
    /// As [`Pool::take`].
    pub(crate) fn take_within(&self, wait: Duration) -> Result<Lease<'_>, SqlError> {
        self.take_by(Work::Short, wait, wait)
    }

    fn take_by(&self, work: Work, wait: Duration, connect: Duration) -> Result<Lease<'_>, SqlError> {
        let deadline = Instant::now() + wait;
        let mut state = self.state();
        loop {
            let lists = self.size.div_ceil(2);
            if work == Work::Short || state.lists < lists {
                let known = pop_usable(&mut state);
                if known.is_some() || state.open < self.size {
                    if known.is_none() {
                        self.begin_to_connect(&mut state)?;
                    }
                    state.lists += usize::from(work == Work::List);
                    drop(state);
                    // From here on the lease gives the place back, also if no connection can be made.
                    let mut lease = Lease { pool: self, work, connection: known };
                    if lease.connection.is_none() {
                        lease.connection = Some(self.connect(connect)?);
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

    /// Takes the place of a connection, unless none can be made.
    fn begin_to_connect(&self, state: &mut State) -> Result<(), SqlError> {
        if let Some((reason, until)) = &mut state.away {
            let now = Instant::now();
            if now < *until {
                return Err(StoreError::Unreachable { place: self.address.setting(), reason: reason.clone() }.into());
            }
            // This call tries it; others do not wait with it.
            *until = now + self.address.connect_limit();
        }
        state.open += 1;
        Ok(())
    }

    /// The server did not answer in time: other calls fail until a connection can be made again.
    pub(crate) fn lost(&self) {
        self.drop_idle();
        self.state().away = Some(("the server does not answer".to_owned(), Instant::now()));
    }

    /// Drops the connections that nobody uses: after one was lost the others may be, too.
    pub(crate) fn drop_idle(&self) {
        let mut state = self.state();
        state.open -= state.idle.len();
        state.idle.clear();
        self.freed.notify_all();
    }

    fn connect(&self, limit: Duration) -> Result<Connection, SqlError> {
        let runtime = self.runtime.as_ref().expect("the runtime ends with the pool");
        let started = Instant::now();
        let connection = Connection::open(runtime.handle(), &self.address, self.tls.as_ref(), limit);
        let reason = connection.as_ref().err().map(|error| match error {
            SqlError::Rule(StoreError::Unreachable { reason, .. }) => reason.clone(),
            error => error.to_string(),
        });
        // A call that gave up early does not know whether the server is away: the next finds out.
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pop_usable(state: &mut State) -> Option<Connection> {
    while let Some(connection) = state.idle.pop() {
        if connection.is_usable() {
            return Some(connection);
        }
        state.open -= 1;
    }
    None
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.state().idle.clear();
        // The last handle may be dropped within another runtime, where waiting for this one would panic.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A connection in use.
pub(crate) struct Lease<'p> {
    pool: &'p Pool,
    work: Work,
    /// `None` until it is made.
    connection: Option<Connection>,
}

impl Deref for Lease<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("a lease that was handed out has its connection")
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state();
        state.lists -= usize::from(self.work == Work::List);
        // A call that panicked may have left a transaction open.
        match self.connection.take().filter(|connection| connection.is_usable() && !std::thread::panicking()) {
            Some(connection) => state.idle.push(connection),
            None => state.open -= 1,
        }
        self.pool.freed.notify_all();
    }
}
