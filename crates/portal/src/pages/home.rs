//! The home page: money, traffic, delivery, and what needs attention.

use crate::chart::Chart;
use crate::elements::{Freshness, Notice};
use crate::layout::Shell;
use crate::svg::Svg;
use askama::Template;

/// `GET /accounts/{account}`.
#[derive(Clone, Debug, Template)]
#[template(path = "home.html")]
pub struct HomePage {
    pub shell: Shell,
    /// What the account may still spend; `None` if the role may not see money.
    pub money: Option<AvailableFunds>,
    /// Messages accepted today, such as `12,408`.
    pub today: String,
    /// Today against the usual number at this time of day, such as `8 % above usual`.
    pub today_note: Option<String>,
    /// Messages by day of the last two weeks (`chart::sparkline`).
    pub trend: Option<Svg>,
    /// The share of ended messages of the last 24 hours that were delivered, such as `98.4 %`.
    pub delivery_rate: Option<String>,
    /// The same of the week before, such as `98.1 % last week`.
    pub delivery_note: Option<String>,
    /// Half of the messages were delivered within this time.
    pub p50: Option<String>,
    /// 95 of 100 were.
    pub p95: Option<String>,
    /// Whether the account sent anything lately; the charts are left out if not.
    pub has_traffic: bool,
    /// `chart::volume_by_hour`, last 24 hours.
    pub volume: Chart,
    /// `chart::states_by_hour`, last 24 hours.
    pub states: Chart,
    /// `chart::horizontal_bars`, last 24 hours.
    pub countries: Chart,
    /// What needs attention, the most urgent first.
    pub attention: Vec<Notice>,
    /// Shown until the first message was delivered.
    pub first_steps: Vec<FirstStep>,
    pub freshness: Freshness,
}

/// What the account may still spend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AvailableFunds {
    /// Such as `1,204.50`.
    pub available: String,
    pub currency: String,
    /// How long it lasts, such as `About 9 days at the rate of the last week`.
    pub runway: Option<String>,
    /// Whether it is below the account's warning.
    pub is_low: bool,
}

/// A step from a new account to the first delivered message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstStep {
    pub title: String,
    pub text: String,
    /// Where to do it.
    pub href: String,
    /// The words of the link.
    pub action: String,
    pub is_done: bool,
}
