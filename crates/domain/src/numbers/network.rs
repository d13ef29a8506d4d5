//! Mobile networks by their codes: the mobile country code (MCC) and the mobile network code (MNC) of ITU-T E.212.

use std::fmt;

/// A mobile country code: three digits, `262`. Some countries have several, and a few share one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mcc(u16);

/// A mobile network code: two or three digits. `01` and `001` are different networks, so the length counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mnc {
    number: u16,
    length: u8,
}

/// One mobile network, written `262-01`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network {
    pub mcc: Mcc,
    pub mnc: Mnc,
}

/// Why a text is not a network, MCC or MNC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkRefusal {
    #[error("an MCC has three digits, as in 262")]
    NotMcc,
    #[error("an MNC has two or three digits, as in 01")]
    NotMnc,
    #[error("a network is an MCC, a hyphen and an MNC, as in 262-01")]
    MissingHyphen,
}

impl Mcc {
    pub fn parse(text: &str) -> Result<Mcc, NetworkRefusal> {
        if text.len() != 3 {
            return Err(NetworkRefusal::NotMcc);
        }
        number(text).map(Mcc).ok_or(NetworkRefusal::NotMcc)
    }
}

impl Mnc {
    pub fn parse(text: &str) -> Result<Mnc, NetworkRefusal> {
        let length = match text.len() {
            2 => 2,
            3 => 3,
            _ => return Err(NetworkRefusal::NotMnc),
        };
        let number = number(text).ok_or(NetworkRefusal::NotMnc)?;
        Ok(Mnc { number, length })
    }
}

impl Network {
    pub fn parse(text: &str) -> Result<Network, NetworkRefusal> {
        let (mcc, mnc) = text.split_once('-').ok_or(NetworkRefusal::MissingHyphen)?;
        Ok(Network { mcc: Mcc::parse(mcc)?, mnc: Mnc::parse(mnc)? })
    }
}

/// Parses digits; `str::parse` alone would accept a sign.
fn number(text: &str) -> Option<u16> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

impl fmt::Display for Mcc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:03}", self.0)
    }
}

impl fmt::Display for Mnc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0width$}", self.number, width = usize::from(self.length))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.mcc, self.mnc)
    }
}

text_form!(Mcc: NetworkRefusal, Mnc: NetworkRefusal, Network: NetworkRefusal);
debug_as_text!(Mcc, Mnc, Network);

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
