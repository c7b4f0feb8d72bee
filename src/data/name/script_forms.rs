//! Legal forms in other scripts than the Latin one. They are written before or behind a name, often without a space.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Forms that need no space next to the name, the longest first.
const JOINED: [&str; 26] = [
    "有限责任公司",
    "有限責任公司",
    "股份有限公司",
    "一般社団法人",
    "有限合伙企业",
    "(有限合伙)",
    "유한책임회사",
    "股份公司",
    "有限公司",
    "有限合伙",
    "株式会社",
    "有限会社",
    "合同会社",
    "合資会社",
    "株式會社",
    "주식회사",
    "유한회사",
    "จำกัด (มหาชน)",
    "(株)",
    "(有)",
    "(同)",
    "(주)",
    "(유)",
    "บริษัท",
    "จำกัด",
    "(재)",
];

/// Forms that are words.
const WORDS: [&str; 29] = [
    "пао",
    "оао",
    "зао",
    "ооо",
    "ао",
    "нао",
    "ип",
    "тов",
    "пат",
    "прат",
    "одо",
    "еоод",
    "оод",
    "еад",
    "ад",
    "доо",
    "д.о.о.",
    "тоо",
    "жшс",
    "αε",
    "α.ε.",
    "επε",
    "ε.π.ε.",
    "ικε",
    "ι.κ.ε.",
    "בע\"מ",
    "בע״מ",
    "ش.م.م",
    "ذ.م.م",
];

/// A name without its legal form in another script, and that form: `株式会社青葉` → `青葉`, `ПАО «Вектор»` → `Вектор`. A text that
/// consists of the form stays as it is.
pub fn without_script_form(name: &str) -> (Cow<'_, str>, Option<&'static str>) {
    if name.is_ascii() || !name.chars().any(is_of_forms) {
        return (Cow::Borrowed(name), None);
    }
    let name = match is_nfkc_quick(name.chars()) {
        IsNormalized::Yes => Cow::Borrowed(name),
        _ => Cow::Owned(name.nfkc().collect::<String>()),
    };
    let text = name.trim();
    let joined = JOINED.into_iter().find_map(|form| {
        let rest = text.strip_prefix(form).or_else(|| text.strip_suffix(form))?;
        Some((rest.to_owned(), form))
    });
    let word = || {
        let is_form = |part: &str, form: &str| part.trim_end_matches(',').to_lowercase() == form;
        let (first, last) = (text.split_once(char::is_whitespace), text.rsplit_once(char::is_whitespace));
        WORDS.into_iter().find_map(|form| {
            let after = first.filter(|(first, _)| is_form(first, form)).map(|(_, rest)| rest);
            let before = last.filter(|(_, last)| is_form(last, form)).map(|(rest, _)| rest);
            Some((after.or(before)?.to_owned(), form))
        })
    };
    match joined.or_else(word) {
        Some((rest, form)) if rest.chars().any(char::is_alphanumeric) => {
            let rest = rest.trim_matches(|char: char| char.is_whitespace() || "«»“”„\"',，·".contains(char));
            (Cow::Owned(rest.to_owned()), Some(form))
        }
        _ => (name, None),
    }
}

/// True for a letter of a script that has forms of its own.
fn is_of_forms(char: char) -> bool {
    matches!(char, '\u{370}'..='\u{6ff}' | '\u{e00}'..='\u{e7f}' | '\u{3200}'..='\u{33ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_other_scripts_are_taken_from_both_ends() {
        for (name, rest, form) in [
            ("株式会社青葉電子", "青葉電子", Some("株式会社")),
            ("青葉電子株式会社", "青葉電子", Some("株式会社")),
            ("㈱青葉電子", "青葉電子", Some("(株)")),
            ("（株）青葉電子", "青葉電子", Some("(株)")),
            ("苇岸科技有限公司", "苇岸科技", Some("有限公司")),
            ("苇岸科技股份有限公司", "苇岸科技", Some("股份有限公司")),
            ("ПАО «Вектор Полёт»", "Вектор Полёт", Some("пао")),
            ("Вектор Полёт, ООО", "Вектор Полёт", Some("ооо")),
            ("주식회사 하늘모빌리티", "하늘모빌리티", Some("주식회사")),
            ("하늘모빌리티(주)", "하늘모빌리티", Some("(주)")),
            ("Κέδρος Α.Ε.", "Κέδρος", Some("α.ε.")),
            ("บริษัท ดาวเหนือ", "ดาวเหนือ", Some("บริษัท")),
            ("株式会社", "株式会社", None),
            ("Адель", "Адель", None),
            ("Alder GmbH", "Alder GmbH", None),
            ("Müller", "Müller", None),
        ] {
            let (found, found_form) = without_script_form(name);
            assert_eq!((&*found, found_form), (rest, form), "{name}");
        }
    }
}
