//! Destinations: prices, coverage, and which countries are switched on.

use crate::elements::{Chip, Fact, PageLink};
use crate::forms::{Field, Select};
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;

/// `GET /accounts/{account}/destinations?country=…&show=…&after=…&number=…`. Posts to `destinations/switch` (`on` or `off`, a
/// country code).
#[derive(Clone, Debug, Template)]
#[template(path = "destinations.html")]
pub struct DestinationsPage {
    pub shell: Shell,
    pub currency: String,
    /// The number of the question what a message to it costs.
    pub number: Field,
    pub answer: Option<NumberAnswer>,
    /// A part of a country's name, or its code.
    pub country: Field,
    /// All, or only those with a price, switched on, or switched off.
    pub show: Select,
    pub is_filtered: bool,
    /// By name.
    pub rows: Vec<DestinationRow>,
    pub next: Option<String>,
    /// All prices as CSV.
    pub export: String,
    /// Where another country is requested; `None` if the role may not, or where that page does not exist.
    pub request: Option<String>,
    /// Whether the role may switch countries.
    pub can_change: bool,
}

/// What a message to a number would cost, and whether it would be accepted.
#[derive(Clone, Debug)]
pub struct NumberAnswer {
    pub state: Chip,
    /// `A part to +4915112345678 costs 0.05 EUR.`
    pub text: String,
    pub facts: Vec<Fact>,
    /// Why a message would be rejected now, each with the place to do something about it.
    pub rejections: Vec<NumberRejection>,
}

/// A reason for a rejection.
#[derive(Clone, Debug)]
pub struct NumberRejection {
    pub code: String,
    pub text: String,
    pub remedy: PageLink,
}

/// A country.
#[derive(Clone, Debug)]
pub struct DestinationRow {
    pub country: String,
    pub code: String,
    /// Such as `0.05` or `0.045 to 0.08`; `None` without a price.
    pub price: Option<String>,
    /// The next price and when it begins.
    pub next: Option<(String, Time)>,
    /// Whether a route exists: for all its networks, for some, for none.
    pub coverage: Chip,
    /// On, off, or not permitted by the operator.
    pub state: Chip,
    pub switch: Switch,
}

/// What the customer can do about a country.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    On,
    Off,
    /// Only the operator can permit it.
    Request,
}

impl DestinationRow {
    pub fn can_switch_on(&self) -> bool {
        self.switch == Switch::On
    }

    pub fn can_switch_off(&self) -> bool {
        self.switch == Switch::Off
    }

    pub fn is_request(&self) -> bool {
        self.switch == Switch::Request
    }
}
