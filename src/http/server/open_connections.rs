//! The open connections: how many in all and of each address, and which has been idle for longest.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task;

use crate::http::server::timeout_stream::ConnectionPhase;

/// Connections above the limits that are served: health checks as ever, all else with a 503.
const RESERVED: usize = 64;
/// Of these, those of one address, so that no address takes them all.
const RESERVED_PER_ADDRESS: usize = 8;
/// A connection that has been idle for less is not closed for another: its client may be sending the next request.
const MIN_IDLE: Duration = Duration::from_millis(100);

/// A place for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    network: IpAddr,
    /// Whether the connection is above the limits.
    pub(super) is_reserved: bool,
}

struct Open {
    place: Place,
    phase: ConnectionPhase,
    /// Tells the connection to end; `None` once it was told.
    evict: Option<Arc<Notify>>,
}

#[derive(Default)]
struct Counts {
    regular: usize,
    reserved: usize,
}

impl Counts {
    fn of(&mut self, place: Place) -> &mut usize {
        if place.is_reserved { &mut self.reserved } else { &mut self.regular }
    }
}

pub(super) struct OpenConnections {
    limit: usize,
    per_address: usize,
    open: HashMap<task::Id, Open>,
    total: Counts,
    by_network: HashMap<IpAddr, Counts>,
}

impl OpenConnections {
    pub(super) fn new(limit: usize, per_address: usize) -> Self {
        Self { limit, per_address, open: HashMap::new(), total: Counts::default(), by_network: HashMap::new() }
    }

    /// A place for a connection of `address`; `None` if even those for a 503 are taken. At the limit the connection that has
    /// been idle for longest is ended.
    pub(super) fn place(&mut self, address: IpAddr, is_trusted: bool) -> Option<Place> {
        let network = network(address);
        let (regular, reserved) = self.by_network.get(&network).map_or((0, 0), |own| (own.regular, own.reserved));
        let has_share = is_trusted || regular < self.per_address;
        if has_share && (self.total.regular < self.limit || self.evict_idle()) {
            return Some(Place { network, is_reserved: false });
        }
        let has_reserve = self.total.reserved < RESERVED && (is_trusted || reserved < RESERVED_PER_ADDRESS);
        has_reserve.then_some(Place { network, is_reserved: true })
    }

    /// Adds a connection; `evict` tells it to end.
    pub(super) fn insert(&mut self, id: task::Id, place: Place, phase: ConnectionPhase, evict: Arc<Notify>) {
        *self.total.of(place) += 1;
        *self.by_network.entry(place.network).or_default().of(place) += 1;
        self.open.insert(id, Open { place, phase, evict: Some(evict) });
    }

    pub(super) fn remove(&mut self, id: task::Id) {
        let Some(Open { place, evict, .. }) = self.open.remove(&id) else { return };
        // The place of an evicted connection is in use again.
        if evict.is_some() {
            *self.total.of(place) -= 1;
        }
        if let Some(own) = self.by_network.get_mut(&place.network) {
            *own.of(place) -= 1;
            if own.regular + own.reserved == 0 {
                self.by_network.remove(&place.network);
            }
        }
    }

    /// Ends the connection that has been idle for longest; false if none is idle.
    fn evict_idle(&mut self) -> bool {
        let idle = self.open.values_mut().filter(|open| open.evict.is_some() && !open.place.is_reserved);
        let longest = idle.filter_map(|open| Some((open.phase.idle_time()?, open))).max_by_key(|(time, _)| *time);
        let Some((_, open)) = longest.filter(|(time, _)| *time >= MIN_IDLE) else { return false };
        let evict = open.evict.take().expect("only those that were not told");
        evict.notify_one();
        self.total.regular -= 1;
        true
    }
}

/// The network that counts as one client: an IPv4 address, or the /64 of an IPv6 address.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
    }
}
