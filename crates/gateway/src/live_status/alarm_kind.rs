//! The kinds of alarms: name, severity and advice of each, in one table.

use serde::{Deserialize, Serialize};
use tracing::Level;

hermod_domain::named! {
    /// How urgent an alarm is. The order is that of urgency.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Severity {
        /// To look at during the day: work for the operator, or a customer's own matter.
        Notice = "notice",
        /// Something fails or will fail, and messages are still sent.
        Warning = "warning",
        /// Messages are not accepted or not sent, or will expire.
        Critical = "critical",
    }
}

impl Severity {
    /// Returns the level at which alarms of this severity are logged.
    pub(super) const fn log_level(self) -> Level {
        match self {
            Severity::Notice => Level::INFO,
            Severity::Warning => Level::WARN,
            Severity::Critical => Level::ERROR,
        }
    }
}

/// Declares the kinds from rows of name, severity and advice.
macro_rules! alarm_kinds {
    ($($(#[$doc:meta])* $kind:ident: $name:literal, $severity:ident, $advice:literal;)*) => {
        /// The kinds of alarms.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum AlarmKind {
            $($(#[$doc])* $kind,)*
        }

        impl AlarmKind {
            pub const ALL: &'static [AlarmKind] = &[$(AlarmKind::$kind,)*];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(AlarmKind::$kind => $name,)*
                }
            }

            pub const fn severity(self) -> Severity {
                match self {
                    $(AlarmKind::$kind => Severity::$severity,)*
                }
            }

            /// Returns what the operator can do.
            pub const fn advice(self) -> &'static str {
                match self {
                    $(AlarmKind::$kind => $advice,)*
                }
            }
        }
    };
}

alarm_kinds! {
    /// A carrier rejects our system_id, password or system_type.
    BindRefused: "bind-refused", Critical,
        "Check system_id, password and system_type with the carrier, which may lock the account. Then hermod carrier set.";
    /// A carrier answers that we are already bound.
    AlreadyBound: "already-bound", Warning,
        "The carrier has an old session or allows fewer binds: wait, look for a second gateway, or reduce links.";
    /// No link to a carrier was bound for ten seconds, or messages wait and the carrier answers none.
    CarrierDown: "carrier-down", Critical,
        "hermod links shows the last error of each link. Check address, network and firewall.";
    /// A carrier answers nothing while messages wait for it.
    CarrierStalled: "carrier-stalled", Critical,
        "The carrier takes parts and answers none: ask it why. Its messages go to the next carriers of their routes meanwhile.";
    /// Messages wait too long for a carrier.
    QueueAge: "queue-age", Warning,
        "hermod links shows whether its links are down, throttled or too slow. Add a second carrier to the route.";
    /// What waits for a carrier takes longer than the validity of messages.
    QueueExpiring: "queue-expiring", Critical,
        "Messages will expire unsent. Ask for a higher rate, or hermod queue reroute to another carrier, or hermod queue cancel.";
    /// A carrier was stopped after too many protocol errors.
    CarrierStopped: "carrier-stopped", Critical,
        "Find the PDUs that it rejected (hermod carrier trace), correct its settings, then hermod carrier resume.";
    /// A carrier answered with a protocol error.
    ProtocolError: "protocol-error", Warning,
        "The carrier rejects our PDUs as malformed: compare its specification with long_messages, tlvs and source.";
    /// A carrier answered with an unknown status.
    UnknownStatus: "unknown-status", Warning,
        "Ask the carrier what the code means and add it to the retry list.";
    /// A receipt has an unknown `stat`.
    UnknownStat: "unknown-stat", Warning,
        "Ask the carrier what the word means; such receipts are ignored until it is known.";
    /// Receipts match no part: the forms of ids differ, or another gateway receives ours.
    UnmatchedReceipts: "unmatched-receipts", Warning,
        "The detail names the likely cause: ids that are written in two forms, or a second gateway with the same system_id. \
         hermod carrier receipts shows the ids.";
    /// A carrier that sent receipts for most parts sends few.
    ReceiptsMissing: "receipts-missing", Warning,
        "Ask the carrier for its receipts, and check that no second gateway with the same system_id takes them. Messages without \
         one are reported as UNKNOWN.";
    /// A receipt matches more than one part.
    AmbiguousReceipt: "ambiguous-receipt", Warning,
        "The carrier uses one id for several parts: ask for unique ids.";
    /// A carrier gave the same message id to several parts.
    ReusedMessageId: "reused-message-id", Warning,
        "Ask the carrier for ids that are unique for at least two weeks: some receipts cannot be matched safely until then.";
    /// A carrier accepted parts without a usable message id.
    MissingMessageId: "missing-message-id", Warning,
        "Ask the carrier for a message_id of 1 to 64 octets in submit_sm_resp: without it most receipts match no part.";
    /// Parts got no response, and no resend is left.
    UnconfirmedParts: "unconfirmed-parts", Warning,
        "The carrier did not respond to parts, and no resend is left: ask the carrier whether it received them.";
    /// A carrier's settings are invalid, or its password cannot be decrypted.
    BadSettings: "bad-settings", Critical,
        "Correct the setting that the detail names.";
    /// The clock of this machine jumped.
    ClockJumped: "clock-jumped", Warning,
        "Synchronize the machine's clock with a time server. If it is right now, restart Hermod to use it at once.";
    /// The write-ahead log of the database is too large, because a reader blocks the checkpoint.
    StoreLogLarge: "store-log-large", Critical,
        "End the program that reads hermod.db (fuser -v hermod.db in the data folder): the log shrinks within seconds.";
    /// Rows of the database are corrupt; their messages are not sent.
    RowsSetAside: "rows-set-aside", Critical,
        "hermod set-aside list shows the messages, which are not sent. Find the damage (hermod audit, the disk), then repair the \
         rows.";
    /// The clock of this machine is behind the newest stored time.
    ClockBehind: "clock-behind", Critical,
        "Set the machine's clock and restart Hermod: the current time is before the stored times.";
    /// The disk of the data folder is nearly full.
    DiskLow: "disk-low", Critical,
        "Free or add disk space for the data folder. Below low_water of [data], new messages get 503.";
    /// The gateway is held until the operator releases it.
    GatewayHeld: "gateway-held", Critical,
        "hermod restore review shows what waits; then hermod restore release, or hermod restore cancel --before-backup.";
    /// Messages held by screening wait for review.
    ReviewsOpen: "reviews-open", Notice,
        "hermod review list, then hermod review approve ID or hermod review reject ID.";
    /// The record is far behind the message store.
    RecordBehind: "record-behind", Warning,
        "Sending is not affected. Check the disk and the load of the machine; hermod record status shows the progress.";
    /// A customer's webhook endpoint has accepted no post for a while.
    WebhookFailing: "webhook-failing", Warning,
        "Inform the customer. hermod webhook list ACCOUNT --state waiting shows the events, hermod webhook attempts the errors.";
    /// A customer's messages are rejected for lack of credit.
    OutOfCredit: "out-of-credit", Warning,
        "Inform the customer. hermod topup, or hermod account set with a higher credit_limit, lets it send again.";
    /// A customer will soon be out of credit.
    CreditLow: "credit-low", Notice,
        "Inform the customer: its messages are rejected when nothing is left. hermod account show ACCOUNT shows the balance.";
    /// Messages of a customer leave less than the margin of their route, which allows it.
    SoldAtLoss: "sold-at-loss", Warning,
        "hermod route explain NUMBER --account NAME shows what the carriers ask. Raise the price, find a cheaper carrier, or set \
         on_loss of the route to reject.";
    /// Mails to users cannot be sent.
    MailFailing: "mail-failing", Warning,
        "Check server, port, tls, user and password of [mail] and the mail server itself. Invitations can be made again.";
    /// A certificate expires within a month.
    CertificateExpiring: "certificate-expiring", Warning,
        "Replace the certificate and its key in the same files: they are reloaded within seconds.";
    /// A certificate has expired.
    CertificateExpired: "certificate-expired", Critical,
        "Clients reject it. Replace the certificate and its key in the same files: they are reloaded within seconds.";
}

impl AlarmKind {
    /// Returns the account that an alarm of this kind is about; none for other kinds. Accounts are the beginning of the subject,
    /// and their names have no slash.
    pub fn account_in(self, about: &str) -> Option<&str> {
        use AlarmKind::{CreditLow, OutOfCredit, SoldAtLoss, WebhookFailing};
        let is_of_account = matches!(self, WebhookFailing | OutOfCredit | CreditLow | SoldAtLoss);
        about.split('/').next().filter(|name| is_of_account && !name.is_empty())
    }
}
