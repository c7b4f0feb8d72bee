//! The files beside the pages: the style sheet, the script that makes pages nicer, the picture, the word to robots.

use super::fixed::Fixed;
use super::library::Shelved;

/// The style sheet of all pages.
pub const STYLE: &str = include_str!("assets/style.css");

/// The script of all pages; nothing needs it.
pub const SCRIPT: &str = include_str!("assets/page.js");

const PICTURE: &str = include_str!("assets/favicon.svg");

/// Everything that is here, by path.
pub(super) const FILES: &[(&str, Shelved)] = &[
    ("/assets/style.css", Shelved::File(|_| Fixed::new("text/css; charset=utf-8", STYLE))),
    ("/assets/page.js", Shelved::File(|_| Fixed::new("text/javascript; charset=utf-8", SCRIPT))),
    ("/favicon.svg", Shelved::File(|_| Fixed::new("image/svg+xml", PICTURE))),
    ("/favicon.ico", Shelved::File(|_| Fixed::new("image/svg+xml", PICTURE))),
    ("/robots.txt", Shelved::File(|_| Fixed::new("text/plain; charset=utf-8", include_str!("assets/robots.txt")))),
];
