//! The upkeep of a running server: changes are taken up, usage is written behind.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;

use super::{Access, AccessError};

/// How often changes are looked for.
pub const REFRESH: Duration = Duration::from_millis(250);

/// Refreshes from one writing of usage to the next: once a second.
const REFRESHES_PER_FLUSH: u32 = 4;

/// How often the last writing is tried.
const LAST_TRIES: u32 = 3;

/// Refreshes `access` every 250 ms and writes its usage each second (`clock` tells Unix seconds), until `stop` is ready;
/// then writes what is left. `stop` should be ready only when the last request has been answered.
///
/// What fails goes on in memory and is tried again; `report` hears of the first failure in a row and of the recovery
/// (`None`).
///
/// # Errors
/// Where the usage could not be written at the end.
pub async fn upkeep(
    access: Arc<Access>,
    clock: fn() -> i64,
    stop: impl Future<Output = ()>,
    mut report: impl FnMut(Option<&AccessError>),
) -> Result<(), AccessError> {
    let mut stop = std::pin::pin!(stop);
    let mut ticks = tokio::time::interval(REFRESH);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut tick = 0_u32;
    let mut failing = false;
    loop {
        tokio::select! {
            () = &mut stop => break,
            _ = ticks.tick() => {}
        }
        tick = tick.wrapping_add(1);
        let flush = tick.is_multiple_of(REFRESHES_PER_FLUSH);
        let done = blocking(&access, move |access| {
            access.refresh()?;
            if flush { access.flush(clock()).map(drop) } else { Ok(()) }
        })
        .await;
        match done {
            Err(error) if !failing => {
                failing = true;
                report(Some(&error));
            }
            // Only a round that also wrote shows that writing works again.
            Ok(()) if failing && flush => {
                failing = false;
                report(None);
            }
            _ => {}
        }
    }
    let mut last = Ok(());
    for _ in 0..LAST_TRIES {
        last = blocking(&access, move |access| access.flush(clock()).map(drop)).await;
        if last.is_ok() {
            break;
        }
    }
    last
}

/// Runs what blocks on a blocking thread.
async fn blocking(
    access: &Arc<Access>,
    run: impl FnOnce(&Access) -> Result<(), AccessError> + Send + 'static,
) -> Result<(), AccessError> {
    let access = access.clone();
    let done = tokio::task::spawn_blocking(move || run(&access)).await;
    done.unwrap_or_else(|error| Err(AccessError::Database { doing: "keep the store up", source: Box::new(error) }))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use tokio::sync::oneshot;

    use super::super::account::KeyRef;
    use super::super::{ApiKey, Caller, Refused, SqliteStore, Store, Tier};
    use super::*;
    use crate::dataset::Date;

    const NOON: i64 = 1_795_262_400;

    /// Waits until `check` holds; fails after ten seconds.
    async fn wait_until(mut check: impl FnMut() -> bool) {
        let start = Instant::now();
        while !check() {
            assert!(start.elapsed() < Duration::from_secs(10), "it never came to be");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn changes_are_seen_and_usage_is_written_while_it_runs_and_at_its_end() {
        let data = tempfile::tempdir().unwrap();
        let access = Access::open(data.path(), NOON).unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async move { drop(stopped.await) };
        let task =
            tokio::spawn(upkeep(access.clone(), || NOON, stopped, |error| assert!(error.is_none(), "{error:?}")));

        let store = SqliteStore::open(data.path()).unwrap();
        let email = "ada@example.com".parse().unwrap();
        store.create_account(&email, Tier::Free, NOON).unwrap();
        let key = ApiKey::from_seed(&[6; 32]);
        let record = store.create_key(&email, &"test".parse().unwrap(), &key, NOON).unwrap();
        let header = format!("Bearer {}", key.reveal());
        let caller = || access.authenticate(Some(&header));
        wait_until(|| caller().is_ok()).await;

        let today = Date::from_unix(NOON);
        let found: Caller = caller().unwrap();
        access.take(&found, today).unwrap();
        wait_until(|| store.usage(today).unwrap().first().is_some_and(|usage| usage.requests == 1)).await;
        store.revoke_key(KeyRef::Id(record.id), NOON).unwrap();
        wait_until(|| caller() == Err(Refused::Revoked)).await;

        access.take(&found, today).unwrap();
        stop.send(()).unwrap();
        task.await.unwrap().unwrap();
        assert_eq!(store.usage(today).unwrap()[0].requests, 2);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_store_that_fails_is_reported_once_and_so_is_its_recovery() {
        let data = tempfile::tempdir().unwrap();
        let access = Access::open(data.path(), NOON).unwrap();
        let other = rusqlite::Connection::open(data.path().join("venturedex.sqlite")).unwrap();
        other.execute_batch("ALTER TABLE service RENAME TO hidden").unwrap();
        let (reports, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async move { drop(stopped.await) };
        let report = move |error: Option<&AccessError>| reports.send(error.is_some()).unwrap();
        let task = tokio::spawn(upkeep(access.clone(), || NOON, stopped, report));
        assert_eq!(heard.recv().await, Some(true));
        other.execute_batch("ALTER TABLE hidden RENAME TO service").unwrap();
        assert_eq!(heard.recv().await, Some(false));
        stop.send(()).unwrap();
        task.await.unwrap().unwrap();
        assert_eq!(heard.recv().await, None);
    }
}
