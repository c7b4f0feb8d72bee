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
use data::import::diagnostics::{did_you_mean, quoted};
use data::{Date, Progress};
pub(super) use import::resolve;
use import::sources::import::{
    FileSummary, Import, ImportSummary, JoinSummary, MostRows, Omission, SectionSummary, SourceChanges, UnusedColumn,
    total,
};
use import::sources::presets::{PRESETS, Preset, preset};
use import::sources::preview;
use import::sources::preview::outline::Outline;
use import::sources::view::{self, Clusters, Detail, Licensed, NewLines, ViewSummary};
use import::sources::{Extent, MEMORY_MIB, Source, SourceError, Suppressed, guess};
use release::ReleaseStore;
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
    /// Write what is left out to this file (CSV), with reasons and remedies; one that an import wrote is replaced
    #[arg(long, value_name = "FILE", conflicts_with = "guess")]
    rejects: Option<PathBuf>,
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

/// The dataset that sources form, in a temporary folder.
pub(crate) struct SourceView {
    pub(crate) dataset: tempfile::TempDir,
    sources: PathBuf,
    new_lines: NewLines,
}

impl SourceView {
    /// Keeps the identities of a release that was published.
    pub(crate) fn keep_identities(&self, on: Date) -> Result<(), SourceError> {
        self.new_lines.append(&self.sources, on)
    }
}

impl SourceArgs {
    /// Builds a dataset from the sources in a temporary folder; `None` without sources.
    /// `releases` are those of the index that the release is for.
    pub(crate) fn view(&self, releases: &ReleaseStore, style: &Style) -> Result<Option<SourceView>, CommandError> {
        let Some(folder) = &self.sources else { return Ok(None) };
        let all = sources_in(folder)?;
        view::check_licenses(&all, &self.licenses)?;
        let steps = Steps::new(style.json);
        let to = tempfile::tempdir()?;
        let (clusters, suppressed) = resolve::composition(folder, &all, &steps)?;
        let served = if self.licenses.is_empty() { None } else { releases.served_tables()? };
        let licensed = Licensed { licenses: &self.licenses, served: served.as_ref() };
        let detail = if self.licenses.is_empty() { Detail::Provenance } else { Detail::Licensed(licensed) };
        let summary = view::write(folder, &all, &clusters, &suppressed, to.path(), detail, &steps)?;
        drop(steps);
        if !style.json {
            let mut out = io::stderr().lock();
            for message in suppressed.find_unknown(folder, &all)? {
                writeln!(out, "warning: {message}")?;
            }
            print_left_out(&summary, &mut out, style)?;
        }
        Ok(Some(SourceView { dataset: to, sources: folder.clone(), new_lines: summary.new_lines }))
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
    let rejects = arguments.rejects.as_ref().map(|file| file.display().to_string());
    let result = ImportJson { to: to.display().to_string(), took: start.elapsed(), summary, view, rejects };
    style.print(true, &result, |out| result.print(style, out))
}

/// Prints a guessed mapping, and what it would make of the first rows to standard error.
fn print_guess(inputs: &[PathBuf], on: Date) -> CommandResult {
    let text = guess::mapping(inputs)?;
    write!(io::stdout(), "{text}")?;
    let preview =
        preview::preview(inputs, Path::new("the guess"), &text, &SourceChanges::default(), on, import_page::SIZE)?;
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
        let rejects = self.rejects.as_ref().map(|file| file.display().to_string());
        let run = |mapping: &Path, changes: &SourceChanges| {
            let (sources, rejects) = (self.sources.clone()?, rejects.clone());
            let (inputs, mapping, changes) = (self.inputs.clone(), mapping.to_owned(), changes.clone());
            let run = move || {
                let start = Instant::now();
                let import = Import::mapping(&mapping, inputs.clone())?.with(changes.clone())?;
                let summary = import.run(&sources, on, &NotedSteps::new(Steps::new(true)))?;
                Ok::<_, SourceError>(ImportJson {
                    to: sources.display().to_string(),
                    took: start.elapsed(),
                    summary,
                    view: None,
                    rejects: rejects.clone(),
                })
            };
            let account = move || {
                let result = run().map_err(|error| error.to_string())?;
                let mut account = Vec::new();
                let style = Style { json: false, verbose: false };
                result.print(&style, &mut account).map_err(|error| error.to_string())?;
                let next = format!("next: indexer build --sources {}", result.to);
                writeln!(account, "{next}").map_err(|error| error.to_string())?;
                Ok(String::from_utf8_lossy(&account).into_owned())
            };
            Some(Box::new(account) as RunImport)
        };
        let page = ImportPage::open(self.inputs.clone(), self.mapping.clone(), self.changes(), on, run)?;
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
            rejects: self.rejects.clone(),
            settled: self.dataset.clone(),
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
    #[serde(skip_serializing_if = "Option::is_none")]
    rejects: Option<String>,
}

impl ImportJson {
    fn print(&self, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        let ImportSummary { files, joined, sections, incomplete, suspicions, .. } = &self.summary;
        let ImportSummary { entities, statements, unused, not_used, extent, later_import, .. } = &self.summary;
        let (rows, took) = (format::count(self.summary.rows()), format::time(self.took));
        writeln!(out, "imported {rows} rows in {took}: {}", self.to)?;
        for FileSummary { input, file, rows, used, left_out, blank, bad, notes, warnings, more_warnings, .. } in files {
            let bad_rows = total(bad);
            let parts =
                [(*used, "used"), (*left_out, "left out by `when`"), (*blank, "blank"), (bad_rows, "unreadable")];
            writeln!(out, "  {input}: {} of {file}{}", format::counted(*rows, "row"), sum(&parts))?;
            for note in notes {
                writeln!(out, "      {note}")?;
            }
            print_reasons("left out", bad, out, style)?;
            for warning in warnings {
                writeln!(out, "      warning: {warning}")?;
            }
            if *more_warnings > 0 {
                writeln!(out, "      warning: {} more rows of this file", format::count(*more_warnings))?;
            }
        }
        for JoinSummary { input, used, unmatched, repeated } in joined {
            let parts = [
                (*used, "used"),
                (*unmatched, "to which no row refers"),
                (*repeated, "with the key of an earlier one"),
            ];
            writeln!(
                out,
                "  {input} is joined: {}{}",
                format::counted(used + unmatched + repeated, "row"),
                sum(&parts)
            )?;
        }
        for section in sections {
            section_text(section, out, style)?;
        }
        print_reasons("not published", incomplete, out, style)?;
        for suspicion in suspicions {
            writeln!(out, "  warning: {}: {}: {suspicion}", suspicion.file, suspicion.column)?;
        }
        print_not_used(not_used, out, style)?;
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
        if let Some(rejects) = &self.rejects {
            writeln!(out, "  all that is left out: {rejects}")?;
        }
        self.view.as_ref().map_or(Ok(()), |view| print_left_out(view, out, style))
    }
}

/// The parts of a count, as in ` = 9 kept + 2 merged`; empty if all of it is the first part.
fn sum(parts: &[(u64, &str)]) -> String {
    let is_whole = parts.iter().skip(1).all(|(count, _)| *count == 0);
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, what)| format!("{} {what}", format::count(*count))).collect();
    if is_whole { String::new() } else { format!(" = {}", parts.join(" + ")) }
}

fn section_text(section: &SectionSummary, out: &mut dyn Write, style: &Style) -> io::Result<()> {
    let SectionSummary { kind, from, counts, most, without_key, fields } = section;
    let parts = [
        (counts.kept, "kept"),
        (counts.merged, "merged into others"),
        (counts.left_out, "left out by `when`"),
        (counts.without_key, "without a key"),
    ];
    writeln!(out, "  {kind} from {from}: {}{}", format::counted(counts.rows, "row"), sum(&parts))?;
    if let Some(MostRows { rows, key }) = most {
        let key = quoted(key);
        writeln!(out, "      rows with the same key are one {kind}: {} of the key {key}", format::count(*rows))?;
    }
    print_reasons("left out", without_key, out, style)?;
    for field in fields {
        if style.verbose || [&field.dropped, &field.merged, &field.noted].iter().any(|reasons| !reasons.is_empty()) {
            writeln!(out, "    {}: {}", field.field, format::counted(field.values, "value"))?;
        }
        print_reasons("left out", &field.dropped, out, style)?;
        print_reasons("merged", &field.merged, out, style)?;
        print_reasons("kept with a remark", &field.noted, out, style)?;
    }
    Ok(())
}

fn print_reasons(what: &str, reasons: &[Omission], out: &mut dyn Write, style: &Style) -> io::Result<()> {
    for Omission { reason, remedy, count, first, others } in reasons {
        writeln!(out, "      {} {what}: {reason}; the first: {first}", format::count(*count))?;
        if !remedy.is_empty() {
            writeln!(out, "        remedy: {remedy}")?;
        }
        for place in others.iter().filter(|_| style.verbose) {
            writeln!(out, "        {place}")?;
        }
    }
    Ok(())
}

/// Number of columns, records and references that are listed without `--verbose`.
const MAX_LISTED: usize = 20;

fn print_not_used(columns: &[UnusedColumn], out: &mut dyn Write, style: &Style) -> io::Result<()> {
    if columns.is_empty() {
        return Ok(());
    }
    let listed = if style.verbose { usize::MAX } else { MAX_LISTED };
    let texts = columns.iter().take(listed).map(|UnusedColumn { column, values, is_private, .. }| {
        let values = match (*is_private, values.len()) {
            (true, _) => "private".to_owned(),
            (false, 0) => "empty".to_owned(),
            (false, _) => values.join(", "),
        };
        format!("{} ({values})", quoted(column))
    });
    let texts: Vec<String> = texts.collect();
    let more = match columns.len().saturating_sub(listed) {
        0 => String::new(),
        hidden => format!(", and {} more (list them with --verbose)", format::counted(hidden, "column")),
    };
    writeln!(out, "  not used: {}{more}", texts.join(", "))
}

fn print_left_out(view: &ViewSummary, out: &mut dyn Write, style: &Style) -> io::Result<()> {
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
    view.reviews.iter().try_for_each(|review| writeln!(out, "  left out: {review}"))?;
    let listed = if style.verbose { usize::MAX } else { MAX_LISTED };
    for left_out in view.left_out.iter().take(listed) {
        writeln!(out, "    {left_out}")?;
    }
    match view.left_out.len().saturating_sub(listed) {
        0 => Ok(()),
        hidden => writeln!(out, "    and {} more (list them with --verbose)", format::count(hidden)),
    }
}
