//! Samples of keys and SMPP.

use super::{DAY, HOSTILE, HOUR, MINUTE, NOW, ago, html, shell};
use hermod_portal::Time;
use hermod_portal::elements::{Chip, Fact, Notice, Tone};
use hermod_portal::forms::{Field, Select};
use hermod_portal::layout::NavEntry;
use hermod_portal::pages::allow_list::AddressCheck;
use hermod_portal::pages::confirm::{ConfirmPage, ReauthenticatePage};
use hermod_portal::pages::keys::{
    CheckAddress, CreateKey, Example, KeyPage, KeyRow, KeySecretPage, KeysPage,
};
use hermod_portal::pages::quickstart::{QuickstartPage, Sample};
use hermod_portal::pages::smpp::{
    BindCard, BindRow, RejectedBind, SmppPage, SmppPasswordPage, SmppTracePage, TracedLine,
};

const BASE_URL: &str = "https://sms.example/api/v1";
const SECRET: &str = "a2r7hq9mz4k8w3x5n6tvbycjdfgpsu2e";

pub(crate) fn all() -> Vec<(&'static str, String)> {
    let keys = keys();
    let smpp = smpp();
    vec![
        ("keys", html(&keys)),
        ("keys-empty", html(&KeysPage { rows: Vec::new(), check: CheckAddress::default(), ..keys.clone() })),
        ("key", html(&key())),
        ("key-created", html(&secret(None))),
        ("key-rotated", html(&secret(Some(Time(NOW + DAY))))),
        ("key-revoke", html(&revoke())),
        ("re-authenticate", html(&reauthenticate())),
        ("smpp", html(&smpp)),
        ("smpp-empty", html(&SmppPage { cards: Vec::new(), ..smpp })),
        ("smpp-trace", html(&trace())),
        ("smpp-password", html(&password())),
        ("quickstart", html(&quickstart())),
    ]
}

fn overlap() -> Select {
    Select::new([("0", "Not at all"), ("1h", "1 hour"), ("24h", "24 hours"), ("7d", "7 days")], "24h")
}

fn row(id: &str, label: &str, state: Chip, used: Option<i64>, expires: Option<i64>, list: &str) -> KeyRow {
    KeyRow {
        id: id.to_owned(),
        label: label.to_owned(),
        connection: "shop-http".to_owned(),
        last_used: used.map(ago),
        last_address: used.map(|_| "203.0.113.9".to_owned()),
        expires: expires.map(|ms| Time(NOW + ms)),
        allow_list: list.to_owned(),
        state,
    }
}

fn active() -> Chip {
    Chip::new(Tone::Good, "Active")
}

fn keys() -> KeysPage {
    let select = || {
        Select::new(
            [("lk_live_7Q2M", "lk_live_7Q2M, shop backend"), ("lk_live_2B9F", "lk_live_2B9F, CRM")],
            "lk_live_7Q2M",
        )
    };
    KeysPage {
        shell: shell(NavEntry::Keys),
        rows: vec![
            row("lk_live_7Q2M", "Shop backend", active(), Some(2 * MINUTE), None, "2 networks"),
            row(
                "lk_live_2B9F",
                "CRM",
                Chip::new(Tone::Waiting, "Rotating"),
                Some(3 * HOUR),
                Some(6 * DAY),
                "any address",
            ),
            row("lk_live_9XK1", HOSTILE, active(), None, Some(80 * DAY), "1 network"),
            row(
                "lk_live_0AAB",
                "Old newsletter",
                Chip::new(Tone::Stopped, "Revoked"),
                Some(90 * DAY),
                None,
                "any address",
            ),
        ],
        create: Some(CreateKey {
            connection: Select::new([("shop-http", "shop-http")], "shop-http"),
            expires: Select::new([("never", "Never"), ("90d", "In 90 days"), ("1y", "In a year")], "never"),
            allow_list: Field::invalid("203.0.113.0/33", "Line 1: a network of IPv4 has at most 32 bits."),
            ..CreateKey::default()
        }),
        check: CheckAddress {
            address: Field::new("198.51.100.20"),
            key: select(),
            answer: Some(AddressCheck {
                is_admitted: false,
                text: "Requests from 198.51.100.20 with lk_live_7Q2M are rejected with IP_NOT_ALLOWED."
                    .to_owned(),
                lists: vec![
                    "Key: no match in 2 networks".to_owned(),
                    "Connection shop-http: admits any address".to_owned(),
                ],
            }),
        },
    }
}

fn key() -> KeyPage {
    KeyPage {
        shell: shell(NavEntry::Keys),
        row: row("lk_live_7Q2M", "Shop backend", active(), Some(2 * MINUTE), None, "2 networks"),
        created: ago(120 * DAY),
        label: Field::new("Shop backend"),
        expires: Field::new("2027-12-31"),
        allow_list: Field::new("203.0.113.0/24\n2001:db8:40::/48"),
        connection_list: Field::new("203.0.113.0/24\n198.51.100.0/24"),
        overlap: overlap(),
        old_secret_until: Some(Time(NOW + 20 * HOUR)),
        can_change: true,
        examples: Example::of_each_form(BASE_URL, "lk_live_7Q2M", "$API_SECRET"),
    }
}

fn quickstart() -> QuickstartPage {
    QuickstartPage {
        shell: shell(NavEntry::Quickstart),
        keys: Select::new([("lk_live_7Q2M", "lk_live_7Q2M, Shop backend")], "lk_live_7Q2M"),
        samples: Sample::all(BASE_URL, "lk_live_7Q2M"),
    }
}

fn secret(old_secret_until: Option<Time>) -> KeySecretPage {
    KeySecretPage {
        shell: shell(NavEntry::Keys),
        key: "lk_live_5T8W".to_owned(),
        label: "Shop backend".to_owned(),
        secret: SECRET.to_owned(),
        old_secret_until,
        basic: "bGtfbGl2ZV81VDhXOmEycjdocTltejRrOHczeDVuNnR2YnljamRmZ3BzdTJl".to_owned(),
        examples: Example::of_each_form(BASE_URL, "lk_live_5T8W", SECRET),
    }
}

fn revoke() -> ConfirmPage {
    ConfirmPage {
        shell: shell(NavEntry::Keys),
        title: "Revoke key lk_live_7Q2M?".to_owned(),
        text: "Requests with this key are rejected from now on with INVALID_API_KEY. This cannot be undone."
            .to_owned(),
        consequences: vec![
            "It was last used 2 minutes ago from 203.0.113.9 (Shop backend).".to_owned(),
            "6,120 of the 6,318 messages of today were sent with it.".to_owned(),
            format!("Its label is: {HOSTILE}."),
            "Messages that were accepted are still delivered.".to_owned(),
        ],
        action: "/accounts/lindgren/keys/lk_live_7Q2M/revoke".to_owned(),
        button: "Revoke the key".to_owned(),
        is_danger: true,
        cancel: "/accounts/lindgren/keys/lk_live_7Q2M".to_owned(),
    }
}

fn reauthenticate() -> ReauthenticatePage {
    ReauthenticatePage {
        shell: shell(NavEntry::Webhooks),
        purpose: "reveal the webhook secret".to_owned(),
        next: "/accounts/lindgren/webhooks".to_owned(),
        password: Field::invalid("", "The password is wrong."),
        needs_code: true,
        code: Field::default(),
        cancel: "/accounts/lindgren/webhooks".to_owned(),
    }
}

fn smpp() -> SmppPage {
    let bind =
        |number, kind: &str, tls, window: &str, rate: &str, submits: &str, error: Option<&str>| BindRow {
            number,
            system_id: "lindgren1".to_owned(),
            kind: kind.to_owned(),
            address: "203.0.113.9".to_owned(),
            transport: if tls { Chip::new(Tone::Good, "TLS") } else { Chip::new(Tone::Warning, "Plain") },
            since: ago(26 * HOUR),
            window: window.to_owned(),
            rate: rate.to_owned(),
            submits: submits.to_owned(),
            waiting: "0".to_owned(),
            last_error: error.map(str::to_owned),
        };
    let rejected = |minutes: i64, status: &str, reason: &str| RejectedBind {
        at: ago(minutes * MINUTE),
        system_id: "lindgren1".to_owned(),
        address: "192.0.2.77".to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
    };
    SmppPage {
        shell: shell(NavEntry::Smpp),
        cards: vec![BindCard {
            connection: "warehouse-smpp".to_owned(),
            system_id: "lindgren1".to_owned(),
            facts: vec![
                Fact::code("Host", "smpp.sms.example"),
                Fact::code("Port with TLS", "2776"),
                Fact::code("Port, plain", "2775"),
                Fact::code("system_id", "lindgren1"),
                Fact::code("system_type", "SMS"),
                Fact::new("Version", "3.4 (3.3 works too)"),
                Fact::new("Bind types", "transceiver recommended, up to 10 binds"),
                Fact::new("Window", "10 requests for each bind"),
                Fact::new("Throughput", "100 messages per second"),
                Fact::new("enquire_link", "every 30 seconds; idle binds end after 60"),
            ],
            warnings: vec![Notice::new(
                Tone::Warning,
                "Bind 8 is not encrypted. Use port 2776 with TLS 1.2 or 1.3: passwords and texts are readable on the way.",
            )],
            allow_list: Field::new("203.0.113.0/24"),
            overlap: overlap(),
            old_password_until: None,
        }],
        binds: vec![
            bind(7, "transceiver", true, "3 of 10", "41.2/s", "1,204,118 (31 rejected)", None),
            bind(8, "transmitter", false, "0 of 10", "0/s", "88", Some("0x58 throttled, 4 min ago")),
        ],
        rejected: vec![
            rejected(
                12,
                "0x0D ESME_RBINDFAIL",
                "192.0.2.77 is not on the allow-list of the connection. Add it, or bind from an address that is on it.",
            ),
            rejected(
                14,
                "0x0E ESME_RINVPASWD",
                "Wrong system_id or password. Check both; after 30 failed binds a minute they are rejected without a check.",
            ),
        ],
        can_change: true,
    }
}

fn trace() -> SmppTracePage {
    let line = |seconds: i64, is_ours: bool, command: &str, details: &str| TracedLine {
        at: ago(seconds * 1_000),
        bind: "7".to_owned(),
        way: if is_ours { Chip::new(Tone::Good, "to you") } else { Chip::new(Tone::Neutral, "from you") },
        command: command.to_owned(),
        details: details.to_owned(),
    };
    SmppTracePage {
        shell: shell(NavEntry::Smpp),
        connection: "warehouse-smpp".to_owned(),
        until: Some(Time(NOW + 9 * MINUTE)),
        refresh_ms: None,
        lines: vec![
            line(2, true, "submit_sm_resp", "seq=42 status=ESME_ROK message_id=0197f3a2"),
            line(
                2,
                false,
                "submit_sm",
                "seq=42 source=5/0 Lindgren destination=1/1 4670123456 registered_delivery=0x01 short_message=(27 octets)",
            ),
            line(9, true, "enquire_link_resp", "seq=41 status=ESME_ROK"),
            line(9, false, "enquire_link", "seq=41"),
        ],
        kept: 4,
        minutes: 10,
        can_change: true,
    }
}

fn password() -> SmppPasswordPage {
    SmppPasswordPage {
        shell: shell(NavEntry::Smpp),
        system_id: "lindgren1".to_owned(),
        password: "k7m2xq9w".to_owned(),
        old_password_until: Some(Time(NOW + DAY)),
    }
}
