//! Reviews of accounts in releases: `indexer build --reviews`, once and with `--follow`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use auth::account::AccountId;
use auth::quota::Tier;
use auth::review::{ReviewAction, ReviewAnswers, ReviewDecision, ReviewId, ReviewState, SavedReview};
use auth::{SqliteStore, Store};
use data::{ReviewProof, SnapshotVersion, Table};
use platform::clock;
use release::ReleaseStore;

use crate::support::harness::{Dice, rounds};
use crate::support::two_firms::dataset;

/// A dataset, the store of a server, and an index.
struct Publication {
    dataset: TempDir,
    folder: TempDir,
    store: Box<dyn Store>,
    operator: AccountId,
}

impl Publication {
    fn new() -> Self {
        let (dataset, folder) = (dataset("r-1,tidewick,seed,,2025-06-01,,alder\n", ""), tempfile::tempdir().unwrap());
        let store: Box<dyn Store> = Box::new(SqliteStore::open(&folder.path().join("data")).unwrap());
        store.cursor_secret([7; 32]).unwrap();
        let operator = account(&*store, "operator");
        store.set_operator(operator, true).unwrap();
        Self { dataset, folder, store, operator }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn releases(&self) -> ReleaseStore {
        ReleaseStore::at(self.folder.path().join("index"))
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_indexer"));
        let index = self.folder.path().join("index");
        command.args(words).env("VENTUREDEX_DATASET", self.dataset.path()).env("VENTUREDEX_INDEX", index);
        command.stdin(Stdio::null());
        command
    }

    /// What the command writes, with the exit code.
    fn run(&self, words: &[&str]) -> (Option<i32>, String) {
        let output = self.command(words).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    }

    fn build(&self) -> String {
        let (code, text) = self.run(&["build", "--verbose", "--reviews", self.data().to_str().unwrap()]);
        assert_eq!(code, Some(0), "{text}");
        text
    }

    fn follow(&self) -> Follower {
        let log = fs::File::options().create(true).append(true).open(self.log()).unwrap();
        let mut command = self.command(&["build", "--follow", "--reviews", self.data().to_str().unwrap()]);
        Follower(command.stdout(Stdio::null()).stderr(log).spawn().unwrap())
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// An approved review of a new author.
    fn approve(&self, id: &str, firm: &str) -> ReviewId {
        let author = account(&*self.store, id);
        let answers = ReviewAnswers {
            rating: Some(4),
            title: format!("Title of {id}"),
            body: "Two lines,\n\"quoted\".".to_owned(),
            ..ReviewAnswers::default()
        };
        let saved = SavedReview {
            id: None,
            firm: firm.to_owned(),
            former_slugs: Vec::new(),
            public_id: id.to_owned(),
            answers,
            response: None,
            submits: true,
            proof: ReviewProof::None,
        };
        let review = self.store.save_review(author, &saved, clock::now()).unwrap();
        self.decide(review.id, ReviewAction::Approve);
        review.id
    }

    fn decide(&self, review: ReviewId, action: ReviewAction) {
        let found = self.store.review_case(review).unwrap().review;
        let decision =
            ReviewDecision { action, reason: "a reason".to_owned(), proof: ReviewProof::None, is_cleared: false };
        self.store.decide_review(self.operator, review, found.version, &decision, clock::now()).unwrap();
    }

    /// Ids and firms of the reviews of the current release, by id.
    fn published(&self) -> Vec<(String, String)> {
        let releases = self.releases();
        let Some(current) = releases.current().unwrap() else { return Vec::new() };
        let release = releases.open(current).unwrap();
        let snapshot = release.catalog.snapshot();
        let reviews = (0..snapshot.rows(Table::Reviews)).map(|row| {
            let record = snapshot.record(Table::Reviews, row).json();
            let record: Value = serde_json::from_slice(&record).unwrap();
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (text(&record["id"]), text(&record["vc"]["slug"]))
        });
        let mut reviews: Vec<(String, String)> = reviews.collect();
        reviews.sort_unstable();
        reviews
    }

    /// Waits until the current release has exactly these reviews.
    fn wait_for(&self, reviews: &[(&str, &str)]) {
        let start = Instant::now();
        loop {
            let published = self.published();
            let found: Vec<(&str, &str)> = published.iter().map(|(id, firm)| (&**id, &**firm)).collect();
            if found == reviews {
                return;
            }
            let log = fs::read_to_string(self.log()).unwrap_or_default();
            assert!(start.elapsed() < Duration::from_secs(60), "{found:?} in place of {reviews:?}\n{log}");
            sleep(Duration::from_millis(50));
        }
    }
}

/// A process that is killed when it is dropped.
struct Follower(Child);

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn account(store: &dyn Store, name: &str) -> AccountId {
    let email = format!("{name}@example.com").parse().unwrap();
    let account = store.create_account(&email, Tier::Free, None, clock::now()).unwrap().id;
    store.verify_account(account, clock::now()).unwrap().id
}

fn append(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    let before = fs::read_to_string(&path).unwrap_or_default();
    fs::write(path, before + text).unwrap();
}

#[test]
fn approved_reviews_are_published_with_those_of_the_dataset() {
    let publication = Publication::new();
    let folder = publication.dataset.path();
    append(folder, "reviews.csv", "d-1,birch,,3,,,,,,,approved,2025-01-02\nv-1,birch,,1,,,,,,,approved,2025-01-02\n");
    append(folder, "redirects.csv", "kind,slug,target\nfirm,old-alder,alder\n");
    let first = publication.approve("v-1", "alder");
    publication.approve("v-2", "old-alder");
    publication.approve("v-3", "cedar");
    let log = publication.build();
    // The store's row replaces the one of the file, whose firm it had then; `cedar` is not in the dataset.
    let reviews = [("d-1", "birch"), ("v-1", "alder"), ("v-2", "alder")];
    publication.wait_for(&reviews);
    assert!(log.contains("reviews of accounts: v-3 is left out until the dataset has a firm \"cedar\""), "{log}");
    // Again: nothing new. The version is that of today, whatever snapshot.toml says.
    assert!(publication.build().contains("is already published with the same content"));
    let versions = publication.releases().versions().unwrap();
    let today = data::Date::from_unix(clock::now());
    assert!(versions.len() == 1 && versions[0].date >= today, "{versions:?}");
    // Withdrawn reviews disappear, also from the rows of the dataset.
    append(folder, "reviews.csv", "v-2,birch,,2,,,,,,,approved,2025-01-02\n");
    let second = publication.approve("v-4", "birch");
    publication.decide(first, ReviewAction::Hide);
    let author = publication.store.review_case(second).unwrap().review.account.unwrap();
    publication.store.withdraw_review(author, second, clock::now()).unwrap();
    publication.build();
    publication.wait_for(&[("d-1", "birch"), ("v-2", "alder")]);
    publication.decide(first, ReviewAction::Approve);
    publication.build();
    publication.wait_for(&reviews);
    let (code, text) = publication.run(&["build", "--reviews", folder.to_str().unwrap()]);
    assert!(code != Some(0) && text.contains("no server has kept accounts here"), "{text}");
}

#[test]
fn a_follower_publishes_every_change_once_whatever_is_killed() {
    let publication = Publication::new();
    let mut dice = Dice(rounds(7, 3) as u64);
    let mut expected: Vec<(String, String)> = Vec::new();
    let mut reviews: Vec<ReviewId> = Vec::new();
    for number in 0..rounds(500, 4) {
        let _followers = [publication.follow(), publication.follow()];
        sleep(Duration::from_millis(dice.upto(1_500)));
        let (id, firm) = (format!("v-{number:03}"), ["alder", "birch"][number % 2]);
        reviews.push(publication.approve(&id, firm));
        expected.push((id, firm.to_owned()));
        if number % 3 == 2 {
            // An author deletes a review that may be public by now.
            let review = reviews.swap_remove(dice.upto(reviews.len() as u64) as usize);
            let found = publication.store.review_case(review).unwrap().review;
            assert_eq!(found.state, ReviewState::Approved);
            publication.store.delete_review(found.account.unwrap(), review, clock::now()).unwrap();
            expected.retain(|(id, _)| *id != found.public_id);
        }
        sleep(Duration::from_millis(dice.upto(1_500)));
    }
    let _follower = publication.follow();
    let expected: Vec<(&str, &str)> = expected.iter().map(|(id, firm)| (&**id, &**firm)).collect();
    publication.wait_for(&expected);
    let releases = publication.releases();
    for version in releases.versions().unwrap() {
        releases.open(version).unwrap().smoke_test().unwrap();
    }
}

#[test]
fn a_follower_does_not_undo_a_roll_back() {
    let publication = Publication::new();
    publication.build();
    publication.approve("v-1", "alder");
    publication.build();
    let [second, first]: [SnapshotVersion; 2] = publication.releases().versions().unwrap().try_into().unwrap();
    assert_eq!(publication.run(&["activate", &first.to_string()]).0, Some(0));
    publication.approve("v-2", "birch");
    let _follower = publication.follow();
    let start = Instant::now();
    let message = format!("{first} is current, though {second} was published later");
    while !fs::read_to_string(publication.log()).unwrap().contains(&message) {
        assert!(start.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(50));
    }
    assert_eq!(publication.releases().current().unwrap(), Some(first));
    assert_eq!(publication.run(&["activate", &second.to_string()]).0, Some(0));
    publication.wait_for(&[("v-1", "alder"), ("v-2", "birch")]);
}
