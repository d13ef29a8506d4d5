//! Samples of live feed, compose, senders, opt-outs, held messages and requests.

use super::{DAY, HOSTILE, HOUR, SECOND, ago, html, shell};
use hermod_portal::elements::{Chip, Fact, Tone};
use hermod_portal::forms::{Field, Select};
use hermod_portal::layout::NavEntry;
use hermod_portal::pages::compose::{
    ComposePage, ForcedCharacter, Preview, PreviewPart, SendRejection, TextRun,
};
use hermod_portal::pages::live::{LiveChange, LivePage};
use hermod_portal::pages::messages::{FindPage, HeldPage, HeldRow};
use hermod_portal::pages::opt_outs::{ChangeOptOuts, Imported, OptOutRow, OptOutsPage, WrongLine};
use hermod_portal::pages::requests::{CustomerRequestRow, RequestForm, RequestsPage};
use hermod_portal::pages::senders::{DefaultSender, SenderRow, SendersPage};

pub(crate) fn all() -> Vec<(&'static str, String)> {
    let live = live();
    let compose = compose(None);
    let mut checked = self::compose(Some(preview()));
    checked.text = Field::new("Tack för din beställning! “Ekbord” skickas i morgon ✓");
    let mut rejected = self::compose(Some(rejections()));
    rejected.to =
        Field::invalid("0151 12345", "Write the number with its country code, such as +4915112345678.");
    vec![
        ("live", html(&live)),
        ("live-empty", html(&LivePage { rows: Vec::new(), note: None, ..live })),
        ("compose", html(&compose)),
        ("compose-checked", html(&checked)),
        ("compose-rejected", html(&rejected)),
        ("senders", html(&senders())),
        ("opt-outs", html(&opt_outs())),
        (
            "opt-outs-none",
            html(&OptOutsPage {
                rows: Vec::new(),
                is_filtered: true,
                search: Field::new("+4915112345678"),
                ..opt_outs()
            }),
        ),
        ("held", html(&held())),
        ("held-empty", html(&HeldPage { rows: Vec::new(), ..held() })),
        ("requests", html(&requests())),
        (
            "find-nothing",
            html(&FindPage { shell: shell(NavEntry::Home), query: HOSTILE.to_owned(), matches: Vec::new() }),
        ),
    ]
}

fn live() -> LivePage {
    let data = [
        ("delivered", "Lindgren", "+4915112345678", "DE", "Receipt from the carrier (+2,310 ms)"),
        ("submitted", "Lindgren", "+436641234567", "AT", "The carrier accepted it (+46 ms)"),
        ("queued", "Lindgren", "+46701234567", "SE", "Accepted and charged"),
        ("undeliverable", HOSTILE, "+4915799999999", "DE", "Ended: unknown subscriber (+72,004 ms)"),
        ("delivered", "LindgrenVIP", "+41791234567", "CH", "Webhook posted (+4,110 ms)"),
    ];
    let row =
        |(index, (state, from, to, country, step)): (usize, (&str, &str, &str, &str, &str))| LiveChange {
            id: format!("155265269760{index:05}"),
            accepted_at: ago(i64::try_from(index).unwrap_or_default() * SECOND).iso(),
            from: from.to_owned(),
            to: Some(to.to_owned()),
            country: country.to_owned(),
            state: state.to_owned(),
            step: step.to_owned(),
        };
    LivePage {
        shell: shell(NavEntry::Live),
        feed: "/accounts/lindgren/live/events".to_owned(),
        note: Some("showing 20 of 3,412/s".to_owned()),
        rows: data.into_iter().cycle().take(20).enumerate().map(row).collect(),
    }
}

fn compose(preview: Option<Preview>) -> ComposePage {
    ComposePage {
        shell: shell(NavEntry::Compose),
        connection: None,
        from: Select::new(
            [
                ("Lindgren", "Lindgren (default)"),
                ("LindgrenVIP", "LindgrenVIP"),
                ("49301234567", "+49301234567"),
            ],
            "Lindgren",
        ),
        to: Field::new(if preview.is_some() { "+46701234567" } else { "" }),
        text: Field::default(),
        once: "compose-8f31".to_owned(),
        preview,
        notice: None,
    }
}

fn fact(name: &str, value: &str) -> Fact {
    Fact::new(name, value)
}

fn run(text: &str, is_marked: bool) -> TextRun {
    TextRun { text: text.to_owned(), is_marked }
}

fn preview() -> Preview {
    let forced = |character: &str, name: &str, count, replacement: Option<&str>| ForcedCharacter {
        character: character.to_owned(),
        name: name.to_owned(),
        count,
        replacement: replacement.map(str::to_owned),
    };
    Preview {
        summary: "1 part, UCS-2, 0.048 EUR to Sweden".to_owned(),
        parts: vec![PreviewPart {
            runs: vec![
                run("Tack för din beställning! ", false),
                run("“", true),
                run("Ekbord", false),
                run("”", true),
                run(" skickas i morgon ", false),
                run("✓", true),
            ],
            used: "52 of 70 characters".to_owned(),
        }],
        facts: vec![
            fact("Encoding", "UCS-2"),
            fact("Country", "Sweden"),
            fact("Network", "Telia (240-01)"),
            fact("Price", "1 part × 0.048 EUR"),
            fact("Cost", "0.048 EUR"),
            fact("Available", "1,204.52 EUR"),
        ],
        forced_words: "3 characters force UCS-2. Without them a part holds 160 characters instead of 70."
            .to_owned(),
        forced: vec![
            forced("“", "left double quotation mark", 1, Some("\"")),
            forced("”", "right double quotation mark", 1, Some("\"")),
            forced("✓", "check mark", 1, None),
        ],
        rejections: Vec::new(),
        price: "0.048".to_owned(),
        send_label: "Send for 0.048 EUR".to_owned(),
        can_send: true,
    }
}

fn rejections() -> Preview {
    let rejection = |code: &str, text: &str, href: &str| SendRejection {
        code: code.to_owned(),
        text: text.to_owned(),
        href: Some(href.to_owned()),
    };
    Preview {
        summary: "Would be rejected: COUNTRY_BLOCKED".to_owned(),
        parts: vec![PreviewPart { runs: vec![run(HOSTILE, false)], used: "58 of 160 septets".to_owned() }],
        facts: vec![fact("Encoding", "GSM-7"), fact("Country", "Nigeria")],
        rejections: vec![
            rejection(
                "COUNTRY_BLOCKED",
                "The destination country is not enabled on the account.",
                "/accounts/lindgren/requests?kind=country",
            ),
            rejection(
                "RECIPIENT_OPTED_OUT",
                "The recipient has opted out of messages from this account.",
                "/accounts/lindgren/opt-outs",
            ),
        ],
        send_label: "Send".to_owned(),
        ..Preview::default()
    }
}

fn senders() -> SendersPage {
    let row = |sender: &str, kind: &str, state: Chip, reason: &str, messages: &str, can_receive| SenderRow {
        sender: sender.to_owned(),
        kind: kind.to_owned(),
        state,
        reason: reason.to_owned(),
        messages: Some(messages.to_owned()),
        can_receive,
    };
    let approved = || Chip::new(Tone::Good, "Approved");
    SendersPage {
        shell: shell(NavEntry::Senders),
        rows: vec![
            row("Lindgren", "alphanumeric", approved(), "All countries", "148,204", false),
            row("LindgrenVIP", "alphanumeric", approved(), "Germany, Austria, Switzerland", "2,310", false),
            row("+49301234567", "number", approved(), "All countries", "904", true),
            row(
                "IKEA",
                "alphanumeric",
                Chip::new(Tone::Bad, "Blocked"),
                "Name of another brand. Send a letter of authorisation with a new request.",
                "0",
                false,
            ),
            row(
                HOSTILE,
                "alphanumeric",
                Chip::new(Tone::Waiting, "Requested"),
                "Waiting for the operator",
                "0",
                false,
            ),
        ],
        defaults: vec![
            DefaultSender {
                connection: "shop-http".to_owned(),
                senders: Select::new([("Lindgren", "Lindgren"), ("LindgrenVIP", "LindgrenVIP")], "Lindgren"),
            },
            DefaultSender {
                connection: "warehouse-smpp".to_owned(),
                senders: Select::new(
                    [("", "None: reject messages without a sender"), ("Lindgren", "Lindgren")],
                    "",
                ),
            },
        ],
        request: Some("/accounts/lindgren/requests?kind=sender".to_owned()),
        can_change: true,
    }
}

fn opt_outs() -> OptOutsPage {
    let row = |number: &str, days: i64, source: &str, how: &str| OptOutRow {
        number: number.to_owned(),
        since: ago(days * DAY),
        source: source.to_owned(),
        how: how.to_owned(),
    };
    OptOutsPage {
        shell: shell(NavEntry::OptOuts),
        search: Field::default(),
        is_filtered: false,
        rows: vec![
            row("+4915112345601", 1, "keyword", "replied STOP"),
            row("+436641234568", 2, "keyword", "replied STOPP"),
            row("+46701234599", 9, "portal", "asked by phone (added by jana.petersen@lindgren.example)"),
        ],
        next: Some("?after=46701234599".to_owned()),
        change: Some(ChangeOptOuts {
            lines_max: "1,000".to_owned(),
            words: Field::new("STOPP\nGENUG"),
            ..ChangeOptOuts::default()
        }),
        imported: Some(Imported {
            added: "212".to_owned(),
            known: "3".to_owned(),
            wrong: vec![WrongLine {
                line: 7,
                text: HOSTILE.to_owned(),
                why: "It must begin with +.".to_owned(),
            }],
        }),
        export: "/accounts/lindgren/opt-outs.csv".to_owned(),
        keywords: ["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT"].map(str::to_owned).to_vec(),
        own_keywords: vec!["STOPP".to_owned(), "GENUG".to_owned()],
    }
}

fn held() -> HeldPage {
    let row = |hours: i64, text: Option<&str>, state: Chip, note: &str, send_again: Option<&str>| HeldRow {
        at: ago(hours * HOUR),
        from: "Lindgren".to_owned(),
        to: "+4915112345678".to_owned(),
        text: text.map(str::to_owned),
        state,
        note: note.to_owned(),
        send_again: send_again.map(str::to_owned),
    };
    HeldPage {
        shell: shell(NavEntry::Held),
        rows: vec![
            row(
                2,
                Some("Your account was locked. Confirm your bank details at https://lindgren.example/secure"),
                Chip::new(Tone::Waiting, "Waiting"),
                "For the operator's decision",
                None,
            ),
            row(
                26,
                Some("Win a voucher of 500 EUR: lindgren.example/win"),
                Chip::new(Tone::Good, "Approved"),
                "Send it again until 23 Nov",
                Some("/accounts/lindgren/compose?held=7"),
            ),
            row(50, None, Chip::new(Tone::Stopped, "Declined"), "Looks like phishing", None),
        ],
        next: None,
    }
}

fn requests() -> RequestsPage {
    let row = |id: &str, kind: &str, subject: &str, state: Chip, reason: Option<&str>, can_withdraw| {
        CustomerRequestRow {
            id: id.to_owned(),
            at: ago(30 * HOUR),
            by: "jana.petersen@lindgren.example".to_owned(),
            kind: kind.to_owned(),
            subject: subject.to_owned(),
            state,
            reason: reason.map(str::to_owned),
            can_withdraw,
        }
    };
    RequestsPage {
        shell: shell(NavEntry::Requests),
        next: None,
        rows: vec![
            row(
                "14",
                "Rate",
                "50 requests per second for shop-http",
                Chip::new(Tone::Waiting, "Open"),
                None,
                true,
            ),
            row(
                "12",
                "Country",
                "Norway",
                Chip::new(Tone::Good, "Accepted"),
                Some("Enabled since 15 Nov."),
                false,
            ),
            row(
                "9",
                "Sender",
                "IKEA",
                Chip::new(Tone::Stopped, "Declined"),
                Some("Name of another brand."),
                false,
            ),
        ],
        form: Some(RequestForm {
            kind: Select::new(
                [
                    ("country", "A country"),
                    ("sender", "A sender"),
                    ("number", "A number"),
                    ("rate", "A higher rate"),
                    ("top-up", "A top-up"),
                ],
                "country",
            ),
            subject: Field::invalid(HOSTILE, "Is not a country code of two letters such as DE."),
            connection: Select::new([("shop-http", "shop-http"), ("shop-smpp", "shop-smpp")], ""),
            ..RequestForm::default()
        }),
    }
}
