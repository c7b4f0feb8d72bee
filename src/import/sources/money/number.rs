//! Reads numbers with group separators and a decimal separator.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decimal {
    /// `1,500.25`
    Point,
    /// `1.500,25`
    Comma,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ParsedNumber {
    pub value: f64,
    /// Number of decimal places.
    pub decimals: usize,
}

impl Decimal {
    pub(crate) const ALL: [Self; 2] = [Self::Point, Self::Comma];

    pub(crate) fn separator(self) -> char {
        match self {
            Self::Point => '.',
            Self::Comma => ',',
        }
    }

    /// The separator next to groups that are separated by a point or comma.
    pub(crate) fn next_to(group: char) -> Option<Self> {
        match group {
            ',' => Some(Self::Point),
            '.' => Some(Self::Comma),
            _ => None,
        }
    }

    pub(crate) fn written(separator: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decimal| separator.chars().eq([decimal.separator()]))
    }

    /// Reads a number. Groups have three digits; Indian groups have two, except for the last. All groups have the same
    /// separator: a space, an apostrophe, `_`, or the sign that is not the decimal separator.
    pub(crate) fn read(self, text: &str) -> Option<ParsedNumber> {
        let (whole, fraction) = match text.split_once(self.separator()) {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return None,
            None => (text, ""),
        };
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let separator = whole.chars().find(|char| !char.is_ascii_digit());
        let groups: Vec<&str> = separator.map_or_else(|| vec![whole], |separator| whole.split(separator).collect());
        let is_grouped = separator.is_none_or(|separator| match separator {
            // Three digits after the decimal separator might be another group.
            ' ' | '\'' | '_' => fraction.len() != 3 && are_groups(&groups, false),
            _ => separator != self.separator() && are_groups(&groups, separator == ','),
        });
        let are_numbers = are_digits(fraction) && groups.iter().all(|group| are_digits(group));
        if whole.is_empty() || !are_numbers || !is_grouped {
            return None;
        }
        let value = format!("{}.{fraction}0", groups.concat()).parse().ok()?;
        Some(ParsedNumber { value, decimals: fraction.len() })
    }
}

fn are_groups(groups: &[&str], may_be_indian: bool) -> bool {
    let [first, middle @ .., last] = groups else { return false };
    let is_first = |most: usize| (1..=most).contains(&first.len()) && !first.starts_with('0');
    let are_middle = |length: usize| middle.iter().all(|group| group.len() == length);
    last.len() == 3 && (is_first(3) && are_middle(3) || may_be_indian && is_first(2) && are_middle(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_by_its_notation_or_not_at_all() {
        for (text, point, comma) in [
            ("1500000", Some(1_500_000.0), Some(1_500_000.0)),
            ("1 500 000", Some(1_500_000.0), Some(1_500_000.0)),
            ("1'500'000", Some(1_500_000.0), Some(1_500_000.0)),
            ("1,500,000.5", Some(1_500_000.5), None),
            ("1.500.000,5", None, Some(1_500_000.5)),
            ("1'500.50", Some(1_500.5), None),
            ("1 500,50", None, Some(1_500.5)),
            ("1,00,00,000", Some(10_000_000.0), None),
            ("15,00,000.5", Some(1_500_000.5), None),
            ("1,500", Some(1_500.0), Some(1.5)),
            ("1.500", Some(1.5), Some(1_500.0)),
            ("1.5", Some(1.5), None),
            ("1,5", None, Some(1.5)),
            ("0.500", Some(0.5), None),
            ("1500.125", Some(1_500.125), None),
            ("12,34", None, Some(12.34)),
            ("1.2345", Some(1.2345), None),
            ("1,50,00", None, None),
            ("1.50.000", None, None),
            ("1,500,00", None, None),
            ("1 500,000", None, None),
            ("1 500 00", None, None),
            ("1.500,000.5", None, None),
            ("1.2.3", None, None),
            ("1.", None, None),
            (".5", None, None),
            ("1x", None, None),
            ("", None, None),
        ] {
            let read = |decimal: Decimal| decimal.read(text).map(|number| number.value);
            assert_eq!((read(Decimal::Point), read(Decimal::Comma)), (point, comma), "{text}");
        }
    }
}
