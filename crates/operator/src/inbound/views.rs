//! Messages that need a decision or were not delivered: review cases, opt-outs, unassigned MO messages, reports that
//! were given up.

use crate::views::paging::{Limit, Paged, RowNumber};
use hermod_domain::receipt::ReportStatus;
use hermod_store::{
    APPROVAL_LASTS, GivenUpReport, InboundRecord, OptOut, ReportGiveUpReason, ReviewCase, ReviewState,
    UnassignedMo,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct ReviewsQuery {
    /// Only cases of this account.
    pub account: Option<String>,
    /// Only cases in this state: `open`, `approved` or `rejected`.
    #[param(pattern = "^(open|approved|rejected)$")]
    pub state: Option<String>,
    /// `next` of the previous page.
    pub before: Option<RowNumber>,
    /// How many at most; 100 by default.
    pub limit: Option<Limit>,
}

/// A message that screening rules held for review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewView {
    pub id: u64,
    pub account: String,
    pub from: String,
    pub to: String,
    pub text: String,
    /// The screening rules that matched.
    pub rules: Vec<String>,
    pub state: String,
    /// How many times the customer submitted it.
    pub seen: u64,
    pub opened_at: String,
    pub last_at: String,
    pub decided_at: Option<String>,
    pub decided_by: String,
    /// The reason that the customer reads; may be empty.
    pub reason: String,
    /// An approval is valid until then.
    pub valid_until: Option<String>,
}

impl Paged for ReviewView {
    type Cursor = u64;

    fn cursor(&self) -> u64 {
        self.id
    }
}

impl ReviewView {
    pub fn new(case: ReviewCase, account: String) -> ReviewView {
        let approved_at = case.decided_at.filter(|_| case.state == ReviewState::Approved);
        ReviewView {
            valid_until: approved_at.map(|at| at.plus(APPROVAL_LASTS).to_iso()),
            id: case.id,
            account,
            from: case.from.to_string(),
            to: case.to.to_string(),
            text: case.text,
            rules: case.rules,
            state: review_state_text(case.state).to_owned(),
            seen: case.seen,
            opened_at: case.opened_at.to_iso(),
            last_at: case.last_at.to_iso(),
            decided_at: case.decided_at.map(|at| at.to_iso()),
            decided_by: case.decided_by,
            reason: case.reason,
        }
    }
}

pub const fn review_state_text(state: ReviewState) -> &'static str {
    match state {
        ReviewState::Open => "open",
        ReviewState::Approved => "approved",
        ReviewState::Rejected => "rejected",
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DecisionRequest {
    /// Who decides, for the record.
    #[schema(min_length = 1, max_length = 100, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$", examples("Ada"))]
    pub by: String,
    /// The reason that the customer reads.
    #[serde(default)]
    #[schema(max_length = 500, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub reason: String,
}

impl crate::views::JsonBody for DecisionRequest {}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct OptOutsQuery {
    /// `next` of the previous page.
    #[param(pattern = r"^\+[1-9][0-9]{6,14}$")]
    pub after: Option<String>,
    /// How many at most; 100 by default.
    pub limit: Option<Limit>,
}

/// A phone number that opted out of an account's messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OptOutView {
    pub number: String,
    /// Where it comes from: `keyword` (the handset sent one), `portal`, `operator` or `import`.
    #[schema(pattern = "^(keyword|portal|operator|import)$", examples("operator"))]
    pub source: String,
    /// How the opt-out was made.
    pub how: String,
    pub at: String,
}

impl Paged for OptOutView {
    type Cursor = String;

    fn cursor(&self) -> String {
        self.number.clone()
    }
}

impl From<OptOut> for OptOutView {
    fn from(OptOut { account: _, number, source, how, now }: OptOut) -> OptOutView {
        OptOutView { number: number.to_string(), source: source.as_str().to_owned(), how, at: now.to_iso() }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OptOutRequest {
    /// How the opt-out was made.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*$",
        examples("asked by phone")
    )]
    pub how: String,
    /// Whether it is from a list of another system.
    #[serde(default)]
    pub imported: bool,
}

impl crate::views::JsonBody for OptOutRequest {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OptOutRemovedView {
    pub number: String,
    pub removed: bool,
}

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
    #[schema(examples("+4915112345678"))]
    pub from: String,
    #[schema(examples("80800"))]
    pub to: String,
    pub text: String,
    pub received_at: String,
}

impl Paged for UnassignedView {
    type Cursor = String;

    fn cursor(&self) -> String {
        self.message_id.clone()
    }
}

impl UnassignedView {
    pub fn new(message: UnassignedMo, carrier: String) -> UnassignedView {
        UnassignedView {
            message_id: message.message.to_string(),
            carrier,
            from: message.from,
            to: message.to,
            text: message.text,
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

impl Paged for GivenUpView {
    type Cursor = u64;

    fn cursor(&self) -> u64 {
        self.number
    }
}

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
