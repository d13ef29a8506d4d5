//! Samples of the home page: a busy account and a new one.

use super::{DAY, HOUR, NOW, ago, fresh, html, shell};
use hermod_portal::Time;
use hermod_portal::chart::{
    CountryBar, HourCount, HourStates, horizontal_bars, sparkline, states_by_hour, volume_by_hour,
};
use hermod_portal::elements::{Notice, Tone};
use hermod_portal::layout::{Flash, NavEntry};
use hermod_portal::pages::home::{AvailableFunds, FirstStep, HomePage};

pub(crate) fn all() -> Vec<(&'static str, String)> {
    vec![("home", html(&busy())), ("home-new", html(&new()))]
}

/// Messages of a shop by hour of the day, from midnight.
const BY_HOUR: [u64; 24] = [
    31, 18, 12, 9, 22, 96, 240, 512, 880, 1_204, 1_310, 1_288, 1_102, 1_190, 1_344, 1_402, 1_280, 1_120, 905,
    640, 410, 260, 140, 74,
];

fn hours() -> impl Iterator<Item = (Time, u64)> {
    let first = NOW / HOUR * HOUR - 23 * HOUR;
    (0..24).map(move |index| {
        let start = first + index * HOUR;
        let hour = usize::try_from(start.rem_euclid(DAY) / HOUR).unwrap_or_default();
        (Time(start), BY_HOUR[hour])
    })
}

fn busy() -> HomePage {
    let states: Vec<HourStates> = hours()
        .enumerate()
        .map(|(index, (start, count))| HourStates {
            start,
            delivered: count * 95 / 100,
            open: if index > 21 { count / 12 } else { 0 },
            expired: count / 90,
            undeliverable: if index == 11 { count / 7 } else { count / 55 },
            rejected: count / 160,
        })
        .collect();
    let volume: Vec<HourCount> = hours()
        .zip(&states)
        .map(|((start, count), states)| HourCount {
            start,
            count: states.delivered + states.open + states.expired + states.undeliverable + states.rejected,
            usual: Some(count * 88 / 100 + 20),
        })
        .collect();
    let bar =
        |label: &str, count, note: &str| CountryBar { label: label.to_owned(), count, note: note.to_owned() };
    let countries = [
        bar("Germany", 9_412, "98.9 %"),
        bar("Austria", 2_204, "99.1 %"),
        bar("Switzerland", 1_730, "98.2 %"),
        bar("Netherlands", 988, "97.4 %"),
        bar("Sweden", 612, "99.4 %"),
        bar("Poland", 405, "96.0 %"),
        bar("United Kingdom", 210, "95.2 %"),
        bar("Italy", 96, "88.5 %"),
    ];
    let mut shell = shell(NavEntry::Home);
    shell.flash =
        Some(Flash { tone: Tone::Good, text: "The allow-list of lk_live_7Q2M is saved.".to_owned() });
    HomePage {
        shell,
        money: Some(AvailableFunds {
            available: "1,204.52".to_owned(),
            currency: "EUR".to_owned(),
            runway: Some("About 9 days at the rate of the last week".to_owned()),
            is_low: false,
        }),
        today: "6,318".to_owned(),
        today_note: Some("8 % above usual at this time".to_owned()),
        trend: Some(sparkline(
            "Messages by day, last two weeks",
            &[14, 15, 13, 6, 5, 14, 16, 15, 15, 14, 7, 5, 16, 17],
        )),
        delivery_rate: Some("98.4 %".to_owned()),
        delivery_note: Some("98.6 % last week".to_owned()),
        p50: Some("2.10 s".to_owned()),
        p95: Some("7.40 s".to_owned()),
        has_traffic: true,
        volume: volume_by_hour("Messages by hour", &volume),
        states: states_by_hour("State by hour", &states),
        countries: horizontal_bars("By country, last 24 hours", &countries, "Delivered"),
        attention: vec![
            Notice::new(
                Tone::Bad,
                "The DLR webhook fails since 07:12: 148 events wait, the receiver answers 503.",
            )
            .with_link("See the attempts", "/accounts/lindgren/webhooks"),
            Notice::new(Tone::Warning, "Key lk_live_2B9F expires in 6 days and was used today.")
                .with_link("Rotate it", "/accounts/lindgren/keys/lk_live_2B9F"),
            Notice::new(Tone::Waiting, "1 message is held for review.")
                .with_link("Held messages", "/accounts/lindgren/held"),
        ],
        first_steps: Vec::new(),
        freshness: fresh(),
    }
}

fn new() -> HomePage {
    let step = |title: &str, text: &str, href: &str, action: &str, is_done| FirstStep {
        title: title.to_owned(),
        text: text.to_owned(),
        href: format!("/accounts/demo/{href}"),
        action: action.to_owned(),
        is_done,
    };
    let mut shell = shell(NavEntry::Home);
    shell.account = "demo".to_owned();
    shell.account = "demo".to_owned();
    shell.notices = vec![
        Notice::new(Tone::Warning, "Low balance: 4.20 EUR is left, below your warning of 10 EUR.")
            .with_link("Request a top-up", "/accounts/demo/requests?kind=top-up"),
    ];
    let hours: Vec<HourCount> =
        (0..24).map(|hour| HourCount { start: ago((24 - hour) * HOUR), count: 0, usual: None }).collect();
    HomePage {
        shell,
        money: Some(AvailableFunds {
            available: "4.20".to_owned(),
            currency: "EUR".to_owned(),
            runway: Some("Below your warning of 10 EUR".to_owned()),
            is_low: true,
        }),
        today: "0".to_owned(),
        today_note: None,
        trend: None,
        delivery_rate: None,
        delivery_note: None,
        p50: None,
        p95: None,
        has_traffic: false,
        volume: volume_by_hour("Messages by hour", &hours),
        states: states_by_hour("State by hour", &[]),
        countries: horizontal_bars("By country, last 24 hours", &[], "Delivered"),
        attention: Vec::new(),
        first_steps: vec![
            step("Choose a sender", "The name or number that recipients see.", "senders", "Senders", true),
            step(
                "Create an API key",
                "A key and a secret for your application.",
                "keys",
                "Create a key",
                true,
            ),
            step(
                "Send a message",
                "With curl, your language, or right here.",
                "quickstart",
                "Quickstart",
                false,
            ),
            step(
                "See it delivered",
                "Watch every step from acceptance to the handset.",
                "live",
                "Open Live",
                false,
            ),
        ],
        freshness: fresh(),
    }
}
