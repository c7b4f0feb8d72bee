//! `indexer resolve --review`: a person decides pairs, one by one.

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::Path;

use serde_json::json;

use crate::cli::indexer::resolve::{conflict_text, evidence_text};
use crate::cli::indexer::{CommandResult, IndexerExit, Style, format};
use data::{Date, DiagnosticReport};
use import::resolve::{Decision, Decisions, Judgement, RecordPair, Resolution, SourceRecord, decision};
use import::sources::SourceError;
use site::review::{ReviewPair, page};

const KEYS: &str = "s same, d different, u unsure, q quit; a reason may follow: `d another city`";

/// Shows pairs until all are decided or the person quits. Each decision is in `folder` before the next pair is shown.
pub(crate) fn run(folder: &Path, by: &str, on: Date, resolution: &Resolution, mut known: Decisions) -> CommandResult {
    let (mut input, mut out) = (io::stdin().lock(), io::stdout().lock());
    // The first row of each row's cluster. Decisions join clusters, too, so that no pair within one is shown.
    let mut first_of: Vec<u32> = (0..).take(resolution.records.len()).collect();
    for cluster in &resolution.clusters {
        cluster.iter().for_each(|row| first_of[*row as usize] = cluster[0]);
    }
    let (mut decided, mut left) = (0, resolution.review.len());
    for (index, pair) in resolution.review.iter().enumerate() {
        left = resolution.review.len() - index;
        let clusters = [pair.left, pair.right].map(|row| first_of[row as usize]);
        if clusters[0] == clusters[1] {
            continue;
        }
        writeln!(out, "\n{} left", format::counted(left, "pair"))?;
        show(resolution, pair, &mut out)?;
        let Some((judgement, why)) = ask(&mut input, &mut out)? else { break };
        left -= 1;
        let [first, second] = [pair.left, pair.right].map(|row| resolution.records[row as usize].id.clone());
        let made = Decision::new(first, second, judgement, by.to_owned(), on.into(), why);
        let mut report = DiagnosticReport::default();
        let with_it = known.with(made.clone(), &mut report);
        if report.has_errors() {
            for problem in report.errors() {
                writeln!(out, "not kept: {problem}")?;
            }
            continue;
        }
        decision::append(folder, &made)?;
        known = with_it;
        decided += 1;
        if judgement == Judgement::Same {
            first_of.iter_mut().filter(|first| **first == clusters[1]).for_each(|first| *first = clusters[0]);
        }
    }
    let decided = format::counted(decided, "decision");
    writeln!(out, "\n{decided} added to {}", folder.join(decision::FILE).display())?;
    writeln!(out, "{} left; `indexer build --sources` uses the decisions", format::counted(left, "pair"))?;
    Ok(IndexerExit::Success)
}

pub(crate) fn write_page(resolution: &Resolution, by: &str, today: Date, file: &Path, style: &Style) -> CommandResult {
    let pair = |pair: &RecordPair| {
        let [left, right] = [pair.left, pair.right].map(|row| &resolution.records[row as usize]);
        ReviewPair {
            left: left.id.clone(),
            right: right.id.clone(),
            evidence: evidence_text(pair),
            held: pair.conflict.as_ref().map(|held| conflict_text(resolution, held)),
            // The heads of the columns are the entities.
            values: known_values(left, right).filter(|(label, ..)| *label != "entity").collect(),
        }
    };
    let pairs: Vec<ReviewPair> = resolution.review.iter().map(pair).collect();
    let html = page(&pairs, by, today, Decision::COLUMNS).map_err(io::Error::other)?;
    fs::write(file, html).map_err(|error| SourceError::io(file, error))?;
    style.print(true, &json!({ "pairs": pairs.len() }), |out| {
        writeln!(out, "{} in {}: open it in a browser", format::counted(pairs.len(), "pair"), file.display())
    })
}

/// Asks for the decision about the shown pair, such as `s` or `d other fund`; `None` to stop.
fn ask(input: &mut dyn BufRead, out: &mut dyn Write) -> io::Result<Option<(Judgement, String)>> {
    loop {
        write!(out, "{KEYS}\n> ")?;
        out.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let (key, why) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let judgement = match key.to_lowercase().as_str() {
            "s" | "same" => Judgement::Same,
            "d" | "different" => Judgement::Different,
            "u" | "unsure" => Judgement::Unsure,
            "q" | "quit" => return Ok(None),
            _ => {
                writeln!(out, "`{}` is not a key", line.trim())?;
                continue;
            }
        };
        return Ok(Some((judgement, why.trim().to_owned())));
    }
}

fn show(resolution: &Resolution, pair: &RecordPair, out: &mut dyn Write) -> io::Result<()> {
    let [left, right] = [pair.left, pair.right].map(|row| &resolution.records[row as usize]);
    for (label, left, right) in known_values(left, right) {
        let mark = if left == right { "=" } else { " " };
        writeln!(out, "{label:<12} {left:<40} {mark} {right}")?;
    }
    writeln!(out, "{}", evidence_text(pair))?;
    if let Some(held) = &pair.conflict {
        writeln!(out, "not merged: {}", conflict_text(resolution, held))?;
    }
    Ok(())
}

/// The values of two records that one of them has at least, each with its label.
fn known_values(left: &SourceRecord, right: &SourceRecord) -> impl Iterator<Item = (&'static str, String, String)> {
    let values = shown(left).into_iter().zip(shown(right));
    let values = values.map(|((label, left), (_, right))| (label, left, right));
    values.filter(|(_, left, right)| !left.is_empty() || !right.is_empty())
}

fn shown(record: &SourceRecord) -> [(&'static str, String); 10] {
    let identifiers = record.identifiers.iter().map(|(scheme, value)| format!("{scheme}:{value}"));
    let unpublished = match (record.is_suppressed, record.is_gone) {
        (true, _) => "no: suppressed",
        (_, true) => "no: its source does not have it any more",
        _ => "",
    };
    [
        ("name", record.name.clone()),
        ("aliases", record.aliases.join(", ")),
        ("website", record.website.clone().unwrap_or_default()),
        ("country", record.country.map(|country| country.to_string()).unwrap_or_default()),
        ("city", record.city.clone().unwrap_or_default()),
        ("founded", record.founded_year.map(|year| year.to_string()).unwrap_or_default()),
        ("identifiers", identifiers.collect::<Vec<_>>().join(" ")),
        ("rounds", if record.size > 0 { record.size.to_string() } else { String::new() }),
        ("published", unpublished.to_owned()),
        ("entity", record.id.clone()),
    ]
}
