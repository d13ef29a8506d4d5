//! Samples of destinations.

use super::{DAY, HOSTILE, NOW, html, shell};
use hermod_portal::Time;
use hermod_portal::elements::{Chip, Fact, PageLink, Tone};
use hermod_portal::forms::{Field, Select};
use hermod_portal::layout::NavEntry;
use hermod_portal::pages::destinations::{
    DestinationRow, DestinationsPage, NumberAnswer, NumberRejection, Switch,
};

pub(crate) fn all() -> Vec<(&'static str, String)> {
    let empty = DestinationsPage {
        rows: Vec::new(),
        next: None,
        country: Field::new(HOSTILE),
        is_filtered: true,
        number: Field::invalid(HOSTILE, "It must begin with +."),
        answer: None,
        ..destinations()
    };
    vec![("destinations", html(&destinations())), ("destinations-none", html(&empty))]
}

fn destinations() -> DestinationsPage {
    let row = |country: &str, code: &str, price: Option<&str>, next: Option<&str>, routes: &str, switch| {
        let (state, coverage) = match switch {
            Switch::Off => (Chip::new(Tone::Good, "On"), Chip::new(Tone::Good, routes)),
            Switch::On => (Chip::new(Tone::Stopped, "Off"), Chip::new(Tone::Warning, routes)),
            Switch::Request => (Chip::new(Tone::Neutral, "Not permitted"), Chip::new(Tone::Neutral, routes)),
        };
        DestinationRow {
            country: country.to_owned(),
            code: code.to_owned(),
            price: price.map(str::to_owned),
            next: next.map(|next| (next.to_owned(), Time(NOW + 13 * DAY))),
            coverage,
            state,
            switch,
        }
    };
    DestinationsPage {
        shell: shell(NavEntry::Destinations),
        currency: "EUR".to_owned(),
        number: Field::new("+33612345678"),
        answer: Some(NumberAnswer {
            state: Chip::new(Tone::Bad, "Rejected now"),
            text: "A part to +33612345678 costs 0.048 EUR.".to_owned(),
            facts: vec![
                Fact::new("Country", "France"),
                Fact::new("Network", "Orange (208-01)"),
                Fact::new("Route", "Yes"),
                Fact::new("Switched on", "No"),
            ],
            rejections: vec![NumberRejection {
                code: "COUNTRY_BLOCKED".to_owned(),
                text: "The destination country is not enabled on this account.".to_owned(),
                remedy: PageLink::new("Destinations", "/accounts/lindgren/destinations"),
            }],
        }),
        country: Field::default(),
        show: Select::new([("", "With a price"), ("all", "All countries")], ""),
        is_filtered: false,
        rows: vec![
            row("Austria", "AT", Some("0.065"), None, "All networks", Switch::Off),
            row("France", "FR", Some("0.048"), None, "Some networks", Switch::On),
            row("Germany", "DE", Some("0.045 to 0.08"), Some("0.05 to 0.085"), "All networks", Switch::Off),
            row("Sweden", "SE", Some("0.041"), Some("0.039"), "All networks", Switch::Off),
            row("Tuvalu", "TV", None, None, "No route", Switch::Request),
        ],
        next: Some("?after=Tuvalu".to_owned()),
        export: "/accounts/lindgren/destinations.csv".to_owned(),
        request: Some("/accounts/lindgren/requests?kind=country".to_owned()),
        can_change: true,
    }
}
