//! Lines below lists of the record: where the next page begins, and how far the record is behind.

use hermod_operator::record::RecordView;
use std::fmt::Display;

/// A smaller lag is not mentioned: the record is always written a little later.
const LAG_SHOWN_MS: u64 = 2_000;

/// Returns the line that says how to get the next page; empty on the last page.
pub(super) fn more(next: Option<&impl Display>) -> String {
    next.map(|next| format!("\nMore rows: --cursor {next}\n")).unwrap_or_default()
}

/// Returns the lines that say that the record is behind; empty if it is not.
pub(super) fn behind(RecordView { lag_ms, catching_up }: RecordView) -> String {
    if catching_up > 0 {
        return format!(
            "\nThe record is catching up and lacks {catching_up} messages: this may be incomplete.\n"
        );
    }
    if lag_ms < LAG_SHOWN_MS {
        return String::new();
    }
    format!("\nThe record is {} behind: this may be incomplete.\n", time(lag_ms))
}

/// Returns a time in the unit that suits it.
pub(super) fn time(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms / 1_000 % 60),
        3_600_000..86_400_000 => format!("{} h {} min", ms / 3_600_000, ms / 60_000 % 60),
        _ => format!("{} d {} h", ms / 86_400_000, ms / 3_600_000 % 24),
    }
}

/// Returns a bar of at most `width` characters, relative to the largest count. A count above zero has a bar.
pub(super) fn bar(count: u64, most: u64, width: usize) -> String {
    if count == 0 || most == 0 {
        return String::new();
    }
    let width = u128::try_from(width).unwrap_or(0);
    let length = (u128::from(count) * width).div_ceil(u128::from(most)).clamp(1, width.max(1));
    "█".repeat(usize::try_from(length).unwrap_or(1))
}

#[cfg(test)]
#[path = "record_notes_tests.rs"]
mod tests;
