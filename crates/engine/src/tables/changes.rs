//! A change of any table, as data.

use crate::tables::{
    CarrierIdChange, ErasureChange, KeyChange, MessageChange, MoPartChange, PartChange, PurgeChange,
    ReportChange, RowChange, RowChanges, SetAsideChange, StepChange, StoredTables, TableError,
    WebhookEventChange,
};
use serde::{Deserialize, Serialize};

/// Calls a macro with each described table: the variant of [`Change`], the row, and the name of the
/// table. The order is part of the encoding of changes.
#[macro_export]
macro_rules! described_tables {
    ($call:ident) => {
        $call! {
            Alias: $crate::tables::AliasRow => alias,
            AliasCounter: $crate::tables::LastAlias => alias_counter,
            AuditHead: $crate::tables::SealedEnd => audit_head,
            AuditLog: hermod_domain::audit::AuditRow => audit_log,
            Balance: $crate::tables::BalanceRow => balance,
            CarrierRefusal: $crate::tables::CarrierRefusal => carrier_refusal,
            Catalogue: $crate::ops::CatalogueRow => catalogue,
            Conversation: $crate::tables::ConversationRow => conversation,
            CustomerRequest: $crate::ops::CustomerRequest => customer_request,
            Daily: $crate::tables::DayTotalsRow => daily,
            Delivery: $crate::ops::DeliveryRow => delivery,
            EarlierCost: $crate::ops::EarlierCost => earlier_cost,
            EntryUse: $crate::ops::EntryUse => entry_use,
            GivenUp: $crate::ops::GivenUpReport => given_up,
            Inbound: $crate::tables::InboundRow => inbound,
            InboundCounter: $crate::tables::InboundCounter => inbound_counter,
            Ledger: $crate::tables::Posting => ledger,
            MessageException: $crate::tables::MessageExceptionRow => message_exception,
            OptOut: $crate::tables::OptOut => opt_out,
            Parked: $crate::tables::ParkedRow => parked,
            Provisioned: $crate::ops::ProvisionedRow => provisioned,
            ReceiptLoss: $crate::ops::ReceiptLoss => receipt_loss,
            Review: $crate::tables::ReviewCase => review,
            ReviewCounter: $crate::tables::ReviewCounter => review_counter,
            UnassignedInbound: $crate::tables::UnassignedRow => unassigned_inbound,
            Unnamed: $crate::tables::UnnamedPart => unnamed,
            UserToken: $crate::ops::UserToken => user_token,
            WebhookAttempt: $crate::tables::StoredAttempt => webhook_attempt,
        }
    };
}

/// Names each kind of change once, those of described tables last, and the method that applies each of the others. The order is
/// part of the encoding of changes.
macro_rules! changes {
    ($($name:ident($change:ident) => $apply:ident,)*; $($table:ident($row:ty),)*) => {
        /// A change of one table.
        #[derive(Clone, Serialize, Deserialize)]
        pub enum Change {
            $($name($change),)*
            $($table(RowChange<$row>),)*
        }

        impl Change {
            pub(super) fn apply(&self, stored: &dyn StoredTables) -> Result<(), TableError> {
                match self {
                    $(Change::$name(change) => stored.$apply(change),)*
                    $(Change::$table(change) => RowChanges::<$row>::change_row(stored, change),)*
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

        $(
            impl From<RowChange<$row>> for Change {
                fn from(change: RowChange<$row>) -> Change {
                    Change::$table(change)
                }
            }
        )*
    };
}

macro_rules! with_described {
    ($($table:ident: $row:ty => $name:ident,)*) => {
        changes! {
            CarrierId(CarrierIdChange) => change_carrier_id,
            Erasure(ErasureChange) => change_erasure,
            Key(KeyChange) => change_keys,
            Message(MessageChange) => change_message,
            MoPart(MoPartChange) => change_mo_parts,
            Part(PartChange) => change_part,
            Purge(PurgeChange) => change_by_purging,
            Report(ReportChange) => change_report,
            SetAside(SetAsideChange) => change_set_aside,
            Step(StepChange) => change_steps,
            WebhookEvent(WebhookEventChange) => change_webhook_event,
            ;
            $($table($row),)*
        }
    };
}

described_tables!(with_described);
