//! Counts open connections, in total and per address, and finds the one idle for longest.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task;

use crate::server::timeout_stream::ConnectionPhase;
use crate::telemetry::Excess;
use auth::quota::{ClientNetwork, client_networks};

/// Connections served above the limits: health checks as usual, everything else with a 503.
const RESERVED: usize = 64;
/// Share of [`RESERVED`] for one address, so that no address takes them all.
const RESERVED_PER_ADDRESS: usize = 8;
/// Connections idle for less are not closed in favor of another: their client may be sending the next request.
const MIN_IDLE: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConnectionSlot {
    address: IpAddr,
    /// The limit that the connection exceeds, if any.
    pub(super) excess: Option<Excess>,
    /// True if an idle connection is closed in favor of this one.
    pub(super) evicts: bool,
}

struct OpenConnection {
    slot: ConnectionSlot,
    phase: ConnectionPhase,
    /// Tells the connection to end; `None` once told.
    evict: Option<Arc<Notify>>,
}

#[derive(Clone, Copy, Default)]
struct OpenCounts {
    regular: usize,
    reserved: usize,
}

impl OpenCounts {
    fn count_of(&mut self, slot: ConnectionSlot) -> &mut usize {
        if slot.excess.is_some() { &mut self.reserved } else { &mut self.regular }
    }
}

pub(super) struct OpenConnections {
    limit: usize,
    per_address: usize,
    open: HashMap<task::Id, OpenConnection>,
    total: OpenCounts,
    by_network: HashMap<ClientNetwork, OpenCounts>,
}

impl OpenConnections {
    pub(super) fn new(limit: usize, per_address: usize) -> Self {
        Self { limit, per_address, open: HashMap::new(), total: OpenCounts::default(), by_network: HashMap::new() }
    }

    /// Admits a connection from `address`; an error if even the reserve for 503 responses is full. At the limit, the
    /// connection idle for longest is closed.
    pub(super) fn admit(&mut self, address: IpAddr, is_trusted: bool) -> Result<ConnectionSlot, Excess> {
        let (mut has_share, mut has_reserve) = (true, self.total.reserved < RESERVED);
        for (network, multiple) in client_networks(address).into_iter().flatten().filter(|_| !is_trusted) {
            let open = self.by_network.get(&network).copied().unwrap_or_default();
            has_share &= open.regular < self.per_address * multiple as usize;
            has_reserve &= open.reserved < RESERVED_PER_ADDRESS * multiple as usize;
        }
        let is_full = self.total.regular >= self.limit;
        if has_share && (!is_full || self.evict_idle()) {
            return Ok(ConnectionSlot { address, excess: None, evicts: is_full });
        }
        let excess = if has_share { Excess::Total } else { Excess::Address };
        has_reserve.then_some(ConnectionSlot { address, excess: Some(excess), evicts: false }).ok_or(Excess::Reserve)
    }

    pub(super) fn insert(&mut self, id: task::Id, slot: ConnectionSlot, phase: ConnectionPhase, evict: Arc<Notify>) {
        *self.total.count_of(slot) += 1;
        for (network, _) in client_networks(slot.address).into_iter().flatten() {
            *self.by_network.entry(network).or_default().count_of(slot) += 1;
        }
        self.open.insert(id, OpenConnection { slot, phase, evict: Some(evict) });
    }

    pub(super) fn remove(&mut self, id: task::Id) {
        let Some(OpenConnection { slot, evict, .. }) = self.open.remove(&id) else { return };
        // The slot of an evicted connection was already given to another.
        if evict.is_some() {
            *self.total.count_of(slot) -= 1;
        }
        for (network, _) in client_networks(slot.address).into_iter().flatten() {
            if let Some(open) = self.by_network.get_mut(&network) {
                *open.count_of(slot) -= 1;
                if open.regular + open.reserved == 0 {
                    self.by_network.remove(&network);
                }
            }
        }
    }

    /// Closes the connection idle for longest; false if none is idle.
    fn evict_idle(&mut self) -> bool {
        let idle = self.open.values_mut().filter(|open| open.evict.is_some() && open.slot.excess.is_none());
        let longest = idle.filter_map(|open| Some((open.phase.idle_time()?, open))).max_by_key(|(time, _)| *time);
        let Some((_, open)) = longest.filter(|(time, _)| *time >= MIN_IDLE) else { return false };
        let evict = open.evict.take().expect("only those that were not told");
        evict.notify_one();
        self.total.regular -= 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_ipv6_customer_does_not_hold_all_connections() {
        let mut connections = OpenConnections::new(1_000, 2);
        let mut connect = async |address: &str, is_trusted: bool| {
            let slot =
                connections.admit(address.parse().unwrap(), is_trusted).ok().filter(|slot| slot.excess.is_none())?;
            let id = tokio::spawn(async {}).id();
            connections.insert(id, slot, ConnectionPhase::default(), Arc::default());
            Some(id)
        };
        let mut open = Vec::new();
        for subnet in 0..1_024 {
            for host in 0..4 {
                open.extend(connect(&format!("2001:db8:1:{subnet:x}::{host}"), false).await);
            }
        }
        assert_eq!(open.len(), 32, "16 times the limit of a /64, of which each /56 has a quarter");
        assert!(connect("2001:db8:2::1", false).await.is_some(), "another customer");
        assert!(connect("2001:db8:1::1", true).await.is_some(), "a trusted proxy");
        for host in [1, 1, 2] {
            connect(&format!("192.0.2.{host}"), false).await.unwrap();
        }
        assert!(connect("192.0.2.1", false).await.is_none() && connect("192.0.2.2", false).await.is_some());
        open.into_iter().for_each(|id| connections.remove(id));
        let left: Vec<_> = connections.by_network.values().map(|open| open.regular).collect();
        assert_eq!((connections.total.regular, left.iter().sum::<usize>(), left.len()), (6, 2 * 3 + 4, 2 * 3 + 2));
    }
}
