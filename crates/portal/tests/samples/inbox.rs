//! Samples of the inbox.

use super::{HOSTILE, HOUR, ago, html, shell};
use hermod_portal::elements::{Chip, Tone};
use hermod_portal::layout::NavEntry;
use hermod_portal::pages::inbox::{InboxPage, ReplyForm, ThreadMessage, ThreadPage, ThreadRow};

pub(crate) fn all() -> Vec<(&'static str, String)> {
    vec![
        ("inbox", html(&inbox())),
        ("inbox-empty", html(&InboxPage { threads: Vec::new(), ..inbox() })),
        ("inbox-thread", html(&thread())),
    ]
}

fn inbox() -> InboxPage {
    let row = |index: i64, from: &str, text: &str, ways: &[(Tone, &str)]| ThreadRow {
        href: format!("/accounts/lindgren/inbox/{index}"),
        from: from.to_owned(),
        to: "+49301234567".to_owned(),
        text: Some(text.to_owned()),
        at: ago(index * HOUR),
        count: 2,
        ways: ways.iter().map(|(tone, label)| Chip::new(*tone, *label)).collect(),
    };
    InboxPage {
        shell: shell(NavEntry::Inbox),
        threads: vec![
            row(
                1,
                "+4915112345678",
                "Ja, Freitag passt.",
                &[(Tone::Good, "Polled"), (Tone::Good, "Webhook")],
            ),
            row(5, "+46701234567", HOSTILE, &[(Tone::Waiting, "Webhook waiting")]),
            row(9, "+436641234567", "STOP", &[(Tone::Neutral, "Not fetched yet")]),
        ],
        next: Some("/accounts/lindgren/inbox?before=7".to_owned()),
        is_first: true,
    }
}

fn thread() -> ThreadPage {
    let message = |is_own, hours: i64, text: &str, chip: Chip| ThreadMessage {
        is_own,
        at: ago(hours * HOUR),
        text: Some(text.to_owned()),
        chips: vec![chip],
        href: is_own.then(|| "/accounts/lindgren/messages/15526526976000001".to_owned()),
    };
    ThreadPage {
        shell: shell(NavEntry::Inbox),
        from: "+4915112345678".to_owned(),
        to: "+49301234567".to_owned(),
        messages: vec![
            message(true, 3, "Ihr Ekbord kommt am Freitag. Passt das?", Chip::of_state("delivered")),
            message(false, 2, "Ja, Freitag passt.", Chip::new(Tone::Good, "Webhook")),
            message(false, 1, HOSTILE, Chip::new(Tone::Waiting, "Webhook waiting")),
        ],
        older: Some("/accounts/lindgren/inbox/1?before=1".to_owned()),
        reply: Some(ReplyForm { from: "+49301234567".to_owned(), to: "+4915112345678".to_owned() }),
    }
}
