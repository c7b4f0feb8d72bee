//! A few connections that all calls share.
//!
//! They are made when they are needed, at most as many as the budget allows, and dropped when they fail. A runtime of its own
//! drives them, so that every wait has a limit and a client can be dropped anywhere.

use std::ops::Deref;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::auth::StoreError;
use crate::auth::postgres::address::Address;
use crate::auth::postgres::connection::{Connection, PostgresError};
use crate::tls;

/// How long a call waits for a connection.
const WAIT: Duration = Duration::from_secs(5);

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
    pub(crate) fn take(&self, work: Work) -> Result<Lease<'_>, PostgresError> {
        self.take_by(work, Instant::now() + WAIT)
    }

    /// A connection for one short call that cannot wait long.
    ///
    /// # Errors
    /// As [`Pool::take`].
    pub(crate) fn take_within(&self, wait: Duration) -> Result<Lease<'_>, PostgresError> {
        self.take_by(Work::Short, Instant::now() + wait)
    }

    fn take_by(&self, work: Work, deadline: Instant) -> Result<Lease<'_>, PostgresError> {
        let mut state = self.state();
        loop {
            let lists = self.size.div_ceil(2);
            if work == Work::Short || state.lists < lists {
                let known = pop_usable(&mut state);
                if known.is_some() || state.open < self.size {
                    if known.is_none() {
                        state.open += 1;
                    }
                    state.lists += usize::from(work == Work::List);
                    drop(state);
                    // From here on the lease gives the place back, also if no connection can be made.
                    let mut lease = Lease { pool: self, work, connection: known };
                    if lease.connection.is_none() {
                        lease.connection = Some(self.connect()?);
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

    /// Drops the connections that nobody uses: after one was lost the others may be, too.
    pub(crate) fn drop_idle(&self) {
        let mut state = self.state();
        state.open -= state.idle.len();
        state.idle.clear();
        self.freed.notify_all();
    }

    fn connect(&self) -> Result<Connection, PostgresError> {
        let runtime = self.runtime.as_ref().expect("the runtime ends with the pool");
        Connection::open(runtime.handle(), &self.address, self.tls.as_ref())
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
