//! Metrics for Prometheus: the counters of all modules in the OpenMetrics text format, on a separate listener.
//!
//! Names and labels are documented at `/docs/operate/metrics`. Every series except that of the release exists from the
//! start, so that a rate is never unknown. Labels have few values, none chosen by a client.

pub(crate) mod process;

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures_util::stream;
use http::{Method, Request, Response, StatusCode};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use auth::AuthService;
use auth::quota::Tier;
use data::vocabulary::Vocabulary;
use platform::limits::Limit;
use platform::memory::MemoryPart;
use platform::metrics::{BOUNDS, Observations, panics};
use release::ReleaseHistory;
use release::remote::{FaultKind, Replica};
use service::State;
use service::alerts::Channel;
use transport::headers::set;
use transport::server::{Limits, RequestBody, ResponseBody, run};
use transport::telemetry::{Api, Excess, FrontEnd, RouteGroup, STATUS_CLASSES, TIERS};
use transport::{ErrorContext, Handler, RequestParts, ResponseCache, Telemetry};

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone)]
pub struct MetricsEndpoint {
    registry: Arc<Registry>,
    state: Arc<OnceLock<Arc<State>>>,
}

impl MetricsEndpoint {
    /// `started` is the start of the process in Unix seconds.
    pub fn new(telemetry: Arc<Telemetry>, auth: Arc<AuthService>, started: i64) -> Self {
        let state = Arc::default();
        let mut registry = Registry::default();
        registry.register_collector(Box::new(ServiceMetrics { telemetry, auth, state: Arc::clone(&state), started }));
        Self { registry: Arc::new(registry), state }
    }

    /// Adds the metrics that need a release to serve.
    pub fn open(&self, state: Arc<State>) {
        let _ = self.state.set(state);
    }

    pub fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        text::encode(&mut text, &self.registry)?;
        Ok(text)
    }

    /// Serves the metrics until the runtime ends.
    pub fn serve(self, listener: TcpListener) -> JoinHandle<()> {
        tokio::spawn(async move {
            if let Err(error) = run(listener, self, stream::pending(), Limits::default()).await {
                tracing::error!("metrics are no longer served: {error}");
            }
        })
    }
}

impl Handler for MetricsEndpoint {
    type Pending = std::convert::Infallible;

    fn respond(&self, request: &RequestParts<'_>) -> Result<Response<Bytes>, Self::Pending> {
        let is_read = matches!(*request.method, Method::GET | Method::HEAD);
        let (status, content_type, body) = match (request.path, is_read, self.text()) {
            ("/metrics", true, Ok(text)) => (StatusCode::OK, CONTENT_TYPE, text),
            ("/metrics", true, Err(fmt::Error)) => {
                (StatusCode::INTERNAL_SERVER_ERROR, "text/plain", "the metrics cannot be written\n".to_owned())
            }
            ("/metrics", false, _) => (StatusCode::METHOD_NOT_ALLOWED, "text/plain", "use GET\n".to_owned()),
            _ => (StatusCode::NOT_FOUND, "text/plain", "the metrics are at /metrics\n".to_owned()),
        };
        let mut response = Response::new(Bytes::from(body));
        *response.status_mut() = status;
        set(response.headers_mut(), "content-type", content_type);
        set(response.headers_mut(), "x-request-id", &request.id.to_string());
        if status == StatusCode::METHOD_NOT_ALLOWED {
            set(response.headers_mut(), "allow", "GET, HEAD");
        }
        Ok(response)
    }

    async fn respond_later(&self, pending: Self::Pending, _: Request<RequestBody>) -> Response<ResponseBody> {
        match pending {}
    }

    fn error_context(&self, _: &str) -> ErrorContext<'_> {
        ErrorContext::default()
    }
}

struct ServiceMetrics {
    telemetry: Arc<Telemetry>,
    auth: Arc<AuthService>,
    /// Empty until there is a release to serve.
    state: Arc<OnceLock<Arc<State>>>,
    /// In Unix seconds.
    started: i64,
}

impl fmt::Debug for ServiceMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServiceMetrics")
    }
}

impl Collector for ServiceMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut out = MetricsWriter(&mut encoder);
        self.requests(&mut out)?;
        self.limits(&mut out)?;
        self.connections(&mut out)?;
        self.releases(&mut out)?;
        self.alerts(&mut out)?;
        self.store(&mut out)?;
        self.process(&mut out)
    }
}

impl ServiceMetrics {
    fn requests(&self, out: &mut MetricsWriter<'_, '_>) -> fmt::Result {
        let requests = &self.telemetry.requests;
        let by_status = RouteGroup::ALL.iter().flat_map(|&group| {
            let counts = STATUS_CLASSES.into_iter().zip(requests.by_status(group));
            counts.map(move |(class, count)| ([("route", group.name()), ("status", class)], count))
        });
        out.counters("venturedex_http_requests", "Requests by route group and status class", by_status)?;
        let by_tier = Api::ALL.iter().flat_map(|&api| {
            let counts = TIERS.into_iter().zip(requests.by_tier(api));
            counts.map(move |(tier, count)| ([("api", api.name()), ("tier", tier.map_or("none", Tier::name))], count))
        });
        out.counters("venturedex_api_requests", "Requests by API version and tier of the key", by_tier)?;
        let durations = FrontEnd::ALL.iter();
        let durations = durations.map(|&front_end| ([("front_end", front_end.name())], requests.durations(front_end)));
        out.histograms("venturedex_http_request_duration", "Time from a request's head to its response", durations)?;
        let cut = self.telemetry.aborted.get();
        out.counter("venturedex_http_responses_cut", "Responses that ended early by a fault of the server", cut)?;
        let abandoned = self.telemetry.abandoned.get();
        out.counter("venturedex_http_responses_abandoned", "Responses that their clients ended early", abandoned)?;
        let searches = search::DURATIONS.observations();
        out.histograms::<0>("venturedex_search_duration", "Time of a search by name", [([], searches)])?;

        let cache = self.state.get().map(|state| &state.response_cache);
        let (hits, misses) = cache.map_or((0, 0), |cache| (cache.hits(), cache.misses()));
        let found = [([("result", "hit")], hits), ([("result", "miss")], misses)];
        out.counters("venturedex_response_cache_requests", "Cacheable responses by whether they were cached", found)?;
        let bytes = cache.map_or(0, ResponseCache::bytes) as i64;
        out.gauge("venturedex_response_cache", Some(Unit::Bytes), "Memory of cached responses", bytes)?;
        self.memory(out)?;
        out.counter("venturedex_panics", "Panics that were caught", panics::count())?;
        let dropped = self.telemetry.access_log.as_ref().map_or(0, |log| log.dropped());
        out.counter("venturedex_access_log_dropped_lines", "Lines that the access log lost", dropped)
    }

    /// The budget of memory, and what is used of it by the parts that are measured.
    fn memory(&self, out: &mut MetricsWriter<'_, '_>) -> fmt::Result {
        let state = self.state.get();
        let label = |part: MemoryPart| [("part", part.name())];
        let budget = MemoryPart::ALL.map(|part| (label(part), state.map_or(0, |state| state.memory.part(part)) as i64));
        out.gauges("venturedex_memory_budget", Some(Unit::Bytes), "Share of a part of --memory", budget)?;
        let loaded = state.map_or_else(Vec::new, |state| state.releases.all());
        let index = state.and_then(|state| state.index.as_ref());
        let used = [
            (MemoryPart::Releases, index.map_or(0, |index| index.held_bytes(loaded.iter().map(|loaded| &**loaded)))),
            (MemoryPart::Responses, state.map_or(0, |state| state.response_cache.bytes())),
            (MemoryPart::Searches, loaded.iter().map(|loaded| loaded.search_bytes()).sum()),
        ];
        let used = used.map(|(part, bytes)| (label(part), bytes as i64));
        out.gauges("venturedex_memory_used", Some(Unit::Bytes), "Memory that a part uses", used)
    }

    fn limits(&self, out: &mut MetricsWriter<'_, '_>) -> fmt::Result {
        let denied = self.auth.denied().map(|(limit, count)| ([("limit", limit)], count));
        out.counters("venturedex_quota_denials", "Requests above a daily quota or a rate limit", denied)?;
        let work = self.state.get().map(|state| state.work.usage()).unwrap_or_default();
        let queues = [("work", work), ("passwords", self.auth.password_queue())];
        let running = queues.map(|(queue, usage)| ([("queue", queue)], usage.running as i64));
        out.gauges("venturedex_queue_running", None, "Work that runs", running)?;
        let waiting = queues.map(|(queue, usage)| ([("queue", queue)], usage.waiting as i64));
        out.gauges("venturedex_queue_waiting", None, "Work that waits for its turn", waiting)?;
        let rejected = queues.map(|(queue, usage)| ([("queue", queue)], usage.rejected));
        out.counters("venturedex_queue_rejections", "Work that found its queue full", rejected)?;
        let pieces = self.state.get().map(|state| state.work.pieces()).unwrap_or_default();
        out.histograms::<0>("venturedex_work_duration", "Processor time of a piece of work", [([], pieces)])
    }

    fn connections(&self, out: &mut MetricsWriter<'_, '_>) -> fmt::Result {
        let connections = &self.telemetry.connections;
        out.gauge("venturedex_connections_open", None, "Open connections", connections.open() as i64)?;
        out.counter("venturedex_connections", "Connections that were accepted", connections.accepted.get())?;
        let refused = Excess::ALL.iter();
        let refused = refused.map(|&reason| ([("limit", reason.name())], connections.refused[reason as usize].get()));
        out.counters("venturedex_connections_refused", "Connections above a limit", refused)?;
        let evicted = connections.evicted.get();
        out.counter("venturedex_connections_evicted", "Idle connections closed for new ones", evicted)?;
        out.counter("venturedex_accept_failures", "Connections that the system refused", connections.failed.get())
    }

    fn releases(&self, out: &mut MetricsWriter<'_, '_>) -> fmt::Result {
        let releases = self.state.get().map(|state| &state.releases);
        if let Some(served) = releases.map(|releases| releases.current()) {
            let bundled = if served.is_bundled() { "true" } else { "false" };
            let labels = [("snapshot", &*served.version().to_string()), ("bundled", bundled)];
            out.info("venturedex_release", "The release that is served", labels)?;
        }
        let loaded = releases.map_or(0, |releases| releases.all().len());
        out.gauge("venturedex_releases_loaded", None, "Releases in memory", loaded as i64)?;
        let ReleaseHistory { swaps, rejections, file_changes, .. } =
            releases.map(|releases| releases.history()).unwrap_or_default();
        out.counter("venturedex_release_swaps", "Times that another release was served", swaps)?;
        out.counter("venturedex_release_rejections", "Releases that were not served", rejections)?;
        let help = "Times that files of the served release were changed";
        out.counter("venturedex_release_file_changes", help, file_changes)?;
        let replica = releases.and_then(|releases| releases.replica());
        let generation = i64::try_from(replica.map_or(0, Replica::generation)).unwrap_or(i64::MAX);
        let help = "Changes of the current release, as read last";
        out.gauge("venturedex_object_store_generation", None, help, generation)?;
        let failures = replica.map_or(0, Replica::failures);
        out.counter("venturedex_object_store_failures", "Reads of the object store that failed", failures)?;
        let faults = replica.map(Replica::fault_counts).unwrap_or_default();
        let faults = FaultKind::ALL.iter().zip(faults).map(|(kind, count)| ([("fault", kind.name())], count));
        let help = "Reads of the object store that are not believed";
        out.counters("venturedex_object_store_pointer_faults", help, faults)?;
        let until = replica.and_then(Replica::not_after).unwrap_or(0);
        let help = "Time at which the pointer to the current release is out of date, Unix time";
        out.gauge("venturedex_object_store_pointer_expiry", Some(Unit::Seconds), help, until)
    }

    fn alerts(&self, out: &mut MetricsWriter<'_, '_>) -> fmt::Result {
        let counts = self.state.get().map(|state| &state.alerts.counts);
        let alerts = counts.map_or(0, |counts| counts.alerts.get());
        out.counter("venturedex_alerts", "Alerts of saved searches and lists", alerts)?;
        let messages = Channel::ALL.iter().flat_map(|&channel| {
            let counts = counts.map_or([0, 0], |counts| counts.messages(channel));
            let results = ["delivered", "failed"].into_iter().zip(counts);
            results.map(move |(result, count)| ([("channel", channel.name()), ("result", result)], count))
        });
        out.counters("venturedex_alert_messages", "Attempts to send alerts", messages)
    }

    fn store(&self, out: &mut MetricsWriter<'_, '_>) -> fmt::Result {
        let measured = self.auth.store().measurements();
        out.histograms::<0>("venturedex_store_duration", "Time of a call of the database", [([], measured.durations)])?;
        out.counter("venturedex_store_failures", "Calls of the database that failed", measured.failures)?;
        let counts = self.auth.lease_counts();
        let leases = [([("result", "granted")], counts.leased), ([("result", "failed")], counts.failed)];
        out.counters("venturedex_quota_leases", "Calls of the database for units of shared quotas", leases)?;
        let unleased = counts.unleased;
        out.counter("venturedex_quota_unleased_requests", "Requests admitted while the database was away", unleased)?;
        let recovered = counts.recovered;
        out.counter("venturedex_quota_recovered_units", "Units of killed servers that were given back", recovered)?;
        let help = "Seconds by which the clock of the database is ahead";
        out.gauge("venturedex_store_clock_ahead", Some(Unit::Seconds), help, self.auth.clock_ahead())?;
        let help = "Jumps of the clock by more than a day";
        out.counter("venturedex_clock_jumps", help, self.auth.clock_jumps())?;
        let is_degraded = i64::from(self.auth.degraded().is_some());
        out.gauge("venturedex_store_degraded", None, "Whether usage is not written (1) or is (0)", is_degraded)
    }

    fn process(&self, out: &mut MetricsWriter<'_, '_>) -> fmt::Result {
        out.info("venturedex_build", "The program", [("version", env!("CARGO_PKG_VERSION"))])?;
        out.gauge("process_start_time", Some(Unit::Seconds), "Start of the process, Unix time", self.started)?;
        if let Some(bytes) = process::resident_bytes() {
            out.gauge("process_resident_memory", Some(Unit::Bytes), "Resident memory", bytes)?;
        }
        if let Some(seconds) = process::cpu_seconds() {
            let mut metric =
                out.0.encode_descriptor("process_cpu", "CPU time", Some(&Unit::Seconds), MetricType::Counter)?;
            metric.encode_counter::<NoLabelSet, _, f64>(&seconds, None)?;
        }
        if let Some(open) = process::open_files() {
            out.gauge("process_open_fds", None, "Open file descriptors", open)?;
        }
        if let Some(limit) = Limit::OpenFiles.of_process("self").and_then(|limit| i64::try_from(limit).ok()) {
            out.gauge("process_max_fds", None, "Limit of open file descriptors", limit)?;
        }
        Ok(())
    }
}

struct MetricsWriter<'a, 'b>(&'a mut DescriptorEncoder<'b>);

type MetricLabels<'a, const N: usize> = [(&'a str, &'a str); N];

impl MetricsWriter<'_, '_> {
    fn write<'l, const N: usize, V>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        kind: MetricType,
        values: impl IntoIterator<Item = (MetricLabels<'l, N>, V)>,
        encode: impl Fn(&mut MetricEncoder<'_>, &V) -> fmt::Result,
    ) -> fmt::Result {
        let mut metric = self.0.encode_descriptor(name, help, unit, kind)?;
        for (labels, value) in values {
            // With no labels, the encoder would write empty braces after the name.
            match N {
                0 => encode(&mut metric, &value)?,
                _ => encode(&mut metric.encode_family(&labels)?, &value)?,
            }
        }
        Ok(())
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        self.counters::<0>(name, help, [([], value)])
    }

    fn counters<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        values: impl IntoIterator<Item = (MetricLabels<'l, N>, u64)>,
    ) -> fmt::Result {
        self.write(name, help, None, MetricType::Counter, values, |series, value| {
            series.encode_counter::<NoLabelSet, _, f64>(value, None)
        })
    }

    fn gauge(&mut self, name: &str, unit: Option<Unit>, help: &str, value: impl EncodeGaugeValue) -> fmt::Result {
        self.gauges::<0, _>(name, unit, help, [([], value)])
    }

    fn gauges<'l, const N: usize, V: EncodeGaugeValue>(
        &mut self,
        name: &str,
        unit: Option<Unit>,
        help: &str,
        values: impl IntoIterator<Item = (MetricLabels<'l, N>, V)>,
    ) -> fmt::Result {
        self.write(name, help, unit.as_ref(), MetricType::Gauge, values, |series, value| series.encode_gauge(value))
    }

    fn histograms<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        values: impl IntoIterator<Item = (MetricLabels<'l, N>, Observations)>,
    ) -> fmt::Result {
        self.write(name, help, Some(&Unit::Seconds), MetricType::Histogram, values, |series, observed| {
            let bounds = BOUNDS.into_iter().chain([f64::INFINITY]);
            let buckets: Vec<(f64, u64)> = bounds.zip(observed.counts).collect();
            let count = observed.counts.iter().sum();
            series.encode_histogram::<NoLabelSet>(observed.seconds, count, &buckets, None)
        })
    }

    fn info<const N: usize>(&mut self, name: &str, help: &str, labels: MetricLabels<'_, N>) -> fmt::Result {
        self.0.encode_descriptor(name, help, None, MetricType::Info)?.encode_info(&labels)
    }
}
