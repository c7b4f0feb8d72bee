//! `indexer resolve --review`: a person decides pairs in batches, in the terminal or on a page.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::Path;

use serde_json::json;

use crate::cli::indexer::progress::Steps;
use crate::cli::indexer::resolve::{conflict_text, evidence_text};
use crate::cli::indexer::{CommandError, CommandResult, IndexerExit, Style, format, side_by_side};
use data::Date;
use import::resolve::batch::{LARGER, OFFER, ONE_MAY_DIFFER_OF, REASON, SAMPLE, SHARES, batches};
use import::resolve::connections::{Connections, read_connections};
use import::resolve::session::{ReviewProgress, ReviewSession, first_rows};
use import::resolve::{Decision, Decisions, Judgement, RecordPair, Resolution, decision};
use import::sources::{Source, SourceError};
use site::review::{Review, ReviewBatch, ReviewPair, ReviewRow, page};

const KEYS: &str = "s same, d different, u unsure, n next batch, z undo, q quit; a reason may follow: `d another city`";

/// A resolution to review, and who reviews it.
pub(crate) struct Reviewed<'a> {
    pub folder: &'a Path,
    pub sources: &'a [Source],
    pub resolution: &'a Resolution,
    pub known: Decisions,
    pub by: &'a str,
    pub on: Date,
}

impl Reviewed<'_> {
    /// Connections of the records in the queue.
    fn connections(&self, style: &Style) -> Result<HashMap<String, Connections>, SourceError> {
        let rows = self.resolution.review.iter().flat_map(|pair| [pair.left, pair.right]);
        let ids: HashSet<&str> = rows.map(|row| self.resolution.records[row as usize].id.as_str()).collect();
        read_connections(self.folder, self.sources, &ids, &Steps::new(style.json))
    }

    fn rows(&self, pair: &RecordPair, connections: &HashMap<String, Connections>) -> Vec<ReviewRow> {
        let records = [pair.left, pair.right].map(|row| &self.resolution.records[row as usize]);
        let none = Connections::default();
        side_by_side::compare(records, records.map(|record| connections.get(&record.id).unwrap_or(&none)))
    }
}

/// What a person typed about a pair.
enum Answer {
    Judged(Judgement, String),
    Rest,
    Skip,
    Undo,
    Quit,
}

/// Shows batch after batch until all pairs are decided or the person quits. Each decision is in the folder before the next
/// pair is shown.
pub(crate) fn run(reviewed: Reviewed<'_>, style: &Style) -> CommandResult {
    let (mut input, mut out) = (io::stdin().lock(), io::stdout().lock());
    let connections = reviewed.connections(style)?;
    let Reviewed { folder, resolution, by, on, .. } = reviewed;
    let mut session = ReviewSession::new(folder, resolution, reviewed.known.clone());
    let make = |judgement: Judgement, why: String| {
        move |left, right| Decision::new(left, right, judgement, by.to_owned(), on.into(), why.clone())
    };
    let (mut batch, mut shown) = (0, None);
    loop {
        if batch == session.batches.len() {
            if session.decided() == 0 {
                break;
            }
            writeln!(out, "\nno batch is left: z takes the last decision back, q quits")?;
            match ask(&mut input, &mut out)? {
                Answer::Undo => batch = take_back(&mut session, &mut out)?.unwrap_or(batch),
                Answer::Quit => break,
                _ => {}
            }
            continue;
        }
        let Some(index) = session.next_pair(batch) else {
            batch += 1;
            continue;
        };
        if shown != Some(batch) {
            let (number, all) = (batch + 1, session.batches.len());
            let pairs = format::counted(session.batches[batch].pairs.len(), "pair");
            writeln!(out, "\nBatch {number} of {all}, {pairs}: {}", session.batches[batch].title)?;
            shown = Some(batch);
        }
        writeln!(out, "\n{}", progress_text(session.progress()))?;
        let pair = &resolution.review[index];
        show(&reviewed, pair, &connections, &mut out)?;
        let offer = session.offer(batch);
        if let Some(offer) = offer {
            let text = offer.fill(OFFER, &session.batches[batch]);
            let larger = session.batches[batch].larger_sample(&offer);
            let text = [Some(text), larger].into_iter().flatten().collect::<Vec<_>>().join(" ");
            writeln!(out, "{text}\nb the other {} are {}", format::count(offer.rest), offer.judgement_text())?;
        }
        let problems = match ask(&mut input, &mut out)? {
            Answer::Judged(judgement, why) => session.decide(batch, &[index], make(judgement, why))?,
            Answer::Rest => {
                let Some(offer) = offer else {
                    writeln!(out, "the sample of this batch does not decide the rest yet")?;
                    continue;
                };
                let why = offer.fill(REASON, &session.batches[batch]);
                session.decide_rest(batch, make(offer.judgement, why))?
            }
            Answer::Skip => {
                batch += 1;
                continue;
            }
            Answer::Undo => {
                batch = take_back(&mut session, &mut out)?.unwrap_or(batch);
                continue;
            }
            Answer::Quit => break,
        };
        for problem in &problems {
            writeln!(out, "not kept: {problem}")?;
        }
        // A pair that no decision can settle is passed.
        if session.next_pair(batch) == Some(index) {
            batch += 1;
        }
    }
    let decided = format::counted(session.decided(), "decision");
    writeln!(out, "\n{decided} added to {}", folder.join(decision::FILE).display())?;
    writeln!(out, "{}; `indexer build --sources` uses the decisions", progress_text(session.progress()))?;
    Ok(IndexerExit::Success)
}

/// Takes the last step back, and returns its batch.
fn take_back(session: &mut ReviewSession<'_>, out: &mut dyn Write) -> Result<Option<usize>, CommandError> {
    let Some(step) = session.undo()? else {
        writeln!(out, "nothing to take back")?;
        return Ok(None);
    };
    writeln!(out, "{} taken back", format::counted(step.decisions.len(), "decision"))?;
    Ok(Some(step.batch))
}

fn progress_text(progress: ReviewProgress) -> String {
    let ReviewProgress { pairs_left, batches_left, looks_left } = progress;
    let batches =
        if batches_left == 1 { "1 batch".to_owned() } else { format!("{} batches", format::count(batches_left)) };
    format!("{} left in {batches}, about {} to see", format::counted(pairs_left, "pair"), format::count(looks_left))
}

pub(crate) fn write_page(reviewed: &Reviewed<'_>, file: &Path, style: &Style) -> CommandResult {
    let connections = reviewed.connections(style)?;
    let Reviewed { resolution, known, by, on, .. } = reviewed;
    let firsts = first_rows(resolution);
    let group = |row: u32| firsts.get(&row).copied().unwrap_or(row);
    let pair = |index: &usize| {
        let pair = &resolution.review[*index];
        let [left, right] = [pair.left, pair.right].map(|row| resolution.records[row as usize].id.clone());
        ReviewPair {
            left,
            right,
            groups: [pair.left, pair.right].map(group),
            evidence: evidence_text(pair),
            held: pair.conflict.as_ref().map(|held| conflict_text(resolution, held)),
            rows: reviewed.rows(pair, &connections),
        }
    };
    let batches: Vec<ReviewBatch> = batches(resolution)
        .into_iter()
        .map(|batch| ReviewBatch {
            bounds: batch.bounds(),
            pairs: batch.pairs.iter().map(pair).collect(),
            title: batch.title,
        })
        .collect();
    let different = known.all().iter().filter(|decision| decision.judgement == Judgement::Different);
    let ends: Vec<[&str; 2]> = different.map(|decision| [decision.left.as_str(), decision.right.as_str()]).collect();
    let named: HashSet<&str> = ends.iter().flatten().copied().collect();
    let rows = (0..).zip(&resolution.records).map(|(row, record)| (record.id.as_str(), row));
    let rows: HashMap<&str, u32> = rows.filter(|(id, _)| named.contains(id)).collect();
    let apart = ends.iter().filter_map(|[left, right]| Some([group(*rows.get(left)?), group(*rows.get(right)?)]));
    let review = Review {
        by,
        on: *on,
        columns: Decision::COLUMNS,
        sample: SAMPLE,
        one_may_differ_of: ONE_MAY_DIFFER_OF,
        shares: SHARES,
        offer: OFFER,
        larger: LARGER,
        reason: REASON,
        batches,
        apart: apart.collect(),
    };
    let html = page(&review).map_err(io::Error::other)?;
    fs::write(file, html).map_err(|error| SourceError::io(file, error))?;
    let (pairs, batches) = (resolution.review.len(), review.batches.len());
    style.print(true, &json!({ "pairs": pairs, "batches": batches }), |out| {
        writeln!(out, "{} in {}: open it in a browser", format::counted(pairs, "pair"), file.display())
    })
}

/// Asks about the shown pair. The end of the input quits.
fn ask(input: &mut dyn BufRead, out: &mut dyn Write) -> io::Result<Answer> {
    loop {
        write!(out, "{KEYS}\n> ")?;
        out.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(Answer::Quit);
        }
        let (key, why) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let judgement = match key.to_lowercase().as_str() {
            "s" | "same" => Judgement::Same,
            "d" | "different" => Judgement::Different,
            "u" | "unsure" => Judgement::Unsure,
            "b" | "batch" => return Ok(Answer::Rest),
            "n" | "next" => return Ok(Answer::Skip),
            "z" | "undo" => return Ok(Answer::Undo),
            "q" | "quit" => return Ok(Answer::Quit),
            _ => {
                writeln!(out, "`{}` is not a key", line.trim())?;
                continue;
            }
        };
        return Ok(Answer::Judged(judgement, why.trim().to_owned()));
    }
}

fn show(
    reviewed: &Reviewed<'_>,
    pair: &RecordPair,
    connections: &HashMap<String, Connections>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let [left, right] = [pair.left, pair.right].map(|row| &reviewed.resolution.records[row as usize].id);
    writeln!(out, "{:<12} {left:<40}   {right}", "")?;
    for ReviewRow { label, sides } in reviewed.rows(pair, connections) {
        let mut label = label;
        for (left, right) in sides[0].common.iter().zip(&sides[1].common) {
            writeln!(out, "{:<12} {left:<40} = {right}", std::mem::take(&mut label))?;
        }
        let others = sides.map(|side| {
            let more = (side.more > 0).then(|| format!("and {} more", format::count(side.more)));
            side.other.into_iter().chain(more).collect::<Vec<String>>()
        });
        for line in 0..others[0].len().max(others[1].len()) {
            let [left, right] = [&others[0], &others[1]].map(|side| side.get(line).map_or("", String::as_str));
            writeln!(out, "{:<12} {left:<40}   {right}", std::mem::take(&mut label))?;
        }
    }
    writeln!(out, "{}", evidence_text(pair))?;
    if let Some(held) = &pair.conflict {
        writeln!(out, "not merged: {}", conflict_text(reviewed.resolution, held))?;
    }
    Ok(())
}
