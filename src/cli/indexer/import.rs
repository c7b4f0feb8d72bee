//! `indexer import`: converts files of other formats to a dataset, or to the statements of a source of `indexer build`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{ArgGroup, Args};
use serde::Serialize;
use time::OffsetDateTime;

use crate::cli::indexer::confined::NotedSteps;
use crate::cli::indexer::import_page::{self, ImportPage, RunImport};
use crate::cli::indexer::own_files::{FolderError, OwnFiles};
use crate::cli::indexer::progress::Steps;
use crate::cli::indexer::{CommandError, CommandResult, IndexerExit, ResultJson, Style, format};
use data::import::FileList;
use data::import::diagnostics::did_you_mean;
use data::{Date, Progress};
pub(super) use import::resolve;
use import::sources::import::{FileSummary, Import, ImportSummary, Omission, SectionSummary, SourceChanges};
use import::sources::presets::{PRESETS, Preset, preset};
use import::sources::preview;
use import::sources::preview::outline::Outline;
use import::sources::view::{self, Clusters, Detail, ViewSummary};
use import::sources::{Extent, MEMORY_MIB, Source, SourceError, Suppressed, guess};
use search::nearest;

#[derive(Args)]
#[command(group = ArgGroup::new("destination").args(["dataset", "sources", "guess", "page", "show"]).required(true).multiple(true))]
#[command(after_help = presets_help())]
pub(crate) struct ImportArgs {
    /// The name of a preset, unless there is --mapping; then files, folders and archives
    #[arg(value_name = "PRESET|INPUT", required = true)]
    inputs: Vec<PathBuf>,
    /// File that says what the columns mean (TOML); with --page, it begins with a guess if it does not exist
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// Print a mapping to begin with: what the headers and values of the inputs probably mean
    #[arg(long, conflicts_with_all = ["mapping", "sources"])]
    guess: bool,
    /// Show on a page of this computer what the columns mean and what the rows become, and correct it there; all changes are
    /// kept in the mapping, by default NAME.toml next to the input. With --sources, the page imports, too
    #[arg(long, conflicts_with = "guess")]
    page: bool,
    /// Print the mapping of the preset, to be changed and used with --mapping
    #[arg(long, conflicts_with_all = ["mapping", "sources", "guess", "page"])]
    show: bool,
    /// Write a dataset to this folder, which is new, empty or one that an import wrote; its other files stay
    #[arg(long, value_name = "DIR", conflicts_with_all = ["sources", "guess", "page", "show"])]
    dataset: Option<PathBuf>,
    /// Keep the statements of the source in this folder of sources, merged with those of earlier imports
    #[arg(long, value_name = "DIR")]
    sources: Option<PathBuf>,
    /// The day of the data [default: today]
    #[arg(long, value_name = "DATE")]
    on: Option<Date>,
    /// File with rates of currencies (CSV with currency, date, usd), in place of the mapping's
    #[arg(long, value_name = "FILE")]
    rates: Option<PathBuf>,
    /// Name of the source, in place of the mapping's
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// Title of the source, in place of the mapping's
    #[arg(long)]
    title: Option<String>,
    /// License of the source, such as CC0-1.0, in place of the mapping's
    #[arg(long)]
    license: Option<String>,
    /// Priority of the source if others disagree, in place of the mapping's
    #[arg(long, value_name = "N")]
    priority: Option<u32>,
    /// The files have all that the source has, whatever the mapping says: what they lack is gone
    #[arg(long, requires = "sources", conflicts_with = "increment")]
    complete: bool,
    /// The files have what is new or changed, whatever the mapping says: what they lack stays
    #[arg(long, requires = "sources")]
    increment: bool,
    /// Import even if more than a fifth of the records that the source had are gone
    #[arg(long, requires = "sources")]
    force: bool,
    /// Memory that the import may use, in MiB, of which it needs a few hundred; it is refused if it needs more
    #[arg(long, value_name = "MIB", default_value_t = MEMORY_MIB, value_parser = clap::value_parser!(u32).range(64..))]
    pub(super) max_memory: u32,
}

fn presets_help() -> String {
    let lines: Vec<String> = PRESETS.iter().map(|preset| format!("  {:<16}  {}", preset.name, preset.title)).collect();
    format!("Presets:\n{}", lines.join("\n"))
}

/// The sources of a build.
#[derive(Args)]
pub(crate) struct SourceArgs {
    /// Folder of sources, in place of a dataset
    #[arg(long, value_name = "DIR")]
    sources: Option<PathBuf>,
    /// Use only sources with one of these licenses, such as CC0-1.0
    #[arg(long, value_name = "LICENSE", value_delimiter = ',', requires = "sources")]
    licenses: Vec<String>,
}

impl SourceArgs {
    /// Builds a dataset from the sources in a temporary folder; `None` without sources.
    pub(crate) fn view(&self, style: &Style) -> Result<Option<tempfile::TempDir>, CommandError> {
        let Some(folder) = &self.sources else { return Ok(None) };
        let all = sources_in(folder)?;
        let sources = view::licensed(all.clone(), &self.licenses)?;
        let steps = Steps::new(style.json);
        let to = tempfile::tempdir()?;
        let (clusters, suppressed) = resolve::composition(folder, &all, &sources, &steps)?;
        let detail = if self.licenses.is_empty() { Detail::Provenance } else { Detail::Licensed };
        let summary = view::write(folder, &sources, &clusters, &suppressed, to.path(), detail, &steps)?;
        drop(steps);
        if !style.json {
            let mut out = io::stderr().lock();
            for message in suppressed.find_unknown(folder, &all)? {
                writeln!(out, "warning: {message}")?;
            }
            print_left_out(&summary, &mut out)?;
        }
        Ok(Some(to))
    }
}

/// The sources in a folder, at least one.
pub(crate) fn sources_in(folder: &Path) -> Result<Vec<Source>, SourceError> {
    let sources = Source::list(folder)?;
    if sources.is_empty() {
        let problem = format!("{}: no source; add one with `indexer import … --sources {0}`", folder.display());
        return Err(SourceError::Problems(vec![problem]));
    }
    Ok(sources)
}

pub(crate) fn run(arguments: &ImportArgs, now: OffsetDateTime, style: &Style) -> CommandResult {
    let start = Instant::now();
    let on = arguments.on.unwrap_or_else(|| Date::from_unix(now.unix_timestamp()));
    if arguments.guess {
        return print_guess(&arguments.inputs, on);
    }
    if arguments.page {
        return arguments.serve_page(on, style);
    }
    if arguments.show {
        let (preset, inputs) = arguments.preset()?;
        write!(io::stdout(), "{}", preset.text(inputs)?)?;
        return Ok(IndexerExit::Success);
    }
    let import = arguments.import()?;
    let steps = NotedSteps::new(Steps::new(style.json));
    let (to, summary, view) = match (&arguments.sources, &arguments.dataset) {
        (Some(sources), _) => (sources, import.run(sources, on, &steps)?, None),
        (None, Some(dataset)) => {
            let (summary, view) = write_dataset(import, dataset, on, &steps)?;
            (dataset, summary, Some(view))
        }
        (None, None) => return Ok(IndexerExit::Usage),
    };
    drop(steps);
    let result = ImportJson { to: to.display().to_string(), took: start.elapsed(), summary, view };
    style.print(true, &result, |out| result.print(style, out))
}

/// Prints a guessed mapping, and what it would make of the first rows to standard error.
fn print_guess(inputs: &[PathBuf], on: Date) -> CommandResult {
    let text = guess::mapping(inputs)?;
    write!(io::stdout(), "{text}")?;
    let preview = preview::preview(inputs, Path::new("the guess"), &text, on, import_page::SIZE)?;
    write!(io::stderr(), "{}", Outline(&preview))?;
    Ok(IndexerExit::Success)
}

#[derive(Serialize)]
struct PageJson<'p> {
    url: &'p str,
    mapping: String,
}

impl ImportArgs {
    /// Serves the page on which the mapping is corrected, until a person closes it.
    fn serve_page(&self, on: Date, style: &Style) -> CommandResult {
        let run = |mapping: &Path| {
            let sources = self.sources.clone()?;
            let (inputs, mapping, changes) = (self.inputs.clone(), mapping.to_owned(), self.changes());
            let run = move || {
                let start = Instant::now();
                let import = Import::mapping(&mapping, inputs.clone())?.with(changes.clone())?;
                let summary = import.run(&sources, on, &NotedSteps::new(Steps::new(true)))?;
                Ok::<_, SourceError>(ImportJson {
                    to: sources.display().to_string(),
                    took: start.elapsed(),
                    summary,
                    view: None,
                })
            };
            let account = move || {
                let result = run().map_err(|error| error.to_string())?;
                let mut account = Vec::new();
                let style = Style { json: false, verbose: false };
                result.print(&style, &mut account).map_err(|error| error.to_string())?;
                Ok(String::from_utf8_lossy(&account).into_owned())
            };
            Some(Box::new(account) as RunImport)
        };
        let page = ImportPage::open(self.inputs.clone(), self.mapping.clone(), on, run)?;
        let mapping = page.mapping.display().to_string();
        let served = page.serve(|url| {
            style.write(&ResultJson { ok: true, result: &PageJson { url, mapping: mapping.clone() } }, |out| {
                writeln!(out, "The page is at {url}")?;
                writeln!(out, "Changes are kept in {mapping}. Its button Done ends the page, as Ctrl+C does.")
            })
        });
        served.map_err(|error| SourceError::io(Path::new("the page"), error))?;
        Ok(IndexerExit::Success)
    }

    /// The preset that is named first, and the inputs after it.
    fn preset(&self) -> Result<(&'static Preset, &[PathBuf]), SourceError> {
        let (name, inputs) = self.inputs.split_first().map_or((Path::new(""), &[][..]), |(name, rest)| (&**name, rest));
        let found = name.to_str().and_then(preset);
        found.map(|found| (found, inputs)).ok_or_else(|| unknown_preset(name))
    }

    fn import(&self) -> Result<Import, SourceError> {
        let import = match &self.mapping {
            Some(mapping) => Import::mapping(mapping, self.inputs.clone())?,
            None => {
                let (preset, inputs) = self.preset()?;
                if inputs.is_empty() {
                    let problem = format!("no input; name the files, folders or archives of {}", preset.name);
                    return Err(SourceError::Problems(vec![problem]));
                }
                Import::preset(preset, inputs.to_vec())?
            }
        };
        import.with(self.changes())
    }

    fn changes(&self) -> SourceChanges {
        SourceChanges {
            id: self.id.clone(),
            title: self.title.clone(),
            license: self.license.clone(),
            priority: self.priority,
            extent: match (self.complete, self.increment) {
                (true, _) => Some(Extent::Complete),
                (_, true) => Some(Extent::Increment),
                _ => None,
            },
            rates: self.rates.clone(),
            is_forced: self.force,
        }
    }
}

fn unknown_preset(name: &Path) -> SourceError {
    let presets: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    let (presets, hint) = (presets.join(", "), did_you_mean(nearest(&name.to_string_lossy(), presets.iter().copied())));
    let problem = if name.exists() || name.extension().is_some() {
        format!(
            "{0} is a file, and the first word is the preset that reads it ({presets}); without one say what its columns mean: \
             `indexer import --guess {0} > map.toml`, look at map.toml, then `indexer import --mapping map.toml {0}`",
            name.display()
        )
    } else {
        format!(
            "no preset {name:?}{hint}; the presets are {presets}, and other files need a mapping, which `indexer import --guess \
             FILE` begins"
        )
    };
    SourceError::Problems(vec![problem])
}

fn write_dataset(
    import: Import,
    to: &Path,
    on: Date,
    steps: &dyn Progress,
) -> Result<(ImportSummary, ViewSummary), CommandError> {
    let own = OwnFiles::open(to, FileList::IMPORTED)?;
    let scratch = own.scratch()?;
    let (statements, tables) = (scratch.path().join("sources"), scratch.path().join("dataset"));
    fs::create_dir_all(&tables).map_err(FolderError::io(&tables))?;
    let summary = import.run(&statements, on, steps)?;
    let sources = Source::list(&statements)?;
    let (clusters, suppressed) = (Clusters::default(), Suppressed::default());
    let view = view::write(&statements, &sources, &clusters, &suppressed, &tables, Detail::Tables, steps)?;
    own.replace(&tables)?;
    Ok((summary, view))
}

#[derive(Serialize)]
struct ImportJson {
    to: String,
    #[serde(rename = "took_ms", serialize_with = "format::as_milliseconds")]
    took: Duration,
    #[serde(flatten)]
    summary: ImportSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<ViewSummary>,
}

impl ImportJson {
    fn print(&self, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        let ImportSummary { files, sections, entities, statements, unused, extent, later_import, .. } = &self.summary;
        let (rows, took) = (format::count(self.summary.rows()), format::time(self.took));
        writeln!(out, "imported {rows} rows in {took}: {}", self.to)?;
        for FileSummary { input, file, rows, left_out, bad, warnings, more_warnings, .. } in files {
            let left_out = left_out_by_when(*left_out);
            writeln!(out, "  {input}: {} rows{left_out} of {file}", format::count(*rows))?;
            print_reasons(bad, out, style)?;
            for warning in warnings {
                writeln!(out, "      warning: {warning}")?;
            }
            if *more_warnings > 0 {
                writeln!(out, "      warning: {} more rows of this file", format::count(*more_warnings))?;
            }
        }
        for section in sections {
            section_text(section, out, style)?;
        }
        if !unused.is_empty() {
            writeln!(out, "  not read: {}", unused.join(", "))?;
        }
        let entities: Vec<String> =
            entities.iter().map(|(kind, count)| format!("{} of kind {kind}", format::count(*count))).collect();
        writeln!(out, "  entities: {}", entities.join(", "))?;
        let [new, known, gone] = [statements.new, statements.known, statements.gone].map(format::count);
        writeln!(out, "  statements: {new} new, {known} known, {gone} gone")?;
        if self.view.is_none() {
            match statements.gone_records {
                0 => writeln!(out, "  {extent}: no record is gone")?,
                gone => {
                    let gone = format::counted(gone, "record");
                    let then = "the next release has them only from other sources";
                    writeln!(out, "  {extent}: {gone} no longer in the source; {then}")?;
                }
            }
        }
        if !self.summary.not_filled.is_empty() {
            writeln!(out, "  {}: not filled: {}", self.summary.source, self.summary.not_filled.join(", "))?;
        }
        if let Some(day) = later_import {
            writeln!(out, "  an earlier import was of {day}, a later day; this one replaces it")?;
        }
        self.view.as_ref().map_or(Ok(()), |view| print_left_out(view, out))
    }
}

fn left_out_by_when(count: u64) -> String {
    if count == 0 { String::new() } else { format!(" ({} left out by `when`)", format::count(count)) }
}

fn section_text(section: &SectionSummary, out: &mut dyn Write, style: &Style) -> io::Result<()> {
    let SectionSummary { kind, from, rows, left_out, without_key, replaced, fields } = section;
    let left_out = left_out_by_when(*left_out);
    writeln!(
        out,
        "  {kind} from {from}: {} rows{left_out}, {} replaced or completed by later ones",
        format::count(*rows),
        format::count(*replaced)
    )?;
    print_reasons(without_key, out, style)?;
    for field in fields {
        if style.verbose || !field.dropped.is_empty() {
            writeln!(out, "    {}: {} values", field.field, format::count(field.values))?;
        }
        print_reasons(&field.dropped, out, style)?;
    }
    Ok(())
}

fn print_reasons(reasons: &[Omission], out: &mut dyn Write, style: &Style) -> io::Result<()> {
    for Omission { reason, count, first, others } in reasons {
        writeln!(out, "      {} left out: {reason}; the first: {first}", format::count(*count))?;
        for place in others.iter().filter(|_| style.verbose) {
            writeln!(out, "        {place}")?;
        }
    }
    Ok(())
}

fn print_left_out(view: &ViewSummary, out: &mut dyn Write) -> io::Result<()> {
    for (count, what) in [
        (view.incomplete, "without a name, startup or organization"),
        (view.dangling, "references to something that no source has"),
        (view.gone, "no longer in their source"),
        (view.suppressed, "suppressed, or without the startup or organization that is"),
    ] {
        if count > 0 {
            writeln!(out, "  left out: {} {what}", format::count(count))?;
        }
    }
    view.reviews.iter().try_for_each(|review| writeln!(out, "  left out: {review}"))
}
