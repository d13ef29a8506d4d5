//! What one line of the profile measures: a protocol and an offered load.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;

use super::text::grouped;

/// Messages without a response per bind.
const WINDOW: u32 = 100;
/// The window of the additional line at saturation.
const SMALL_WINDOW: u32 = 10;
/// Connections over HTTP, each with one request in flight.
pub(super) const CONNECTIONS: u32 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    Smpp,
    Http,
}

impl Protocol {
    pub(super) const ALL: [Protocol; 2] = [Protocol::Smpp, Protocol::Http];

    pub(super) fn name(self) -> &'static str {
        match self {
            Protocol::Smpp => "SMPP",
            Protocol::Http => "HTTP",
        }
    }

    pub(super) fn heading(self) -> String {
        match self {
            Protocol::Smpp => {
                format!("SMPP: one transceiver, window {WINDOW}, receipts on; response: submit_sm_resp")
            }
            Protocol::Http => {
                format!("HTTP: POST /sms over {CONNECTIONS} connections, no webhook; response: 202")
            }
        }
    }
}

/// An offered load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// Messages per second, each sent when it is due.
    Rate(u64),
    /// The next message follows as soon as the window or a connection is free.
    Saturation,
}

impl Offered {
    pub(super) fn rate(self) -> Option<u64> {
        match self {
            Offered::Rate(rate) => Some(rate),
            Offered::Saturation => None,
        }
    }
}

impl FromStr for Offered {
    type Err = String;

    fn from_str(text: &str) -> Result<Offered, String> {
        if text == "saturation" {
            return Ok(Offered::Saturation);
        }
        match text.parse() {
            Ok(rate) if rate > 0 => Ok(Offered::Rate(rate)),
            _ => Err(format!("{text:?} is neither a number of messages per second nor `saturation`")),
        }
    }
}

impl fmt::Display for Offered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Offered::Rate(rate) => f.write_str(&grouped(*rate)),
            Offered::Saturation => f.write_str("saturation"),
        }
    }
}

/// A protocol and an offered load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scenario {
    pub(super) protocol: Protocol,
    pub(super) offered: Offered,
    /// Over SMPP.
    pub(super) window: u32,
}

impl Scenario {
    /// Whether it is a point of the curve over the offered load.
    pub(super) fn is_on_curve(self) -> bool {
        self.window == WINDOW
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.offered)?;
        if self.window == WINDOW { Ok(()) } else { write!(f, ", window {}", self.window) }
    }
}

/// All lines of a profile, in order.
pub(super) fn plan(loads: &[Offered], only: Option<Protocol>) -> Vec<Scenario> {
    let mut plan = Vec::new();
    for protocol in Protocol::ALL.into_iter().filter(|protocol| only.is_none_or(|only| only == *protocol)) {
        plan.extend(loads.iter().map(|&offered| Scenario { protocol, offered, window: WINDOW }));
        if protocol == Protocol::Smpp && loads.contains(&Offered::Saturation) {
            plan.push(Scenario { protocol, offered: Offered::Saturation, window: SMALL_WINDOW });
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_is_a_rate_or_saturation() {
        assert_eq!("500".parse(), Ok(Offered::Rate(500)));
        assert_eq!("saturation".parse(), Ok(Offered::Saturation));
        for text in ["", "0", "-1", "10k", "max"] {
            assert!(text.parse::<Offered>().is_err(), "{text}");
        }
    }

    #[track_caller]
    fn check(loads: &[Offered], only: Option<Protocol>, expect: &[&str]) {
        let plan: Vec<String> =
            plan(loads, only).iter().map(|line| format!("{} {line}", line.protocol.name())).collect();
        assert_eq!(plan, expect);
    }

    #[test]
    fn saturation_over_smpp_has_a_second_line_with_a_small_window() {
        let loads = [Offered::Rate(2_000), Offered::Saturation];
        let smpp = ["SMPP 2,000", "SMPP saturation", "SMPP saturation, window 10"];
        let http = ["HTTP 2,000", "HTTP saturation"];
        check(&loads, None, &[&smpp[..], &http[..]].concat());
        check(&loads, Some(Protocol::Smpp), &smpp);
        check(&loads, Some(Protocol::Http), &http);
        check(&loads[..1], None, &["SMPP 2,000", "HTTP 2,000"]);
    }
}
