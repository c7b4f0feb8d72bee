//! `indexer build --reviews PLACE`: the approved reviews of accounts are part of the release.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use tempfile::TempDir;
use time::OffsetDateTime;

use crate::app::settings::StoreSettings;
use crate::cli::indexer::build::BuildArgs;
use crate::cli::indexer::{CommandError, CommandResult, Style};
use crate::cli::reviews;
use ::import::sources::SourceError;
use auth::{Store, StoreError, StoreUrl, has_database};
use data::SnapshotVersion;
use data::import::FurtherReviews;
use data::import::csv_table::TableRow as _;
use data::import::rows::DatasetReview;
use platform::clock;
use release::ReleaseStore;
use release::remote::RemoteStore;

/// Interval between looks at the store and at a folder of releases.
const INTERVAL: Duration = Duration::from_secs(1);
/// The same of an object store, whose requests cost money; also the shortest time between two releases, so that approvals in a
/// row make one.
const LONG_INTERVAL: Duration = Duration::from_secs(10);
/// Seconds for which objects of an object store stay that no release needs: they may belong to a push that is running.
const PRUNE_GRACE: i64 = 7 * 86_400;
/// The longest interval after failures, each of which doubles it.
const MAX_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Args)]
pub(super) struct ReviewArgs {
    /// Publish the approved reviews of accounts, too, as the next release of today: the folder of `venturedex serve --data`, or
    /// the address of its --store, postgres://…
    #[arg(long, value_name = "PLACE", conflicts_with_all = ["release", "released_on"])]
    reviews: Option<String>,
    /// File whose only line is the password of that database
    #[arg(long, value_name = "FILE", env = "VENTUREDEX_STORE_PASSWORD_FILE", requires = "reviews")]
    store_password_file: Option<PathBuf>,
    /// Keep running, and publish again within seconds when approved reviews have changed, or somebody has published a release
    /// without them
    #[arg(long, requires = "reviews")]
    pub(super) follow: bool,
    /// Number of newest releases to keep after each that is published; the others are deleted [default: all]
    #[arg(long, value_name = "N", requires = "follow")]
    keep: Option<usize>,
}

impl ReviewArgs {
    pub(super) fn open(&self) -> Result<Option<Box<dyn Store>>, StoreError> {
        let Some(place) = &self.reviews else { return Ok(None) };
        let is_url = place.contains("://");
        let url = is_url.then(|| place.parse::<StoreUrl>().unwrap_or_else(|never| match never {}));
        let settings = StoreSettings {
            store: url,
            store_password_file: self.store_password_file.clone(),
            store_connections: 1,
            ..StoreSettings::default()
        };
        let data = PathBuf::from(place);
        if !is_url && !has_database(&data) {
            let reason = "no server has kept accounts here; name the folder of `venturedex serve --data`, or the address of --store";
            return Err(StoreError::Unusable { place: format!("--reviews {place}"), reason: reason.to_owned() });
        }
        settings.open(&data).map(Some)
    }
}

/// The reviews of a store at one time.
pub(super) struct ExportedReviews {
    file: PathBuf,
    /// Ids of reviews that were public and no longer are.
    pub(super) withdrawn: Vec<String>,
    /// The last change that is certainly included.
    change: i64,
    /// Has the file until this is dropped.
    _folder: TempDir,
}

impl ExportedReviews {
    pub(super) fn read(store: &dyn Store) -> Result<Self, CommandError> {
        let public = store.public_reviews()?;
        let io = |error| SourceError::io(&std::env::temp_dir(), error);
        let folder = tempfile::tempdir().map_err(io)?;
        let withdrawn = reviews::write(folder.path(), &public.reviews).map_err(io)?;
        let file = folder.path().join(DatasetReview::FILE);
        Ok(Self { file, withdrawn, change: public.change, _folder: folder })
    }

    pub(super) fn input(&self) -> FurtherReviews<'_> {
        FurtherReviews { file: &self.file, name: "reviews of accounts", withdrawn: &self.withdrawn }
    }
}

/// Publishes the reviews of the store whenever they have changed, until the process ends.
///
/// Several may run at a time: of one index only one builds, and in an object store only one replaces a release by the next; the
/// others then find that what they build is published. A process that is killed has published the whole or nothing.
pub(super) fn follow(build: &BuildArgs, store: &dyn Store, style: &Style) -> CommandResult {
    let mut follower = Follower::new(build, store)?;
    let interval = if follower.remote.is_some() { LONG_INTERVAL } else { INTERVAL };
    let mut failures = 0_u32;
    loop {
        let result = follower.publish_changes(style);
        failures = if result.is_ok() { 0 } else { failures + 1 };
        let pause = match result {
            Ok(false) => interval,
            Ok(true) => LONG_INTERVAL,
            Err(error) => {
                error.print(style);
                (INTERVAL * 2_u32.saturating_pow(failures)).min(MAX_INTERVAL)
            }
        };
        sleep(pause);
    }
}

struct Follower<'f> {
    build: &'f BuildArgs,
    store: &'f dyn Store,
    releases: ReleaseStore,
    remote: Option<RemoteStore>,
    /// The change that was published, and the release that was current then.
    published: Option<(i64, Option<SnapshotVersion>)>,
    /// The latest release that was current. An operator who has activated an earlier one decides when to go on.
    latest: Option<SnapshotVersion>,
}

impl<'f> Follower<'f> {
    fn new(build: &'f BuildArgs, store: &'f dyn Store) -> Result<Self, CommandError> {
        let (releases, remote) = (build.index.releases(), build.index.remote(None)?);
        let latest = releases.versions()?.into_iter().next().filter(|_| remote.is_none());
        Ok(Self { build, store, releases, remote, published: None, latest })
    }

    /// Builds a release if the reviews or the current release have changed.
    fn publish_changes(&mut self, style: &Style) -> Result<bool, CommandError> {
        let current = match &self.remote {
            Some(remote) => remote.sync(&self.releases, false)?.pointer.map(|pointer| pointer.release),
            None => self.releases.current()?,
        };
        if self.published == Some((self.store.review_change()?, current)) {
            return Ok(false);
        }
        if let Some((current, latest)) = current.zip(self.latest).filter(|(current, latest)| current < latest) {
            return Err(CommandError::RolledBack { current, latest });
        }
        let exported = ExportedReviews::read(self.store)?;
        self.build.build(Some(&exported), OffsetDateTime::now_utc(), style)?;
        if let Some(keep) = self.build.reviews.keep {
            match &self.remote {
                Some(remote) => drop(remote.prune(keep, PRUNE_GRACE, clock::now())?),
                None => drop(self.releases.prune(keep)?),
            }
        }
        let current = self.releases.current()?;
        self.latest = current.max(self.latest);
        self.published = Some((exported.change, current));
        Ok(true)
    }
}
