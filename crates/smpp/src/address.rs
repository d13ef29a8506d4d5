//! Addresses: type of number, numbering plan and the octets as they came. What they mean is decided by
//! whoever routes; here nothing is normalised, because a receipt must give back what was sent.

use std::fmt;

/// One address of a PDU.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Address<'a> {
    /// Type of number (§5.2.5): 0 unknown, 1 international, 2 national, 3 network, 4 subscriber,
    /// 5 alphanumeric, 6 abbreviated.
    pub ton: u8,
    /// Numbering plan indicator (§5.2.6): 0 unknown, 1 ISDN.
    pub npi: u8,
    /// The address itself, without its null.
    pub value: &'a [u8],
}

impl<'a> Address<'a> {
    /// An address with its type and plan.
    pub const fn new(ton: u8, npi: u8, value: &'a [u8]) -> Self {
        Address { ton, npi, value }
    }

    /// A number with country code and no plus: TON 1, NPI 1.
    pub const fn international(digits: &'a [u8]) -> Self {
        Address::new(1, 1, digits)
    }

    /// A sender name: TON 5, NPI 0.
    pub const fn alphanumeric(name: &'a [u8]) -> Self {
        Address::new(5, 0, name)
    }
}

/// Subscribers' numbers are shortened wherever they are printed.
impl fmt::Debug for Address<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.value.get(..4).unwrap_or(self.value);
        write!(f, "{}/{} {}", self.ton, self.npi, shown.escape_ascii())?;
        if shown.len() < self.value.len() {
            f.write_str("…")?;
        }
        Ok(())
    }
}
