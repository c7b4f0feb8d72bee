//! Who is next in the line, and floods of sign-ins in simulated time.

use std::net::IpAddr;

use super::*;
use crate::quota::sign_in_network;

impl PasswordQueue {
    /// Takes all turns and closes the line to strangers until the result is dropped.
    pub(crate) async fn fill(self: &Arc<Self>) -> FullQueue {
        let mut turns = Vec::new();
        for _ in 0..self.turns {
            turns.push(self.turn(EnteredBy::Owner, MAX_WAIT).await.unwrap());
        }
        self.state().line.places = 0;
        FullQueue { queue: Arc::clone(self), turns }
    }
}

pub(crate) struct FullQueue {
    queue: Arc<PasswordQueue>,
    turns: Vec<PasswordTurn>,
}

impl Drop for FullQueue {
    fn drop(&mut self) {
        self.queue.state().line.places = PLACES;
        self.turns.clear();
    }
}

fn stranger(network: u32, arrived_at: i64) -> EnteredBy {
    let [a, b, c, _] = (network << 8).to_be_bytes();
    EnteredBy::Stranger { network: sign_in_network(IpAddr::from([a, b, c, 1])), arrived_at }
}

fn order(line: &mut Line<&'static str>) -> Vec<&'static str> {
    std::iter::from_fn(|| line.take_next()).collect()
}

#[test]
fn owners_come_first_and_strangers_in_the_order_of_their_arrival() {
    let mut line = Line::new(9);
    for (by, name) in [
        (stranger(1, 20), "second"),
        (stranger(2, 10), "first"),
        (EnteredBy::Owner, "owner"),
        (stranger(3, 20), "third"),
        (EnteredBy::Owner, "another owner"),
    ] {
        line.join(by, name).unwrap();
    }
    assert_eq!(order(&mut line), ["owner", "another owner", "first", "second", "third"]);
    assert!(line.networks.is_empty() && line.strangers == 0);
}

#[test]
fn networks_take_turns() {
    let mut line = Line::new(9);
    for (by, name) in [
        (stranger(1, 0), "a1"),
        (stranger(1, 0), "a2"),
        (stranger(1, 0), "a3"),
        (stranger(2, 5), "b1"),
        (stranger(2, 5), "b2"),
    ] {
        line.join(by, name).unwrap();
    }
    assert_eq!(line.take_next(), Some("a1"));
    // Who comes later does not come after all that one network has in the line.
    line.join(stranger(3, 9), "c1").unwrap();
    assert_eq!(order(&mut line), ["b1", "c1", "a2", "b2", "a3"]);
}

#[test]
fn a_place_can_be_given_up_and_strangers_are_limited() {
    let mut line = Line::new(2);
    let first = line.join(stranger(1, 0), "a").unwrap();
    line.join(stranger(1, 0), "b").unwrap();
    assert_eq!(line.join(stranger(2, 0), "c"), None);
    assert!(line.join(EnteredBy::Owner, "owner").is_some(), "owners are not");
    assert_eq!((line.leave(first), line.leave(first)), (Some("a"), None));
    assert!(line.join(stranger(2, 0), "c").is_some());
    assert_eq!(order(&mut line), ["owner", "c", "b"]);
}

/// Milliseconds of a hash, and of the longest wait.
const HASH: u64 = 50;
const WAIT: u64 = 20_000;

#[derive(Clone, Copy)]
struct Visit {
    /// The connection of the flood; `None` for a new browser.
    connection: Option<usize>,
    started: u64,
    arrived: u64,
    tries: u32,
}

/// Counts of new browsers: those that signed in, all that had the time to, and their longest wait in milliseconds.
#[derive(Debug, Default)]
struct Outcome {
    signed_in: u32,
    visits: u32,
    longest: u64,
    most_tries: u32,
}

struct Flood {
    connections: usize,
    /// The network of each attempt.
    network: fn(u32) -> u32,
    /// True if the flood keeps its places by tickets, as browsers do.
    keeps_places: bool,
}

/// Some minutes of a flood whose connections try again at once, with a new browser each second, whose owner needs five seconds to
/// enter the password again, five times at most.
fn simulate(flood: &Flood) -> Outcome {
    const TURNS: usize = 2;
    const END: u64 = 330_000;
    let mut line: Line<Visit> = Line::new(PLACES);
    let mut waiting: BTreeMap<(u64, PlaceInLine), Visit> = BTreeMap::new();
    let mut running: Vec<(u64, Visit)> = Vec::new();
    let mut arrivals: BTreeMap<u64, Vec<Visit>> = BTreeMap::new();
    let (mut outcome, mut attempts) = (Outcome::default(), 0);
    for connection in 0..flood.connections {
        let visit = Visit { connection: Some(connection), started: 0, arrived: 0, tries: 1 };
        arrivals.entry(connection as u64 % 1_000).or_default().push(visit);
    }
    for second in 60..160 {
        let started = second * 1_000 + 500;
        let visit = Visit { connection: None, started, arrived: started, tries: 1 };
        arrivals.entry(started).or_default().push(visit);
        outcome.visits += 1;
    }
    for now in 0..END {
        for (_, visit) in running.extract_if(.., |(end, _)| *end <= now) {
            match visit.connection {
                Some(_) => arrivals.entry(now).or_default().push(Visit { arrived: now, ..visit }),
                None => {
                    outcome.signed_in += 1;
                    outcome.longest = outcome.longest.max(now - visit.started);
                    outcome.most_tries = outcome.most_tries.max(visit.tries);
                }
            }
        }
        while let Some(entry) = waiting.first_entry().filter(|entry| entry.key().0 <= now) {
            let ((_, place), visit) = entry.remove_entry();
            // One that had its turn is no longer there.
            if line.leave(place).is_none() {
                continue;
            }
            match visit.connection {
                Some(_) => {
                    let arrived = if flood.keeps_places { visit.arrived } else { now };
                    arrivals.entry(now).or_default().push(Visit { arrived, ..visit });
                }
                None if visit.tries == 6 => {}
                None => arrivals.entry(now + 5_000).or_default().push(Visit { tries: visit.tries + 1, ..visit }),
            }
        }
        for visit in arrivals.remove(&now).unwrap_or_default() {
            attempts += 1;
            let network = if visit.connection.is_some() { (flood.network)(attempts) } else { 0x80_0000 + attempts };
            if let Some(place) = line.join(stranger(network, visit.arrived as i64 / 1_000), visit) {
                waiting.insert((now + WAIT, place), visit);
            }
        }
        while running.len() < TURNS
            && let Some(visit) = line.take_next()
        {
            running.push((now + HASH, visit));
        }
    }
    outcome
}

#[test]
fn new_browsers_sign_in_during_a_flood_of_fifty_connections_each_attempt_from_another_network() {
    let outcome = simulate(&Flood { connections: 50, network: |attempt| attempt, keeps_places: false });
    assert_eq!(outcome.signed_in, outcome.visits, "{outcome:?}");
    assert!(outcome.longest <= 2_000 && outcome.most_tries == 1, "{outcome:?}");
}

#[test]
fn nine_in_ten_new_browsers_sign_in_while_strangers_have_all_connections() {
    for keeps_places in [false, true] {
        let outcome = simulate(&Flood { connections: 4_000, network: |attempt| attempt, keeps_places });
        assert!(outcome.signed_in * 10 >= outcome.visits * 9, "{outcome:?}");
    }
}

#[test]
fn a_flood_from_one_network_delays_others_by_a_turn() {
    let outcome = simulate(&Flood { connections: 500, network: |_| 7, keeps_places: true });
    assert_eq!(outcome.signed_in, outcome.visits, "{outcome:?}");
    assert!(outcome.longest <= 4 * HASH, "{outcome:?}");
}

#[tokio::test]
async fn a_turn_passes_to_the_next_in_line_also_if_one_has_left() {
    let queue = Arc::new(PasswordQueue::new(1));
    let held = queue.turn(EnteredBy::Owner, MAX_WAIT).await.unwrap();
    let mut first = Box::pin(queue.turn(stranger(1, 0), MAX_WAIT));
    let mut second = Box::pin(queue.turn(stranger(2, 0), MAX_WAIT));
    for waiting in [&mut first, &mut second] {
        assert!(timeout(Duration::ZERO, waiting).await.is_err(), "it waits");
    }
    assert_eq!(queue.usage(), QueueUsage { running: 1, waiting: 2, rejected: 0 });
    drop(first);
    assert_eq!(queue.usage().waiting, 1);
    drop(held);
    // A turn that was given and not taken passes on, too.
    let mut third = Box::pin(queue.turn(stranger(3, 0), MAX_WAIT));
    assert!(timeout(Duration::ZERO, &mut third).await.is_err(), "the second has the turn");
    drop(second);
    drop(third.await.unwrap());
    assert_eq!(queue.usage(), QueueUsage { running: 0, waiting: 0, rejected: 0 });
}

#[tokio::test]
async fn whoever_waits_in_vain_leaves_the_line() {
    let queue = Arc::new(PasswordQueue::new(1));
    let held = queue.turn(EnteredBy::Owner, MAX_WAIT).await.unwrap();
    assert_eq!(queue.turn(stranger(1, 0), Duration::from_millis(1)).await.err(), Some(WaitedInVain));
    assert_eq!(queue.usage(), QueueUsage { running: 1, waiting: 0, rejected: 1 });
    drop(held);
    assert!(queue.turn(stranger(1, 0), MAX_WAIT).await.is_ok());
}
