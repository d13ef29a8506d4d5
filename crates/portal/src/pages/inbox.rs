//! The inbox: MO messages as threads between a handset and one of the account's numbers.

use crate::elements::Chip;
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;

/// `GET /accounts/{account}/inbox`.
#[derive(Clone, Debug, Template)]
#[template(path = "inbox.html")]
pub struct InboxPage {
    pub shell: Shell,
    /// The newest first.
    pub threads: Vec<ThreadRow>,
    /// The address of the next page.
    pub next: Option<String>,
    /// Whether this is the first page.
    pub is_first: bool,
}

/// A thread with its newest MO message.
#[derive(Clone, Debug)]
pub struct ThreadRow {
    /// The address of the thread.
    pub href: String,
    /// The handset, masked for roles that may not see it.
    pub from: String,
    /// The account's number.
    pub to: String,
    /// The beginning of the text; `None` if the role may not read texts.
    pub text: Option<String>,
    pub at: Time,
    /// MO messages of the thread.
    pub count: usize,
    /// How the newest one was delivered.
    pub ways: Vec<Chip>,
}

/// `GET /accounts/{account}/inbox/{id}`: the thread of an MO message. The form posts `from`, `to`, `text`, `once` and `csrf` to
/// `compose`, which shows the price first.
#[derive(Clone, Debug, Template)]
#[template(path = "thread.html")]
pub struct ThreadPage {
    pub shell: Shell,
    /// The handset, masked for roles that may not see it.
    pub from: String,
    /// The account's number.
    pub to: String,
    /// The oldest first.
    pub messages: Vec<ThreadMessage>,
    /// The address of older ones.
    pub older: Option<String>,
    /// `None` if the role may not send, or the handset cannot be written to.
    pub reply: Option<ReplyForm>,
}

/// One message of a thread.
#[derive(Clone, Debug)]
pub struct ThreadMessage {
    /// Whether the account sent it.
    pub is_own: bool,
    pub at: Time,
    /// `None` if the role may not read texts, or the text was deleted.
    pub text: Option<String>,
    /// How an MO message was delivered, or the state of one that the account sent.
    pub chips: Vec<Chip>,
    /// The page of a message that the account sent.
    pub href: Option<String>,
}

/// What a reply is sent with.
#[derive(Clone, Debug)]
pub struct ReplyForm {
    pub from: String,
    pub to: String,
}
