//! The open connections: how many in all and of each address, and which has been idle for longest.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task;

use crate::server::timeout_stream::ConnectionPhase;
use crate::telemetry::Excess;
use auth::quota::{ClientNetwork, client_networks};

/// Connections above the limits that are served: health checks as ever, all else with a 503.
const RESERVED: usize = 64;
/// Of these, those of one address, so that no address takes them all.
const RESERVED_PER_ADDRESS: usize = 8;
/// A connection that has been idle for less is not closed for another: its client may be sending the next request.
const MIN_IDLE: Duration = Duration::from_millis(100);

/// A place for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    address: IpAddr,
    /// Which limit the connection is above.
    pub(super) excess: Option<Excess>,
    /// Whether an idle connection ends for this one.
    pub(super) evicts: bool,
}

struct Open {
    place: Place,
    phase: ConnectionPhase,
    /// Tells the connection to end; `None` once it was told.
    evict: Option<Arc<Notify>>,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    regular: usize,
    reserved: usize,
}

impl Counts {
    fn of(&mut self, place: Place) -> &mut usize {
        if place.excess.is_some() { &mut self.reserved } else { &mut self.regular }
    }
}

pub(super) struct OpenConnections {
    limit: usize,
    per_address: usize,
    open: HashMap<task::Id, Open>,
    total: Counts,
    by_network: HashMap<ClientNetwork, Counts>,
}

impl OpenConnections {
    pub(super) fn new(limit: usize, per_address: usize) -> Self {
        Self { limit, per_address, open: HashMap::new(), total: Counts::default(), by_network: HashMap::new() }
    }

    /// A place for a connection of `address`; an error if even those for a 503 are taken. At the limit the connection that has
    /// been idle for longest is ended.
    pub(super) fn place(&mut self, address: IpAddr, is_trusted: bool) -> Result<Place, Excess> {
        let (mut has_share, mut has_reserve) = (true, self.total.reserved < RESERVED);
        for (network, multiple) in client_networks(address).into_iter().flatten().filter(|_| !is_trusted) {
            let open = self.by_network.get(&network).copied().unwrap_or_default();
            has_share &= open.regular < self.per_address * multiple as usize;
            has_reserve &= open.reserved < RESERVED_PER_ADDRESS * multiple as usize;
        }
        let is_full = self.total.regular >= self.limit;
        if has_share && (!is_full || self.evict_idle()) {
            return Ok(Place { address, excess: None, evicts: is_full });
        }
        let excess = if has_share { Excess::Total } else { Excess::Address };
        if has_reserve { Ok(Place { address, excess: Some(excess), evicts: false }) } else { Err(Excess::Reserve) }
    }

    /// Adds a connection; `evict` tells it to end.
    pub(super) fn insert(&mut self, id: task::Id, place: Place, phase: ConnectionPhase, evict: Arc<Notify>) {
        *self.total.of(place) += 1;
        for (network, _) in client_networks(place.address).into_iter().flatten() {
            *self.by_network.entry(network).or_default().of(place) += 1;
        }
        self.open.insert(id, Open { place, phase, evict: Some(evict) });
    }

    pub(super) fn remove(&mut self, id: task::Id) {
        let Some(Open { place, evict, .. }) = self.open.remove(&id) else { return };
        // The place of an evicted connection is in use again.
        if evict.is_some() {
            *self.total.of(place) -= 1;
        }
        for (network, _) in client_networks(place.address).into_iter().flatten() {
            if let Some(open) = self.by_network.get_mut(&network) {
                *open.of(place) -= 1;
                if open.regular + open.reserved == 0 {
                    self.by_network.remove(&network);
                }
            }
        }
    }

    /// Ends the connection that has been idle for longest; false if none is idle.
    fn evict_idle(&mut self) -> bool {
        let idle = self.open.values_mut().filter(|open| open.evict.is_some() && open.place.excess.is_none());
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
            let place =
                connections.place(address.parse().unwrap(), is_trusted).ok().filter(|place| place.excess.is_none())?;
            let id = tokio::spawn(async {}).id();
            connections.insert(id, place, ConnectionPhase::default(), Arc::default());
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
