//! The behaviour of a webhook receiver.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use crate::duration::parse_duration;

/// What the receiver does with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiverBehaviour {
    /// Responds at once with this status.
    Status(u16),
    /// Responds with 200 after this time.
    Slow(Duration),
    /// Reads the request and never responds.
    Hang,
    /// Reads nothing.
    Deaf,
    /// Responds with one octet per second.
    Drip,
    /// Responds with 200 and an endless body.
    Endless,
    /// Reads the request and resets the connection.
    Reset,
    /// Responds with a redirect to this URL.
    Redirect(String),
    /// Responds with octets that are not HTTP.
    Garbage,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{0:?} is not a behaviour: expected a status such as 200 or 503, slow=2s, hang, deaf, drip, endless, reset, garbage or redirect=URL"
)]
pub struct InvalidBehaviour(String);

impl FromStr for ReceiverBehaviour {
    type Err = InvalidBehaviour;

    fn from_str(text: &str) -> Result<ReceiverBehaviour, InvalidBehaviour> {
        let refusal = || InvalidBehaviour(text.to_owned());
        if let Some(url) = text.strip_prefix("redirect=") {
            return Ok(ReceiverBehaviour::Redirect(url.to_owned()));
        }
        if let Some(wait) = text.strip_prefix("slow=") {
            return parse_duration(wait).map(ReceiverBehaviour::Slow).map_err(|_| refusal());
        }
        match text {
            "hang" => Ok(ReceiverBehaviour::Hang),
            "deaf" => Ok(ReceiverBehaviour::Deaf),
            "drip" => Ok(ReceiverBehaviour::Drip),
            "endless" => Ok(ReceiverBehaviour::Endless),
            "reset" => Ok(ReceiverBehaviour::Reset),
            "garbage" => Ok(ReceiverBehaviour::Garbage),
            status => match status.parse() {
                Ok(status @ 200..=599) => Ok(ReceiverBehaviour::Status(status)),
                Ok(_) | Err(_) => Err(refusal()),
            },
        }
    }
}

impl fmt::Display for ReceiverBehaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReceiverBehaviour::Status(status) => write!(f, "{status}"),
            ReceiverBehaviour::Slow(wait) => write!(f, "slow={}ms", wait.as_millis()),
            ReceiverBehaviour::Hang => f.write_str("hang"),
            ReceiverBehaviour::Deaf => f.write_str("deaf"),
            ReceiverBehaviour::Drip => f.write_str("drip"),
            ReceiverBehaviour::Endless => f.write_str("endless"),
            ReceiverBehaviour::Reset => f.write_str("reset"),
            ReceiverBehaviour::Redirect(url) => write!(f, "redirect={url}"),
            ReceiverBehaviour::Garbage => f.write_str("garbage"),
        }
    }
}

#[cfg(test)]
#[path = "behaviour_tests.rs"]
mod tests;
