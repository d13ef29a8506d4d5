//! A change of any table, as data.

use crate::tables::{
    AliasChange, AuditLogChange, BalanceChange, CarrierIdChange, CatalogueRowChange, ConversationChange,
    CustomerRequestChange, DayTotalsChange, DeliveryFigureChange, ErasureChange, GivenUpReportChange,
    InboundChange, KeyChange, LedgerChange, MessageChange, MessageExceptionChange, MoPartChange,
    OptOutChange, ParkedReceiptChange, PartChange, PurgeChange, ReportChange, ReviewChange, SetAsideChange,
    StepChange, StoredTables, TableError, UnassignedInboundChange, UnnamedPartChange, UserTokenChange,
    WebhookAttemptChange, WebhookEventChange,
};
use serde::{Deserialize, Serialize};

/// Names each kind of change once, with the method that applies it. The order is part of the encoding of changes.
macro_rules! changes {
    ($($name:ident($change:ident) => $apply:ident),* $(,)?) => {
        /// A change of one table.
        #[derive(Clone, Serialize, Deserialize)]
        pub enum Change {
            $($name($change)),*
        }

        impl Change {
            pub(super) fn apply(&self, stored: &dyn StoredTables) -> Result<(), TableError> {
                match self {
                    $(Change::$name(change) => stored.$apply(change)),*
                }
            }
        }

        $(
            impl From<$change> for Change {
                fn from(change: $change) -> Change {
                    Change::$name(change)
                }
            }
        )*
    };
}

changes! {
    Alias(AliasChange) => change_alias,
    AuditLog(AuditLogChange) => change_audit_log,
    Balance(BalanceChange) => change_balance,
    CarrierId(CarrierIdChange) => change_carrier_id,
    CatalogueRow(CatalogueRowChange) => change_catalogue_row,
    Conversation(ConversationChange) => change_conversation,
    CustomerRequest(CustomerRequestChange) => change_customer_request,
    DayTotals(DayTotalsChange) => change_day_totals,
    DeliveryFigure(DeliveryFigureChange) => change_delivery_figures,
    Erasure(ErasureChange) => change_erasure,
    GivenUpReport(GivenUpReportChange) => change_given_up_report,
    Inbound(InboundChange) => change_inbound,
    Key(KeyChange) => change_keys,
    Ledger(LedgerChange) => change_ledger,
    Message(MessageChange) => change_message,
    MessageException(MessageExceptionChange) => change_message_exceptions,
    MoPart(MoPartChange) => change_mo_parts,
    OptOut(OptOutChange) => change_opt_out,
    ParkedReceipt(ParkedReceiptChange) => change_parked_receipt,
    Part(PartChange) => change_part,
    Purge(PurgeChange) => change_by_purging,
    Report(ReportChange) => change_report,
    Review(ReviewChange) => change_review,
    SetAside(SetAsideChange) => change_set_aside,
    Step(StepChange) => change_steps,
    UnassignedInbound(UnassignedInboundChange) => change_unassigned_inbound,
    UnnamedPart(UnnamedPartChange) => change_unnamed_part,
    UserToken(UserTokenChange) => change_user_token,
    WebhookAttempt(WebhookAttemptChange) => change_webhook_attempt,
    WebhookEvent(WebhookEventChange) => change_webhook_event,
}
