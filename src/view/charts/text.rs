//! Estimates of text widths. The server does not know the fonts of a browser.

/// Font size in charts, in CSS pixels.
pub const SIZE: f64 = 12.0;

/// The width of a character in a wide sans-serif font (DejaVu Sans, Verdana), in units of the font size.
fn em(char: char) -> f64 {
    match char {
        'i' | 'j' | 'l' | '\'' | '’' => 0.3,
        'I' | '.' | ',' | ':' | ';' | '|' | '!' | '/' | ' ' | '·' => 0.34,
        '(' | ')' | '[' | ']' | '-' | 'f' | 't' | 'r' => 0.42,
        'W' => 0.99,
        'm' | '%' | '@' | '—' | '…' => 1.0,
        'O' | 'Q' | 'G' | 'D' | 'N' | 'H' => 0.8,
        'M' => 0.9,
        'w' | '+' | '&' | '<' | '>' | '=' | '~' | '#' | '^' => 0.84,
        'E' | 'F' | 'J' | 'L' | 'P' | 'S' | 'T' | 'Y' => 0.65,
        'U' => 0.75,
        'A'..='Z' => 0.7,
        ' '..='~' => 0.64,
        // Combining marks have no width.
        '\u{300}'..='\u{36f}' => 0.0,
        // Accented Latin, Greek, Cyrillic, Hebrew, Arabic.
        '\u{a0}'..='\u{6ff}' | '\u{1e00}'..='\u{203f}' => 0.92,
        _ => 1.1,
    }
}

/// The estimated width of a text in CSS pixels; it errs on the large side.
pub fn width(text: &str) -> f64 {
    SIZE * text.chars().map(em).sum::<f64>()
}

/// Shortens a text to at most `room` CSS pixels, with an ellipsis at the end.
pub fn shortened(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut left = room - width("…");
    let fits = |char: &char| {
        left -= SIZE * em(*char);
        left >= 0.0
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Widths of DejaVu Sans at 12 px, as Chromium measures them.
    #[test]
    fn texts_are_not_wider_than_estimated() {
        for (text, measured) in MEASURED {
            let estimated = width(text);
            assert!(estimated >= *measured && estimated < 1.7 * measured, "{text}: {estimated}, measured {measured}");
        }
    }

    const MEASURED: &[(&str, f64)] = &[
        ("2021", 30.5),
        ("18,446,744", 68.7),
        ("$12.5M", 44.7),
        ("not covered", 71.6),
        ("Kleiner Perkins Caufield & Byers", 192.9),
        ("Lightspeed Venture Partners", 170.3),
        ("WWW MMM", 70.5),
        ("illicit", 28.0),
        ("Series D+", 60.0),
        ("Fonds für Gründer", 109.1),
        ("Ålesund Øst", 72.2),
        ("Фонд Развития Интернет", 160.3),
        ("Ελληνικό Ταμείο", 99.1),
        ("Jul 2019", 48.8),
        ("QQQ", 28.3),
        ("offer", 27.9),
    ];

    #[test]
    fn a_shortened_text_fits_and_keeps_its_beginning() {
        for room in [20.0, 50.0, 90.0, 300.0] {
            for text in ["Sequoia Capital", "Kleiner Perkins Caufield & Byers", "红杉资本中国基金", "Фонд", ""]
            {
                let short = shortened(text, room);
                assert!(width(&short) <= room, "{short} is wider than {room}");
                assert!(short == text || text.starts_with(short.trim_end_matches('…').trim_end()), "{short}");
                assert_eq!(short == text, width(text) <= room);
            }
        }
    }
}
