//! The theme of pages: light or dark as chosen in the footer and stored in a cookie, or that of the system. Pages are
//! rendered for the system; the choice is written into the HTML when it is sent, so that templates do not depend on it.

use std::str::FromStr;

use crate::PageRequest;
use crate::account::cookie;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    System,
    Light,
    Dark,
}

/// Parts of the layout as rendered for [`Theme::System`].
const ROOT: &str = "<html lang=\"en\">";
const CHOSEN: &str = "value=\"system\" aria-pressed=\"true\"";

impl Theme {
    pub(crate) const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    pub(crate) fn from_request(request: PageRequest<'_>) -> Self {
        cookie::find(request, cookie::THEME).unwrap_or(Self::System)
    }

    pub(crate) fn name(self) -> &'static str {
        ["system", "light", "dark"][self as usize]
    }

    pub(crate) fn apply(self, page: String) -> String {
        if self == Self::System {
            return page;
        }
        let name = self.name();
        let page = page.replacen(ROOT, &format!("<html lang=\"en\" data-theme=\"{name}\">"), 1);
        // The buttons are at the end of the page.
        let Some((before, footer)) = page.rfind(CHOSEN).map(|at| page.split_at(at)) else { return page };
        let footer = footer.replacen(CHOSEN, "value=\"system\" aria-pressed=\"false\"", 1);
        let own = format!("value=\"{name}\" aria-pressed=");
        [before, &footer.replacen(&format!("{own}\"false\""), &format!("{own}\"true\""), 1)].concat()
    }
}

impl FromStr for Theme {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|theme| theme.name() == text).ok_or(())
    }
}
