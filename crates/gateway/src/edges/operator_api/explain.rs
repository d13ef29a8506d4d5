//! Why a message goes where it goes.

use super::answer::{Answer, fine};
use super::asked::{Asked, number as number_of, sender as sender_of};
use super::desk::Desk;
use crate::app::operator::{self, Explained, ExplainedCarrier, ExplainedRoute, Question};
use crate::provision::of_area;
use axum::extract::State;
use hermod_domain::carrier::Health;
use hermod_domain::lifecycle::DoubtPolicy;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainAsked {
    to: String,
    account: Option<String>,
    from: Option<String>,
}

/// Which route is taken and why the others are not, and how each of its carriers stands.
#[derive(Serialize, ToSchema)]
#[schema(as = Explanation)]
pub(super) struct ExplainedShape {
    /// All of it in a few words.
    #[schema(examples("A message to +4915112345678 goes by route 49 to carrier acme."))]
    sentence: String,
    /// The route that is taken; nothing if the message would be refused.
    route: Option<String>,
    /// What that route is for: `49`, `262-01`, `mcc262`, `DE` or `*`.
    area: Option<String>,
    /// The carrier that would get the message now.
    carrier: Option<String>,
    /// What becomes of a part that may have left and whose answer never came.
    in_doubt: Option<DoubtWord>,
    /// What one carrier refuses is offered to the next.
    fail_over_refusals: bool,
    /// Every route whose destinations include the number, the one that is taken first.
    routes: Vec<RouteShape>,
    /// The carriers of the route, in the order in which they are tried for this number.
    carriers: Vec<CarrierShape>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum DoubtWord {
    Resend,
    ResendOnce,
    NeverResend,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ExplainedRoute)]
struct RouteShape {
    #[schema(examples("49"))]
    route: String,
    /// `chosen`, `less-exact`, `other-account`, `other-sender` or `no-country`.
    verdict: &'static str,
    why: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ExplainedCarrier)]
struct CarrierShape {
    #[schema(examples("acme"))]
    carrier: String,
    priority: u8,
    weight: u16,
    /// `up`, `poor`, `down`, `stopped` or `disabled`; nothing where no gateway runs.
    health: Option<&'static str>,
    /// `chosen`, `in-reserve` or `skipped`.
    standing: &'static str,
    why: &'static str,
}

impl ExplainedShape {
    pub(super) fn of(explained: Explained) -> ExplainedShape {
        let Explained { sentence, route, area, carrier, in_doubt, fail_over_refusals, routes, carriers } =
            explained;
        let routes = routes.into_iter().map(|ExplainedRoute { route, verdict, why }| RouteShape {
            route,
            verdict: verdict.as_str(),
            why,
        });
        let carriers = carriers.into_iter().map(|one| {
            let ExplainedCarrier { carrier, priority, weight, health, standing, why } = one;
            let (health, standing) = (health.map(Health::as_str), standing.as_str());
            CarrierShape { carrier, priority, weight, health, standing, why }
        });
        ExplainedShape {
            sentence,
            route,
            area: area.map(of_area),
            carrier,
            in_doubt: in_doubt.map(|policy| match policy {
                DoubtPolicy::Resend => DoubtWord::Resend,
                DoubtPolicy::ResendOnce => DoubtWord::ResendOnce,
                DoubtPolicy::NeverResend => DoubtWord::NeverResend,
            }),
            fail_over_refusals,
            routes: routes.collect(),
            carriers: carriers.collect(),
        }
    }
}

pub(super) async fn explain(
    State(desk): State<Arc<Desk>>,
    Asked(ExplainAsked { to, account, from }): Asked<ExplainAsked>,
) -> Answer {
    // A plus in a query is a space to those who wrote it; both mean the number.
    let to = number_of(&to.replace(' ', "+"))?;
    let from = from.as_deref().map(sender_of).transpose()?;
    let question = Question { to, account, from };
    fine(&ExplainedShape::of(operator::explain(&desk.world, &question, desk.running)?))
}
