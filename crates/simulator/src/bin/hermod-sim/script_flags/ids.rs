//! Flags about ids: how they are written in answers and in receipts.

use clap::{Args, ValueEnum};
use hermod_simulator::carrier::{IdFormat, IdStyle, Script};

/// Digits of ids that are filled up with zeros.
const ZERO_FILLED: u8 = 20;

#[derive(Args)]
#[command(next_help_heading = "Ids")]
pub(super) struct IdFlags {
    /// How ids are written in answers
    #[arg(long, value_enum, default_value_t = Ids::Decimal)]
    ids: Ids,
    /// How ids are written in receipts, if differently
    #[arg(long, value_enum)]
    receipt_ids: Option<Ids>,
    /// What every id starts with
    #[arg(long, default_value = "")]
    id_prefix: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum Ids {
    Decimal,
    Hex,
    UpperHex,
    /// Decimal with leading zeros
    ZeroDecimal,
    /// Upper-case hex with leading zeros
    ZeroHex,
    Uuid,
    UpperUuid,
}

impl Ids {
    fn style(self) -> IdStyle {
        match self {
            Ids::Decimal => IdStyle::Decimal,
            Ids::Hex => IdStyle::Hex,
            Ids::UpperHex => IdStyle::UpperHex,
            Ids::ZeroDecimal => IdStyle::ZeroDecimal(ZERO_FILLED),
            Ids::ZeroHex => IdStyle::ZeroHex(ZERO_FILLED),
            Ids::Uuid => IdStyle::Uuid,
            Ids::UpperUuid => IdStyle::UpperUuid,
        }
    }
}

impl IdFlags {
    pub(super) fn write(&self, script: Script) -> Script {
        let answer = self.ids.style();
        let receipt = self.receipt_ids.map_or(answer, Ids::style);
        script.ids(IdFormat { answer, receipt, prefix: self.id_prefix.clone() })
    }
}
