//! E-mail through the operator's SMTP server.
//!
//! A message waits in a bounded queue for one thread, which tries a few times: a request never waits for a mail server. What is
//! not sent when the process ends is lost; its reader asks again. The log names accounts by number and servers' replies by code,
//! because replies often contain the address.

mod smtp;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

pub use smtp::{ParseSmtpUrlError, SmtpError, SmtpUrl, Transport};

/// Messages that may wait, apart from those that are tried again.
const QUEUE: usize = 100;

/// Time between a failed attempt and the next.
pub const RETRIES: &[Duration] = &[Duration::from_secs(10), Duration::from_secs(60), Duration::from_secs(600)];

/// Who sends messages.
#[derive(Clone, Debug)]
pub struct Sender {
    /// The name of the service.
    pub name: String,
    /// An address in ASCII.
    pub address: String,
}

/// A plain text for one reader. `Debug` hides it.
#[derive(Clone)]
pub struct Mail {
    /// An address in ASCII.
    pub to: String,
    /// The number of the account, for the log.
    pub account: i64,
    /// In one line.
    pub subject: Cow<'static, str>,
    pub text: String,
}

impl fmt::Debug for Mail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mail(account {})", self.account)
    }
}

/// Too many messages wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many e-mails are waiting")]
pub struct QueueFull;

/// The queue of messages. The thread ends when this is dropped.
#[derive(Debug)]
pub struct Mailer {
    queue: SyncSender<Mail>,
    service: String,
}

impl Mailer {
    /// Starts the thread that sends. `retries` is the time to wait after each failed attempt.
    pub fn start(server: SmtpUrl, password: Option<String>, from: Sender, retries: &'static [Duration]) -> Self {
        let (queue, waiting) = sync_channel(QUEUE);
        let service = from.name.clone();
        let transport = smtp::Transport::new(&server, password, from);
        std::thread::spawn(move || run(&waiting, retries, |mail| transport.send(mail)));
        Self { queue, service }
    }

    /// The name of the service that sends.
    pub fn service(&self) -> &str {
        &self.service
    }

    pub fn send(&self, mail: Mail) -> Result<(), QueueFull> {
        match self.queue.try_send(mail) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => Err(QueueFull),
        }
    }
}

/// Connects to the mail server, signs in and disconnects. Blocks for up to half a minute per reply.
pub fn check_connection(server: &SmtpUrl, password: Option<String>, from: &str) -> Result<(), SmtpError> {
    let from = Sender { name: String::new(), address: from.to_owned() };
    smtp::Transport::new(server, password, from).check()
}

/// A message whose last attempt failed.
struct Retry {
    mail: Mail,
    failures: usize,
    due: Instant,
}

fn run(waiting: &Receiver<Mail>, retries: &[Duration], send: impl Fn(&Mail) -> Result<(), SmtpError>) {
    // By the time they are due, roughly: a later failure never waits for long behind an earlier one.
    let mut failed: VecDeque<Retry> = VecDeque::new();
    loop {
        let now = Instant::now();
        let due = failed.iter().position(|retry| retry.due <= now).and_then(|index| failed.remove(index));
        let (mail, failures) = match due {
            Some(Retry { mail, failures, .. }) => (mail, failures),
            None => {
                let next = failed.iter().map(|retry| retry.due).min();
                let received = match next {
                    Some(next) => waiting.recv_timeout(next.saturating_duration_since(now)),
                    None => waiting.recv().map_err(|_| RecvTimeoutError::Disconnected),
                };
                match received {
                    Ok(mail) => (mail, 0),
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        };
        let Err(error) = send(&mail) else { continue };
        let account = mail.account;
        match retries.get(failures).filter(|_| !error.is_permanent && failed.len() < QUEUE) {
            Some(wait) => {
                tracing::warn!("the e-mail to account {account} is not sent yet: {error}");
                failed.push_back(Retry { mail, failures: failures + 1, due: Instant::now() + *wait });
            }
            None => tracing::error!("the e-mail to account {account} is not sent: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn mail(account: i64) -> Mail {
        Mail { to: "ada@example.com".to_owned(), account, subject: "Test".into(), text: "Text".to_owned() }
    }

    fn failure(is_permanent: bool) -> SmtpError {
        SmtpError { reason: "451".to_owned(), is_permanent }
    }

    /// The accounts whose messages were tried, in order, if `fails` says whether an attempt fails.
    fn attempts(mails: &[i64], retries: &[Duration], fails: impl Fn(i64, usize) -> Option<SmtpError>) -> Vec<i64> {
        let (queue, waiting) = sync_channel(QUEUE);
        let queue = RefCell::new(Some(queue));
        mails.iter().for_each(|account| queue.borrow().as_ref().unwrap().send(mail(*account)).unwrap());
        let tried = RefCell::new(Vec::new());
        let send = |mail: &Mail| {
            let mut tried = tried.borrow_mut();
            tried.push(mail.account);
            let before = tried.iter().filter(|account| **account == mail.account).count();
            let result = fails(mail.account, before).map_or(Ok(()), Err);
            if result.is_ok() || before > retries.len() || result.as_ref().is_err_and(|error| error.is_permanent) {
                // Once all are decided, the queue closes and the thread ends.
                let decided = mails.iter().all(|account| tried.contains(account));
                if decided {
                    queue.borrow_mut().take();
                }
            }
            result
        };
        run(&waiting, retries, send);
        tried.into_inner()
    }

    #[test]
    fn a_message_is_tried_again_after_a_temporary_failure_only() {
        let zero = [Duration::ZERO; 2];
        assert_eq!(attempts(&[1], &zero, |_, attempt| (attempt < 3).then(|| failure(false))), [1, 1, 1]);
        assert_eq!(attempts(&[1], &zero, |_, _| Some(failure(false))), [1, 1, 1]);
        assert_eq!(attempts(&[1], &zero, |_, _| Some(failure(true))), [1]);
    }

    #[test]
    fn others_do_not_wait_for_one_that_fails() {
        let hour = [Duration::from_secs(3_600)];
        assert_eq!(attempts(&[1, 2], &hour, |account, _| (account == 1).then(|| failure(false))), [1, 2]);
    }

    #[test]
    fn the_queue_is_bounded_and_hides_its_messages() {
        let (queue, _waiting) = sync_channel(1);
        let mailer = Mailer { queue, service: String::new() };
        assert_eq!(mailer.send(mail(1)), Ok(()));
        assert_eq!(mailer.send(mail(2)), Err(QueueFull));
        assert_eq!(format!("{:?}", mail(7)), "Mail(account 7)");
    }
}
