//! Passwords that are tried first: a short list of what people choose, and what needs no list.

/// Words that are no password with digits and signs around them. Shorter ones than a password, too: `dragon12345` is
/// found by whoever tries the commonest words with the commonest endings.
const WORDS: &[&str] = &[
    "abc",
    "admin",
    "administrator",
    "baseball",
    "changeme",
    "charlie",
    "computer",
    "default",
    "dragon",
    "football",
    "freedom",
    "guest",
    "hello",
    "hunter",
    "iloveyou",
    "letmein",
    "liverpool",
    "login",
    "master",
    "michael",
    "monkey",
    "p@ssw0rd",
    "p@ssword",
    "pass",
    "passw0rd",
    "passwort",
    "password",
    "passphrase",
    "princess",
    "qazwsx",
    "qwerty",
    "qwertz",
    "root",
    "secret",
    "shadow",
    "starwars",
    "sunshine",
    "superman",
    "test",
    "trustno",
    "user",
    "venture",
    "venturedex",
    "welcome",
    "whatever",
    "zaq1zaq",
];

/// Whole passwords among the commonest that no word above gives away.
const WHOLE: &[&str] = &[
    "1q2w3e4r5t",
    "1q2w3e4r5t6y",
    "1qaz2wsx3edc",
    "1qazxsw23edc",
    "3rjs1la7qe",
    "a1b2c3d4e5",
    "adminadmin",
    "correcthorsebatterystaple",
    "football123456",
    "g_czechout",
    "iloveyou2",
    "letmeinplease",
    "linkedin123",
    "masterkey",
    "mypassword",
    "mypassword1",
    "myspace1234",
    "nopassword",
    "passpasspass",
    "passwordpassword",
    "qazwsxedcrfv",
    "qwerty12345678",
    "qwer1234asdf",
    "secretpassword",
    "thisismypassword",
    "zaq12wsxcde3",
    "zxcvbnm123",
    "asdfghjkl1",
    "asdf1234asdf",
    "letmeinletmein",
    "password1password",
];

/// The rows of the usual keyboards.
const ROWS: [&str; 6] = ["1234567890-=", "qwertyuiop[]", "qwertzuiopü", "asdfghjkl;'", "azertyuiop", "zxcvbnm,./"];

/// A lower-case text without the digits and signs around it.
pub fn stem(text: &str) -> &str {
    text.trim_matches(|char: char| !char.is_alphabetic())
}

/// True where a lower-case text is among those that are tried first, whatever its spaces.
pub fn is_common(text: &str) -> bool {
    let text: String = text.split_whitespace().collect();
    let nothing_else = |rest: &str| stem(rest).is_empty();
    WHOLE.contains(&text.as_str())
        || WORDS.contains(&stem(&text))
        || WORDS.iter().any(|word| {
            text.strip_prefix(word).is_some_and(nothing_else) || text.strip_suffix(word).is_some_and(nothing_else)
        })
}

/// True where a lower-case text is at most three characters again and again, or goes along the alphabet, the digits or a
/// row of keys.
pub fn is_pattern(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let repeats = |period: usize| chars.iter().zip(chars.iter().skip(period)).all(|(a, b)| a == b);
    let steps = |step: i64| {
        let next = |pair: &[char]| match pair {
            [a, b] => {
                i64::from(u32::from(*b)) - i64::from(u32::from(*a)) == step
                    || matches!((a, b, step), ('9', '0', 1) | ('0', '9', -1))
            }
            _ => true,
        };
        chars.windows(2).all(next)
    };
    let backwards: String = chars.iter().rev().collect();
    let on_a_row = ROWS.iter().any(|row| row.contains(text) || row.contains(&backwards));
    (1..=3).any(repeats) || steps(1) || steps(-1) || on_a_row
}
