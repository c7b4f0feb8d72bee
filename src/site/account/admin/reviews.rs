//! Moderation of reviews: the queue, and each review on one screen with what speaks for and against it.

use askama::Template;
use data::model::Review;

use crate::account::admin::confirmed;
use crate::account::keys::SelectOption;
use crate::account::reviews::{firm_name, public_form, state_in_words};
use crate::account::saved::run_in_turn;
use crate::account::sign::{form_error, form_status};
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::browse::{PER_PAGE, Pager, read_page};
use crate::error_page::sentence;
use crate::layout::PageLayout;
use crate::records::record;
use auth::account::Account;
use auth::review::{
    LoggedDecision, ReportKind, ReviewAction, ReviewCase, ReviewDecision, ReviewId, ReviewReport, ReviewState,
    ReviewText, StoredReview,
};
use auth::{AccountError, StoreError};
use catalog::Catalog;
use data::similarity::Shingles;
use data::vocabulary::Vocabulary;
use data::{Date, ReviewProof, Table};
use service::reviews::find_personal_details;
use view::format;
use view::link::Link;

const QUEUE: &str = "/admin/reviews";
/// Maximum characters of a reason.
const MAX_REASON: usize = 1_000;
/// Newest texts of the store that a text is compared with.
const MAX_TEXTS: u32 = 5_000;
/// Reviews of the release that a text is compared with.
const MAX_RELEASED: u32 = 20_000;
/// Least percent of common shingles that is shown, and how many texts.
const MIN_PERCENT: u32 = 15;
const MAX_ALIKE: usize = 3;
/// Words of a text in a list.
const EXCERPT: usize = 240;

#[derive(Template)]
#[template(path = "admin_reviews.html")]
struct QueuePage {
    layout: PageLayout,
    total: u32,
    /// True for the list of reviews that were decided on.
    shows_decided: bool,
    rows: Vec<QueueRow>,
    pager: Pager,
}

struct QueueRow {
    id: i64,
    firm: String,
    title: String,
    state: &'static str,
    proof: &'static str,
    /// When it was changed last.
    changed: String,
}

#[derive(Template)]
#[template(path = "admin_review.html")]
struct CasePage {
    layout: PageLayout,
    case: ReviewCase,
    /// As it is public, or would be.
    review: Review,
    state: &'static str,
    proof: &'static str,
    /// The author's number and what is known of the account; `None` if it was deleted.
    author: Option<(i64, String)>,
    of_author: String,
    of_firm: String,
    released: u64,
    burst: String,
    equal: bool,
    /// Names, addresses and numbers in the text.
    personal: Vec<String>,
    alike: Vec<AlikeText>,
    reports: Vec<ReportRow>,
    decisions: Vec<DecisionRow>,
    /// Actions that apply, each with its name for people and its key.
    actions: Vec<(ReviewAction, &'static str, &'static str)>,
    proofs: Vec<SelectOption>,
    reason: String,
    is_cleared: bool,
    next: String,
    previous: String,
    waiting: u32,
    error: String,
}

/// A text that has much in common with the review.
struct AlikeText {
    percent: u32,
    firm: String,
    /// Of its page; empty without one.
    path: String,
    state: &'static str,
    excerpt: String,
}

struct ReportRow {
    at: String,
    kind: &'static str,
    reason: String,
    email: String,
    settled: String,
}

struct DecisionRow {
    at: String,
    by: String,
    action: &'static str,
    reason: String,
}

/// `GET /admin/reviews`, or with `?show=decided` those that need no decision any more.
pub(super) async fn queue(request: AccountRequest<'_>) -> AccountResult {
    let (pairs, page) = read_page(request.page.query);
    let shows_decided = pairs.iter().any(|(name, value)| name == "show" && value == "decided");
    let start = u32::try_from((page - 1).saturating_mul(PER_PAGE)).unwrap_or(u32::MAX);
    let read = request.auth.blocking(move |service| match shows_decided {
        true => service.store().decided_reviews(start, PER_PAGE as u32),
        false => service.store().review_queue(start, PER_PAGE as u32),
    });
    let (total, reviews) = read.await?;
    let catalog = request.page.state.releases.current();
    let row = |review: StoredReview| QueueRow {
        id: review.id.0,
        firm: firm_name(&catalog, &review.firm),
        title: review.answers.title,
        // Nothing but a report brings a public review into the queue.
        state: match review.state {
            ReviewState::Approved if !shows_decided => "Approved, reported",
            state => state_in_words(state),
        },
        proof: format::proof_in_words(review.proof),
        changed: format::instant(review.changed_at),
    };
    let link = Link::new(QUEUE, Vec::new()).with("show", if shows_decided { "decided" } else { "" });
    AccountReply::shown(&QueuePage {
        layout: request.layout("Reviews", "Reviews that wait for an operator."),
        total,
        shows_decided,
        rows: reviews.into_iter().map(row).collect(),
        pager: Pager::new(&link, page, total.into()),
    })
}

/// `GET /admin/reviews/{id}`.
pub(super) async fn page(request: AccountRequest<'_>) -> AccountResult {
    show(request, "").await
}

async fn show(request: AccountRequest<'_>, error: &str) -> AccountResult {
    let id = ReviewId(request.id);
    let read = request.auth.blocking(move |service| {
        let store = service.store();
        let case = store.review_case(id)?;
        let author = case.review.account.map(|account| store.account_by_id(account)).transpose()?;
        Ok((case, author, store.review_texts(MAX_TEXTS)?, store.review_queue(0, PER_PAGE as u32)?))
    });
    let (case, author, texts, (waiting, queue)) = read.await?;
    let catalog = request.page.state.releases.current();
    let (alike, released) = run_in_turn(request, || compare(&catalog, &case.review, &texts)).await?;
    let review = &case.review;
    let submitted = Date::from_unix(review.submitted_at.unwrap_or(review.created_at));
    let firm = firm_name(&catalog, &review.firm);
    let (next, previous) = neighbors(&queue, id);
    let author_in_words = |account: Account| {
        let days = (request.now - account.created_at).div_euclid(86_400);
        let verified = if account.verified_at.is_some() { "verified" } else { "not verified" };
        let blocked = if account.blocked_at.is_some() { ", blocked" } else { "" };
        (account.id.0, format!("{} old, {verified}{blocked}", format::counted(days.max(0) as u64, "day", "days")))
    };
    let form = |field: &str| request.form.text(field).into_owned();
    let is_sent = !request.form.text("version").is_empty();
    let proof = if is_sent { form("proof") } else { review.proof.name().to_owned() };
    let page = CasePage {
        layout: request.layout(&format!("Review of {firm}"), "A review to decide on."),
        review: public_form(
            &catalog,
            &review.answers,
            review.proof,
            &review.public_id,
            (&review.firm, &firm),
            submitted,
        ),
        state: state_in_words(review.state),
        proof: format::proof_in_words(review.proof),
        author: author.map(author_in_words),
        of_author: states_in_words(&case.of_author),
        of_firm: states_in_words(&case.of_firm),
        released,
        burst: service::reviews::burst(&case.firm_days, submitted),
        equal: has_equal_ratings(review),
        personal: find_personal_details(&catalog, catalog.find(Table::Firms, &review.firm), &review.answers),
        alike,
        reports: case.reports.iter().map(ReportRow::new).collect(),
        decisions: case.decisions.iter().map(DecisionRow::new).collect(),
        actions: actions(review.state),
        proofs: proofs(&proof),
        reason: form("reason"),
        is_cleared: if is_sent { !form("cleared").is_empty() } else { review.is_cleared },
        next,
        previous,
        waiting,
        error: sentence(error),
        case,
    };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

/// `POST /admin/reviews/{id}`: decides on the version that the operator saw, and goes on with the next review.
pub(super) async fn decide(request: AccountRequest<'_>) -> AccountResult {
    let fields = ["action", "version", "reason", "proof", "cleared"];
    let operator = confirmed(request, "decide on the review", &fields).await?;
    let form = |field: &str| request.form.text(field).trim().to_owned();
    let action = ReviewAction::read(&form("action"));
    let (Some(action), Ok(version)) = (action, form("version").parse()) else {
        return show(request, "choose what to do with the review").await;
    };
    let reason = form("reason");
    if action.needs_reason() && reason.is_empty() {
        return show(request, "write a reason or a question: the author reads it").await;
    }
    if reason.chars().count() > MAX_REASON {
        return show(request, &format!("the reason is longer than {MAX_REASON} characters")).await;
    }
    let Some(proof) = ReviewProof::read(&form("proof")) else {
        return show(request, "choose one of the levels of proof").await;
    };
    let decision = ReviewDecision { action, reason, proof, is_cleared: !form("cleared").is_empty() };
    let id = ReviewId(request.id);
    let queue = request.auth.blocking(|service| service.store().review_queue(0, PER_PAGE as u32));
    let next = neighbors(&queue.await?.1, id).0;
    match request.auth.decide_review(operator, id, version, decision, request.now).await {
        Ok(_) => {
            let path = if next.is_empty() { QUEUE.to_owned() } else { next };
            Ok(AccountReply::Redirect(path.into(), Vec::new()))
        }
        Err(AccountError::Review(StoreError::ReviewedAlready)) => {
            show(request, "the author has written another review of this firm since; decide on that one").await
        }
        Err(error) => {
            let error = form_error(error)?;
            show(request, &error).await
        }
    }
}

/// `POST /admin/reviews/{id}/reply`: removes the firm's answer.
pub(super) async fn remove_reply(request: AccountRequest<'_>) -> AccountResult {
    let operator = confirmed(request, "remove the answer of the firm", &[]).await?;
    let id = ReviewId(request.id);
    let case = request.auth.blocking(move |service| service.store().review_case(id)).await?;
    request.auth.reply_to_review(None, Some(operator), case.review.public_id, None, request.now).await?;
    Ok(AccountReply::Redirect(format!("{QUEUE}/{}", id.0).into(), Vec::new()))
}

/// Paths of the reviews after and before one in the queue, around its end; empty if there is no other.
fn neighbors(queue: &[StoredReview], id: ReviewId) -> (String, String) {
    let path = |review: &StoredReview| format!("{QUEUE}/{}", review.id.0);
    let place = queue.iter().position(|review| review.id == id);
    let others = queue.len() - usize::from(place.is_some());
    if others == 0 {
        return (String::new(), String::new());
    }
    let at = |index: usize| path(&queue[index % queue.len()]);
    match place {
        Some(place) => (at(place + 1), at(place + queue.len() - 1)),
        None => (at(0), at(queue.len() - 1)),
    }
}

fn actions(state: ReviewState) -> Vec<(ReviewAction, &'static str, &'static str)> {
    let name = |action| match action {
        ReviewAction::Approve if state == ReviewState::Approved => ("Let it stand", "a"),
        ReviewAction::Approve if state == ReviewState::Rejected => ("Approve after all", "a"),
        ReviewAction::Approve => ("Approve", "a"),
        ReviewAction::Reject => ("Reject", "r"),
        ReviewAction::Ask => ("Ask", "q"),
        ReviewAction::Hide => ("Hide", "h"),
    };
    let applicable = ReviewAction::ALL.iter().copied().filter(|action| action.applies_to(state));
    applicable.map(|action| (action, name(action).0, name(action).1)).collect()
}

fn proofs(selected: &str) -> Vec<SelectOption> {
    let option = |proof: &ReviewProof| SelectOption {
        value: proof.name().to_owned(),
        text: format::proof_in_words(*proof).to_owned(),
        is_selected: proof.name() == selected,
    };
    ReviewProof::ALL.iter().map(option).collect()
}

fn states_in_words(states: &[(ReviewState, u32)]) -> String {
    let words = states.iter().map(|(state, count)| format!("{count} {}", state.name()));
    words.collect::<Vec<_>>().join(", ")
}

/// True if all ratings are given, and all are the best or all the worst.
fn has_equal_ratings(review: &StoredReview) -> bool {
    let answers = &review.answers;
    let ratings = [answers.rating, answers.responsiveness, answers.fairness, answers.value_add];
    [Some(1), Some(5)].into_iter().any(|extreme| ratings.iter().all(|rating| *rating == extreme))
}

/// The texts with most in common with that of a review, of the store and of the release; and the number of approved reviews of its
/// firm in the release.
fn compare(catalog: &Catalog, review: &StoredReview, texts: &[ReviewText]) -> (Vec<AlikeText>, u64) {
    let own = Shingles::new(&review.answers.body);
    let percent = |body: &str| {
        let percent = (own.similarity(&Shingles::new(body)) * 100.0).round() as u32;
        (percent >= MIN_PERCENT).then_some(percent)
    };
    let excerpt = |body: &str| body.chars().take(EXCERPT).collect::<String>();
    let others = texts.iter().filter(|text| text.review != review.id);
    let stored = others.filter_map(|text| {
        Some(AlikeText {
            percent: percent(&text.body)?,
            firm: firm_name(catalog, &text.firm),
            path: format!("{QUEUE}/{}", text.review.0),
            state: state_in_words(text.state),
            excerpt: excerpt(&text.body),
        })
    });
    let snapshot = catalog.snapshot();
    let published = (0..snapshot.rows(Table::Reviews).min(MAX_RELEASED))
        .filter(|row| snapshot.is_published(Table::Reviews, *row))
        .filter_map(|row| record::<Review>(catalog, Table::Reviews, row).ok())
        // Its own release has it, too.
        .filter(|published| published.id != review.public_id);
    let released = published.filter_map(|published| {
        let body = published.body?;
        Some(AlikeText {
            percent: percent(&body)?,
            path: format!("/vcs/{}/reviews?id={}", published.vc.slug, published.id),
            firm: published.vc.name,
            state: "published",
            excerpt: excerpt(&body),
        })
    });
    let mut alike: Vec<AlikeText> = stored.chain(released).collect();
    alike.sort_by_key(|text| std::cmp::Reverse(text.percent));
    alike.truncate(MAX_ALIKE);
    let firm = catalog.find(Table::Firms, &review.firm);
    let count = firm.map_or(0, |row| snapshot.reviews_of(row).count() as u64);
    (alike, count)
}

impl ReportRow {
    fn new(report: &ReviewReport) -> Self {
        Self {
            at: format::instant(report.at),
            kind: if report.kind == ReportKind::Objection { "objection of the firm" } else { "report" },
            reason: report.reason.clone(),
            email: report.email.as_ref().map_or_else(String::new, ToString::to_string),
            settled: report.settled_at.map_or_else(|| "open".to_owned(), format::instant),
        }
    }
}

impl DecisionRow {
    fn new(decision: &LoggedDecision) -> Self {
        let by = decision.operator.map_or_else(|| "a deleted account".to_owned(), |id| format!("account {}", id.0));
        Self { at: format::instant(decision.at), by, action: decision.action.name(), reason: decision.reason.clone() }
    }
}

/// The number of reviews that wait for an operator.
pub(super) async fn count_waiting(request: AccountRequest<'_>) -> Result<u32, AccountReply> {
    Ok(request.auth.blocking(|service| service.store().review_queue(0, 0)).await?.0)
}
