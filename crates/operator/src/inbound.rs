//! MO messages that no account owns, and reports that customers did not receive.

use crate::author::Acting;
use crate::find::{account_name, carrier_name, find_account};
use crate::http::routes::{Routes, doc};
use crate::input::invalid;
use crate::refusal::{OperatorRefusal, Result};
use crate::views::masking::{HandsetNumber, MessageText};
use crate::views::paging::{Limit, Page, RowNumber, paged};
use hermod_domain::ids::MessageId;
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::receipt::ReportStatus;
use hermod_gateway::gateway::Gateway;
use hermod_store::{GivenUpReport, InboundRecord, ReportGiveUpReason, ReportId, UnassignedMo};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct UnassignedQuery {
    /// `next` of the previous page.
    #[param(pattern = "^[1-9][0-9]{0,16}$")]
    pub after: Option<String>,
    /// How many at most; 100 by default.
    pub limit: Option<Limit>,
}

/// An MO message that belongs to no account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UnassignedView {
    pub message_id: String,
    /// The carrier that delivered it.
    #[schema(examples("acme"))]
    pub carrier: String,
    pub from: HandsetNumber,
    #[schema(examples("80800"))]
    pub to: String,
    pub text: MessageText,
    pub received_at: String,
}

paged!(UnassignedView, String, |row| row.message_id.clone());

impl UnassignedView {
    pub fn new(message: UnassignedMo, carrier: String) -> UnassignedView {
        UnassignedView {
            message_id: message.message.to_string(),
            carrier,
            from: message.from.into(),
            to: message.to,
            text: message.text.into(),
            received_at: message.received_at.to_iso(),
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AssignRequest {
    /// The account that receives the message.
    #[schema(examples("shop"))]
    pub account: String,
}

impl crate::views::JsonBody for AssignRequest {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AssignedView {
    pub message_id: String,
    pub account: String,
    /// Its number among the account's inbound messages.
    pub id: u64,
}

impl AssignedView {
    pub fn new(record: &InboundRecord, account: String) -> AssignedView {
        AssignedView { message_id: record.message.to_string(), account, id: record.id }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct GivenUpQuery {
    /// Only reports of this account.
    pub account: Option<String>,
    /// `next` of the previous page.
    pub after: Option<RowNumber>,
    /// How many at most; 100 by default.
    pub limit: Option<Limit>,
}

/// A receipt or MO message that was not delivered to a customer's bind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GivenUpView {
    pub number: u64,
    #[schema(examples("shop"))]
    pub account: String,
    /// The system_id of its connection, if the connection still has one.
    pub system_id: Option<String>,
    pub message_id: String,
    /// `stat` of the receipt; `MO` for an MO message, which the customer can still poll.
    #[schema(examples("DELIVRD"))]
    pub stat: String,
    /// When the message reached that state, or was received.
    pub at: String,
    pub given_up_at: String,
    #[schema(examples("not acknowledged for 72 hours"))]
    pub why: String,
}

paged!(GivenUpView, u64, |row| row.number);

impl GivenUpView {
    pub fn new(report: &GivenUpReport, account: String, system_id: Option<String>) -> GivenUpView {
        GivenUpView {
            number: report.id.0,
            account,
            system_id,
            message_id: report.message.to_string(),
            stat: report.status.map_or("MO", ReportStatus::word).to_owned(),
            at: report.at.to_iso(),
            given_up_at: report.given_up_at.to_iso(),
            why: match report.reason {
                ReportGiveUpReason::TooOld => "not acknowledged for 72 hours".to_owned(),
                ReportGiveUpReason::Refused(status) => {
                    format!("the customer rejected it with 0x{status:02X}")
                }
            },
        }
    }
}

/// Lists reports that were not delivered to customers' binds, the oldest first.
pub async fn list_given_up(gateway: &Gateway, query: GivenUpQuery) -> Result<Page<GivenUpView>> {
    let account = query.account.map(|name| find_account(gateway, &name)).transpose()?;
    let limit = Limit::of(query.limit);
    let after = query.after.map(|after| ReportId(after.into()));
    let given_up = gateway.store.reports().given_up(account, after, limit).await?;
    let catalogue = gateway.catalogue();
    let items = given_up.iter().map(|report| {
        let smpp = catalogue.connection(report.connection).and_then(|connection| connection.smpp.as_ref());
        let system_id = smpp.map(|smpp| smpp.system_id.clone());
        GivenUpView::new(report, account_name(gateway, report.account), system_id)
    });
    Ok(Page::new(items.collect(), limit))
}

/// Lists MO messages that belong to no account, the oldest first.
pub async fn list_unassigned(gateway: &Gateway, query: UnassignedQuery) -> Result<Page<UnassignedView>> {
    let parse = |text: String| {
        let wrong = || invalid("after", format!("\"{text}\" is not the next of an earlier page"));
        MessageId::parse(&text).ok_or_else(wrong)
    };
    let after = query.after.map(parse).transpose()?;
    let limit = Limit::of(query.limit);
    let found = gateway.store.inbound().unassigned(after, limit).await?;
    let catalogue = gateway.catalogue();
    let items = found.into_iter().map(|message| {
        let carrier = carrier_name(&catalogue, message.carrier);
        UnassignedView::new(message, carrier)
    });
    Ok(Page::new(items.collect(), limit))
}

/// Assigns an MO message to an account, which receives it like any other.
pub async fn assign_inbound(gateway: &Acting, message: &str, request: AssignRequest) -> Result<AssignedView> {
    let missing = || OperatorRefusal::NotFound(format!("there is no unassigned message {message}"));
    let id = MessageId::parse(message).ok_or_else(missing)?;
    let account = find_account(gateway, &request.account)?;
    let audited = gateway.audited(Some(account), "inbound.assign", &id.to_string(), &Value::Null);
    let record = audited.inbound().assign(id, account, gateway.clock.now()).await?.ok_or_else(missing)?;
    tracing::info!(message.id = %id, account.id = %account, "The operator assigned an MO message to an account");
    Ok(AssignedView { message_id: id.to_string(), account: account_name(gateway, account), id: record.id })
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.section(
        "Inbound",
        "MO messages that belong to no account, and reports that customers did not receive.",
    );
    routes.get(
        "/inbound/unassigned",
        list_unassigned,
        doc("listUnassignedInbound", "List unassigned MO messages", "The oldest first.").details(
            "MO messages to a number that no account owns, from a phone that no account wrote to from that number. Kept for \
             30 days.",
        )
            .least(OperatorPermission::Reading),
    );
    routes.post(
        "/inbound/unassigned/{message}/assign",
        assign_inbound,
        doc("assignInbound", "Assign an MO message to an account", "The account has the message.")
            .details("The account receives it like any other MO message, opt-out keywords included.")
            .errors(&["NOT_FOUND", "INVALID_FIELD"])
            .least(OperatorPermission::Customers),
    );
    routes.get(
        "/reports/given-up",
        list_given_up,
        doc("listGivenUpReports", "List reports that were given up", "The oldest first.")
            .details(
                "Receipts and MO messages that no bind acknowledged for 72 hours, or that the customer's software rejected. \
                 Listed for 30 days.",
            )
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
}
