use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use proptest::prelude::*;

use super::*;

fn key(number: i64) -> WorkCaller {
    WorkCaller::Key(KeyId(number), Tier::Free)
}

fn address(text: &str) -> WorkCaller {
    WorkCaller::Address(text.parse().unwrap())
}

fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number)
}

impl FairQueue {
    /// A piece that waits or has its turn, as a future.
    fn begin(&self, caller: WorkCaller) -> impl Future<Output = Result<FairTurn, Overloaded>> + Unpin {
        let mut waiting = Box::pin(self.turn(caller, true));
        let now = waiting.as_mut().now_or_never();
        match now {
            Some(turn) => Box::pin(std::future::ready(turn)) as futures_util::future::LocalBoxFuture<'_, _>,
            None => waiting,
        }
    }
}

fn end(mut turn: FairTurn, cost: Duration) {
    turn.cost = cost;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_few_run_at_once_some_wait_and_the_rest_is_rejected() {
    let queue = Arc::new(FairQueue::new(2, 3));
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Arc::new(Mutex::new(released));
    let tasks: Vec<_> = (0..5)
        .map(|number| {
            let (queue, running, most, released) = (queue.clone(), running.clone(), most.clone(), released.clone());
            tokio::spawn(async move {
                let work = || {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    released.lock().unwrap().recv().unwrap();
                    running.fetch_sub(1, Ordering::SeqCst);
                };
                queue.run(key(number), &WorkMeter::default(), work).await.unwrap();
            })
        })
        .collect();
    while queue.usage().waiting < 3 || running.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(queue.usage(), QueueUsage { running: 2, waiting: 3, rejected: 0 });
    assert_eq!(queue.run(key(4), &WorkMeter::default(), || ()).await, Err(Overloaded), "the caller with most pieces");
    assert_eq!(queue.usage(), QueueUsage { running: 2, waiting: 3, rejected: 1 });
    tasks.iter().for_each(|_| release.send(()).unwrap());
    for task in tasks {
        task.await.unwrap();
    }
    let meter = WorkMeter::default();
    assert_eq!((most.load(Ordering::SeqCst), queue.run(key(1), &meter, || 7).await), (2, Ok(7)));
    assert!(meter.total() > Duration::ZERO && meter.total() == meter.longest_piece());
    assert_eq!(queue.pieces().counts.iter().sum::<u64>(), 6);
}

#[tokio::test]
async fn a_light_caller_waits_for_one_piece_of_a_heavy_one() {
    let queue = FairQueue::new(1, 32);
    let heavy = address("192.0.2.1");
    let mut running = queue.begin(heavy).await.unwrap();
    for round in 0..50 {
        let waiting: Vec<_> = (0..20).map(|_| queue.begin(heavy)).collect();
        let mut light = queue.begin(address("198.51.100.7"));
        assert!((&mut light).now_or_never().is_none(), "{round}: a piece of the heavy caller runs");
        end(running, milliseconds(5));
        end(light.now_or_never().expect("the light caller is next").unwrap(), milliseconds(1));
        let next = waiting.into_iter().find_map(FutureExt::now_or_never);
        running = next.expect("then the heavy one").unwrap();
    }
}

#[tokio::test]
async fn whoever_waits_longest_goes_first_among_equals() {
    let queue = FairQueue::new(1, 8);
    let running = queue.begin(key(1)).await.unwrap();
    let [two, three] = [2, 3].map(|number| queue.begin(key(number)));
    end(running, milliseconds(1));
    let second = two.now_or_never().expect("the first to wait").unwrap();
    end(second, milliseconds(1));
    assert!(three.now_or_never().is_some());
    assert!(queue.0.turns().groups.len() <= 3);
}

#[tokio::test]
async fn the_caller_with_most_pieces_is_the_one_who_is_refused() {
    let queue = FairQueue::new(1, 32);
    let running = queue.begin(key(1)).await.unwrap();
    let mut heavy: Vec<_> = (0..60).map(|_| queue.begin(key(1))).collect();
    let refused = heavy.iter_mut().filter_map(|piece| piece.now_or_never()).filter(Result::is_err).count();
    assert_eq!(refused, 28, "it may use every place that is free");
    let mut others: Vec<_> = (2..30).map(|number| queue.begin(key(number))).collect();
    assert!(others.iter_mut().all(|piece| piece.now_or_never().is_none()), "none is refused");
    assert_eq!(queue.usage(), QueueUsage { running: 1, waiting: 32, rejected: 56 });
    end(running, milliseconds(5));
    let served = others.iter_mut().filter_map(|piece| piece.now_or_never());
    assert_eq!(served.filter(Result::is_ok).count(), 28, "each passes its turn to the next");
}

#[tokio::test]
async fn a_caller_that_leaves_gives_its_place_back() {
    let queue = FairQueue::new(1, 1);
    let running = queue.begin(key(1)).await.unwrap();
    for _ in 0..10 {
        assert!(queue.begin(key(2)).now_or_never().is_none());
    }
    drop(running);
    assert_eq!(queue.run(key(3), &WorkMeter::default(), || 7).await, Ok(7));
    assert_eq!(queue.usage(), QueueUsage::default());
    assert!(queue.0.turns().groups.is_empty(), "nobody is ahead of the queue");
}

#[tokio::test]
async fn an_idle_caller_saves_up_no_turns_and_a_busy_one_is_not_punished_for_long() {
    let queue = FairQueue::new(1, 32);
    // Alone, a caller is never ahead.
    for _ in 0..100 {
        end(queue.begin(key(1)).await.unwrap(), milliseconds(50));
    }
    assert!(queue.0.turns().groups.is_empty());
    // With another one, it is ahead by the longest lead at most.
    let other = queue.begin(key(2)).await.unwrap();
    let mut busy = queue.begin(key(1));
    end(other, Duration::ZERO);
    end((&mut busy).now_or_never().unwrap().unwrap(), Duration::from_secs(3_600));
    let turns = queue.0.turns();
    assert!(turns.time(key(1)) <= turns.now + MAX_LEAD.as_nanos() as u64);
}

#[tokio::test]
async fn batches_are_bounded_by_caller_and_leave_places_to_others() {
    let (queue, meter) = (FairQueue::new(1, 32), WorkMeter::default());
    let mut batches: Vec<QueuedBatch<'_>> = (0..4).map(|_| queue.batch(key(1), &meter).unwrap()).collect();
    assert_eq!(queue.batch(key(1), &meter).err(), Some(BatchRefused::TooManyOfCaller));
    batches.extend((2..13).flat_map(|number| [0; 4].map(|_| queue.batch(key(number), &meter).unwrap())));
    assert_eq!(batches.len(), SHARED_BATCHES);
    batches.push(queue.batch(key(20), &meter).unwrap());
    assert_eq!(queue.batch(key(20), &meter).err(), Some(BatchRefused::Overloaded), "it has one");
    batches.extend((21..36).map(|number| queue.batch(key(number), &meter).unwrap()));
    assert_eq!(queue.batch(key(40), &meter).err(), Some(BatchRefused::Overloaded));
    // Batches take no places of single pieces.
    assert_eq!(queue.run(key(41), &meter, || 7).await, Ok(7));
    let mut batch = batches.pop().unwrap();
    assert_eq!((batch.run(|| 1).await, batch.run(|| 2).await), (1, 2));
    drop((batch, batches));
    assert!(queue.batch(key(40), &meter).is_ok());
    assert!(queue.0.turns().groups.is_empty());
}

#[tokio::test]
async fn pieces_of_batches_alternate_with_searches() {
    let (queue, meter) = (FairQueue::new(1, 8), WorkMeter::default());
    let order = Mutex::new(Vec::new());
    let long = |name: &'static str, number: i64| {
        let (queue, meter, order) = (&queue, &meter, &order);
        async move {
            let mut batch = queue.batch(key(number), meter).unwrap();
            for _ in 0..3 {
                batch.run(|| order.lock().unwrap().push(name)).await;
            }
        }
    };
    let first = queue.begin(key(9)).await.unwrap();
    let search = async { queue.run(key(3), &meter, || order.lock().unwrap().push("search")).await.unwrap() };
    let release = async { drop(first) };
    futures_util::join!(long("one", 1), long("two", 2), search, release);
    let order = order.into_inner().unwrap();
    let position = order.iter().position(|name| *name == "search");
    assert!(position.is_some_and(|position| position <= 2), "{order:?}");
    assert_eq!(order.len(), 7);
    assert_eq!(queue.usage(), QueueUsage::default());
}

#[test]
fn addresses_of_a_network_share() {
    let (queue, meter) = (FairQueue::new(1, 32), WorkMeter::default());
    let fill =
        |texts: &[&str]| texts.iter().map(|text| queue.batch(address(text), &meter).unwrap()).collect::<Vec<_>>();
    let batches = fill(&["192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1", "192.0.2.1"]);
    assert!(queue.batch(address("192.0.2.1"), &meter).is_err());
    let others = fill(&["192.0.2.2"]);
    let of_64 = fill(&["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::4"]);
    assert!(queue.batch(address("2001:db8::5"), &meter).is_err());
    let texts: Vec<String> = (0..12).map(|number| format!("2001:db8:0:{}::{number}", 1 + number / 4)).collect();
    let of_56 = fill(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(queue.batch(address("2001:db8:0:7::1"), &meter).is_err(), "the /56 has four times the share");
    assert!(queue.batch(address("2001:db8:0:100::1"), &meter).is_ok());
    drop((batches, others, of_64, of_56));
    assert!(queue.0.turns().groups.is_empty());
}

/// A search that comes while a long aggregate runs does not wait for its end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_work_gives_its_turn_back_at_its_pauses() {
    let queue = Arc::new(FairQueue::new(1, 8));
    let (other_ran, meter) = (Arc::new(AtomicUsize::new(0)), Arc::new(WorkMeter::default()));
    let (started, has_started) = tokio::sync::oneshot::channel();
    let long = {
        let (queue, other_ran, meter) = (queue.clone(), other_ran.clone(), meter.clone());
        tokio::spawn(async move {
            let work = || {
                started.send(()).unwrap();
                // Ends only if the other work runs in the meantime.
                while other_ran.load(Ordering::SeqCst) == 0 {
                    let part = thread_time();
                    while thread_time() - part < 2 * PIECE {}
                    platform::pause::point();
                }
            };
            queue.run(key(1), &meter, work).await.unwrap();
        })
    };
    has_started.await.unwrap();
    let other = WorkMeter::default();
    queue.run(key(2), &other, || other_ran.fetch_add(1, Ordering::SeqCst)).await.unwrap();
    long.await.unwrap();
    assert!(meter.longest_piece() >= 2 * PIECE && meter.total() >= meter.longest_piece());
    assert_eq!(queue.usage(), QueueUsage { running: 0, waiting: 0, rejected: 0 });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Callers that always have work get processor time in proportion to their weights, whatever their pieces cost.
    #[test]
    fn processor_time_is_shared_by_weight(
        tiers in proptest::collection::vec(0_usize..4, 2..6),
        costs in proptest::collection::vec(1_u64..=5, 6),
        pieces in 1_usize..8,
    ) {
        let callers: Vec<WorkCaller> = tiers.iter().zip(0_u8..).map(|(tier, number)| match Tier::ALL.get(*tier) {
            Some(tier) => WorkCaller::Key(KeyId(number.into()), *tier),
            None => WorkCaller::Address([192, 0, 2, number].into()),
        }).collect();
        let queue = FairQueue::new(1, 64);
        let mut waiting: Vec<Vec<_>> = callers.iter().map(|_| Vec::new()).collect();
        let first = queue.begin(key(99)).now_or_never().expect("the queue is empty").unwrap();
        for (caller, waiting) in callers.iter().zip(&mut waiting) {
            waiting.extend((0..pieces).map(|_| queue.begin(*caller)));
        }
        end(first, Duration::ZERO);
        let mut used = vec![0; callers.len()];
        for _ in 0..2_000 {
            let running = waiting.iter_mut().enumerate().find_map(|(index, pieces)| {
                let ready = pieces.iter_mut().enumerate().find_map(|(at, piece)| Some((at, piece.now_or_never()?)))?;
                drop(pieces.remove(ready.0));
                Some((index, ready.1))
            });
            let (index, turn) = running.expect("somebody has the turn");
            // Replaced before the turn ends, so that the caller always waits.
            waiting[index].push(queue.begin(callers[index]));
            used[index] += costs[index];
            end(turn.expect("no piece is refused"), milliseconds(costs[index]));
        }
        let total: u64 = used.iter().sum();
        let weights: u64 = callers.iter().map(|caller| u64::from(caller.weight())).sum();
        for (caller, used) in callers.iter().zip(&used) {
            let fair = total * u64::from(caller.weight()) / weights;
            prop_assert!(used.abs_diff(fair) <= fair / 20 + 50, "{caller:?} used {used} ms of {total}, {fair} is fair");
        }
    }
}
