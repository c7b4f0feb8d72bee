//! Imports the files of a source: turns their rows into statements.
//! Memory use does not depend on the size of the files: joining rows and grouping the statements of an entity sort on disk.
//! A pass reads one input for all sections that use it with the same joins.

mod account;
mod pass;
mod records;
mod rejects;
mod summary;
mod unfilled;

use std::path::{Path, PathBuf};

use crate::sources::evidence::ImportEvidence;
use crate::sources::input::Member;
use crate::sources::input::archive::{listed, path_pattern};
use crate::sources::mapping::{Mapping, SourceValues};
use crate::sources::money::Rates;
use crate::sources::presets::Preset;
use crate::sources::{Extent, Source, SourceError, Update, read_edited};
use account::Account;
pub use account::RowCounts;
use data::import::suspicions::{Settled, SettledLine};
use data::vocabulary::Vocabulary as _;
use data::{Date, Progress};
use pass::{Pass, PassContext};
use records::StatementCollector;
pub use summary::{
    FieldSummary, FileRows, FileSummary, ImportSummary, JoinSummary, MostRows, Omission, SectionSummary, UnusedColumn,
    total,
};
pub(crate) use summary::{RowEvent, SampledRows};

pub struct Import {
    mapping: Mapping,
    inputs: Vec<PathBuf>,
    is_forced: bool,
    rejects: Option<PathBuf>,
    settled: Option<PathBuf>,
}

impl Import {
    pub fn preset(preset: &Preset, inputs: Vec<PathBuf>) -> Result<Self, SourceError> {
        let text = preset.text(&inputs)?;
        let mapping = Mapping::read(&format!("{}.toml", preset.name), &text, Path::new(""))?;
        Ok(Self::new(mapping, inputs))
    }

    pub fn mapping(file: &Path, inputs: Vec<PathBuf>) -> Result<Self, SourceError> {
        let text = std::fs::read_to_string(file).map_err(|error| SourceError::io(file, error))?;
        Self::mapping_text(file, &text, inputs)
    }

    /// A mapping that is the text of this file.
    pub(crate) fn mapping_text(file: &Path, text: &str, inputs: Vec<PathBuf>) -> Result<Self, SourceError> {
        let folder = file.parent().unwrap_or(Path::new(""));
        let mapping = Mapping::read(&file.display().to_string(), text, folder)?;
        Ok(Self::new(mapping, inputs))
    }

    fn new(mapping: Mapping, inputs: Vec<PathBuf>) -> Self {
        Self { mapping, inputs, is_forced: false, rejects: None, settled: None }
    }

    /// Replaces values of the source that the mapping sets.
    pub fn with(mut self, values: SourceChanges) -> Result<Self, SourceError> {
        let SourceChanges { id, title, license, priority, extent, rates, is_forced, rejects, settled } = values;
        if let Some(id) = &id
            && !Source::is_id(id)
        {
            let problem =
                format!("--id: {id:?} is not an id: lowercase letters, digits and single `-`, such as `our-list`");
            return Err(SourceError::Problems(vec![problem]));
        }
        let source = &mut self.mapping.source;
        source.id = id.unwrap_or_else(|| source.id.clone());
        source.title = title.unwrap_or_else(|| source.title.clone());
        source.license = license.unwrap_or_else(|| source.license.clone());
        source.priority = priority.unwrap_or(source.priority);
        source.extent = extent.unwrap_or(source.extent);
        self.mapping.rates = rates.or(self.mapping.rates);
        Ok(Self { is_forced, rejects, settled, ..self })
    }

    /// Imports the files into the folder of sources. The statements are seen on the day `on`.
    pub fn run(self, sources: &Path, on: Date, progress: &dyn Progress) -> Result<ImportSummary, SourceError> {
        let (summary, problem) = self.run_sample(sources, on, progress, &SampledRows::default(), u64::MAX)?;
        problem.map_or(Ok(summary), Err)
    }

    /// Imports the first rows of each file and notes what becomes of `sampled`. Values that reject an import are a problem
    /// of the result. Without sampled rows, they leave the sources as they are.
    pub(crate) fn run_sample(
        self,
        sources: &Path,
        on: Date,
        progress: &dyn Progress,
        sampled: &SampledRows,
        most: u64,
    ) -> Result<(ImportSummary, Option<SourceError>), SourceError> {
        let Self { mut mapping, inputs, is_forced, rejects, settled } = self;
        rejects.as_deref().map(rejects::check).transpose()?;
        let members = Member::list(&inputs)?;
        let files = assign_files(&mapping, &members)?;
        let rates = mapping.rates.as_deref().map(Rates::read).transpose()?.unwrap_or_default().on(on);
        let settled = read_settled(settled.as_deref().unwrap_or(sources))?;
        let is_new = !sources.exists();
        std::fs::create_dir_all(sources).map_err(|error| SourceError::io(sources, error))?;
        let passes = Pass::plan(&mut mapping);
        let columns = Pass::read_columns(&passes, &mapping);
        let passes = Pass::needed(passes, &files);
        let readers = Pass::readers(&passes, &mapping);
        let context = PassContext {
            mapping: &mapping,
            members: &members,
            files: &files,
            read: &columns,
            readers: &readers,
            folder: sources,
            most,
            progress,
        };
        let read = |evidence: &ImportEvidence| {
            let mut account = Account::new(&mapping, &members, &files, rejects.as_ref().map(|_| sources));
            account.summary.sampled.clone_from(sampled);
            let mut records = StatementCollector::new(&mapping, sources, &rates, evidence, account);
            passes.iter().try_for_each(|pass| pass.run(&context, &mut records))?;
            Ok::<_, SourceError>(records)
        };
        let mut records = read(&ImportEvidence::default())?;
        // The whole column decides ambiguous cells.
        let evidence = records.evidence();
        if evidence.decides_more_than(&ImportEvidence::default()) {
            drop(records);
            records = read(&evidence)?;
        }
        let SourceValues { id, title, license, url, priority, extent } = mapping.source.clone();
        let source = Source { id, title, license, url, priority, imported_on: on, imports: 0, last_complete: 0 };
        let mut update = Update::begin(sources, source, extent)?;
        progress.step("write statements", 0);
        let written = records.write(&mut update, &settled).and_then(|(mut account, finished)| {
            if let Some(to) = &rejects {
                account.write_rejects(to)?;
            }
            finished?;
            match account.check() {
                Err(problem) if sampled.is_empty() => Err(problem),
                checked => Ok((account.summary, checked.err())),
            }
        });
        let (mut summary, problem) = match written {
            Ok(summary) => summary,
            Err(error) => {
                update.abandon();
                if is_new {
                    // Only an empty folder is removed.
                    let _ = std::fs::remove_dir(sources);
                }
                return Err(error);
            }
        };
        summary.extent = extent.name();
        summary.not_filled = summary.find_unfilled(&mapping);
        summary.source.clone_from(&mapping.source.id);
        summary.later_import = update.later_day();
        summary.statements = update.finish(is_forced)?;
        progress.done();
        Ok((summary, problem))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceChanges {
    pub id: Option<String>,
    pub title: Option<String>,
    pub license: Option<String>,
    pub priority: Option<u32>,
    pub extent: Option<Extent>,
    /// File with currency rates.
    pub rates: Option<PathBuf>,
    /// True if a complete import may lack much of what the source had.
    pub is_forced: bool,
    /// File to write what is left out to.
    pub rejects: Option<PathBuf>,
    /// Folder with the list of settled warnings; by default that of the sources.
    pub settled: Option<PathBuf>,
}

/// Reads the warnings that an operator has settled.
fn read_settled(folder: &Path) -> Result<Settled, SourceError> {
    read_edited(folder, SettledLine::read, |lines, _| Settled::new(lines))
}

/// Finds the files of each input, as indexes of `members`.
pub(crate) fn assign_files(mapping: &Mapping, members: &[Member]) -> Result<Vec<Vec<usize>>, SourceError> {
    let mut problems = Vec::new();
    let mut files = Vec::new();
    for input in &mapping.inputs {
        let pattern = input.file.as_deref().map(path_pattern);
        let reads = |member: &Member| pattern.as_ref().is_none_or(|pattern| pattern.is_match(&member.path));
        let found: Vec<usize> = (0..members.len()).filter(|index| reads(&members[*index])).collect();
        if found.is_empty() && !input.may_lack {
            let given = listed(members.iter().map(|member| &member.path));
            let pattern = input.file.as_deref().unwrap_or("*");
            let (name, position) = (&mapping.name, input.position);
            problems.push(format!(
                "{name}:{}:{}: input {}: no file matches `{pattern}`; found: {}",
                position.line,
                position.column,
                input.name,
                if given.is_empty() { "none" } else { &*given }
            ));
        }
        files.push(found);
    }
    if problems.is_empty() { Ok(files) } else { Err(SourceError::Problems(problems)) }
}

#[cfg(test)]
mod tests;
