//! Flags about receipts: when they come, over which link, and in which words.

use std::time::Duration;

use clap::{Args, ValueEnum};
use hermod_simulator::carrier::{
    DateDigits, Outcome, ReceiptFormat, ReceiptLink, Receipts, Script, SubmitFilter,
};

use crate::values;

#[derive(Args)]
#[command(next_help_heading = "Receipts")]
pub(super) struct ReceiptFlags {
    /// Send the receipt this long after the answer
    #[arg(long, default_value = "0ms", value_parser = values::duration)]
    receipt_after: Duration,
    /// What it says
    #[arg(long, default_value = "DELIVRD", value_parser = values::outcome)]
    outcome: Outcome,
    /// Say UNDELIV instead for about N in a thousand messages
    #[arg(long, value_name = "N", default_value_t = 0)]
    fail_per_mille: u16,
    /// Send no receipts
    #[arg(long, conflicts_with_all = ["receipt_first", "receipt_twice", "receipt_unknown_id", "enroute_after"])]
    no_receipts: bool,
    /// Send the receipt before the answer; --delay says how long before
    #[arg(long)]
    receipt_first: bool,
    /// Send every receipt twice
    #[arg(long)]
    receipt_twice: bool,
    /// Write an id into receipts that was never given
    #[arg(long)]
    receipt_unknown_id: bool,
    /// Send an ENROUTE this long after the answer
    #[arg(long, value_parser = values::duration)]
    enroute_after: Option<Duration>,
    /// Send receipts over any link but the one their message came on
    #[arg(long)]
    receipts_elsewhere: bool,
    /// Send receipts only after the link their message came on has ended
    #[arg(long, conflicts_with = "receipts_elsewhere")]
    receipts_after_reconnect: bool,
    /// Send a deliver_sm that ends too early before each receipt
    #[arg(long)]
    malformed_receipts: bool,
    /// How receipts are written
    #[arg(long, value_enum, default_value_t = Words::Standard)]
    receipt_wording: Words,
    /// The text of receipts, with {id}, {sub}, {dlvrd}, {submit date}, {done date}, {stat} and {err} in it
    #[arg(long, value_name = "TEMPLATE", conflicts_with = "receipt_wording")]
    receipt_text: Option<String>,
    /// The word in receipts in place of the outcome's own
    #[arg(long, value_name = "WORD")]
    receipt_stat: Option<String>,
    /// The error code in receipts in place of three digits
    #[arg(long, value_name = "CODE")]
    receipt_err: Option<String>,
    /// How many digits the dates in receipts have
    #[arg(long, value_name = "DIGITS", value_parser = dates, default_value = "10")]
    receipt_dates: DateDigits,
    /// Send receipts in data_sm
    #[arg(long)]
    receipt_data_sm: bool,
    /// Write receipts in UCS-2
    #[arg(long)]
    receipt_ucs2: bool,
    /// Leave esm_class of receipts at 0: only their TLVs say what they are
    #[arg(long)]
    receipt_unmarked: bool,
    /// Put a service_type of seven characters into receipts; five are allowed
    #[arg(long)]
    receipt_long_service_type: bool,
    /// Put a TLV into receipts that nobody knows
    #[arg(long)]
    receipt_unknown_tlv: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Words {
    /// The usual text and TLVs
    Standard,
    /// The usual text alone
    TextOnly,
    /// TLVs alone
    TlvsOnly,
    /// The usual text in message_payload
    Payload,
    /// Without sub, dlvrd and text
    Short,
    /// Only id and stat
    Shortest,
    /// Labels in another case and order
    OddLabels,
    /// Labels between commas
    LabelsAndCommas,
    /// Values between commas: id,stat,err,submit date,done date
    Commas,
}

fn dates(digits: &str) -> Result<DateDigits, String> {
    match digits {
        "10" => Ok(DateDigits::Minutes),
        "12" => Ok(DateDigits::Seconds),
        "14" => Ok(DateDigits::LongYear),
        _ => Err(format!("{digits:?} is none of 10, 12 and 14")),
    }
}

impl ReceiptFlags {
    pub(super) fn after(&self) -> Duration {
        self.receipt_after
    }

    pub(super) fn write(&self, script: Script) -> Script {
        if self.no_receipts {
            return script.no_receipts();
        }
        let receipts = Receipts {
            before_response: self.receipt_first,
            copies: if self.receipt_twice { 2 } else { 1 },
            unknown_id: self.receipt_unknown_id,
            enroute_after: self.enroute_after,
            way: self.way(),
            malformed_first: self.malformed_receipts,
            ..Receipts::after(self.receipt_after, self.outcome)
        };
        let failed = Receipts {
            outcome: Some((self.receipt_after, Outcome::Undeliverable)),
            error_code: 1,
            ..receipts
        };
        let script = script.receipts(receipts).receipt_format(self.wording());
        if self.fail_per_mille == 0 {
            return script;
        }
        script.receipts_when(SubmitFilter::per_mille(self.fail_per_mille), failed)
    }

    fn way(&self) -> ReceiptLink {
        match (self.receipts_elsewhere, self.receipts_after_reconnect) {
            (true, _) => ReceiptLink::OtherLink,
            (_, true) => ReceiptLink::AfterLinkEnds,
            _ => ReceiptLink::Any,
        }
    }

    fn wording(&self) -> ReceiptFormat {
        let wording = match (&self.receipt_text, self.receipt_wording) {
            (Some(template), _) => ReceiptFormat::text(template),
            (None, Words::Standard) => ReceiptFormat::standard(),
            (None, Words::TextOnly) => ReceiptFormat::text_only(),
            (None, Words::TlvsOnly) => ReceiptFormat::tlvs_only(),
            (None, Words::Payload) => ReceiptFormat::in_payload(),
            (None, Words::Short) => ReceiptFormat::short(),
            (None, Words::Shortest) => ReceiptFormat::shortest(),
            (None, Words::OddLabels) => ReceiptFormat::odd_labels(),
            (None, Words::LabelsAndCommas) => ReceiptFormat::labels_and_commas(),
            (None, Words::Commas) => ReceiptFormat::commas(),
        };
        let mut wording = wording.dates(self.receipt_dates);
        if let Some(word) = &self.receipt_stat {
            wording = wording.stat(word);
        }
        if let Some(code) = &self.receipt_err {
            wording = wording.err(code);
        }
        if self.receipt_data_sm {
            wording = wording.by_data_sm();
        }
        if self.receipt_ucs2 {
            wording = wording.in_ucs2();
        }
        if self.receipt_unmarked {
            wording = wording.unmarked();
        }
        if self.receipt_long_service_type {
            wording = wording.with_long_service_type();
        }
        if self.receipt_unknown_tlv {
            wording = wording.with_unknown_tlv();
        }
        wording
    }
}
