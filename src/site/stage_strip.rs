//! The stages at which a firm invests, as a strip of marks from the earliest to the latest.

use askama::Template;

use crate::format;
use data::Stage;
use data::vocabulary::Vocabulary;

#[derive(Template)]
#[template(
    source = r#"<svg class="strip-marks" viewBox="0 0 {{ marks.len() * 9 }} 12" role="img" aria-label="{{ names }}"><title>{{ names }}</title>{% for is_on in marks %}<rect class="{% if *is_on %}fill{% else %}track{% endif %}" x="{{ loop.index0 * 9 }}" width="7" height="12" rx="1.5"/>{% endfor %}</svg>"#,
    ext = "html"
)]
pub(crate) struct StageStrip {
    marks: Vec<bool>,
    names: String,
}

impl StageStrip {
    pub(crate) fn of(stages: &[String]) -> Self {
        let has = |stage: &Stage| stages.iter().any(|known| known == stage.name());
        let marks: Vec<bool> = Stage::ALL.iter().map(has).collect();
        let names: Vec<String> = stages.iter().map(|stage| format::word(stage)).collect();
        Self { marks, names: if names.is_empty() { "No stage is known".to_owned() } else { names.join(", ") } }
    }
}
