//! Counts messages and refused requests for the statistics. A flush counts by the whole set of a message's properties
//! ([`Counts`]); the follower adds that to one series of minutes per dimension and value ([`Collected`]), from which it goes
//! to the tables once a minute.

use crate::record::figures::add_money;
use crate::record::{Dimension, DueCost, Figures, RecordedMessage, RequestEntry, Scope, Value};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_domain::lifecycle::MessageState;
use hermod_domain::money::Money;
use hermod_domain::numbers::{Country, Destination, Network, Numbers};
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_engine::maps::HashMap;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A minute since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Minute(pub i64);

const MINUTE_MS: i64 = 60_000;

impl Minute {
    pub(crate) fn of(at: Timestamp) -> Minute {
        Minute(at.as_millis().div_euclid(MINUTE_MS))
    }

    pub(crate) fn start(self) -> Timestamp {
        Timestamp::from_millis(self.0.saturating_mul(MINUTE_MS))
    }
}

/// The properties by which a message is counted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct CountedBy {
    minute: Minute,
    account: u32,
    connection: u32,
    carrier: u32,
    country: Option<Country>,
    network: Option<Network>,
    sender: Sender,
}

impl CountedBy {
    fn of(message: &RecordedMessage, carrier: CarrierId) -> CountedBy {
        let found = message.to.map_or(Destination::UNKNOWN, |to| Numbers::embedded().find(to));
        CountedBy {
            minute: Minute::of(message.id.accepted_at()),
            account: message.account.get(),
            connection: message.connection.get(),
            carrier: carrier.get(),
            country: found.country,
            network: found.network,
            sender: message.from,
        }
    }
}

/// The properties by which a refused request is counted.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct RefusedBy {
    minute: Minute,
    account: Option<u32>,
    connection: Option<u32>,
    code: Box<str>,
}

/// What one flush counted.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Counts {
    messages: HashMap<CountedBy, Figures>,
    refused: HashMap<RefusedBy, u64>,
}

impl Counts {
    /// Counts an accepted message, and its end if it has ended. It counts for the carrier that had it first.
    pub(crate) fn count_accepted(&mut self, message: &RecordedMessage, carrier: CarrierId) {
        let figures = self.messages.entry(CountedBy::of(message, carrier)).or_default();
        figures.accepted += 1;
        figures.parts += u64::from(message.parts);
        figures.spend = add_money(figures.spend, message.cost);
        if let Some(at) = message.settled_at {
            figures.count_end(message.state, at.since(message.id.accepted_at()), message.refund);
            self.count_costs(message);
        }
    }

    /// Counts the end of a message that was counted as accepted before.
    pub(crate) fn count_end(
        &mut self,
        message: &RecordedMessage,
        carrier: CarrierId,
        (state, took, refund): (MessageState, Duration, Option<Money>),
    ) {
        let figures = self.messages.entry(CountedBy::of(message, carrier)).or_default();
        figures.count_end(state, took, refund);
        self.count_costs(message);
    }

    /// Counts what is due for a message that has ended, for the carriers that it is due to.
    fn count_costs(&mut self, message: &RecordedMessage) {
        for (DueCost { carrier, cost, .. }, sum) in message.counted_costs() {
            let figures = self.messages.entry(CountedBy::of(message, carrier)).or_default();
            figures.costs.add(cost.terms.currency, sum);
        }
    }

    /// Notes that a message moved to a carrier: it counts nothing there, but searches by carrier look at its minute.
    pub(crate) fn note_moved(&mut self, message: &RecordedMessage) {
        self.messages.entry(CountedBy::of(message, message.carrier)).or_default();
    }

    /// Counts a request, if it was refused.
    pub(crate) fn count_request(&mut self, entry: &RequestEntry) {
        let Some(code) = &entry.code else { return };
        let by = RefusedBy {
            minute: Minute::of(entry.at),
            account: entry.account.map(AccountId::get),
            connection: entry.connection.map(ConnectionId::get),
            code: code.clone(),
        };
        *self.refused.entry(by).or_default() += 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.refused.is_empty()
    }

    pub(crate) fn to_octets(&self) -> Vec<u8> {
        postcard::to_extend(self, Vec::new()).expect("counts can be encoded")
    }

    pub(crate) fn of_octets(octets: &[u8]) -> Result<Counts, postcard::Error> {
        postcard::from_bytes(octets)
    }
}

/// What a series of figures is of: a scope with one value of a dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeriesKey<'c> {
    pub scope: Scope,
    pub dimension: Dimension,
    pub value: &'c SeriesValue,
}

/// A [`Value`] without an allocation for what messages are counted by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SeriesValue {
    None,
    Id(u32),
    Country(Country),
    Network(Network),
    Sender(Sender),
    Code(Box<str>),
}

impl SeriesValue {
    /// Returns the value of a dimension; none if the dimension has no such value.
    pub(crate) fn of(dimension: Dimension, value: &Value) -> Option<SeriesValue> {
        Some(match (dimension, value) {
            (Dimension::All | Dimension::Country | Dimension::Network, Value::None) => SeriesValue::None,
            (Dimension::Account | Dimension::Connection | Dimension::Carrier, Value::Id(id)) => {
                SeriesValue::Id(*id)
            }
            (Dimension::Country, Value::Text(text)) => SeriesValue::Country(Country::parse(text).ok()?),
            (Dimension::Network, Value::Text(text)) => SeriesValue::Network(Network::parse(text).ok()?),
            (Dimension::Sender, Value::Text(text)) => SeriesValue::Sender(Sender::parse(text).ok()?),
            (Dimension::Refusal, Value::Text(text)) => SeriesValue::Code(text.clone()),
            _ => return None,
        })
    }

    /// Returns the value as it is stored and shown. A sender is written without its plus, so that both forms are one.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            SeriesValue::None => Value::None,
            SeriesValue::Id(id) => Value::Id(*id),
            SeriesValue::Country(country) => Value::Text(country.as_str().into()),
            SeriesValue::Network(network) => Value::Text(network.to_string().into()),
            SeriesValue::Sender(sender) => Value::Text(sender.address().into()),
            SeriesValue::Code(code) => Value::Text(code.clone()),
        }
    }
}

/// The figures of some minutes, in the order of the minutes.
pub(crate) type Series = Vec<(Minute, Figures)>;

/// The figures that are not in the tables yet.
#[derive(Clone, Default)]
pub(crate) struct Collected {
    /// By scope and dimension, so that reading one account does not look at the series of all.
    dimensions: HashMap<(Scope, Dimension), HashMap<SeriesValue, Series>>,
    figures: usize,
}

impl Collected {
    /// Adds what a flush counted.
    pub(crate) fn add(&mut self, counts: &Counts) {
        for (by, figures) in &counts.messages {
            let account = Scope::Account(AccountId::new(by.account));
            let country = by.country.map_or(SeriesValue::None, SeriesValue::Country);
            let network = by.network.map_or(SeriesValue::None, SeriesValue::Network);
            let own = [
                (Scope::All, Dimension::Account, SeriesValue::Id(by.account)),
                (account, Dimension::Connection, SeriesValue::Id(by.connection)),
            ];
            let both = [
                (Dimension::All, SeriesValue::None),
                (Dimension::Country, country),
                (Dimension::Network, network),
                (Dimension::Carrier, SeriesValue::Id(by.carrier)),
                (Dimension::Sender, SeriesValue::Sender(by.sender)),
            ];
            for (scope, dimension, value) in own {
                self.add_figures((scope, dimension), value, by.minute, figures);
            }
            for (dimension, value) in both {
                self.add_figures((Scope::All, dimension), value.clone(), by.minute, figures);
                self.add_figures((account, dimension), value, by.minute, figures);
            }
        }
        for (by, refused) in &counts.refused {
            self.add_refused(by, *refused);
        }
    }

    fn add_refused(&mut self, by: &RefusedBy, refused: u64) {
        let figures = Figures { refused, ..Figures::default() };
        let code = || SeriesValue::Code(by.code.clone());
        let mut add = |scope, dimension, value| {
            self.add_figures((scope, dimension), value, by.minute, &figures);
        };
        add(Scope::All, Dimension::All, SeriesValue::None);
        add(Scope::All, Dimension::Refusal, code());
        let Some(account) = by.account else { return };
        let scope = Scope::Account(AccountId::new(account));
        add(Scope::All, Dimension::Account, SeriesValue::Id(account));
        add(scope, Dimension::All, SeriesValue::None);
        add(scope, Dimension::Refusal, code());
        if let Some(connection) = by.connection {
            add(scope, Dimension::Connection, SeriesValue::Id(connection));
        }
    }

    fn add_figures(&mut self, of: (Scope, Dimension), value: SeriesValue, minute: Minute, figures: &Figures) {
        let series = self.dimensions.entry(of).or_default().entry(value).or_default();
        match series.binary_search_by_key(&minute, |(minute, _)| *minute) {
            Ok(place) => series[place].1.add(figures),
            Err(place) => {
                series.insert(place, (minute, figures.clone()));
                self.figures += 1;
            }
        }
    }

    /// Returns how many figures there are.
    pub(crate) fn len(&self) -> usize {
        self.figures
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.figures == 0
    }

    /// Returns the figures of one value by minute, in the order of the minutes.
    pub(crate) fn of_value(&self, scope: Scope, dimension: Dimension, value: &Value) -> &[(Minute, Figures)] {
        let Some(value) = SeriesValue::of(dimension, value) else { return &[] };
        let series = self.dimensions.get(&(scope, dimension)).and_then(|values| values.get(&value));
        series.map_or(&[], |series| series)
    }

    /// Returns all series of a scope and dimension.
    pub(crate) fn of_dimension(
        &self,
        scope: Scope,
        dimension: Dimension,
    ) -> impl Iterator<Item = (Value, &[(Minute, Figures)])> {
        let values = self.dimensions.get(&(scope, dimension)).into_iter().flatten();
        values.map(|(value, series)| (value.to_value(), &series[..]))
    }

    /// Returns the scopes and dimensions that have series.
    pub(crate) fn dimensions(&self) -> impl Iterator<Item = (Scope, Dimension)> {
        self.dimensions.keys().copied()
    }

    /// Returns all series.
    pub(crate) fn all(&self) -> impl Iterator<Item = (SeriesKey<'_>, &[(Minute, Figures)])> {
        self.dimensions.iter().flat_map(|(&(scope, dimension), values)| {
            values.iter().map(move |(value, series)| (SeriesKey { scope, dimension, value }, &series[..]))
        })
    }
}

/// The collected figures as the follower and the readers share them. A reader begins its snapshot of the tables under the
/// lock, and the follower commits under it what goes to the tables, so no figure is missed or counted twice.
#[derive(Clone, Default)]
pub(crate) struct SharedCollected(Arc<Mutex<Arc<Collected>>>);

impl SharedCollected {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Arc<Collected>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what a flush counted.
    pub(crate) fn add(&self, counts: &Counts) {
        if !counts.is_empty() {
            Arc::make_mut(&mut *self.lock()).add(counts);
        }
    }
}
