//! SMPP addresses: TON, NPI and the octets as received. They are not normalized here, because a receipt must repeat the
//! addresses of its submit_sm.

use std::fmt;

/// One address of a PDU.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Address<'a> {
    /// Type of number (§5.2.5): 0 unknown, 1 international, 2 national, 3 network, 4 subscriber,
    /// 5 alphanumeric, 6 abbreviated.
    pub ton: u8,
    /// Numbering plan indicator (§5.2.6): 0 unknown, 1 ISDN.
    pub npi: u8,
    /// The address without its null.
    pub value: &'a [u8],
}

impl<'a> Address<'a> {
    /// Makes an address.
    pub const fn new(ton: u8, npi: u8, value: &'a [u8]) -> Self {
        Address { ton, npi, value }
    }

    /// Makes an international number without a plus: TON 1, NPI 1.
    pub const fn international(digits: &'a [u8]) -> Self {
        Address::new(1, 1, digits)
    }

    /// Makes an alphanumeric sender: TON 5, NPI 0.
    pub const fn alphanumeric(name: &'a [u8]) -> Self {
        Address::new(5, 0, name)
    }
}

/// Prints the number shortened, as in logs.
impl fmt::Debug for Address<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.value.get(..4).unwrap_or(self.value);
        write!(f, "{}/{} {}", self.ton, self.npi, start.escape_ascii())?;
        if start.len() < self.value.len() {
            f.write_str("…")?;
        }
        Ok(())
    }
}
