//! Mappings for well-known formats, and vocabularies that mappings may use.

pub(crate) mod own_export;

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use crate::sources::SourceError;
use crate::sources::guess::package;
use crate::sources::input::Member;
use crate::sources::mapping::MappingVocabulary;
use data::word_file;
use own_export::PresetMapping;

pub struct Preset {
    pub name: &'static str,
    pub title: &'static str,
    mapping: PresetMapping,
}

impl Preset {
    /// The mapping, as TOML. One that is described by the files needs them as `inputs`.
    pub fn text(&self, inputs: &[PathBuf]) -> Result<Cow<'static, str>, SourceError> {
        self.mapping.text(&Member::list(inputs)?)
    }
}

macro_rules! presets {
    ($($name:literal: $title:literal, $mapping:expr;)*) => {
        pub const PRESETS: &[Preset] = &[$(Preset { name: $name, title: $title, mapping: $mapping }),*];
    };
}

presets! {
    "companies-house": "Companies House: companies of the United Kingdom in technology", PresetMapping::Text(include_str!("companies-house.toml"));
    "crunchbase-2013": "Crunchbase snapshot of 2013 (CSV)", PresetMapping::Text(include_str!("crunchbase-2013.toml"));
    "crunchbase-v4": "Crunchbase bulk or daily CSV export", PresetMapping::Text(include_str!("crunchbase-v4.toml"));
    "frictionless": "Data package with datapackage.json (Frictionless), or tables with CSVW", PresetMapping::Made(package::mapping);
    "gleif": "GLEIF golden copy: legal entities with an LEI", PresetMapping::Text(include_str!("gleif.toml"));
    "openvc": "List of investors as OpenVC exports it", PresetMapping::Text(include_str!("openvc.toml"));
    "sbir": "SBIR and STTR awards (CSV or Excel)", PresetMapping::Text(include_str!("sbir.toml"));
    "sec-form-adv": "SEC list of investment advisers", PresetMapping::Text(include_str!("sec-form-adv.toml"));
    "sec-form-d": "SEC Form D data sets: private offerings in the United States", PresetMapping::Text(include_str!("sec-form-d.toml"));
    "venturedex": "Exports of VentureDex: CSV or NDJSON of the API, bulk files", PresetMapping::Made(own_export::mapping);
    "wikidata-csv": "Results of the Wikidata Query Service", PresetMapping::Text(include_str!("wikidata-csv.toml"));
    "yc": "Companies of Y Combinator (yc-oss, JSON)", PresetMapping::Text(include_str!("yc.toml"));
}

pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// Built-in vocabularies. Each line has a value and the texts that mean it.
static VOCABULARIES: LazyLock<HashMap<&'static str, Arc<MappingVocabulary>>> = LazyLock::new(|| {
    let parse = |text: &'static str| {
        let pairs = word_file::entries(text)
            .filter_map(|line| line.split_once(": "))
            .flat_map(|(value, words)| words.split(' ').map(move |word| (word.to_lowercase(), vec![value.to_owned()])));
        Arc::new(pairs.collect())
    };
    HashMap::from([("edgar-places", parse(include_str!("edgar-places.txt")))])
});

pub(crate) fn vocabulary(name: &str) -> Option<Arc<MappingVocabulary>> {
    VOCABULARIES.get(name).cloned()
}

pub(crate) fn vocabularies() -> impl Iterator<Item = &'static str> {
    VOCABULARIES.keys().copied()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::sources::Source;
    use crate::sources::mapping::Mapping;
    use data::Country;

    #[test]
    fn every_preset_is_a_mapping_without_mistakes() {
        for preset in PRESETS.iter().filter(|preset| preset.name != "frictionless") {
            let text = preset.text(&[]).unwrap();
            let mapping = Mapping::read(preset.name, &text, Path::new("")).unwrap_or_else(|error| panic!("{error}"));
            assert!(Source::is_id(&mapping.source.id), "{}", preset.name);
            let has_origin = ["# Columns: ", "# Fields: ", "# Properties: "].iter().any(|word| text.contains(word));
            assert!(has_origin, "{} says where its format is from", preset.name);
        }
    }

    #[test]
    fn places_of_edgar_are_countries() {
        let places = vocabulary("edgar-places").unwrap();
        let unknown: Vec<&String> =
            places.values().flatten().filter(|country| Country::from_alpha2(country).is_none()).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        for (code, country) in [("ny", "US"), ("a6", "CA"), ("x0", "GB"), ("2m", "DE"), ("pr", "PR")] {
            assert_eq!(places[code], [country], "{code}");
        }
    }
}
