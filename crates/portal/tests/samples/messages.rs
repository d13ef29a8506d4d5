//! Samples of the list of messages and of single messages.

use super::{HOSTILE, HOUR, MINUTE, SECOND, ago, fresh, html, shell};
use hermod_portal::elements::{Chip, Fact, Notice, PageLink, Tone};
use hermod_portal::forms::{Field, Select};
use hermod_portal::layout::{Flash, NavEntry};
use hermod_portal::pages::message::{
    MessageCost, MessageDetailPage, Segment, Text, TimelineStep, WebhookAttemptRow, step_words,
};
use hermod_portal::pages::messages::{Filters, MessageListRow, MessagesPage};

pub(crate) fn all() -> Vec<(&'static str, String)> {
    let list = list();
    let empty = MessagesPage { rows: Vec::new(), next: None, freshness: fresh(), ..list.clone() };
    let unmatched = MessagesPage {
        is_filtered: true,
        filters: Filters {
            to: Some(Field::invalid("0151 12*", "Write the number with its country code, such as +49151*.")),
            ..list.filters.clone()
        },
        searched_to: Some(ago(30 * 24 * HOUR)),
        next: Some("?cursor=15526500000000000".to_owned()),
        ..empty.clone()
    };
    let mut failed = failed();
    failed.shell.flash =
        Some(Flash { tone: Tone::Good, text: "Event evt_88121 is posted again.".to_owned() });
    vec![
        ("messages", html(&list)),
        ("messages-empty", html(&empty)),
        ("messages-unmatched", html(&unmatched)),
        ("message", html(&delivered())),
        ("message-failed", html(&failed)),
        ("message-hostile", html(&hostile())),
    ]
}

fn filters() -> Filters {
    let states = ["", "queued", "submitted", "enroute", "delivered", "expired", "undeliverable", "rejected"];
    let label = |state: &str| if state.is_empty() { "Any".to_owned() } else { Chip::of_state(state).label };
    Filters {
        state: Select::new(states.map(|state| (state, label(state))), ""),
        country: Select::new([("", "Any"), ("DE", "Germany"), ("AT", "Austria"), ("SE", "Sweden")], ""),
        to: Some(Field::default()),
        text: Some(Field::default()),
        ..Filters::default()
    }
}

/// State, sender, recipient, country, network, parts, duration, cost.
type Sample = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    u8,
    Option<&'static str>,
    &'static str,
);

fn list() -> MessagesPage {
    let data: [Sample; 11] = [
        ("delivered", "Lindgren", "+4915112345678", "Germany", "Telekom", 1, Some("2.31 s"), "0.075 EUR"),
        ("submitted", "Lindgren", "+436641234567", "Austria", "A1", 2, None, "0.142 EUR"),
        ("queued", "Lindgren", "+46701234567", "Sweden", "Telia", 1, None, "0.048 EUR"),
        (
            "delivered",
            "LindgrenVIP",
            "+41791234567",
            "Switzerland",
            "Swisscom",
            3,
            Some("4.02 s"),
            "0.204 EUR",
        ),
        ("undeliverable", "Lindgren", "+4915799999999", "Germany", "O2", 1, Some("1 min 12 s"), "0.075 EUR"),
        ("delivered", "49301234567", "+31612345678", "Netherlands", "KPN", 1, Some("1.18 s"), "0.081 EUR"),
        ("expired", "Lindgren", "+39312345678", "Italy", "TIM", 1, Some("24 h 0 min"), "0.069 EUR"),
        ("rejected", "Lindgren", "+4915112345679", "Germany", "Telekom", 1, Some("3 ms"), "0.075 EUR"),
        ("delivered", "Lindgren", "+33612345678", "France", "Orange", 2, Some("3.44 s"), "0.128 EUR"),
        ("enroute", "Lindgren", "+48601234567", "Poland", "Plus", 1, None, "0.031 EUR"),
        ("delivered", HOSTILE, "+4917612345670", "Germany", "O2", 1, Some("2.90 s"), "0.075 EUR"),
    ];
    let row = |index: usize, (state, from, to, country, network, parts, took, cost): Sample| MessageListRow {
        id: format!("155265269760{index:05}"),
        accepted_at: ago(i64::try_from(index).unwrap_or_default() * 47 * SECOND + 3 * SECOND),
        from: from.to_owned(),
        to: (index != 9).then(|| to.to_owned()),
        country: country.to_owned(),
        network: network.to_owned(),
        parts,
        state: Chip::of_state(state),
        took: took.map(str::to_owned),
        cost: cost.to_owned(),
    };
    MessagesPage {
        shell: shell(NavEntry::Messages),
        filters: filters(),
        is_filtered: false,
        rows: data
            .into_iter()
            .cycle()
            .take(24)
            .enumerate()
            .map(|(index, sample)| row(index, sample))
            .collect(),
        next: Some("?cursor=15526526976000024".to_owned()),
        searched_to: None,
        export: Some("/accounts/lindgren/messages.csv".to_owned()),
        freshness: fresh(),
    }
}

fn step(step: &str, at_ms: u64, part: Option<u8>, note: Option<&str>, details: Vec<Fact>) -> TimelineStep {
    let state = if at_ms > 60_000 { "undeliverable" } else { "delivered" };
    let (tone, title) = step_words(step, Some(state));
    TimelineStep { at_ms, tone, title: title.to_owned(), part, note: note.map(str::to_owned), details }
}

fn facts() -> Vec<Fact> {
    vec![
        Fact::new("Country", "Germany"),
        Fact::new("Network", "Telekom Deutschland (262-01)"),
        Fact::new("Encoding", "GSM-7"),
        Fact::new("Parts", "2"),
        Fact::new("Submitted over", "HTTP, connection shop-http"),
        Fact::code("Request", "req_01JD2K7Q8X4M")
            .linked("/accounts/lindgren/request-log?request=req_01JD2K7Q8X4M"),
        Fact::code("Idempotency key", "order-20418-shipped"),
        Fact::code("DLR", "DELIVRD"),
    ]
}

fn delivered() -> MessageDetailPage {
    MessageDetailPage {
        shell: shell(NavEntry::Messages),
        id: "15526526976000001".to_owned(),
        state: Chip::of_state("delivered"),
        state_words: "Delivered to the handset 2.31 s after we accepted it.".to_owned(),
        remedy: None,
        accepted_at: ago(4 * MINUTE),
        from: "Lindgren".to_owned(),
        to: Some("+4915112345678".to_owned()),
        facts: facts(),
        text: Text::Shown(vec![
            Segment {
                text: "Hej Anna! Your oak table (order 20418) left our warehouse in Kiel this morning and arrives tomorrow between 14:00 and 17:00. The driver calls you 30 min before. T".to_owned(),
                used: "153 of 153 septets".to_owned(),
            },
            Segment { text: "rack it here: https://lindgren.example/t/20418\nReply STOP to opt out.".to_owned(), used: "70 of 153 septets".to_owned() },
        ]),
        cost: MessageCost {
            parts: 2,
            price: Some("0.075".to_owned()),
            charged: "0.150 EUR".to_owned(),
            refunded: None,
            balance_after: Some("1,204.518 EUR".to_owned()),
        },
        timeline: vec![
            step("accepted", 0, None, Some("Stored and charged in one transaction. Your request was answered after this."), vec![Fact::new("Cost", "0.150 EUR"), Fact::new("Route", "49")]),
            step("sent", 14, Some(1), None, vec![Fact::code("Status", "ESME_ROK")]),
            step("sent", 15, Some(2), None, Vec::new()),
            step("throttled", 41, Some(2), Some("The carrier limits our rate for a moment. We send the part again on the retry schedule."), vec![Fact::code("Status", "ESME_RTHROTTLED")]),
            step("carrier_accepted", 46, Some(1), None, vec![Fact::code("Carrier's id", "7f3a90c1")]),
            step("carrier_accepted", 1_044, Some(2), None, vec![Fact::code("Carrier's id", "7f3a90c2")]),
            step("receipt", 2_298, Some(1), None, vec![Fact::code("Receipt", "id:7f3a90c1 sub:001 dlvrd:001 stat:DELIVRD err:000")]),
            step("receipt", 2_310, Some(2), None, vec![Fact::code("Receipt", "id:7f3a90c2 sub:001 dlvrd:001 stat:DELIVRD err:000")]),
            step("ended", 2_310, None, Some("Every part was delivered."), vec![Fact::code("Status", "DELIVRD")]),
            step("webhook", 2_402, None, None, vec![Fact::code("Event", "evt_88120").linked("/accounts/lindgren/webhooks/events/evt_88120"), Fact::new("Answer", "200 in 84 ms")]),
        ],
        attempts: vec![WebhookAttemptRow {
            at: ago(4 * MINUTE - 2_402),
            event: PageLink::new("evt_88120", "/accounts/lindgren/webhooks/events/evt_88120"),
            number: 1,
            result: Chip::new(Tone::Good, "200 OK"),
            took: "84 ms".to_owned(),
            response: Some(format!("{{\"ok\": true}} {HOSTILE}")),
        }],
        send_again: Some("/accounts/lindgren/compose?again=15526526976000001".to_owned()),
        refresh_ms: Some(1_000),
        freshness: fresh(),
    }
}

fn failed() -> MessageDetailPage {
    let base = delivered();
    MessageDetailPage {
        state: Chip::of_state("undeliverable"),
        state_words: "The carrier gave up after 1 min 12 s: unknown subscriber.".to_owned(),
        remedy: Some(
            Notice::new(Tone::Bad, "Error 1, unknown subscriber: the number is not assigned. Check it with the recipient and remove it from your list.")
                .with_link("What error 1 means", "/docs#error-1"),
        ),
        text: Text::Purged { days: 30 },
        cost: MessageCost { refunded: Some("0.150 EUR".to_owned()), ..base.cost.clone() },
        timeline: vec![
            step("accepted", 0, None, None, vec![Fact::new("Cost", "0.150 EUR")]),
            step("sent", 14, Some(1), None, Vec::new()),
            step("failed_over", 5_020, None, Some("The first carrier did not accept the message within 5 seconds."), Vec::new()),
            step("carrier_accepted", 5_101, Some(1), None, vec![Fact::code("Carrier's id", "A-4410-993")]),
            step("receipt", 72_004, Some(1), None, vec![Fact::code("Receipt", "id:A-4410-993 stat:UNDELIV err:001")]),
            step("ended", 72_004, None, Some("Undeliverable: unknown subscriber."), vec![Fact::code("Status", "UNDELIV"), Fact::new("Refund", "0.150 EUR")]),
        ],
        attempts: Vec::new(),
        ..base
    }
}

fn hostile() -> MessageDetailPage {
    let base = failed();
    MessageDetailPage {
        from: HOSTILE.to_owned(),
        to: None,
        text: Text::Shown(vec![Segment { text: HOSTILE.to_owned(), used: HOSTILE.to_owned() }]),
        timeline: vec![step(HOSTILE, 3, None, Some(HOSTILE), vec![Fact::code(HOSTILE, HOSTILE)])],
        facts: vec![Fact::code(HOSTILE, HOSTILE), Fact::new("Note", HOSTILE)],
        ..base
    }
}
