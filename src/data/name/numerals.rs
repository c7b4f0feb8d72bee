//! Numbers in English words, in digits and in Roman numerals: `twenty three` is `23`, `second` is `2nd`, `iii` is 3.

const SMALL: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
                     sixteen seventeen eighteen nineteen";
const SMALL_ORDINALS: &str = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth \
                              thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth";
const TENS: &str = "twenty thirty forty fifty sixty seventy eighty ninety";
const ORDINAL_TENS: &str = "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth";
const ROMAN: &str = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SpelledNumber {
    value: u32,
    is_ordinal: bool,
    words: usize,
}

/// Replaces the numbers among folded words by digits; `None` if there are none.
pub fn to_digits(words: &[String]) -> Option<Vec<String>> {
    let mut read = Vec::with_capacity(words.len());
    let mut rest = words;
    while let Some(word) = rest.first() {
        let number = number(rest);
        read.push(number.map_or_else(|| word.clone(), digits));
        rest = &rest[number.map_or(1, |number| number.words)..];
    }
    (read != words).then_some(read)
}

/// Replaces the digits among folded words by words, below a million; `None` if there are none.
pub fn to_words(words: &[String]) -> Option<Vec<String>> {
    let read = words.iter().flat_map(|word| match parse_digits(word) {
        Some((value, is_ordinal)) => spell(value, is_ordinal).split(' ').map(str::to_owned).collect(),
        None => vec![word.clone()],
    });
    let read: Vec<String> = read.collect();
    (read != words).then_some(read)
}

/// A Roman numeral up to twenty, in small letters.
pub(super) fn parse_roman(word: &str) -> Option<u16> {
    position(ROMAN, word).map(|index| index as u16 + 1)
}

/// A number up to twenty in one word.
pub fn up_to_twenty(word: &str) -> Option<u32> {
    if word == "twenty" { Some(20) } else { position(SMALL, word) }
}

fn position(words: &str, word: &str) -> Option<u32> {
    words.split(' ').position(|known| known == word).map(|index| index as u32)
}

fn cardinal(value: u32, words: usize) -> SpelledNumber {
    SpelledNumber { value, is_ordinal: false, words }
}

fn number(words: &[String]) -> Option<SpelledNumber> {
    multiple(words, "thousand", 1_000, |words| multiple(words, "hundred", 100, below_hundred))
}

/// A number of units, and the rest: `two hundred and five`. A unit alone counts as one.
fn multiple(
    words: &[String],
    unit: &str,
    value: u32,
    below: impl Fn(&[String]) -> Option<SpelledNumber>,
) -> Option<SpelledNumber> {
    let is_unit = |at: usize, ending: &str| words.get(at).and_then(|word| word.strip_suffix(ending)) == Some(unit);
    let count = match below(words) {
        Some(count) if count.is_ordinal => return Some(count),
        Some(count) => count,
        None => cardinal(1, 0),
    };
    if is_unit(count.words, "th") {
        return Some(SpelledNumber { value: count.value * value, is_ordinal: true, words: count.words + 1 });
    }
    if !is_unit(count.words, "") {
        return (count.words > 0).then_some(count);
    }
    let whole = cardinal(count.value * value, count.words + 1);
    let has_and = words.get(whole.words).is_some_and(|word| word == "and");
    let rest = words.get(whole.words + usize::from(has_and)..).and_then(below);
    Some(rest.map_or(whole, |rest| SpelledNumber {
        value: whole.value + rest.value,
        is_ordinal: rest.is_ordinal,
        words: whole.words + usize::from(has_and) + rest.words,
    }))
}

fn below_hundred(words: &[String]) -> Option<SpelledNumber> {
    let word = words.first()?;
    let small = |word: &str| {
        let ordinal = || position(SMALL_ORDINALS, word).map(|value| (value, true));
        position(SMALL, word).map(|value| (value, false)).or_else(ordinal)
    };
    if let Some((value, is_ordinal)) = small(word) {
        return Some(SpelledNumber { value, is_ordinal, words: 1 });
    }
    if let Some(tens) = position(ORDINAL_TENS, word) {
        return Some(SpelledNumber { value: 20 + 10 * tens, is_ordinal: true, words: 1 });
    }
    let tens = 20 + 10 * position(TENS, word)?;
    let unit = words.get(1).and_then(|word| small(word)).filter(|(unit, _)| (1..10).contains(unit));
    Some(unit.map_or(cardinal(tens, 1), |(one, is_ordinal)| SpelledNumber { value: tens + one, is_ordinal, words: 2 }))
}

fn digits(number: SpelledNumber) -> String {
    let ending = match (number.is_ordinal, number.value % 10, number.value % 100) {
        (false, _, _) => "",
        (true, 1, rest) if rest != 11 => "st",
        (true, 2, rest) if rest != 12 => "nd",
        (true, 3, rest) if rest != 13 => "rd",
        (true, _, _) => "th",
    };
    format!("{}{ending}", number.value)
}

/// `23` or `23rd`.
fn parse_digits(word: &str) -> Option<(u32, bool)> {
    let end = word.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(word.len());
    let (number, ending) = word.split_at(end);
    let value =
        number.parse().ok().filter(|value| *value < 1_000_000 && !(number.len() > 1 && number.starts_with('0')))?;
    let is_ordinal = !ending.is_empty();
    (!is_ordinal || digits(SpelledNumber { value, is_ordinal, words: 1 }) == word).then_some((value, is_ordinal))
}

fn spell(value: u32, is_ordinal: bool) -> String {
    let name = |index: u32, cardinals: &str, ordinals: &str| -> String {
        let names = if is_ordinal { ordinals } else { cardinals };
        names.split(' ').nth(index as usize).expect("a name for each index").to_owned()
    };
    let of_unit = |size: u32, unit: &str| {
        let count = spell(value / size, false);
        match value % size {
            0 => format!("{count} {unit}{}", if is_ordinal { "th" } else { "" }),
            rest => format!("{count} {unit} {}", spell(rest, is_ordinal)),
        }
    };
    match value {
        0..20 => name(value, SMALL, SMALL_ORDINALS),
        20..100 if value.is_multiple_of(10) => name(value / 10 - 2, TENS, ORDINAL_TENS),
        20..100 => format!("{} {}", spell(value - value % 10, false), spell(value % 10, is_ordinal)),
        100..1_000 => of_unit(100, "hundred"),
        _ => of_unit(1_000, "thousand"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn numbers_are_read_among_other_words() {
        for (text, read) in [
            ("five hundred startups", "500 startups"),
            ("twenty three and me", "23 and me"),
            ("two hundred and five partners", "205 partners"),
            ("second story software", "2nd story software"),
            ("twenty first century fund", "21st century fund"),
            ("twelve thousand three hundred forty five", "12345"),
            ("hundred million books", "100 million books"),
            ("twenty twenty", "20 20"),
            ("one hundredth and one", "100th and 1"),
        ] {
            assert_eq!(to_digits(&words(text)), Some(words(read)), "{text}");
        }
        assert_eq!(to_digits(&words("sequoia and hundreds")), None);
        assert_eq!(to_words(&words("7 generations 2nd")), Some(words("seven generations second")));
        for text in ["23andme", "007", "1234567", "2st", "a16z"] {
            assert_eq!(to_words(&words(text)), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_spelled_number_is_read_as_itself(value in 0..1_000_000_u32, ordinal in any::<bool>()) {
            let number = digits(SpelledNumber { value, is_ordinal: ordinal, words: 1 });
            let spelled = to_words(std::slice::from_ref(&number)).unwrap();
            prop_assert_eq!(to_digits(&spelled), Some(vec![number]));
        }

        #[test]
        fn other_words_stay(text in prop::collection::vec("[b-d]{1,5}", 0..6)) {
            prop_assert_eq!(to_digits(&text), None);
            prop_assert_eq!(to_words(&text), None);
        }
    }
}
