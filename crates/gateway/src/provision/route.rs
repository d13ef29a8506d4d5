//! Routes: which carriers serve a destination.

use crate::provision::draft::{Draft, Entry, Names};
use crate::provision::kind::Kind;
use crate::provision::{ProvisionRefusal, names, values};
use hermod_domain::catalogue::{RouteCarrier, RouteEntry};
use hermod_domain::ids::CarrierId;
use hermod_domain::lifecycle::DoubtPolicy;
use hermod_domain::prefix::Prefix;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Which carriers serve a destination.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Route)]
pub struct WantedRoute {
    /// The first digits of the number, without a plus; `*` is every number.
    #[schema(value_type = String, pattern = r"^(\*|[0-9]{1,15})$", examples("49"))]
    #[serde(deserialize_with = "values::prefix", serialize_with = "values::prefix_text")]
    pub prefix: Prefix,
    /// In order of preference.
    pub carriers: Vec<String>,
    /// What becomes of a part that may have left and whose answer never came.
    #[serde(default = "resend_once")]
    #[schema(value_type = String, pattern = "^(resend-once|never-resend)$", examples("resend-once"))]
    pub in_doubt: DoubtPolicy,
}

impl Entry for WantedRoute {
    const KIND: Kind = Kind::Route;
    type Document = RouteEntry;

    fn name(&self) -> String {
        names::of_prefix(self.prefix)
    }

    fn document(
        &self,
        draft: &mut Draft<'_>,
        _: Option<&RouteEntry>,
    ) -> Result<RouteEntry, ProvisionRefusal> {
        let WantedRoute { prefix, carriers, in_doubt } = self;
        let what = format!("route \"{}\"", self.name());
        let found = carriers.iter().map(|name| draft.find(Kind::Carrier, name, &what).map(CarrierId::new));
        let placed = (1..).zip(found).map(|(priority, carrier)| {
            Ok::<_, ProvisionRefusal>(RouteCarrier { carrier: carrier?, priority, weight: 1 })
        });
        Ok(RouteEntry {
            account: None,
            sender: None,
            prefix: Some(*prefix),
            network: None,
            mcc: None,
            carriers: placed.collect::<Result<_, _>>()?,
            in_doubt: Some(*in_doubt),
            fail_over_refusals: false,
        })
    }

    fn shown(_: &str, document: RouteEntry, names: &Names) -> WantedRoute {
        let RouteEntry { prefix, carriers, in_doubt, .. } = document;
        let carriers = carriers.iter().map(|placed| names.of(Kind::Carrier, placed.carrier.get()));
        WantedRoute {
            prefix: prefix.unwrap_or(Prefix::ANY),
            carriers: carriers.collect(),
            in_doubt: in_doubt.unwrap_or(DoubtPolicy::ResendOnce),
        }
    }
}

fn resend_once() -> DoubtPolicy {
    DoubtPolicy::ResendOnce
}
