//! The fuzz targets. Each takes any bytes and panics if they break a promise of the service: no panic, no 5xx, no cursor
//! that we did not seal, no address that a stranger chose, no file that is refused without its name.
//!
//! libFuzzer runs them (`.ci/full fuzz`); `cargo test` replays their corpora with random mutations (`tests/it/repository/fuzz.rs`).

mod archives;
mod dataset;
mod imports;
mod look_up;
mod requests;
mod values;

pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
    /// Mutations that `cargo test` runs: fewer for a target that is slow.
    pub mutations: u32,
}

pub const TARGETS: [Target; 22] = [
    Target { name: "cursor", run: values::cursor, mutations: 2_000 },
    Target { name: "key", run: values::key, mutations: 2_000 },
    Target { name: "forwarded", run: values::forwarded, mutations: 5_000 },
    Target { name: "parameters", run: requests::parameters, mutations: 1_000 },
    Target { name: "json_rpc", run: requests::json_rpc, mutations: 1_000 },
    Target { name: "form", run: requests::form, mutations: 300 },
    Target { name: "resolve_json", run: look_up::resolve_json, mutations: 500 },
    Target { name: "resolve_csv", run: look_up::resolve_csv, mutations: 500 },
    Target { name: "reconcile", run: look_up::reconcile, mutations: 500 },
    Target { name: "dataset", run: dataset::dataset, mutations: 150 },
    Target { name: "archive", run: archives::archive, mutations: 100 },
    Target { name: "text_index", run: archives::text_index, mutations: 300 },
    Target { name: "import_csv", run: imports::import_csv, mutations: 200 },
    Target { name: "import_json", run: imports::import_json, mutations: 200 },
    Target { name: "import_gzip", run: imports::import_gzip, mutations: 200 },
    Target { name: "import_zip", run: imports::import_zip, mutations: 200 },
    Target { name: "import_tar", run: imports::import_tar, mutations: 200 },
    Target { name: "import_tar_gz", run: imports::import_tar_gz, mutations: 200 },
    Target { name: "import_xlsx", run: imports::import_xlsx, mutations: 200 },
    Target { name: "import_xlsb", run: imports::import_xlsb, mutations: 200 },
    Target { name: "import_xls", run: imports::import_xls, mutations: 200 },
    Target { name: "import_ods", run: imports::import_ods, mutations: 200 },
];

/// The first byte and the others; zero if there is none.
fn split(bytes: &[u8]) -> (usize, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(first, others)| (usize::from(*first), others))
}
