//! Route entries: the carriers of a destination, for all accounts, one account or one sender, with priorities and
//! weights.

use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry, required};
use crate::entry::names::{NameForm, ReadName};
use crate::entry::{checks, names, values};
use crate::kind::Kind;
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use hermod_domain::area::Area;
use hermod_domain::catalogue::{RouteCarrier, RouteEntry};
use hermod_domain::ids::CarrierId;
use hermod_domain::lifecycle::DoubtPolicy;
use hermod_domain::numbers::{Country, Mcc, Network};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::prefix::Prefix;
use hermod_domain::route::{ChooseBy, CostRules, Margin, OnLoss, UnknownCost};
use hermod_domain::sender::Sender;
use hermod_gateway::config::Period;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// The carriers of a destination. Needs exactly one of `prefix`, `network`, `mcc` and `country`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Route)]
pub struct WantedRoute {
    /// The first digits of the number, without a plus; `*` is every number.
    #[serde(default, with = "values::prefix", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = r"^(\*|[0-9]{1,15})$", examples("49"))]
    pub prefix: Option<Prefix>,
    /// One mobile network, by its MCC and MNC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^[0-9]{3}-[0-9]{2,3}$")]
    pub network: Option<Network>,
    /// The networks of a mobile country code. The number data lacks many; prefer `country`.
    #[serde(default, deserialize_with = "values::some_mcc", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^[0-9]{3}$")]
    pub mcc: Option<Mcc>,
    /// Every number of a country, by its two-letter code.
    #[serde(default, deserialize_with = "values::some_country", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^[A-Za-z]{2}$", examples("DE"))]
    pub country: Option<Country>,
    /// For this account's messages only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// For messages from this sender only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub sender: Option<Sender>,
    /// In order of preference, or with priorities and weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required, value_type = Vec<WantedRouteCarrier>)]
    pub carriers: Option<Vec<WantedRouteCarrier>>,
    /// The policy for a part in doubt. Default: the carrier's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(resend|resend-once|never-resend)$", examples("resend"))]
    pub in_doubt: Option<DoubtPolicy>,
    /// Tries the next carrier when one rejects a message.
    #[serde(default)]
    pub fail_over_refusals: bool,
    /// How long a carrier may be stalled or down before what waits for it moves to the next one. Default: `10s` for a carrier
    /// that is down, `0s` for one that is stalled, which has answered nothing for five seconds.
    #[serde(default, deserialize_with = "checks::fail_over_wait", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, examples("10s"))]
    pub fail_over_after: Option<Period>,
    /// The order in which carriers are tried: by priority and weight, the cheapest first, or those that deliver best first.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(value_type = String, pattern = "^(priority|cost|quality)$", examples("priority"))]
    pub choose: ChooseBy,
    /// What must remain of the price of a message after the carrier's cost: a share of the price, or an amount for each part in
    /// the currency of the account. May be negative. Default: costs are not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = r"^-?[0-9]+(\.[0-9]{1,6})?( ?%)?$", examples("5%"))]
    pub min_margin: Option<Margin>,
    /// The same for failover. Default: `min_margin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = r"^-?[0-9]+(\.[0-9]{1,6})?( ?%)?$", examples("-10%"))]
    pub failover_margin: Option<Margin>,
    /// What happens to a message if no carrier leaves `min_margin`: it is rejected with `NO_ROUTE`, or the carrier that leaves most
    /// is used and an alarm is raised.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(value_type = String, pattern = "^(reject|allow)$", examples("reject"))]
    pub on_loss: OnLoss,
    /// What becomes of carriers without a known cost: they are skipped, or come last. Default: `skip` where a margin is
    /// checked, otherwise `last`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(skip|last)$", examples("last"))]
    pub unknown_cost: Option<UnknownCost>,
}

/// A carrier of a route: its name, or a table with priority and weight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = RouteCarrier)]
pub enum WantedRouteCarrier {
    /// After those listed before it.
    Named(String),
    Placed(PlacedCarrier),
}

/// A carrier of a route with priority and weight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PlacedCarrier)]
pub struct PlacedCarrier {
    #[schema(examples("acme"))]
    pub carrier: String,
    /// The lowest goes first. Default: the position in the list.
    #[serde(default, deserialize_with = "checks::priority", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 255)]
    pub priority: Option<u8>,
    /// The weight among carriers of the same priority. Default: 1.
    #[serde(default, deserialize_with = "checks::weight", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 10000)]
    pub weight: Option<u16>,
}

impl<'de> Deserialize<'de> for WantedRouteCarrier {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WantedRouteCarrier, D::Error> {
        deserializer.deserialize_any(RouteCarrierVisitor)
    }
}

struct RouteCarrierVisitor;

impl<'de> Visitor<'de> for RouteCarrierVisitor {
    type Value = WantedRouteCarrier;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a carrier's name, or a table with carrier, priority and weight")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<WantedRouteCarrier, E> {
        Ok(WantedRouteCarrier::Named(name.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WantedRouteCarrier, A::Error> {
        PlacedCarrier::deserialize(MapAccessDeserializer::new(map)).map(WantedRouteCarrier::Placed)
    }
}

impl WantedRouteCarrier {
    /// Returns the carrier's name.
    pub fn carrier(&self) -> &str {
        match self {
            WantedRouteCarrier::Named(name)
            | WantedRouteCarrier::Placed(PlacedCarrier { carrier: name, .. }) => name,
        }
    }

    fn document(&self, place: u8, draft: &Draft<'_>, what: &str) -> ProvisionResult<RouteCarrier> {
        let (name, priority, weight) = match self {
            WantedRouteCarrier::Named(name) => (name, None, None),
            WantedRouteCarrier::Placed(PlacedCarrier { carrier, priority, weight }) => {
                (carrier, *priority, *weight)
            }
        };
        let carrier = CarrierId::new(draft.find(Kind::Carrier, name, what)?);
        Ok(RouteCarrier { carrier, priority: priority.unwrap_or(place), weight: weight.unwrap_or(1) })
    }

    fn shown(place: u8, via: &RouteCarrier, names: &EntryNames) -> WantedRouteCarrier {
        let carrier = names.of(Kind::Carrier, via.carrier.get());
        if (via.priority, via.weight) == (place, 1) {
            return WantedRouteCarrier::Named(carrier);
        }
        WantedRouteCarrier::Placed(PlacedCarrier {
            carrier,
            priority: Some(via.priority),
            weight: Some(via.weight),
        })
    }
}

impl WantedRoute {
    fn area(&self) -> Option<Area> {
        Area::one_of(self.prefix, self.network, self.mcc, self.country)
    }
}

impl FileEntry for WantedRoute {
    const KIND: Kind = Kind::Route;
    const ABOUT: &'static str = "The carriers of a destination, for all accounts or for one account or sender. A route for an account or sender \
                                 precedes the others.";
    const NAME_FORM: NameForm = NameForm {
        form: "`[ACCOUNT/]AREA[@SENDER]`: `49`, `262-01`, `mcc262`, `DE`, `*`, `shop/49@Shop`.",
        example: "49",
        expected: "expected 49, 262-01, mcc262, DE or *, with ACCOUNT/ before it for one account, and @SENDER after it for one \
                   sender",
    };
    const IN_NAME: &'static [&'static str] = &["prefix", "network", "mcc", "country", "account", "sender"];
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Operations;
    const COLUMNS: &'static [&'static str] =
        &["carriers", "choose", "min_margin", "in_doubt", "fail_over_refusals", "fail_over_after"];
    // Customers see neither carriers nor costs nor margins.
    const PRIVATE: &'static [&'static str] =
        &["carriers", "choose", "min_margin", "failover_margin", "on_loss", "unknown_cost"];
    type Document = RouteEntry;

    fn name(&self) -> String {
        names::of_route(self.account.as_deref(), self.area(), self.sender.as_ref())
    }

    fn read_name(name: &str) -> Option<ReadName> {
        names::read_route(name)
    }

    fn document(&self, draft: &mut Draft<'_>, _: Option<&RouteEntry>) -> ProvisionResult<RouteEntry> {
        let WantedRoute {
            prefix,
            network,
            mcc,
            country,
            account,
            sender,
            carriers,
            in_doubt,
            fail_over_refusals,
            fail_over_after,
            choose,
            min_margin,
            failover_margin,
            on_loss,
            unknown_cost,
        } = self;
        let what = format!("route \"{}\"", self.name());
        if self.area().is_none() {
            return Err(ProvisionRefusal::about(&what, names::ONE_AREA));
        }
        let account = draft.find_account(account.as_deref(), &what)?;
        let carriers = required(carriers, &what, "carriers")?;
        let placed = carriers.iter().zip(places()).map(|(via, place)| via.document(place, draft, &what));
        Ok(RouteEntry {
            account,
            sender: *sender,
            prefix: *prefix,
            network: *network,
            mcc: *mcc,
            country: *country,
            carriers: placed.collect::<Result<_, _>>()?,
            in_doubt: *in_doubt,
            fail_over_refusals: *fail_over_refusals,
            fail_over_after_ms: fail_over_after.map(Period::whole_ms),
            costs: CostRules {
                choose: *choose,
                min_margin: *min_margin,
                failover_margin: *failover_margin,
                on_loss: *on_loss,
                unknown_cost: *unknown_cost,
            },
        })
    }

    fn shown(_: &str, document: RouteEntry, names: &EntryNames) -> WantedRoute {
        let RouteEntry {
            account,
            sender,
            prefix,
            network,
            mcc,
            country,
            carriers,
            in_doubt,
            fail_over_refusals,
            fail_over_after_ms,
            costs: CostRules { choose, min_margin, failover_margin, on_loss, unknown_cost },
        } = document;
        let shown =
            carriers.iter().zip(places()).map(|(via, place)| WantedRouteCarrier::shown(place, via, names));
        WantedRoute {
            prefix,
            network,
            mcc,
            country,
            account: account.map(|account| names.of(Kind::Account, account.get())),
            sender,
            carriers: Some(shown.collect()),
            in_doubt,
            fail_over_refusals,
            fail_over_after: fail_over_after_ms.map(Period::from_millis),
            choose,
            min_margin,
            failover_margin,
            on_loss,
            unknown_cost,
        }
    }
}

/// Returns default priorities without end: a list that is too long is rejected later with its own error.
fn places() -> impl Iterator<Item = u8> {
    (1..u8::MAX).chain(std::iter::repeat(u8::MAX))
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
