//! URLs of pages, and of the API for the same query.

use form_urlencoded::Serializer;

use catalog::ParsedRequest;
use data::Stage;
use data::vocabulary::Vocabulary;

#[derive(Clone, Debug)]
pub struct Link {
    pub path: String,
    pairs: Vec<(String, String)>,
}

impl Link {
    pub fn new(path: &str, pairs: Vec<(String, String)>) -> Self {
        Self { path: path.to_owned(), pairs }
    }

    pub fn canonical(path: &str, parsed: &ParsedRequest) -> Self {
        Self::new(path, parsed.canonical.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    }

    /// The comma-separated values of a parameter.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.text(name).split(',').filter(|value| !value.is_empty())
    }

    /// The full text of a parameter; empty if it is absent.
    pub fn text(&self, name: &str) -> &str {
        self.pairs.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str())
    }

    /// All parameters except those named, such as for the hidden fields of a form.
    pub fn others(&self, except: &[&str]) -> Vec<(String, String)> {
        self.pairs.iter().filter(|(name, _)| !except.contains(&name.as_str())).cloned().collect()
    }

    /// Replaces a parameter; an empty text removes it.
    pub fn with(&self, name: &str, text: &str) -> Self {
        let mut changed = self.clone();
        changed.pairs.retain(|(known, _)| known != name);
        if !text.is_empty() {
            changed.pairs.push((name.to_owned(), text.to_owned()));
        }
        changed
    }

    /// Adds a value to a parameter's list, or removes it if it is there.
    pub fn toggled(&self, name: &str, value: &str) -> Self {
        let mut values: Vec<&str> = self.values(name).filter(|known| *known != value).collect();
        if values.len() == self.values(name).count() {
            values.push(value);
        }
        self.with(name, &values.join(","))
    }

    /// The rounds of a stage, or those of unknown stage.
    pub fn of_stage(&self, stage: Option<Stage>) -> Self {
        match stage {
            Some(stage) => self.with("stage", stage.name()),
            None => self.with("unknown", "stage"),
        }
    }

    pub fn at(&self, path: &str) -> Self {
        Self { path: path.to_owned(), pairs: self.pairs.clone() }
    }

    pub fn href(&self) -> String {
        match self.query() {
            query if query.is_empty() => self.path.clone(),
            query => format!("{}?{query}", self.path),
        }
    }

    /// The query, without the question mark.
    pub fn query(&self) -> String {
        // A comma needs no escape in a query.
        Serializer::new(String::new()).extend_pairs(&self.pairs).finish().replace("%2C", ",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_added_and_removed() {
        let link = Link::new("/vcs", vec![("q".into(), "a b".into()), ("stage".into(), "seed,series-a".into())]);
        assert_eq!(link.href(), "/vcs?q=a+b&stage=seed,series-a");
        assert_eq!(link.toggled("stage", "seed").href(), "/vcs?q=a+b&stage=series-a");
        assert_eq!(link.toggled("country", "DE").href(), "/vcs?q=a+b&stage=seed,series-a&country=DE");
        assert_eq!(link.with("stage", "").with("q", "").href(), "/vcs");
        assert_eq!(link.of_stage(Some(Stage::SeriesDPlus)).href(), "/vcs?q=a+b&stage=series-d-plus");
        assert_eq!(link.with("stage", "").of_stage(None).href(), "/vcs?q=a+b&unknown=stage");
        assert_eq!(link.others(&["q"]), [("stage".to_owned(), "seed,series-a".to_owned())]);
        assert_eq!(link.with("q", "\"<&>").href(), "/vcs?stage=seed,series-a&q=%22%3C%26%3E");
    }
}
