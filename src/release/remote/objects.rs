//! Objects in a bucket or a folder, through blocking calls.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::TryStreamExt;
use object_store::aws::{AmazonS3Builder, S3ConditionalPut};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, RetryConfig, UpdateVersion,
};
use tokio::runtime::Runtime;

use crate::remote::credentials;
use crate::{ReleaseError, ReleaseResult, lock, permissions};
use platform::{USER_AGENT, tls};

/// Timeout from the name look-up to the end of the response.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Timeout of a request including all retries.
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);
const RETRIES: usize = 2;
/// Maximum size of a response in bytes.
const MAX_RESPONSE: u64 = 128 << 20;

pub(crate) struct RemoteObjects {
    pub(crate) place: String,
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    /// The folder, if it is not a bucket.
    folder: Option<PathBuf>,
    /// A separate runtime, so that callers may block in any context.
    runtime: Option<Runtime>,
}

#[derive(Clone, Debug)]
pub(crate) struct StoredObject {
    pub bytes: Vec<u8>,
    e_tag: Option<String>,
}

pub(crate) struct ListedObject {
    pub name: String,
    pub bytes: u64,
    /// In Unix seconds.
    pub modified_at: i64,
}

impl RemoteObjects {
    pub(crate) fn open(place: &str) -> ReleaseResult<Self> {
        let bad = |error: String| ReleaseError::ObjectStore { place: place.to_owned(), error };
        let invalid = |error: Error| bad(error.to_string());
        let (store, prefix, folder): (Arc<dyn ObjectStore>, _, _) = if let Some(rest) = place.strip_prefix("s3://") {
            let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
            if bucket.is_empty() {
                return Err(bad("name a bucket, such as s3://releases/production".into()));
            }
            let builder = credentials::add(AmazonS3Builder::from_env())
                .map_err(bad)?
                .with_bucket_name(bucket)
                .with_conditional_put(S3ConditionalPut::ETagMatch)
                .with_http_connector(Connector)
                .with_retry(RetryConfig {
                    backoff: BackoffConfig::default(),
                    max_retries: RETRIES,
                    retry_timeout: RETRY_TIMEOUT,
                });
            let prefix = Path::parse(prefix.trim_end_matches('/')).map_err(|error| bad(error.to_string()))?;
            (Arc::new(builder.build().map_err(invalid)?), prefix, None)
        } else {
            let folder = place.strip_prefix("file://").filter(|folder| folder.starts_with('/'));
            let folder =
                folder.ok_or_else(|| bad("name a folder by its whole path, such as file:///srv/releases".into()))?;
            let folder = PathBuf::from(folder);
            permissions::create_folder(&folder, true).map_err(|error| bad(error.to_string()))?;
            let store = LocalFileSystem::new_with_prefix(&folder).map_err(invalid)?.with_fsync(true);
            (Arc::new(store), Path::default(), Some(folder))
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("object-store")
            .enable_all()
            .build()
            .map_err(|error| bad(error.to_string()))?;
        Ok(Self { place: place.trim_end_matches('/').to_owned(), store, prefix, folder, runtime: Some(runtime) })
    }

    pub(crate) fn error(&self, name: &str, error: impl ToString) -> ReleaseError {
        ReleaseError::ObjectStore { place: format!("{}/{name}", self.place), error: error.to_string() }
    }

    fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.as_ref().expect("there until it is dropped").block_on(work)
    }

    fn path(&self, name: &str) -> Path {
        name.split('/').fold(self.prefix.clone(), |path, part| path.join(part))
    }

    /// Reads an object of at most `limit` bytes; `None` if there is none.
    pub(crate) fn get(&self, name: &str, limit: u64) -> ReleaseResult<Option<StoredObject>> {
        let Some(found) = self.find(name, self.store.get(&self.path(name)))? else { return Ok(None) };
        let (size, e_tag) = (found.meta.size, found.meta.e_tag.clone());
        if size > limit {
            return Err(self.error(name, format!("has {size} bytes, at most {limit} are expected")));
        }
        let bytes = self.run(found.bytes()).map_err(|error| self.error(name, error))?;
        Ok(Some(StoredObject { bytes: bytes.to_vec(), e_tag }))
    }

    /// Reads a part of an object, which must be there.
    pub(crate) fn get_part(&self, name: &str, part: Range<u64>) -> ReleaseResult<Vec<u8>> {
        let bytes = self.run(self.store.get_range(&self.path(name), part));
        bytes.map(|bytes| bytes.to_vec()).map_err(|error| self.error(name, error))
    }

    /// Sends a request for an object; `None` if there is no such object.
    fn find<T>(&self, name: &str, request: impl Future<Output = Result<T, Error>>) -> ReleaseResult<Option<T>> {
        match self.run(request) {
            Ok(found) => Ok(Some(found)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.error(name, error)),
        }
    }

    pub(crate) fn put(&self, name: &str, bytes: Vec<u8>) -> ReleaseResult<()> {
        let result = self.run(self.store.put(&self.path(name), bytes.into()));
        result.map(|_| ()).map_err(|error| self.error(name, error))
    }

    /// Replaces an object if it is as it was `read`, or creates it if there was none. False if it has changed.
    pub(super) fn replace(&self, name: &str, bytes: Vec<u8>, read: Option<&StoredObject>) -> ReleaseResult<bool> {
        if let (Some(folder), Some(read)) = (&self.folder, read) {
            // Folders have no conditional replacement: writers exclude each other with a lock.
            let _lock = lock::switch(folder)?;
            let now = self.get(name, u64::MAX)?;
            return match now {
                Some(now) if now.bytes == read.bytes => self.put(name, bytes).map(|()| true),
                _ => Ok(false),
            };
        }
        let mode = match read {
            None => PutMode::Create,
            Some(read) => PutMode::Update(UpdateVersion { e_tag: read.e_tag.clone(), version: None }),
        };
        let options = PutOptions::from(mode);
        match self.run(self.store.put_opts(&self.path(name), bytes.into(), options)) {
            Ok(_) => Ok(true),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(self.error(name, error)),
        }
    }

    /// In Unix seconds; `None` if there is no such object.
    pub(super) fn modified_at(&self, name: &str) -> ReleaseResult<Option<i64>> {
        let found = self.find(name, self.store.head(&self.path(name)))?;
        Ok(found.map(|meta| meta.last_modified.timestamp()))
    }

    /// Lists the objects in a folder and below it; `folder` is empty for all.
    pub(crate) fn list(&self, folder: &str) -> ReleaseResult<Vec<ListedObject>> {
        let within = if folder.is_empty() { self.prefix.clone() } else { self.path(folder) };
        let listed: Result<Vec<_>, Error> = self.run(self.store.list(Some(&within)).try_collect());
        let listed = listed.map_err(|error| self.error(folder, error))?;
        let entry = |meta: object_store::ObjectMeta| {
            let parts = meta.location.prefix_match(&self.prefix)?;
            let name = parts.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/");
            Some(ListedObject { name, bytes: meta.size, modified_at: meta.last_modified.timestamp() })
        };
        Ok(listed.into_iter().filter_map(entry).collect())
    }

    pub(super) fn remove(&self, name: &str) -> ReleaseResult<()> {
        self.find(name, self.store.delete(&self.path(name))).map(drop)
    }
}

impl Drop for RemoteObjects {
    fn drop(&mut self) {
        // Dropping a runtime in place blocks, which is forbidden in asynchronous code.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[derive(Debug)]
struct Connector;

#[derive(Debug)]
struct UreqClient(ureq::Agent);

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections_per_host(super::CONCURRENCY)
            .timeout_global(Some(TIMEOUT))
            .timeout_connect(Some(Duration::from_secs(5)))
            .user_agent(USER_AGENT)
            .tls_config(tls::system_roots())
            .build();
        Ok(HttpClient::new(UreqClient(config.into())))
    }
}

#[async_trait]
impl HttpService for UreqClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let agent = self.0.clone();
        let (parts, body) = request.into_parts();
        let body = http_body_util::BodyExt::collect(body).await?.to_bytes();
        let sent = tokio::task::spawn_blocking(move || send(&agent, parts, &body)).await;
        sent.map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error))?
    }
}

fn send(agent: &ureq::Agent, parts: http::request::Parts, body: &[u8]) -> Result<HttpResponse, HttpError> {
    let has_body = !body.is_empty() || matches!(parts.method, http::Method::PUT | http::Method::POST);
    let response = match has_body {
        true => agent.run(http::Request::from_parts(parts, body)),
        false => agent.run(http::Request::from_parts(parts, ())),
    };
    let (parts, mut body) = response.map_err(error)?.into_parts();
    let bytes = body.with_config().limit(MAX_RESPONSE).read_to_vec().map_err(error)?;
    Ok(HttpResponse::from_parts(parts, bytes::Bytes::from(bytes).into()))
}

fn error(error: ureq::Error) -> HttpError {
    let kind = match &error {
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => HttpErrorKind::Connect,
        ureq::Error::Io(_) => HttpErrorKind::Interrupted,
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, error)
}
