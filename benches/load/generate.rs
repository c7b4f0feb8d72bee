//! Random requests, valid and not, from the service's own documents and names.

use catalog::Catalog;
use data::Table;
use serde_json::{Map, Value, json};

use crate::client::{encoded, post};
use crate::random::Random;

/// The longest query that the server reads is some twelve thousand bytes.
const MAX_QUERY: usize = 11_000;

/// A parameter with its schema.
pub struct Param {
    pub name: String,
    pub schema: Value,
}

impl Param {
    /// The parameters of an operation in the query; their schemas without references.
    pub fn of(operation: &Value, document: &Value) -> Vec<Self> {
        let params = operation["parameters"].as_array().into_iter().flatten();
        let in_query = params.filter(|param| param["in"] == "query");
        let param = |param: &Value| {
            let schema =
                [&param["schema"], &param["schema"]["items"]].into_iter().find(|schema| !schema["$ref"].is_null());
            let reference = schema.and_then(|schema| schema["$ref"].as_str()?.strip_prefix('#'));
            let schema = reference.and_then(|reference| document.pointer(reference)).unwrap_or(&param["schema"]);
            Self { name: param["name"].as_str().unwrap_or_default().to_owned(), schema: schema.clone() }
        };
        in_query.map(param).collect()
    }
}

/// What values are made of.
pub struct Words {
    /// Of firms, startups and people.
    names: Vec<String>,
    firms: Vec<String>,
    startups: Vec<String>,
    people: Vec<String>,
    sectors: Vec<String>,
    cities: Vec<String>,
}

const STAGES: [&str; 4] = ["seed", "series-a", "growth", "debt"];
const COUNTRIES: [&str; 8] = ["US", "GB", "DE", "IN", "FR", "SG", "CA", "BR"];

impl Words {
    pub fn of(catalog: &Catalog) -> Self {
        let snapshot = catalog.snapshot();
        let rows = |table| (0..snapshot.rows(table)).step_by((snapshot.rows(table) / 2_000).max(1) as usize);
        let slugs = |table| rows(table).map(|row| snapshot.slug(table, row).to_owned()).collect();
        let tables = [Table::Firms, Table::Startups, Table::People];
        let names =
            tables.into_iter().flat_map(|table| rows(table).map(move |row| snapshot.name(table, row).to_owned()));
        Self {
            names: names.collect(),
            firms: slugs(Table::Firms),
            startups: slugs(Table::Startups),
            people: slugs(Table::People),
            sectors: slugs(Table::Sectors),
            cities: rows(Table::Startups)
                .filter_map(|row| catalog.text_field((Table::Startups, row), "city"))
                .collect(),
        }
    }

    /// A valid value, as far as the schema says.
    fn valid(&self, param: &Param, random: &mut Random) -> Value {
        let text = param.schema.to_string();
        let known = known(&param.schema);
        let is = |kind: &str| text.contains(&format!("\"{kind}\""));
        if !known.is_empty() {
            return json!(random.pick(&known));
        }
        if is("integer") || is("number") {
            let bound = param.schema["maximum"].as_u64().unwrap_or(100).min(10_000_000);
            return json!(1 + random.next() % bound);
        }
        if is("boolean") {
            return json!(random.below(2) == 0);
        }
        if is("date") {
            return json!(format!("20{:02}-{:02}-{:02}", random.below(30), 1 + random.below(12), 1 + random.below(28)));
        }
        match param.name.as_str() {
            "sector" | "parent" => json!(random.pick(&self.sectors)),
            "country" => json!(random.pick(&COUNTRIES)),
            "startup" => json!(random.pick(&self.startups)),
            "investor" | "vc" | "organization" | "slug" => json!(random.pick(&self.firms)),
            _ => json!(random.pick(&self.names)),
        }
    }

    /// Anything, most of it not valid.
    fn any(&self, param: &Param, random: &mut Random) -> String {
        let known = known(&param.schema);
        match random.below(7) {
            0 => misspelt(if known.is_empty() { &self.firms } else { &known }, random),
            1 => misspelt(&self.names, random),
            2 => random.below(3_000).to_string(),
            3 => format!("20{:02}-{:02}-{:02}", random.below(30), 1 + random.below(12), 1 + random.below(28)),
            4 => {
                let (count, separator) = (2 + random.below(100), if random.below(2) == 0 { "," } else { " " });
                (0..count).map(|_| self.word(&known, random)).collect::<Vec<_>>().join(separator)
            }
            5 => letters(1 + random.below(300), random),
            _ => hostile(random),
        }
    }

    fn word(&self, known: &[String], random: &mut Random) -> String {
        match random.below(4) {
            0 if !known.is_empty() => misspelt(known, random),
            1 => misspelt(&self.firms, random),
            2 => misspelt(&self.names, random),
            _ => letters(3 + random.below(70), random),
        }
    }

    /// A query with some of the parameters, eight of ten values valid. Half of the requests that can search do.
    pub fn query(&self, params: &[Param], random: &mut Random) -> String {
        let count = match random.below(20) {
            0 => 2 * params.len(),
            1 | 2 => 0,
            _ => 1 + random.below(3),
        };
        let mut query = String::new();
        for number in 0..if params.is_empty() { 0 } else { count } {
            let text = params.iter().find(|param| param.name == "q" && number == 0 && random.below(2) == 0);
            let param = text.unwrap_or_else(|| random.pick(params));
            let value = match (random.below(10), self.valid(param, random)) {
                (0 | 1, _) => self.any(param, random),
                (_, Value::String(text)) => text,
                (_, value) => value.to_string(),
            };
            let pair = format!("{}={}", encoded(&param.name), encoded(&value));
            if query.len() + pair.len() <= MAX_QUERY {
                query += if query.is_empty() { "" } else { "&" };
                query += &pair;
            }
        }
        query
    }

    /// Some arguments of a tool, eight of ten valid.
    pub fn arguments(&self, params: &[Param], required: &Value, random: &mut Random) -> Value {
        let share = 1 + random.below(5);
        let mut arguments = Map::new();
        for param in params {
            let is_required = required.as_array().is_some_and(|names| names.contains(&json!(param.name)));
            if !is_required && random.below(10) >= share {
                continue;
            }
            let value = match random.below(10) {
                0 | 1 if param.schema.to_string().contains("\"array\"") => {
                    let known = known(&param.schema);
                    (0..1 + random.below(100)).map(|_| json!(self.word(&known, random))).collect()
                }
                0 | 1 => json!(self.any(param, random)),
                _ => self.valid(param, random),
            };
            arguments.insert(param.name.clone(), value);
        }
        Value::Object(arguments)
    }

    pub fn misspelt_name(&self, random: &mut Random) -> String {
        misspelt(&self.names, random)
    }

    /// A name to look up: misspelt, or of twelve random words, as long as a name may be.
    pub fn looked_up_name(&self, random: &mut Random) -> String {
        match random.below(2) {
            0 => misspelt(&self.names, random),
            _ => (0..12).map(|_| letters(7, random)).collect::<Vec<_>>().join(" "),
        }
    }

    /// A value in place of a placeholder of a path: mostly a valid one.
    pub fn path_value(&self, placeholder: &str, path: &str, random: &mut Random) -> String {
        if random.below(8) == 0 {
            return self.slug(random);
        }
        match placeholder {
            "code" => random.pick(&COUNTRIES).to_string(),
            "name" => random.pick(&self.cities).clone(),
            "stage" => random.pick(&STAGES).to_string(),
            "number" | "id" | "key" => (1 + random.below(3)).to_string(),
            _ if path.contains("/sectors/") => random.pick(&self.sectors).clone(),
            _ if path.contains("/startups/") => random.pick(&self.startups).clone(),
            _ if path.contains("/people/") => random.pick(&self.people).clone(),
            _ if path.contains("/vcs/") => random.pick(&self.firms).clone(),
            _ => self.slug(random),
        }
    }

    /// The slug or name of a record, or something like it.
    pub fn slug(&self, random: &mut Random) -> String {
        match random.below(4) {
            0 => random.pick(&self.firms).clone(),
            1 => random.pick(&self.startups).clone(),
            2 => misspelt(&self.firms, random),
            _ => random.pick(&self.names).clone(),
        }
    }
}

/// A reconciliation of as many names as one may have.
pub fn reconciliation(words: &Words, headers: &str, random: &mut Random) -> Vec<u8> {
    let query = |number| (format!("q{number}"), json!({ "query": words.looked_up_name(random), "limit": 10 }));
    let queries: Map<String, Value> = (0..100).map(query).collect();
    let headers = format!("{headers}content-type: application/x-www-form-urlencoded\r\n");
    post("/reconcile", &headers, &format!("queries={}", encoded(&Value::Object(queries).to_string())))
}

/// The values that a schema lists.
fn known(schema: &Value) -> Vec<String> {
    let lists = [&schema["enum"], &schema["items"]["enum"], &schema["anyOf"][0]["enum"]];
    let values = lists.into_iter().find_map(Value::as_array).into_iter().flatten();
    values.filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

/// One of the texts with one or two faults.
fn misspelt(texts: &[String], random: &mut Random) -> String {
    let mut chars: Vec<char> = random.pick(texts).chars().collect();
    for _ in 0..1 + random.below(2) {
        let at = random.below(chars.len());
        match (random.below(3), chars.is_empty()) {
            (_, true) | (0, _) => chars.insert(at, char::from(b'a' + random.below(26) as u8)),
            (1, _) => drop(chars.remove(at)),
            _ => chars[at] = char::from(b'a' + random.below(26) as u8),
        }
    }
    chars.into_iter().collect()
}

fn letters(count: usize, random: &mut Random) -> String {
    (0..count).map(|_| char::from(b'a' + random.below(26) as u8)).collect()
}

/// Texts that are unpleasant to look up: short words, repetitions, combining marks, one letter apart from much.
fn hostile(random: &mut Random) -> String {
    let count = 1 + random.below(128);
    match random.below(6) {
        0 => (0..count).map(|_| "a ".to_owned()).collect(),
        1 => (0..count).map(|_| letters(2, random) + " ").collect(),
        2 => "e\u{301}".repeat(count),
        3 => "\u{1f9e8}\u{200b}".repeat(count),
        4 => (0..count).map(|_| random.pick(&["capital ", "ventures ", "fund ", "the ", "vc "]).to_string()).collect(),
        _ => "aaaaaaaab".repeat(count / 8 + 1),
    }
}
