//! The HTML of the page. All texts of files are escaped by [`Text`]; every form works without a script.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::path::Path;

use crate::cli::indexer::format;
use crate::cli::indexer::import_page::{INPUT_SETTINGS, ImportPage, Notes, RATES, SOURCE_SETTINGS};
use data::parameter_error::shortened_to;
use data::vocabulary::Vocabulary as _;
use import::sources::EntityKind;
use import::sources::import::{ImportSummary, Omission, total};
use import::sources::preview::edit::MappingEdit;
use import::sources::preview::meaning::{Meaning, fields_of};
use import::sources::preview::{ColumnMeaning, MAX_CELL, Preview, PreviewColumn, PreviewRow, PreviewTable};

pub(super) struct View<'v> {
    pub page: &'v ImportPage,
    pub preview: &'v Preview,
    /// Missing if the mapping is not TOML.
    pub edit: Option<&'v MappingEdit>,
    pub notes: &'v Notes,
}

/// A text as HTML.
struct Text<'t>(&'t str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for char in self.0.chars() {
            match char {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // Not allowed in HTML.
                char if char.is_control() && !char.is_whitespace() => f.write_char(char::REPLACEMENT_CHARACTER)?,
                char => f.write_char(char)?,
            }
        }
        Ok(())
    }
}

/// A part of the page.
type Part = fmt::Result;

pub(super) fn page(view: &View<'_>) -> String {
    let mut out = String::new();
    // A string takes every text.
    let _ = view.write(&mut out);
    out
}

pub(super) fn done(mapping: &Path) -> String {
    let mut out = String::new();
    let _ = head(&mut out, "Done", false);
    let mapping = mapping.display().to_string();
    let _ = write!(
        out,
        "<main><h1>Done</h1><p>The mapping is in <code>{}</code>. What was imported becomes a release with \
         <code>indexer build --sources DIR</code>. The server has ended: close this window.</p></main>",
        Text(&mapping)
    );
    out
}

fn head(out: &mut String, title: &str, has_script: bool) -> Part {
    let script = if has_script { "<script src=\"page.js\" defer></script>" } else { "" };
    write!(
        out,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>{} – VentureDex import</title><link rel=\"icon\" \
         href=\"data:,\"><link rel=\"stylesheet\" href=\"page.css\">{script}</head><body>",
        Text(title)
    )
}

impl View<'_> {
    fn write(&self, out: &mut String) -> Part {
        let names: Vec<String> = self.page.inputs.iter().map(|input| input.display().to_string()).collect();
        let names = names.join(", ");
        let mapping = self.page.mapping.display().to_string();
        head(out, &names, true)?;
        let message = self.notes.message.as_ref();
        write!(
            out,
            "<a class=\"skip\" href=\"#rows-0\">To the rows</a><header><strong>VentureDex import</strong>\
             <form method=\"post\" action=\"done\"><button class=\"plain\"{}>Done</button></form></header>\
             <p id=\"status\" role=\"status\"{}>{}</p><main id=\"content\"><h1>{}</h1><p class=\"quiet\">Say what each \
             column means. Every change is kept in <code>{}</code> at once; what you write there by hand stays.</p>",
            // The button also saves entries about the source that were not set yet.
            if self.edit.is_some() { " form=\"source-form\" formaction=\"done\"" } else { "" },
            if message.is_some_and(|message| message.is_error) { " class=\"error\"" } else { "" },
            Text(message.map_or("", |message| &message.text)),
            Text(&names),
            Text(&mapping)
        )?;
        self.result(out)?;
        for (index, table) in self.preview.tables.iter().enumerate() {
            self.table(out, index, table)?;
        }
        self.source(out)?;
        self.import(out, &names, &mapping)?;
        out.write_str("</main></body></html>")
    }

    /// What would come out, and what prevents it.
    fn result(&self, out: &mut String) -> Part {
        out.write_str("<section aria-labelledby=\"result\"><h2 id=\"result\">What comes out</h2>")?;
        if !self.preview.problems.is_empty() {
            out.write_str("<div class=\"notice\"><p>The import would be refused:</p><ul>")?;
            for problem in &self.preview.problems {
                write!(out, "<li>{}</li>", Text(problem))?;
            }
            out.write_str("</ul></div>")?;
        }
        if let Some(summary) = &self.preview.summary {
            counts(out, summary)?;
        }
        if !self.preview.sheets.is_empty() {
            out.write_str("<p>Sheets that are left out:</p><ul class=\"quiet\">")?;
            self.preview.sheets.iter().try_for_each(|sheet| write!(out, "<li>{}</li>", Text(sheet)))?;
            out.write_str("</ul>")?;
        }
        out.write_str("</section>")
    }

    fn table(&self, out: &mut String, index: usize, table: &PreviewTable) -> Part {
        write!(out, "<section aria-labelledby=\"rows-{index}\"><h2 id=\"rows-{index}\">{}</h2>", Text(&table.file))?;
        if table.more_files > 0 {
            write!(
                out,
                "<p class=\"quiet\">{} of the same form are read alike.</p>",
                format::counted(table.more_files as u64, "more file")
            )?;
        }
        if let Some(problem) = &table.problem {
            write!(out, "<p class=\"error\">Cannot be read: {}</p>", Text(problem))?;
        }
        if !table.input.is_empty() {
            self.kinds(out, index, table)?;
            self.constants(out, index, table)?;
            self.input(out, index, table)?;
        }
        if !table.columns.is_empty() {
            self.rows(out, index, table)?;
        }
        out.write_str("</section>")
    }

    /// What each row becomes, by section.
    fn kinds(&self, out: &mut String, index: usize, table: &PreviewTable) -> Part {
        let sections = self.preview.sections.iter().filter(|(_, input)| *input == table.input);
        for (number, (section, _)) in sections.enumerate() {
            let id = format!("kind-{index}-{number}");
            write!(
                out,
                "<form class=\"row\" method=\"post\" action=\"kind\" data-submit><input type=\"hidden\" name=\"section\" \
                 value=\"{}.{}.key\"><label for=\"{id}\">{}</label> <select id=\"{id}\" name=\"kind\">",
                section.kind,
                section.section,
                if number == 0 { "Each row is a" } else { "and a" }
            )?;
            for kind in EntityKind::ALL.iter().filter(|kind| is_offered(**kind) || section.kind == **kind) {
                option(out, kind.name(), kind_label(*kind), *kind == section.kind)?;
            }
            option(out, "", "nothing: remove it", false)?;
            out.write_str("</select> <button class=\"plain\" data-without-script>Set</button></form>")?;
        }
        Ok(())
    }

    /// Values that no column has, as the country of a list of one country.
    fn constants(&self, out: &mut String, index: usize, table: &PreviewTable) -> Part {
        let Some(edit) = self.edit else { return Ok(()) };
        let of_table = self.preview.sections.iter().filter(|(_, input)| *input == table.input);
        let sections: Vec<&Meaning> = of_table.map(|(section, _)| section).filter(|of| is_offered(of.kind)).collect();
        if sections.is_empty() {
            return Ok(());
        }
        let known: Vec<(Meaning, String)> = sections.iter().flat_map(|section| edit.constants(section)).collect();
        let open = if known.is_empty() { "" } else { " open" };
        write!(out, "<details id=\"same-{index}\"{open}><summary>The same for all rows</summary>")?;
        for (number, (meaning, value)) in known.iter().enumerate() {
            write!(
                out,
                "<form class=\"fields\" method=\"post\" action=\"constant\" data-script><input type=\"hidden\" name=\"field\" \
                 value=\"{meaning}\">"
            )?;
            let id = format!("same-{index}-{number}");
            field(out, &id, "value", &meaning.label(), "of all rows; empty to remove it", value)?;
            out.write_str("<button class=\"plain\">Set</button></form>")?;
        }
        write!(
            out,
            "<form class=\"fields\" method=\"post\" action=\"constant\" data-script><div class=\"field\"><label \
             for=\"same-{index}-field\">Field</label><select id=\"same-{index}-field\" name=\"field\">"
        )?;
        option(out, "", "choose a field", true)?;
        for section in sections {
            let fields = fields_of(section.kind).into_iter().map(|field| Meaning { field, ..section.clone() });
            let is_free =
                |meaning: &Meaning| meaning.may_be_constant() && known.iter().all(|(known, _)| known != meaning);
            for meaning in fields.filter(is_free) {
                option(out, &meaning.to_string(), &meaning.label(), false)?;
            }
        }
        out.write_str("</select></div>")?;
        field(out, &format!("same-{index}-value"), "value", "Value", "such as Norway, or seed", "")?;
        out.write_str("<button class=\"plain\">Add</button></form></details>")
    }

    /// How a file is read.
    fn input(&self, out: &mut String, index: usize, table: &PreviewTable) -> Part {
        let Some(edit) = self.edit else { return Ok(()) };
        write!(
            out,
            "<details id=\"input-{index}\"><summary>How the file is read</summary><form method=\"post\" action=\"input\" \
             class=\"fields\" data-script><input type=\"hidden\" name=\"input\" value=\"{}\">",
            Text(&table.input)
        )?;
        let settings = INPUT_SETTINGS.iter().filter(|(setting, ..)| match *setting {
            "sheet" => table.is_workbook,
            "skip" | "decimal" | "none" => true,
            _ => !table.is_workbook,
        });
        for (setting, label, hint) in settings {
            let value = edit.table_setting(&["input", &table.input], setting);
            field(out, &format!("input-{index}-{setting}"), setting, label, hint, &value)?;
        }
        out.write_str("<button class=\"plain\">Read it so</button></form></details>")
    }

    fn rows(&self, out: &mut String, index: usize, table: &PreviewTable) -> Part {
        write!(
            out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Rows of {}\"><table><caption><span>The \
             first {}</span></caption><thead><tr><th scope=\"col\">Line</th>",
            Text(&table.file),
            format::counted(table.rows.len() as u64, "row")
        )?;
        for (at, column) in table.columns.iter().enumerate() {
            write!(out, "<th scope=\"col\" class=\"{}\">{}", state(column), Text(&name_of(column, at)))?;
            match (column.is_there, column.is_private) {
                (false, _) => out.write_str(" <span class=\"error\">not in the file</span>")?,
                (true, true) => out.write_str(" <span class=\"mark\">private</span>")?,
                _ => {}
            }
            out.write_str("</th>")?;
        }
        out.write_str("</tr><tr class=\"meanings\"><th scope=\"row\">Meaning</th>")?;
        for (at, column) in table.columns.iter().enumerate() {
            write!(out, "<td class=\"{}\">", state(column))?;
            if self.edit.is_some() && !table.input.is_empty() {
                self.meanings(out, &format!("{index}-{at}"), table, at)?;
            }
            out.write_str("</td>")?;
        }
        out.write_str("</tr></thead><tbody>")?;
        table.rows.iter().try_for_each(|row| write_row(out, row, table))?;
        out.write_str("</tbody></table></div>")
    }

    /// Menus of what a column means, with counts and formats.
    fn meanings(&self, out: &mut String, id: &str, table: &PreviewTable, at: usize) -> Part {
        let column = &table.columns[at];
        for (number, known) in column.meanings.iter().enumerate() {
            self.menu(out, &format!("{id}-{number}"), table, at, Some(&known.meaning))?;
            fate(out, known)?;
            self.format(out, &format!("{id}-{number}"), &known.meaning)?;
        }
        if column.meanings.is_empty() {
            self.menu(out, &format!("{id}-0"), table, at, None)?;
            if !column.remark.is_empty() && !column.is_private {
                write!(out, "<p class=\"quiet\">{}</p>", Text(&shown(&column.remark)))?;
            }
        } else if column.is_there {
            write!(out, "<details id=\"also-{id}\"><summary>Also means …</summary>")?;
            self.menu(out, &format!("{id}-{}", column.meanings.len()), table, at, None)?;
            out.write_str("</details>")?;
        }
        if column.is_read {
            out.write_str("<p class=\"quiet\">Also read by the mapping, as for a condition or a currency.</p>")?;
        }
        Ok(())
    }

    fn menu(&self, out: &mut String, id: &str, table: &PreviewTable, at: usize, known: Option<&Meaning>) -> Part {
        let column = &table.columns[at];
        let pending = self.notes.pending.as_ref().filter(|pending| {
            pending.input == table.input && pending.column == column.name && pending.old.as_ref() == known
        });
        let chosen = pending.map(|pending| &pending.new).or(known);
        write!(
            out,
            "<form method=\"post\" action=\"meaning\" {}><input type=\"hidden\" name=\"input\" value=\"{}\"><input \
             type=\"hidden\" name=\"column\" value=\"{}\"><input type=\"hidden\" name=\"old\" value=\"{}\"><select \
             id=\"meaning-{id}\" name=\"new\" aria-label=\"Meaning of {}\">",
            if pending.is_some() { "data-script" } else { "data-submit" },
            Text(&table.input),
            Text(&column.name),
            known.map(ToString::to_string).unwrap_or_default(),
            Text(&name_of(column, at))
        )?;
        option(out, "", "not used", chosen.is_none())?;
        // First what the rows are.
        let is_here = |kind: &EntityKind| {
            self.preview.sections.iter().any(|(section, input)| section.kind == *kind && *input == table.input)
        };
        let (here, others): (Vec<&EntityKind>, Vec<&EntityKind>) =
            EntityKind::ALL.iter().partition(|kind| is_here(kind));
        for kind in here.into_iter().chain(others) {
            let of_kind = self.preview.sections.iter().filter(|(section, _)| section.kind == *kind);
            let mut numbers: Vec<usize> = of_kind
                .clone()
                .filter(|(_, input)| *input == table.input)
                .map(|(section, _)| section.section)
                .collect();
            if numbers.is_empty() {
                if !is_offered(*kind) {
                    continue;
                }
                // A new section.
                numbers.push(of_kind.count());
            }
            for (at, number) in numbers.iter().enumerate() {
                write!(out, "<optgroup label=\"{}\">", kind_label(*kind))?;
                let mut fields = fields_of(*kind);
                // A scheme of the operator, or a field that is set by hand, such as the slug.
                let own = chosen.filter(|chosen| chosen.kind == *kind && !fields.contains(&chosen.field));
                let own = own.map(|chosen| chosen.field.clone());
                fields.extend(own);
                for field in fields {
                    let meaning = Meaning { kind: *kind, section: *number, field };
                    let label = if at == 0 { meaning.label() } else { format!("{} ({})", meaning.label(), at + 1) };
                    option(out, &meaning.to_string(), &label, chosen == Some(&meaning))?;
                }
                out.write_str("</optgroup>")?;
            }
        }
        out.write_str("</select>")?;
        if pending.is_some() {
            write!(
                out,
                "<label for=\"currency-{id}\">Currency</label><input id=\"currency-{id}\" name=\"currency\" required \
                 list=\"currencies\" autocomplete=\"off\" aria-describedby=\"currency-hint-{id}\"><p class=\"hint\" \
                 id=\"currency-hint-{id}\">A code, such as USD, or the column that has it</p><datalist id=\"currencies\">"
            )?;
            for code in ["USD", "EUR", "GBP", "CHF", "CAD", "INR", "JPY", "CNY"] {
                write!(out, "<option value=\"{code}\">")?;
            }
            for column in table.columns.iter().filter(|column| column.is_there) {
                write!(out, "<option value=\"{}\">", Text(&column.name))?;
            }
            out.write_str("</datalist>")?;
            field(
                out,
                &format!("unit-{id}"),
                "unit",
                "Unit of amounts without one",
                "such as million; may be empty",
                "",
            )?;
            out.write_str("<button>Set</button></form>")
        } else {
            out.write_str("<button class=\"plain\" data-without-script>Set</button></form>")
        }
    }

    /// Settings of how the texts of a column are read.
    fn format(&self, out: &mut String, id: &str, meaning: &Meaning) -> Part {
        let Some(edit) = self.edit.filter(|_| !meaning.settings().is_empty()) else { return Ok(()) };
        write!(
            out,
            "<details id=\"format-{id}\"><summary>Format</summary><form method=\"post\" action=\"setting\" class=\"fields\" \
             data-script><input type=\"hidden\" name=\"meaning\" value=\"{meaning}\">"
        )?;
        for setting in meaning.settings() {
            let value = edit.setting(meaning, setting);
            let id = format!("{setting}-{id}");
            match *setting {
                "currency" => field(out, &id, setting, "Currency", "a code, such as USD, or a column", &value)?,
                "unit" => field(out, &id, setting, "Unit of amounts without one", "such as million", &value)?,
                "split" => field(out, &id, setting, "Separator of several values", "such as ;", &value)?,
                "dates" => choice(out, &id, setting, "Form of dates", &DATES, &value)?,
                "decimal" => choice(out, &id, setting, "Decimal separator", &DECIMALS, &value)?,
                "end" => choice(out, &id, setting, "Of a range", &ENDS, &value)?,
                "kind" => choice(out, &id, setting, "Refers to a", &ORGANIZATIONS, &value)?,
                other => field(out, &id, setting, other, "", &value)?,
            }
        }
        out.write_str("<button class=\"plain\">Set the format</button></form></details>")
    }

    fn source(&self, out: &mut String) -> Part {
        let Some(edit) = self.edit else { return Ok(()) };
        out.write_str(
            "<section aria-labelledby=\"source\"><h2 id=\"source\">Where the data is from</h2><form method=\"post\" \
             action=\"source\" id=\"source-form\" class=\"fields\" data-script>",
        )?;
        for (setting, label, hint) in SOURCE_SETTINGS {
            field(out, &format!("source-{setting}"), setting, label, hint, &edit.table_setting(&["source"], setting))?;
        }
        let (setting, label, hint) = RATES;
        field(out, &format!("source-{setting}"), setting, label, hint, &edit.table_setting(&[], setting))?;
        out.write_str("<button class=\"plain\">Set</button></form></section>")
    }

    fn import(&self, out: &mut String, names: &str, mapping: &str) -> Part {
        out.write_str("<section aria-labelledby=\"import\"><h2 id=\"import\">Import</h2>")?;
        if let Some(account) = &self.notes.account {
            write!(
                out,
                "<pre tabindex=\"0\" role=\"region\" aria-label=\"Account of the import\">{}</pre>",
                Text(account)
            )?;
        }
        match self.page.run.is_some() {
            // The button also saves entries about the source that were not set yet.
            true if self.edit.is_some() => out.write_str(
                "<button id=\"import-button\" form=\"source-form\" formaction=\"import\">Import all rows</button>",
            )?,
            true => out.write_str("<p class=\"error\">The mapping cannot be read: correct it first.</p>")?,
            false => write!(
                out,
                "<p>When the rows are as they should be, end this page and import them:</p><pre tabindex=\"0\" role=\"region\" \
                 aria-label=\"Command\">indexer import --mapping {} {} --sources sources</pre>",
                Text(mapping),
                Text(names)
            )?,
        }
        out.write_str("</section>")
    }
}

const DATES: [(&str, &str); 7] = [
    ("", "2026-11-20 or 2026"),
    ("%d.%m.%Y", "20.11.2026"),
    ("%d/%m/%Y", "20/11/2026, the day first"),
    ("%m/%d/%Y", "11/20/2026, the month first"),
    ("%d-%b-%Y", "20-Nov-2026"),
    ("%B %d, %Y", "November 20, 2026"),
    ("%m/%Y", "11/2026"),
];
const DECIMALS: [(&str, &str); 3] = [("", "as the column shows"), (".", "point: 1,500.25"), (",", "comma: 1.500,25")];
const ENDS: [(&str, &str); 3] = [("", "neither end"), ("min", "the smaller"), ("max", "the larger")];
const ORGANIZATIONS: [(&str, &str); 2] = [("firm", "firm"), ("startup", "startup")];

/// True for a kind that rows can become on the page. A review needs constants; a sector is the value of a field.
fn is_offered(kind: EntityKind) -> bool {
    !matches!(kind, EntityKind::Review | EntityKind::Sector)
}

fn kind_label(kind: EntityKind) -> &'static str {
    match kind {
        EntityKind::Firm => "firm (investor)",
        EntityKind::Startup => "startup (company)",
        EntityKind::Round => "round (deal)",
        EntityKind::Person => "person",
        EntityKind::Review => "review",
        EntityKind::Sector => "sector",
    }
}

fn shown(text: &str) -> Cow<'_, str> {
    shortened_to(MAX_CELL, text)
}

/// Name of a column for people.
fn name_of(column: &PreviewColumn, at: usize) -> Cow<'_, str> {
    if column.name.is_empty() { Cow::Owned(format!("column {} (no name)", at + 1)) } else { shown(&column.name) }
}

fn state(column: &PreviewColumn) -> &'static str {
    if column.meanings.is_empty() { "unused" } else { "used" }
}

fn option(out: &mut String, value: &str, label: &str, is_chosen: bool) -> Part {
    let selected = if is_chosen { " selected" } else { "" };
    write!(out, "<option value=\"{}\"{selected}>{}</option>", Text(value), Text(label))
}

fn field(out: &mut String, id: &str, name: &str, label: &str, hint: &str, value: &str) -> Part {
    write!(
        out,
        "<div class=\"field\"><label for=\"{0}\">{1}</label><input id=\"{0}\" name=\"{2}\" value=\"{3}\" autocomplete=\"off\" \
         aria-describedby=\"{0}-hint\"><p class=\"hint\" id=\"{0}-hint\">{4}</p></div>",
        Text(id),
        Text(label),
        Text(name),
        Text(value),
        Text(hint)
    )
}

/// A menu of known values, and of the present one.
fn choice(out: &mut String, id: &str, name: &str, label: &str, known: &[(&str, &str)], value: &str) -> Part {
    write!(
        out,
        "<div class=\"field\"><label for=\"{0}\">{1}</label><select id=\"{0}\" name=\"{2}\">",
        Text(id),
        Text(label),
        Text(name)
    )?;
    for (known, label) in known {
        option(out, known, label, *known == value)?;
    }
    if known.iter().all(|(known, _)| *known != value) {
        option(out, value, value, true)?;
    }
    out.write_str("</select></div>")
}

/// Numbers of values of a column.
fn fate(out: &mut String, known: &ColumnMeaning) -> Part {
    let left_out = total(&known.left_out);
    if known.values + left_out == 0 {
        return Ok(());
    }
    write!(out, "<p class=\"quiet\">{}</p>", format::counted(known.values, "value"))?;
    if left_out > 0 {
        write!(out, "<details><summary class=\"error\">{} left out</summary>", format::count(left_out))?;
        omissions(out, &known.left_out)?;
        out.write_str("</details>")?;
    }
    Ok(())
}

fn omissions(out: &mut String, omissions: &[Omission]) -> Part {
    out.write_str("<ul>")?;
    for Omission { reason, count, first, .. } in omissions {
        write!(out, "<li>{}: {}; the first: {}</li>", format::count(*count), Text(reason), Text(&shown(first)))?;
    }
    out.write_str("</ul>")
}

fn counts(out: &mut String, summary: &ImportSummary) -> Part {
    if summary.entities.is_empty() {
        out.write_str("<p>Nothing.</p>")?;
    }
    out.write_str("<ul class=\"counts\">")?;
    for (kind, count) in &summary.entities {
        write!(out, "<li>{}</li>", format::counted(*count, kind))?;
    }
    out.write_str("</ul>")?;
    let of_files = summary.files.iter().map(|file| file.blank + total(&file.bad));
    let of_sections = summary.sections.iter().map(|section| section.counts.without_key);
    let rows: u64 = of_files.chain(of_sections).sum();
    let values: u64 =
        summary.sections.iter().flat_map(|section| &section.fields).map(|field| total(&field.dropped)).sum();
    if rows + values > 0 {
        write!(
            out,
            "<p class=\"error\">Left out: {} and {}, marked in the table</p>",
            format::counted(rows, "row"),
            format::counted(values, "value")
        )?;
    }
    if summary.is_part {
        write!(out, "<p>These are of the first {} rows of each file.</p>", format::count(super::SIZE.most))?;
    }
    for file in &summary.files {
        write!(out, "<p>{}: {} read", Text(&file.file), format::counted(file.rows, "row"))?;
        if file.left_out > 0 {
            write!(out, ", {} left out by <code>when</code>", format::count(file.left_out))?;
        }
        out.write_str("</p>")?;
        if !file.bad.is_empty() {
            out.write_str("<p class=\"error\">Rows left out:</p>")?;
            omissions(out, &file.bad)?;
        }
        if !file.warnings.is_empty() {
            out.write_str("<ul>")?;
            file.warnings.iter().try_for_each(|warning| write!(out, "<li>{}</li>", Text(warning)))?;
            out.write_str("</ul>")?;
        }
    }
    for section in &summary.sections {
        if section.counts.merged > 0 {
            let replaced = format::counted(section.counts.merged, "row");
            write!(out, "<p>{replaced} of a {} that another row has, too.</p>", section.kind)?;
        }
        if !section.without_key.is_empty() {
            write!(out, "<p class=\"error\">Rows that are not a {}:</p>", section.kind)?;
            omissions(out, &section.without_key)?;
        }
    }
    Ok(())
}

fn write_row(out: &mut String, row: &PreviewRow, table: &PreviewTable) -> Part {
    let is_out = row.records.is_empty() && !row.left_out.is_empty();
    let class = if is_out { " class=\"out\"" } else { "" };
    write!(out, "<tr{class}><th scope=\"row\">{}</th>", row.line)?;
    for (at, column) in table.columns.iter().enumerate() {
        let Some(cell) = row.cells.get(at) else {
            out.write_str("<td></td>")?;
            continue;
        };
        let class = if cell.left_out.is_empty() { state(column) } else { "out" };
        write!(out, "<td class=\"{class}\">{}", Text(&shown(&cell.text)))?;
        for values in cell.values.chunk_by(|left, right| left.field == right.field) {
            let changed: Vec<&str> =
                values.iter().map(|value| &*value.text).filter(|text| *text != cell.text).collect();
            if changed.is_empty() {
                continue;
            }
            // Of several fields, each says what it gets.
            let field = match values.first().filter(|_| values.len() < cell.values.len()) {
                Some(value) => format!("{}: ", value.field),
                None => String::new(),
            };
            let text = format!("{field}{}", changed.join(" · "));
            write!(out, "<span class=\"becomes\">becomes {}</span>", Text(&shown(&text)))?;
        }
        for reason in &cell.left_out {
            write!(out, "<span class=\"reason\">left out: {}</span>", Text(&shown(reason)))?;
        }
        out.write_str("</td>")?;
    }
    out.write_str("</tr>")?;
    if row.left_out.is_empty() {
        return Ok(());
    }
    // As wide as the table: the reason of a row belongs to none of its columns.
    write!(out, "<tr{class}><td colspan=\"{}\">", table.columns.len() + 1)?;
    for reason in &row.left_out {
        write!(out, "<p class=\"reason\">Line {} left out: {}</p>", row.line, Text(&shown(reason)))?;
    }
    out.write_str("</td></tr>")
}
