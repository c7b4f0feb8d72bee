//! The server and its operator commands.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use mcp::manifest;
use venturedex::app;
use venturedex::app::settings::{self, Cli, Command, ServeSettings};
use venturedex::cli::{admin, doctor, package_files, query};

fn main() -> ExitCode {
    let cli = match Cli::read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(stop) if stop.code == 0 => {
            return exit(write!(io::stdout(), "{stop}").map_err(|error| format!("standard output: {error}").into()));
        }
        Err(stop) => {
            let _ = write!(io::stderr(), "{stop}");
            return ExitCode::from(stop.code);
        }
    };
    match cli.command {
        Command::Serve(settings) => exit(serve(*settings)),
        Command::Demo { listen } => exit(demo(listen)),
        Command::Account { command, options } => admin::account(&cli.data, &cli.store, command, &options),
        Command::Key { command, options } => admin::key(&cli.data, &cli.store, command, &options),
        Command::Reviews { to, options } => admin::reviews(&cli.data, &cli.store, &to, &options),
        Command::Audit(filter) => admin::audit(&filter),
        Command::Doctor { settings, json, object_store } => {
            doctor::run(&settings, object_store.as_deref(), json, variables())
        }
        Command::Backup(options) => admin::backup(&cli.data, &cli.store, &options),
        Command::Restore(options) => admin::restore(&cli.data, &cli.store, &options),
        Command::Store { command } => admin::store(&cli.store, &command),
        Command::Query(options) => query::run(&options),
        Command::ServerJson { public_url } => exit(server_json(&public_url)),
        Command::Completions { shell, program } => exit(
            package_files::print_completions(shell, program)
                .map_err(|error| format!("standard output: {error}").into()),
        ),
        Command::Manual { folder } => {
            let place = |error| format!("{}: {error}", folder.display()).into();
            exit(package_files::write_manual(&folder).map_err(place))
        }
    }
}

fn exit(result: Result<(), Box<dyn std::error::Error>>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    // If standard error is closed, the exit code still reports the failure.
    let _ = writeln!(io::stderr(), "error: {error}");
    ExitCode::FAILURE
}

fn server_json(public_url: &str) -> Result<(), Box<dyn std::error::Error>> {
    let url: http::Uri = public_url.parse()?;
    writeln!(io::stdout(), "{:#}", manifest::server_json(public_url, url.host().unwrap_or_default()))
        .map_err(|error| format!("standard output: {error}").into())
}

fn demo(listen: SocketAddr) -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::Builder::new().prefix("venturedex-demo-").tempdir();
    let folder = folder.map_err(|error| format!("cannot create a temporary folder: {error}"))?;
    run_server(ServeSettings::demo(listen, folder.path()))
}

fn variables() -> impl Iterator<Item = String> {
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok())
}

fn serve(settings: ServeSettings) -> Result<(), Box<dyn std::error::Error>> {
    for (name, nearest) in settings::unknown_variables(variables()) {
        let hint = nearest.map(|nearest| format!(": did you mean {nearest}?")).unwrap_or_default();
        let _ = writeln!(io::stderr(), "warning: the environment variable {name} is not a setting{hint}");
    }
    run_server(settings)
}

fn run_server(settings: ServeSettings) -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start the runtime: {error}"))?;
    let served = runtime.block_on(app::serve(settings));
    // Do not wait for a release that is still being read or verified.
    runtime.shutdown_background();
    Ok(served?)
}
