//! Reviews as their authors write them, in forms and through the API: how the answers are read, who may write them, and the
//! proof that comes with the author's address.

use std::borrow::Cow;
use std::sync::Arc;

use crate::{ReviewAccess, State};
use auth::account::{Account, AccountId};
use auth::review::{ReviewAnswers, ReviewId, SavedReview, StoredReview};
use auth::{AccountError, AuthService, new_review_id};
use catalog::Catalog;
use data::fold::fold;
use data::import::clean::{clean, clean_line};
use data::vocabulary::Vocabulary;
use data::{Date, Facet, PartialDate, ReviewProof, Table};

pub const MAX_TITLE: usize = 120;
/// Shortest and longest text of a submitted review, in characters.
pub const MIN_BODY: usize = 40;
pub const MAX_BODY: usize = 5_000;
pub const MAX_RESPONSE: usize = 1_000;

/// Days in which many reviews of a firm are a burst.
const BURST_DAYS: i32 = 14;

/// The oldest contact that a review may be about.
const FIRST_YEAR: i32 = 2000;

/// Fields of a review, in the order of the form.
pub const FIELDS: [&str; 10] =
    ["role", "stage", "contact_month", "rating", "responsiveness", "fairness", "value_add", "ghosted", "title", "body"];

/// A fault of a field: its name, and a sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewFault {
    pub field: &'static str,
    pub detail: String,
}

/// The answers by field, and all faults. Unless it `is_complete`, it is a draft, which may lack anything. `today` bounds the
/// month of the contact.
pub fn read_answers<'t>(
    text: impl Fn(&'static str) -> Cow<'t, str>,
    today: Date,
    is_complete: bool,
) -> (ReviewAnswers, Vec<ReviewFault>) {
    let mut reader = AnswerReader { faults: Vec::new(), is_complete };
    let role = reader.word(text("role").trim(), "role", true);
    let stage = reader.word(text("stage").trim(), "stage", false);
    let contact_month = reader.month(text("contact_month").trim(), today);
    let mut rating = |field, is_required| reader.rating(text(field).trim(), field, is_required);
    let [rating, responsiveness, fairness, value_add] =
        [("rating", true), ("responsiveness", false), ("fairness", false), ("value_add", false)]
            .map(|(field, is_required)| rating(field, is_required));
    let ghosted = reader.truth(text("ghosted").trim());
    let title = reader.text(clean_line(&text("title")), "title", (1, MAX_TITLE));
    let body = reader.text(clean(&text("body")), "body", (MIN_BODY, MAX_BODY));
    let answers =
        ReviewAnswers { role, stage, contact_month, rating, responsiveness, fairness, value_add, ghosted, title, body };
    (answers, reader.faults)
}

/// What in a text may tell who somebody is: e-mail addresses, phone numbers, and names of people of the firm with this row.
pub fn find_personal_details(catalog: &Catalog, firm: Option<u32>, answers: &ReviewAnswers) -> Vec<String> {
    let text = format!("{} {}", answers.title, answers.body);
    let addresses = text.split_whitespace().filter_map(email_address).map(|address| format!("the address {address}"));
    let numbers = phone_numbers(&text).into_iter().map(|number| format!("the number {number}"));
    let words = format!(" {} ", fold(&text));
    let snapshot = catalog.snapshot();
    let people = firm.into_iter().flat_map(|firm| snapshot.facet_rows(Table::People, Facet::Firm, firm).iter());
    let is_named = |name: &&str| words.contains(&format!(" {} ", fold(name)));
    let names = people.map(|person| snapshot.name(Table::People, person)).filter(is_named);
    let names = names.map(|name| format!("the name {name}"));
    let mut details: Vec<String> = addresses.chain(numbers).chain(names).collect();
    details.dedup();
    details
}

/// A word as an e-mail address, without the punctuation around it.
fn email_address(word: &str) -> Option<&str> {
    let address = word.trim_matches(|char: char| !char.is_alphanumeric());
    let (name, domain) = address.split_once('@')?;
    (!name.is_empty() && domain.contains('.')).then_some(address)
}

/// Fewest digits of a phone number: dates and amounts have less.
const MIN_PHONE_DIGITS: usize = 9;

/// The phone numbers of a text, as they are written: many digits that begin with `+`, `0` or `(`.
fn phone_numbers(text: &str) -> Vec<&str> {
    let is_of_number = |char: char| char.is_ascii_digit() || matches!(char, '+' | '(' | ')' | '-' | '.' | '/' | ' ');
    let parts = text.split(|char| !is_of_number(char)).map(|part| part.trim_matches([' ', '-', '.', '/']));
    let is_phone = |part: &&str| {
        part.starts_with(['+', '0', '('])
            && part.matches(|char: char| char.is_ascii_digit()).count() >= MIN_PHONE_DIGITS
    };
    parts.filter(is_phone).collect()
}

struct AnswerReader {
    faults: Vec<ReviewFault>,
    is_complete: bool,
}

impl AnswerReader {
    fn fault(&mut self, field: &'static str, detail: String) {
        self.faults.push(ReviewFault { field, detail });
    }

    /// A value of its field, if there is one; a missing one is a fault of a complete review.
    fn value<T>(
        &mut self,
        text: &str,
        field: &'static str,
        is_required: bool,
        read: impl Fn(&str) -> Option<T>,
        (missing, expected): (&str, &str),
    ) -> Option<T> {
        if text.is_empty() {
            if is_required && self.is_complete {
                self.fault(field, missing.to_owned());
            }
            return None;
        }
        let value = read(text);
        if value.is_none() {
            self.fault(field, format!("this is not {expected}"));
        }
        value
    }

    fn word<V: Vocabulary>(&mut self, text: &str, field: &'static str, is_required: bool) -> Option<V> {
        let expected = format!("one of {}", V::names().join(", "));
        self.value(text, field, is_required, V::read, (&format!("choose {expected}"), &expected))
    }

    fn rating(&mut self, text: &str, field: &'static str, is_required: bool) -> Option<u8> {
        let read = |text: &str| text.parse().ok().filter(|rating| (1..=5).contains(rating));
        self.value(text, field, is_required, read, ("choose a rating from 1 to 5", "a whole number from 1 to 5"))
    }

    fn truth(&mut self, text: &str) -> Option<bool> {
        let read = |text: &str| text.parse().ok();
        let expected = "false (they answered) or true (you never got an answer)";
        self.value(text, "ghosted", true, read, ("say whether they answered", expected))
    }

    fn month(&mut self, text: &str, today: Date) -> Option<PartialDate> {
        let read = |text: &str| text.parse::<PartialDate>().ok().filter(|_| text.len() == "2026-03".len());
        let texts = ("name the month, such as 2026-03", "a month such as 2026-03");
        let month = self.value(text, "contact_month", true, read, texts)?;
        if month.first_day() > today {
            self.fault("contact_month", "this month is in the future".to_owned());
        } else if month.year() < FIRST_YEAR {
            self.fault("contact_month", format!("the contact must be from {FIRST_YEAR} or later"));
        }
        Some(month)
    }

    fn text(&mut self, text: String, field: &'static str, (min, max): (usize, usize)) -> String {
        let count = text.chars().count();
        if count > max {
            self.fault(field, format!("this has {count} characters; the maximum is {max}"));
        } else if self.is_complete && count == 0 {
            self.fault(field, "write something here".to_owned());
        } else if self.is_complete && count < min {
            self.fault(field, format!("this has {count} characters; write at least {min}"));
        }
        text
    }
}

/// The proof that comes with the verified address of an account.
pub fn proof_of(catalog: &Catalog, account: &Account) -> ReviewProof {
    let is_known = || !catalog.rows_of_mail_domain(Table::Startups, account.email.domain()).is_empty();
    if account.verified_at.is_some() && is_known() { ReviewProof::Email } else { ReviewProof::None }
}

/// True if the account may write reviews, once its address is verified.
pub fn may_review(access: ReviewAccess, catalog: &Catalog, account: &Account) -> bool {
    match access {
        ReviewAccess::Off => false,
        ReviewAccess::Invite => {
            account.is_reviewer || !catalog.rows_of_mail_domain(Table::Startups, account.email.domain()).is_empty()
        }
        ReviewAccess::Open => true,
    }
}

/// What an author wrote about the firm with this row.
#[derive(Clone, Debug)]
pub struct WrittenReview {
    pub id: Option<ReviewId>,
    pub firm: u32,
    pub answers: ReviewAnswers,
    pub response: Option<String>,
    pub submits: bool,
}

/// Saves a review, and submits it on request; the firm counts as the same under all of its slugs.
pub async fn save(
    state: &State,
    account: &Account,
    written: WrittenReview,
    now: i64,
) -> Result<StoredReview, AccountError> {
    let catalog = state.releases.current();
    let others = own_reviews(&state.auth, account.id).await?;
    let is_of_firm = |review: &&StoredReview| catalog.find(Table::Firms, &review.firm) == Some(written.firm);
    let saved = SavedReview {
        id: written.id,
        firm: catalog.snapshot().slug(Table::Firms, written.firm).to_owned(),
        former_slugs: others.iter().filter(is_of_firm).map(|review| review.firm.clone()).collect(),
        public_id: new_review_id().map_err(AccountError::from)?,
        answers: written.answers,
        response: written.response,
        submits: written.submits,
        proof: proof_of(&catalog, account),
    };
    state.auth.save_review(account.id, saved, now).await
}

pub async fn own_reviews(auth: &Arc<AuthService>, account: AccountId) -> Result<Vec<StoredReview>, AccountError> {
    auth.blocking(move |service| service.store().reviews_of(account)).await
}

/// What is said of many reviews of the firm within some days around one; empty if there are not more than usual.
pub fn burst(days: &[Date], around: Date) -> String {
    let near = days.iter().filter(|day| (day.days() - around.days()).abs() <= BURST_DAYS).count();
    let oldest = days.iter().min().map_or(0, |oldest| around.days() - oldest.days());
    // The rate before, for as long as there were reviews; at least that of a year.
    let before = days.len().saturating_sub(near) as f64 * f64::from(BURST_DAYS) / f64::from(oldest.max(365));
    if near >= 3 && near as f64 > 4.0 * before {
        format!("{near} reviews of this firm within {BURST_DAYS} days of this one")
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPLETE: [(&str, &str); 10] = [
        ("role", "founder"),
        ("stage", ""),
        ("contact_month", "2026-03"),
        ("rating", "2"),
        ("responsiveness", "1"),
        ("fairness", ""),
        ("value_add", "5"),
        ("ghosted", "true"),
        ("title", " No \t answer "),
        ("body", "They took the call, and then nothing came for\r\n\r\nfour months\u{202e}."),
    ];

    fn read(changes: &[(&str, &str)], is_complete: bool) -> (ReviewAnswers, Vec<(&'static str, String)>) {
        let text = |field: &'static str| {
            let values = changes.iter().chain(&COMPLETE);
            Cow::Owned(values.clone().find(|(name, _)| *name == field).unwrap().1.to_owned())
        };
        let (answers, faults) = read_answers(text, "2026-11-30".parse().unwrap(), is_complete);
        (answers, faults.into_iter().map(|fault| (fault.field, fault.detail)).collect())
    }

    #[test]
    fn complete_answers_are_read_and_cleaned() {
        let (answers, faults) = read(&[], true);
        assert_eq!(faults, []);
        assert_eq!((answers.rating, answers.fairness, answers.ghosted), (Some(2), None, Some(true)));
        assert_eq!(answers.title, "No answer");
        assert_eq!(answers.body, "They took the call, and then nothing came for\n\nfour months.");
    }

    #[test]
    fn each_fault_is_named_by_its_field() {
        for (change, fault) in [
            (("role", ""), "choose one of founder, executive, other"),
            (("role", "intern"), "this is not one of founder, executive, other"),
            (("contact_month", "2026-03-01"), "this is not a month such as 2026-03"),
            (("contact_month", "2026-12"), "this month is in the future"),
            (("contact_month", "1999-12"), "the contact must be from 2000 or later"),
            (("rating", ""), "choose a rating from 1 to 5"),
            (("rating", "6"), "this is not a whole number from 1 to 5"),
            (("ghosted", "perhaps"), "this is not false (they answered) or true (you never got an answer)"),
            (("title", " "), "write something here"),
            (("body", "Too short."), "this has 10 characters; write at least 40"),
        ] {
            assert_eq!(read(&[change], true).1, [(change.0, fault.to_owned())], "{change:?}");
        }
        let long = "x".repeat(MAX_BODY + 1);
        assert_eq!(
            read(&[("body", &long)], false).1,
            [("body", "this has 5001 characters; the maximum is 5000".to_owned())]
        );
    }

    #[test]
    fn texts_are_searched_for_what_tells_who_somebody_is() {
        let catalog = catalog::bundled().unwrap();
        let snapshot = catalog.snapshot();
        let (person, firm) = (0..snapshot.rows(Table::People))
            .find_map(|row| Some((row, *snapshot.row_values(Table::People, Facet::Firm).of(row).first()?)))
            .unwrap();
        let name = snapshot.name(Table::People, person);
        let find = |firm: Option<u32>, body: &str| {
            find_personal_details(&catalog, firm, &ReviewAnswers { body: body.to_owned(), ..ReviewAnswers::default() })
        };
        let named = format!("We met {} twice.", name.to_uppercase());
        assert_eq!(find(Some(firm), &named), [format!("the name {name}")]);
        assert_eq!(find(None, &named), Vec::<String>::new(), "names of other firms' people are words, too");
        assert_eq!(
            find(None, "Write to <ann.lee@fund.example>, or call +49 (30) 901-820."),
            ["the address ann.lee@fund.example", "the number +49 (30) 901-820"]
        );
        for harmless in ["@fund said no", "from 2019-2021, on 2020-03-01", "$1,000,000,000 or 1.000.000.000", "me@home"]
        {
            assert_eq!(find(Some(firm), harmless), Vec::<String>::new(), "{harmless}");
        }
    }

    #[test]
    fn a_draft_may_lack_anything() {
        let empty = FIELDS.map(|field| (field, ""));
        assert_eq!(read(&empty, false), (ReviewAnswers::default(), Vec::new()));
        assert_eq!(read(&empty, true).1.len(), 6);
    }

    #[test]
    fn a_burst_is_more_than_the_firm_usually_gets() {
        let day = |days: i32| Date::from_days(20_000 + days);
        let days = |numbers: &[i32]| numbers.iter().map(|number| day(*number)).collect::<Vec<_>>();
        for (known, is_burst) in [
            (vec![0], false),
            (vec![0, -1], false),
            (vec![0, -1, -2], true),
            (vec![0, -7, -14, -15], true),
            (vec![0, -15, -16], false),
            // One each week for a year.
            ((0..52).map(|week| -week * 7).collect(), false),
            ((0..52).map(|week| -week * 7).chain([0; 20]).collect(), true),
        ] {
            assert_eq!(!burst(&days(&known), day(0)).is_empty(), is_burst, "{known:?}");
        }
    }
}
