//! Message text: its limits, its two alphabets, and how it falls into parts.

/// Unicode code points, not parts and not bytes: 1600 of them are up to 11 parts in GSM-7 and 24 or more in UCS-2.
pub const TEXT_CHARS_MAX: usize = 1600;
