//! Date formats with the codes of `strftime`. A mapping names the formats of its source.

use data::{Date, PartialDate};

#[derive(Clone, Debug)]
pub(crate) struct DateFormat {
    pub text: String,
}

const MONTHS: &str = "january february march april may june july august september october november december";

impl DateFormat {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut codes = String::new();
        let mut chars = text.chars();
        while chars.any(|char| char == '%') {
            match chars.next() {
                Some(code) if "YymbBds%".contains(code) => codes.push(code),
                code => {
                    let code = code.map(String::from).unwrap_or_default();
                    return Err(format!("unknown code `%{code}` in {text:?} (known: %Y %y %m %b %d %s %%)"));
                }
            }
        }
        if !codes.contains(['Y', 'y', 's']) {
            return Err(format!("{text:?} has no year; write a format such as \"%Y-%m-%d\""));
        }
        if codes.contains('d') && !codes.contains(['m', 'b', 'B']) {
            return Err(format!("{text:?} has a day without a month; write a format such as \"%Y-%m-%d\""));
        }
        Ok(Self { text: text.to_owned() })
    }

    /// Reads the date of a text. A time of day may follow.
    pub(crate) fn read(&self, text: &str) -> Option<PartialDate> {
        let mut rest = text;
        let (mut year, mut month, mut day) = (None, None, None);
        let mut format = self.text.chars();
        while let Some(char) = format.next() {
            let code = if char == '%' { format.next()? } else { '\0' };
            match code {
                'Y' => year = Some(take_number(&mut rest, 4, 4)?),
                // `69`–`99` are in the last century, as in POSIX.
                'y' => year = Some(take_number(&mut rest, 2, 2)?).map(|two| two + if two < 69 { 2000 } else { 1900 }),
                'm' => month = Some(take_number(&mut rest, 1, 2)?),
                'd' => day = Some(take_number(&mut rest, 1, 2)?),
                // An English name, in full or with three letters.
                'b' | 'B' => {
                    let length = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
                    let name = rest[..length].to_ascii_lowercase();
                    let is_month = |month: &str| month == name || name.len() == 3 && month.starts_with(&name);
                    month = Some(MONTHS.split(' ').position(is_month)? as u32 + 1);
                    rest = &rest[length..];
                }
                // Seconds since 1970.
                's' => return Some(PartialDate::from(Date::from_unix(rest.parse().ok()?))),
                _ => rest = rest.strip_prefix(char)?,
            }
        }
        let is_time =
            rest.starts_with(['T', ' ']) && rest[1..].trim_start().starts_with(|char: char| char.is_ascii_digit());
        if !(rest.is_empty() || is_time && day.is_some()) {
            return None;
        }
        let text = match (year?, month, day) {
            (year, None, _) => format!("{year:04}"),
            (year, Some(month), None) => format!("{year:04}-{month:02}"),
            (year, Some(month), Some(day)) => format!("{year:04}-{month:02}-{day:02}"),
        };
        text.parse().ok()
    }
}

/// Takes a number of `min` to `max` digits from the start.
fn take_number(rest: &mut &str, min: usize, max: usize) -> Option<u32> {
    let digits = rest.bytes().take(max).take_while(u8::is_ascii_digit).count();
    if digits < min {
        return None;
    }
    let (number, after) = rest.split_at(digits);
    *rest = after;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_their_format_says() {
        for (format, text, expected) in [
            ("%Y-%m-%d", "2009-03-04", Some("2009-03-04")),
            ("%Y-%m-%d", "2009-03-04T10:20:30.000", Some("2009-03-04")),
            ("%Y-%m-%d", "2009-03-04 10:20", Some("2009-03-04")),
            ("%Y-%m-%d", "2009-03-04x", None),
            ("%Y-%m-%d", "2009-02-30", None),
            ("%d-%b-%Y", "04-MAR-2009", Some("2009-03-04")),
            ("%d-%b-%y", "4-Mar-09", Some("2009-03-04")),
            ("%d-%b-%y", "4-Mar-97", Some("1997-03-04")),
            ("%B %d, %Y", "March 4, 2009", Some("2009-03-04")),
            ("%m/%d/%Y", "3/4/2009", Some("2009-03-04")),
            ("%d/%m/%Y", "3/4/2009", Some("2009-04-03")),
            ("%m/%Y", "03/2009", Some("2009-03")),
            ("%Y", "2009", Some("2009")),
            ("%Y", "20091", None),
            ("%s", "1236124800", Some("2009-03-04")),
            ("%d-%b-%Y", "04-MAX-2009", None),
        ] {
            let found = DateFormat::parse(format).unwrap().read(text).map(|date| date.to_string());
            assert_eq!(found.as_deref(), expected, "{text} as {format}");
        }
    }

    #[test]
    fn a_format_needs_a_year_and_known_codes() {
        for (format, problem) in [
            ("%d.%m.", "no year"),
            ("%Y/%d", "without a month"),
            ("%Q", "unknown code `%Q`"),
            ("%", "unknown code `%`"),
        ] {
            assert!(DateFormat::parse(format).unwrap_err().contains(problem), "{format}");
        }
    }
}
