//! Reads a mapping from TOML.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use regex::RegexBuilder;
use toml::de::DeTable;

use crate::sources::field::{FieldForm, SourceField};
use crate::sources::input::json_path::JsonPath;
use crate::sources::input::{InputFormat, Quote, column_name, encoding};
use crate::sources::mapping::date_format::DateFormat;
use crate::sources::mapping::document::{Document, LineColumn, TomlNode, unknown};
use crate::sources::mapping::transform::Transform;
use crate::sources::mapping::{
    CellTest, ColumnRef, Condition, Currency, EntityReference, FieldTarget, FieldValue, Join, KeyForm, MappedValue,
    Mapping, MappingInput, MappingSection, MappingVocabulary, SourceValues, Unknown,
};
use crate::sources::money::{self, AmountForm, Decimal, End};
use crate::sources::{EntityKind, Extent, Source, SourceError, presets};
use data::identifier;
use data::import::diagnostics::quoted;
use data::vocabulary::Vocabulary as _;
use search::nearest;

const PRIORITY: u32 = 50;

const VALUE_KEYS: [&str; 11] =
    ["column", "columns", "value", "join", "none", "do", "map", "unknown", "dates", "default", "when"];

const FIELD_KEYS: [&str; 11] =
    ["currency", "rate_on", "sum", "decimal", "group", "unit", "scale", "scheme", "by", "kind", "create"];

pub(crate) const SECTION_KEYS: [&str; 7] = ["from", "join", "when", "key", "latest_by", "source_key", "id"];

impl Mapping {
    /// Reads a mapping. `folder` contains its file of rates.
    pub(crate) fn read(name: &str, text: &str, folder: &Path) -> Result<Self, SourceError> {
        let (mapping, problem) = Self::read_with_problems(name, text, folder)?;
        problem.map_or(Ok(mapping), Err)
    }

    /// Reads what can be read of a mapping, and its problems. Only a text that is not TOML is an error.
    pub(crate) fn read_with_problems(
        name: &str,
        text: &str,
        folder: &Path,
    ) -> Result<(Self, Option<SourceError>), SourceError> {
        let document = Document::new(name, text);
        let parsed = document.parse()?;
        let start = document.position(0);
        let table = parsed.get_ref();
        let kinds = EntityKind::ALL.iter().map(|kind| kind.name());
        let known: Vec<&str> = ["source", "input", "vocabulary", "rates"].into_iter().chain(kinds).collect();
        document.check_keys(table, &known);
        let inputs = table.get("input").and_then(|node| node.get_ref().as_table()).into_iter();
        let inputs = inputs.flat_map(|inputs| inputs.keys()).map(|name| name.get_ref().clone().into_owned()).collect();
        let reader = MappingReader { document: &document, inputs, vocabularies: read_vocabularies(&document, table) };
        let source = table.get("source").and_then(|node| reader.source(node));
        if table.get("source").is_none() {
            document.problem(start, "no [source]; add `[source]` with `id`, `title` and `license`");
        }
        let inputs = match table.get("input").and_then(|node| document.any_table(node)) {
            Some(inputs) => inputs.iter().map(|(name, node)| reader.input(name.get_ref(), node)).collect(),
            None => {
                document.problem(start, "no input; add a table such as `[input.firms]`");
                Vec::new()
            }
        };
        let mut sections = Vec::new();
        for kind in EntityKind::ALL {
            let Some(node) = table.get(kind.name()) else { continue };
            match node.get_ref().as_array() {
                Some(array) => sections.extend(array.iter().filter_map(|node| reader.section(*kind, node))),
                None => sections.extend(reader.section(*kind, node)),
            }
        }
        if sections.is_empty() {
            document.problem(start, "maps nothing; add a section such as `[[firm]]`");
        }
        for field in sections.iter_mut().flat_map(|section| &mut section.fields) {
            let input = field.value.columns.first().and_then(|column| inputs.get(column.input));
            field.amount.decimal = field.amount.decimal.or_else(|| input?.decimal);
        }
        for join in sections.iter().flat_map(|section| &section.joins) {
            if let Some(input) = inputs.get(join.input).filter(|input| input.key.is_none()) {
                let problem = format!("input {} is joined but has no `key`; add `key = \"COLUMN\"`", input.name);
                document.problem(input.position, problem);
            }
        }
        let rates = table.get("rates").and_then(|node| document.text(node)).map(|file| folder.join(file));
        let source = source.unwrap_or_else(|| SourceValues {
            id: String::new(),
            title: String::new(),
            license: String::new(),
            url: String::new(),
            priority: PRIORITY,
            extent: Extent::Complete,
        });
        let mapping = Self { name: name.to_owned(), source, inputs, sections, rates };
        Ok((mapping, document.finish().err()))
    }
}

fn read_vocabularies<'a>(document: &Document<'a>, table: &DeTable<'a>) -> HashMap<String, Arc<MappingVocabulary>> {
    let mut vocabularies = HashMap::new();
    let Some(tables) = table.get("vocabulary").and_then(|node| document.any_table(node)) else { return vocabularies };
    for (name, node) in tables {
        let Some(words) = document.any_table(node) else { continue };
        let mut vocabulary = MappingVocabulary::new();
        for (word, node) in words {
            let texts = document.plain_texts(node).into_iter().filter(|text| !text.is_empty());
            vocabulary.insert(word.get_ref().trim().to_lowercase(), texts.collect());
        }
        vocabularies.insert(name.get_ref().clone().into_owned(), Arc::new(vocabulary));
    }
    vocabularies
}

struct MappingReader<'d, 'a> {
    document: &'d Document<'a>,
    /// Names, in the order of `Mapping::inputs`.
    inputs: Vec<String>,
    vocabularies: HashMap<String, Arc<MappingVocabulary>>,
}

impl<'a> MappingReader<'_, 'a> {
    fn source(&self, node: &TomlNode<'a>) -> Option<SourceValues> {
        let document = self.document;
        let table = document.table(node, &["id", "title", "license", "url", "priority", "import"])?;
        let text = |key: &str| table.get(key).and_then(|node| document.text(node));
        let required = |key: &str, example: &str| {
            let value = text(key).filter(|value| !value.trim().is_empty());
            if value.is_none() {
                let problem = format!("no `{key}`; add it, such as `{key} = \"{example}\"`");
                document.problem(document.position_of(node), problem);
            }
            value.unwrap_or_default()
        };
        let not_extent = |name: &str| unknown("value", name, Extent::names());
        let extent = table.get("import").and_then(|node| document.word(node, Extent::read, not_extent));
        let source = SourceValues {
            id: required("id", "our-list"),
            title: required("title", "Our list of firms"),
            license: required("license", "CC0-1.0"),
            url: text("url").unwrap_or_default(),
            priority: table.get("priority").map_or(Some(PRIORITY), |node| document.number(node)).unwrap_or_default(),
            // Complete, because a plain list contains everything that its source has.
            extent: extent.unwrap_or(Extent::Complete),
        };
        if let Some(id) = table.get("id").filter(|_| !source.id.is_empty() && !Source::is_id(&source.id)) {
            let problem = format!("{} is not an id: lowercase letters, digits and single `-`", quoted(&source.id));
            document.problem(document.position_of(id), problem);
        }
        Some(source)
    }

    fn input(&self, name: &str, node: &TomlNode<'a>) -> MappingInput {
        let keys = "file delimiter quote encoding sheet skip header path marked_formulas fill_down headings key none decimal optional \
             ignore names when may_lack";
        let document = self.document;
        let index = self.inputs.iter().position(|known| known == name).unwrap_or_default();
        let empty = DeTable::new();
        let table = document.table(node, &keys.split(' ').collect::<Vec<_>>()).unwrap_or(&empty);
        let text = |key: &str| table.get(key).and_then(|node| document.text(node));
        let texts = |key: &str| table.get(key).map(|node| document.plain_texts(node)).unwrap_or_default();
        let delimiter = |text: &str| match *text.as_bytes() {
            [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r') => Some(byte),
            _ => None,
        };
        let not_delimiter = |text: &str| format!("{} is not one ASCII character, such as `;`", quoted(text));
        let not_quote = |quote: &str| {
            format!(
                "{} is no quotation mark: one character, such as `'`, or `{}` if no cell is quoted",
                quoted(quote),
                Quote::NONE
            )
        };
        let not_encoding = |name: &str| {
            let examples = "such as `utf-8`, `windows-1252`, `windows-1250`, `shift_jis` or `utf-16le`";
            format!("{} is no encoding of the Encoding Standard, {examples}", quoted(name))
        };
        let not_path = |path: &str| format!("{} is not a path of names, such as `data` or `$.data[*]`", quoted(path));
        let format = InputFormat {
            delimiter: table.get("delimiter").and_then(|node| document.word(node, delimiter, not_delimiter)),
            quote: table.get("quote").and_then(|node| document.word(node, Quote::named, not_quote)),
            encoding: table.get("encoding").and_then(|node| document.word(node, encoding::named, not_encoding)),
            sheet: text("sheet"),
            skip: table.get("skip").and_then(|node| document.number(node)).map(|skip| skip as usize),
            header_rows: table.get("header").and_then(|node| self.header_rows(node)),
            path: table.get("path").and_then(|node| document.word(node, JsonPath::parse, not_path)),
            has_marked_formulas: table.get("marked_formulas").is_some_and(|node| document.truth(node)),
            fill_down: texts("fill_down").iter().map(|name| column_name(name)).collect(),
            has_headings: table.get("headings").is_some_and(|node| document.truth(node)),
        };
        let key = table.get("key").and_then(|node| Some((document.text(node)?, document.position_of(node))));
        let names = table.get("names").and_then(|node| document.any_table(node)).into_iter().flatten();
        let names = names.map(|(name, node)| (name.get_ref().clone().into_owned(), document.plain_texts(node)));
        MappingInput {
            name: name.to_owned(),
            file: text("file"),
            format,
            key: key.map(|(name, position)| ColumnRef { input: index, name, position, index: 0 }),
            none: texts("none"),
            optional: texts("optional").iter().map(|name| column_name(name)).collect(),
            ignore: texts("ignore").iter().map(|name| column_name(name)).collect(),
            names: names.collect(),
            when: table.get("when").map(|node| self.conditions(node, index, &[])).unwrap_or_default(),
            may_lack: table.get("may_lack").is_some_and(|node| document.truth(node)),
            decimal: table.get("decimal").and_then(|node| self.decimal(node)),
            position: document.position_of(node),
        }
    }

    /// Reads the number of rows of a header: `true` is 1, `false` 0.
    fn header_rows(&self, node: &TomlNode<'a>) -> Option<u8> {
        if node.get_ref().as_bool().is_some() {
            return Some(u8::from(self.document.truth(node)));
        }
        let rows = self.document.number(node)?;
        if !(1..=2).contains(&rows) {
            let problem = "is not the number of rows of a header: 1, 2, or false without a header";
            self.document.problem(self.document.position_of(node), problem);
        }
        u8::try_from(rows).ok().filter(|rows| (1..=2).contains(rows))
    }

    fn section(&self, kind: EntityKind, node: &TomlNode<'a>) -> Option<MappingSection> {
        let document = self.document;
        let fields = || SourceField::of_kind(kind).iter().chain([SourceField::SLUG]);
        let known: Vec<&str> = SECTION_KEYS.into_iter().chain(fields().map(|field| field.name)).collect();
        let table = document.table(node, &known)?;
        let position = document.position_of(node);
        let find = |name: &str| self.inputs.iter().position(|input| input == name);
        let from = match table.get("from") {
            Some(node) => document.word(node, find, |name| self.unknown_input(name))?,
            None if self.inputs.len() == 1 => 0,
            None => {
                let inputs = self.inputs.join(", ");
                let problem = format!("no `from`; name the input that the {kind}s are read from: {inputs}");
                document.problem(position, problem);
                return None;
            }
        };
        let mut joins = Vec::new();
        for (name, node) in table.get("join").and_then(|node| document.any_table(node)).into_iter().flatten() {
            let Some(input) = find(name.get_ref()) else {
                document.problem(document.position(name.span().start), self.unknown_input(name.get_ref()));
                continue;
            };
            let Some(column) = document.text(node) else { continue };
            let position = document.position_of(node);
            joins.push(Join { input, column: ColumnRef { input: from, name: column, position, index: 0 } });
        }
        let joined: Vec<usize> = joins.iter().map(|join| join.input).collect();
        let value = |key: &str| Some(self.value(table.get(key)?, from, &joined, &[])?.0);
        let mut section = MappingSection {
            kind,
            from,
            when: table.get("when").map(|node| self.conditions(node, from, &joined)).unwrap_or_default(),
            key: table.get("key").and_then(|node| {
                let (value, table) = self.value(node, from, &joined, &["scheme", "by"])?;
                Some((value, self.key_form(table)))
            }),
            latest_by: value("latest_by"),
            source_key: value("source_key"),
            fields: Vec::new(),
            joins,
        };
        if let Some((key, _)) = &mut section.key
            && key.columns.len() > 1
            && !key.steps.iter().any(|step| matches!(step, Transform::First))
        {
            key.join.get_or_insert("|".to_owned());
        }
        for field in fields() {
            let Some(node) = table.get(field.name) else { continue };
            section.fields.extend(self.field(FieldTarget::Field(field), node, from, &joined));
        }
        for (scheme, node) in table.get("id").and_then(|node| document.any_table(node)).into_iter().flatten() {
            let position = document.position(scheme.span().start);
            self.check_scheme(scheme.get_ref(), position);
            if !is_identified(kind) {
                document.problem(position, format!("a {kind} has no identifiers; remove `id`"));
            }
            let target = FieldTarget::Identifier(scheme.get_ref().clone().into_owned());
            section.fields.extend(self.field(target, node, from, &joined));
        }
        // A round is converted by the rate of its own day.
        let is_day = |field: &&FieldValue| kind == EntityKind::Round && field.target.name() == "announced_on";
        let day = section.fields.iter().find(is_day).map(|field| field.value.clone());
        let is_open = |field: &&mut FieldValue| field.target.form() == FieldForm::Dollars && field.rate_on.is_none();
        section.fields.iter_mut().filter(is_open).for_each(|field| field.rate_on.clone_from(&day));
        let has_field = |name: &str| section.fields.iter().any(|field| field.target.name() == name);
        if section.key.is_none() && !has_field("name") {
            document.problem(position, format!("a {kind} has neither `key` nor `name`; add `key = \"COLUMN\"`"));
        }
        for field in SourceField::required(kind).iter().filter(|field| kind == EntityKind::Review && !has_field(field))
        {
            let constant = if *field == "status" { "{ value = \"approved\" }" } else { "\"COLUMN\"" };
            document.problem(position, format!("a review has no `{field}`; add `{field} = {constant}`"));
        }
        // A key with a scheme is also an identifier of the entity.
        if let Some((key, KeyForm::Scheme(scheme))) = &section.key
            && is_identified(kind)
            && !has_field(&format!("{}{scheme}", identifier::FIELD))
        {
            let target = FieldTarget::Identifier(scheme.clone());
            section.fields.push(FieldValue::new(target, key.clone(), position));
        }
        Some(section)
    }

    fn unknown_input(&self, name: &str) -> String {
        unknown("input", name, self.inputs.iter().map(String::as_str))
    }

    fn field(&self, target: FieldTarget, node: &TomlNode<'a>, from: usize, joined: &[usize]) -> Option<FieldValue> {
        let document = self.document;
        let (value, table) = self.value(node, from, joined, &FIELD_KEYS)?;
        let position = document.position_of(node);
        let get = |key: &str| table.and_then(|table| table.get(key));
        let form = target.form();
        let mut field = FieldValue::new(target, value, position);
        match form {
            FieldForm::Dollars => {
                field.currency = get("currency").and_then(|node| self.currency(node, from, joined));
                field.rate_on = get("rate_on").and_then(|node| Some(self.value(node, from, joined, &[])?.0));
                field.is_sum = get("sum").is_some_and(|node| document.truth(node));
                field.amount = self.amount_form(&mut field.value, table);
                if get("currency").is_none() {
                    let problem = "no `currency`; write `currency = \"USD\"`, or `currency = { column = \"CURRENCY\" }` and \
                                   `rates = \"rates.csv\"`: it is never guessed";
                    document.problem(position, problem);
                }
            }
            FieldForm::Reference(kinds) => {
                let names = || kinds.iter().map(|kind| kind.name());
                let kind = match (get("kind"), kinds) {
                    (Some(node), _) => {
                        let find = |name: &str| kinds.iter().copied().find(|kind| kind.name() == name);
                        document.word(node, find, |name| unknown("kind", name, names()))?
                    }
                    (None, [kind]) => *kind,
                    (None, _) => {
                        let names: Vec<&str> = names().collect();
                        let problem =
                            format!("no `kind`; write `kind = \"{}\"` (known: {})", names[0], names.join(", "));
                        document.problem(position, problem);
                        return None;
                    }
                };
                if field.value.columns.len() > 1 && !field.target.is_list() {
                    field.value.join.get_or_insert("|".to_owned());
                }
                let is_created = get("create").is_some_and(|node| document.truth(node));
                field.reference = Some(EntityReference { kind, key: self.key_form(table), is_created });
            }
            FieldForm::Stage | FieldForm::FirmKind | FieldForm::StartupStatus | FieldForm::Country => {
                // The vocabularies of presets are complete: a code of EDGAR is none of ISO 3166-1.
                let map = get("map").and_then(|node| node.get_ref().as_str());
                field.value.extends_words = map.is_some_and(|map| self.vocabularies.contains_key(map));
            }
            _ => {}
        }
        let allowed: &[&str] = match form {
            FieldForm::Dollars => &["currency", "rate_on", "sum", "decimal", "group", "unit", "scale"],
            FieldForm::Reference(_) => &["scheme", "by", "kind", "create"],
            _ => &[],
        };
        for (key, _) in table.into_iter().flatten() {
            if FIELD_KEYS.contains(&&**key.get_ref()) && !allowed.contains(&&**key.get_ref()) {
                let position = document.position(key.span().start);
                document.problem(position, format!("`{}` has no meaning for this field; remove it", key.get_ref()));
            }
        }
        Some(field)
    }

    /// Removes a final `min` or `max` step: the end of a range is chosen only when its unit and currency are known.
    fn amount_form(&self, value: &mut MappedValue, table: Option<&DeTable<'a>>) -> AmountForm {
        let get = |key: &str| table.and_then(|table| table.get(key));
        let not_unit = |text: &str| format!("{} is not a unit, such as \"million\", \"k\" or \"Mio.\"", quoted(text));
        let unit = get("unit").and_then(|node| self.document.word(node, money::unit, not_unit));
        let end = match value.steps.last() {
            Some(Transform::Min) => Some(End::Low),
            Some(Transform::Max) => Some(End::High),
            _ => None,
        };
        if end.is_some() {
            value.steps.pop();
        }
        let has_unit = value.columns.iter().any(|column| money::unit_of_header(&column.name).is_some());
        let scale = get("scale").and_then(|node| self.document.number(node)).map(f64::from);
        let unit = unit.or(scale);
        let not_group = |text: &str| {
            format!("{} is not a separator of groups: one of `.`, `,`, `'`, `_` and a blank", quoted(text))
        };
        let group = get("group").and_then(|node| self.document.word(node, money::group, not_group));
        let decimal = get("decimal").and_then(|node| self.decimal(node)).or_else(|| Decimal::next_to(group?));
        AmountForm { decimal, group, unit, lacks_unit: unit.is_none() && has_unit, end }
    }

    fn decimal(&self, node: &TomlNode<'a>) -> Option<Decimal> {
        let not_decimal = |text: &str| format!("{} is not a decimal separator: \".\" or \",\"", quoted(text));
        self.document.word(node, Decimal::written, not_decimal)
    }

    fn currency(&self, node: &TomlNode<'a>, from: usize, joined: &[usize]) -> Option<Currency> {
        let is_code = |code: &str| code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase());
        if let Some(written) = node.get_ref().as_table().and_then(|table| table.get("written")) {
            self.document.table(node, &["written"])?;
            let codes = self.document.texts(written).into_iter();
            let codes = codes.filter(|(code, position)| {
                if !is_code(code) {
                    let problem = format!("{} is not an ISO 4217 code, such as \"USD\"", quoted(code));
                    self.document.problem(*position, problem);
                }
                is_code(code)
            });
            return Some(Currency::Written(codes.map(|(code, _)| code).collect()));
        }
        if !node.get_ref().is_str() {
            return Some(Currency::Of(self.value(node, from, joined, &[])?.0));
        }
        if node.get_ref().as_str() == Some("written") {
            return Some(Currency::Written(Vec::new()));
        }
        let read = |code: &str| is_code(code).then(|| Currency::Code(code.to_owned()));
        self.document.word(node, read, |code| {
            format!(
                "{} is not an ISO 4217 code, such as \"USD\", nor \"written\", if each amount has its own; a column is written \
                 `{{ column = \"CURRENCY\" }}`",
                quoted(code)
            )
        })
    }

    fn key_form(&self, table: Option<&DeTable<'a>>) -> KeyForm {
        let document = self.document;
        let get = |key: &str| table.and_then(|table| table.get(key));
        if let Some(node) = get("scheme")
            && let Some(scheme) = document.text(node)
        {
            self.check_scheme(&scheme, document.position_of(node));
            return KeyForm::Scheme(scheme);
        }
        let name = |by: &str| (by == "name").then_some(KeyForm::Name);
        let form = get("by").and_then(|node| document.word(node, name, |by| unknown("value", by, ["name"])));
        form.unwrap_or(KeyForm::Plain)
    }

    /// Reports an identifier scheme that looks like a mistyped known one. Unknown schemes are allowed: operators have their own.
    fn check_scheme(&self, scheme: &str, position: LineColumn) {
        let known = || identifier::SCHEMES.iter().map(|scheme| scheme.name);
        if identifier::scheme(scheme).is_none() && nearest(scheme, known()).is_some() {
            self.document.problem(position, unknown("scheme", scheme, known()));
        }
    }

    /// Reads a value and returns the table in which it is written, if any. A string is the name of a column.
    fn value<'n>(
        &self,
        node: &'n TomlNode<'a>,
        from: usize,
        joined: &[usize],
        others: &[&str],
    ) -> Option<(MappedValue, Option<&'n DeTable<'a>>)> {
        let document = self.document;
        // One column name, or several.
        if node.get_ref().is_str() || node.get_ref().is_array() {
            let columns = document.texts(node).into_iter();
            let columns = columns.map(|(name, position)| self.column(&name, position, from, joined)).collect();
            return Some((MappedValue { columns, ..MappedValue::default() }, None));
        }
        let known: Vec<&str> = VALUE_KEYS.iter().chain(others).copied().collect();
        let table = document.table(node, &known)?;
        let get = |key: &str| table.get(key);
        let mut value = MappedValue {
            constant: get("value").and_then(|node| document.text(node)),
            join: get("join").and_then(|node| document.text(node)),
            default: get("default").and_then(|node| document.text(node)),
            none: get("none").map(|node| document.plain_texts(node)).unwrap_or_default(),
            steps: self.parsed(get("do"), Transform::parse),
            dates: self.parsed(get("dates"), DateFormat::parse),
            when: get("when").map(|node| self.conditions(node, from, joined)).unwrap_or_default(),
            ..MappedValue::default()
        };
        let columns = [get("column"), get("columns")].into_iter().flatten().flat_map(|node| document.texts(node));
        value.columns.extend(columns.map(|(name, position)| self.column(&name, position, from, joined)));
        if value.columns.is_empty() && value.constant.is_none() {
            let problem = "has neither `column` nor `value`; write `column = \"NAME\"`";
            document.problem(document.position_of(node), problem);
        }
        if let Some(node) = get("map") {
            let find = |name: &str| self.vocabularies.get(name).cloned().or_else(|| presets::vocabulary(name));
            value.vocabulary = document.word(node, find, |name| {
                let mut known: Vec<&str> = self.vocabularies.keys().map(String::as_str).collect();
                presets::vocabularies().for_each(|name| known.push(name));
                known.sort_unstable();
                unknown("vocabulary", name, known)
            });
        }
        if let Some(node) = get("unknown") {
            let read = |name: &str| match name {
                "report" => Some(Unknown::Report),
                "drop" => Some(Unknown::Drop),
                "keep" => Some(Unknown::Keep),
                _ => None,
            };
            let not_unknown = |name: &str| unknown("value", name, ["report", "drop", "keep"]);
            value.unknown = document.word(node, read, not_unknown).unwrap_or_default();
        }
        Some((value, Some(table)))
    }

    /// Parses one text, or each of several.
    fn parsed<T>(&self, node: Option<&TomlNode<'a>>, parse: impl Fn(&str) -> Result<T, String>) -> Vec<T> {
        let texts = node.map(|node| self.document.texts(node)).unwrap_or_default().into_iter();
        let parsed = texts.filter_map(|(text, position)| {
            parse(&text).map_err(|problem| self.document.problem(position, problem)).ok()
        });
        parsed.collect()
    }

    /// Resolves the name of a column: `offering.SALE_DATE` is a column of the joined input `offering`.
    fn column(&self, name: &str, position: LineColumn, from: usize, joined: &[usize]) -> ColumnRef {
        if let Some((input, column)) = name.split_once('.')
            && let Some(input) =
                joined.iter().copied().find(|index| self.inputs.get(*index).is_some_and(|known| known == input))
        {
            return ColumnRef { input, name: column.to_owned(), position, index: 0 };
        }
        ColumnRef { input: from, name: name.to_owned(), position, index: 0 }
    }

    fn conditions(&self, node: &TomlNode<'a>, from: usize, joined: &[usize]) -> Vec<Condition> {
        let document = self.document;
        let mut conditions = Vec::new();
        for (name, node) in document.any_table(node).into_iter().flatten() {
            let column = self.column(name.get_ref(), document.position(name.span().start), from, joined);
            let lower = |node: &TomlNode<'a>| -> Vec<String> {
                document.plain_texts(node).iter().map(|text| text.to_lowercase()).collect()
            };
            if node.get_ref().as_table().is_none() {
                conditions.push(Condition { column, test: CellTest::OneOf(lower(node)) });
                continue;
            }
            let table = document.table(node, &["is", "not", "present", "matches", "matches_not"]);
            for (key, node) in table.into_iter().flatten() {
                let test = match &**key.get_ref() {
                    "is" => CellTest::OneOf(lower(node)),
                    "not" => CellTest::NoneOf(lower(node)),
                    "present" => CellTest::Present(document.truth(node)),
                    other => {
                        let Some(pattern) = document.text(node) else { continue };
                        match RegexBuilder::new(&pattern).case_insensitive(true).build() {
                            Ok(pattern) if other == "matches" => CellTest::Matches(pattern),
                            Ok(pattern) => CellTest::MatchesNot(pattern),
                            Err(error) => {
                                let problem = format!("{} is not a regular expression: {error}", quoted(&pattern));
                                document.problem(document.position_of(node), problem);
                                continue;
                            }
                        }
                    }
                };
                conditions.push(Condition { column: column.clone(), test });
            }
        }
        conditions
    }
}

/// True if entities of the kind have identifiers.
pub(crate) fn is_identified(kind: EntityKind) -> bool {
    matches!(kind, EntityKind::Firm | EntityKind::Startup | EntityKind::Person)
}
