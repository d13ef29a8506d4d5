//! What carriers ask for a message, and what remains of its price. Only operators see it.

use crate::record::Names;
use crate::views::amount::Amount;
use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::cost::CostBasis;
use hermod_domain::ids::CarrierId;
use hermod_domain::lifecycle::Billable;
use hermod_store::record::{MessageCosts, RecordedMessage};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What carriers ask for a message, as it was believed when they got it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MessageCostsView {
    /// The carriers whose cost is known: those that it left after a submission without a response, and last the one that has or had it
    /// last.
    pub items: Vec<CarrierCostView>,
    /// What remains of what the customer paid, in the currency of the account, at the exchange rates of the acceptance. Null until the
    /// message has ended, and without an exchange rate.
    pub margin: Option<Amount>,
}

/// What a carrier asks for a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CarrierCostView {
    #[schema(examples("north"))]
    pub carrier: String,
    pub per_part: Amount,
    #[schema(examples("EUR"))]
    pub currency: String,
    /// What is due: each part that the carrier may have accepted (`submit`), or each that it delivered (`delivered`).
    #[schema(examples("submit"))]
    pub basis: String,
    /// The entry that said so; null if it has been changed or removed since.
    #[schema(examples("north/49"))]
    pub entry: Option<String>,
    /// The parts that are due, resends without a response included; null until it is known.
    pub due_parts: Option<u32>,
    /// Null until it is known.
    pub due: Option<Amount>,
}

/// Returns what is known of the costs of a message; none if nothing is.
pub(super) fn costs_view(names: &Names, message: &RecordedMessage) -> Option<MessageCostsView> {
    let MessageCosts { believed, billable, earlier } = &message.costs;
    let view = |carrier: CarrierId, cost: &BelievedCost, billable: Option<Billable>| CarrierCostView {
        carrier: names.carrier(carrier),
        per_part: Amount(cost.terms.per_part),
        currency: cost.terms.currency.to_string(),
        basis: basis_word(cost.terms.basis).to_owned(),
        entry: names.cost_entry(carrier, &cost.terms),
        due_parts: billable.map(|billable| cost.due_parts(billable, message.parts)),
        due: billable.map(|billable| Amount(cost.due(billable, message.parts))),
    };
    let of_earlier = earlier.iter().filter_map(|left| {
        let billable = Billable { submitted: left.submitted, delivered: 0 };
        Some(view(left.carrier, left.cost.as_ref()?, Some(billable)))
    });
    let of_last = believed.iter().map(|cost| view(message.carrier, cost, *billable));
    let items: Vec<CarrierCostView> = of_earlier.chain(of_last).collect();
    let at = message.id.accepted_at();
    let currency = names.known_currency(message.account);
    let margin = currency
        .and_then(|currency| message.margin(|amount, from| names.convert(amount, from, currency, at)));
    (!items.is_empty()).then_some(MessageCostsView { items, margin: margin.map(Amount) })
}

const fn basis_word(basis: CostBasis) -> &'static str {
    match basis {
        CostBasis::Submit => "submit",
        CostBasis::Delivered => "delivered",
    }
}
