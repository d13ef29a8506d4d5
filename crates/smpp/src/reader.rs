//! Reads PDU fields one by one. Every read is checked, and a field that cannot be read says which
//! `command_status` its PDU is answered with. `Writer` has the same verbs, so that a PDU's field list
//! (see `pdu::fields!`) is stated once for both directions.

use crate::{Address, CommandStatus, Hidden, Tlvs, tlv};

/// Why a body could not be read: the first field at fault, and what to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) status: CommandStatus,
    pub(crate) field: &'static str,
}

/// "Body ends before the mandatory fields do".
pub(crate) const fn ended(field: &'static str) -> Fault {
    Fault { status: CommandStatus::INVCMDLEN, field }
}

pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(rest: &'a [u8]) -> Self {
        Reader { rest }
    }

    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    pub(crate) fn octet(&mut self, field: &'static str) -> Result<u8, Fault> {
        let (octet, rest) = self.rest.split_first().ok_or(ended(field))?;
        self.rest = rest;
        Ok(*octet)
    }

    pub(crate) fn u32(&mut self, field: &'static str) -> Result<u32, Fault> {
        let (octets, rest) = self.rest.split_first_chunk().ok_or(ended(field))?;
        self.rest = rest;
        Ok(u32::from_be_bytes(*octets))
    }

    /// A C-octet string of at most `octets_max` octets, null included. A body that stops first was cut
    /// short; a full field without a null is the field's own fault.
    #[inline]
    pub(crate) fn text(
        &mut self,
        field: &'static str,
        octets_max: usize,
        status: CommandStatus,
    ) -> Result<&'a [u8], Fault> {
        let field_octets = self.rest.get(..octets_max).unwrap_or(self.rest);
        match field_octets.iter().position(|octet| *octet == 0) {
            Some(end) => {
                let (value, rest) = self.rest.split_at_checked(end).ok_or(ended(field))?;
                self.rest = rest.get(1..).unwrap_or_default();
                Ok(value)
            }
            None if field_octets.len() < octets_max => Err(ended(field)),
            None => Err(Fault { status, field }),
        }
    }

    /// As `text`, where the octets must not be printed.
    pub(crate) fn secret(
        &mut self,
        field: &'static str,
        octets_max: usize,
        status: CommandStatus,
    ) -> Result<Hidden<'a>, Fault> {
        self.text(field, octets_max, status).map(Hidden)
    }

    #[inline]
    pub(crate) fn address(
        &mut self,
        field: &'static str,
        octets_max: usize,
        status: CommandStatus,
    ) -> Result<Address<'a>, Fault> {
        let ton = self.octet(field)?;
        let npi = self.octet(field)?;
        let value = self.text(field, octets_max, status)?;
        Ok(Address { ton, npi, value })
    }

    /// `sm_length` and the text it counts. The octets may be anything, nulls included (`@` in GSM).
    #[inline]
    pub(crate) fn short_message(&mut self, field: &'static str, octets_max: u8) -> Result<Hidden<'a>, Fault> {
        let length = self.octet(field)?;
        let fault = Fault { status: CommandStatus::INVMSGLEN, field };
        if length > octets_max {
            return Err(fault);
        }
        let (value, rest) = self.rest.split_at_checked(usize::from(length)).ok_or(fault)?;
        self.rest = rest;
        Ok(Hidden(value))
    }

    /// The optional part of a request we serve: held to the rules.
    pub(crate) fn tlvs(&mut self, field: &'static str, request: u8) -> Result<Tlvs<'a>, Fault> {
        let rest = std::mem::take(&mut self.rest);
        tlv::parse_strict(rest, request).map_err(|status| Fault { status, field })
    }

    /// The optional part of what a carrier sends: whatever reads as TLVs is kept and trailing octets are
    /// forgiven, because refusing a receipt over them helps nobody.
    pub(crate) fn lenient_tlvs(&mut self, _field: &'static str) -> Result<Tlvs<'a>, Fault> {
        Ok(Tlvs::from_prefix(std::mem::take(&mut self.rest)))
    }

    /// A string in an answer. Absent reads as empty, and a body that ends without the null is forgiven.
    pub(crate) fn lenient_text(
        &mut self,
        field: &'static str,
        octets_max: usize,
        status: CommandStatus,
    ) -> Result<&'a [u8], Fault> {
        match self.text(field, octets_max, status) {
            Err(fault) if fault.status == CommandStatus::INVCMDLEN => Ok(std::mem::take(&mut self.rest)),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_string_and_an_endless_string_are_different_faults() {
        let status = CommandStatus::INVSRCADR;
        assert_eq!(Reader::new(b"12").text("f", 3, status), Err(ended("f")));
        assert_eq!(Reader::new(b"123").text("f", 3, status), Err(Fault { status, field: "f" }));
        assert_eq!(Reader::new(b"12\0").text("f", 3, status), Ok(&b"12"[..]));
        assert_eq!(Reader::new(b"\0").text("f", 1, status), Ok(&b""[..]));
        assert_eq!(Reader::new(b"").text("f", 1, status), Err(ended("f")));
    }

    #[test]
    fn text_may_hold_nulls() {
        let mut reader = Reader::new(b"\x03\0\0\0rest");
        assert_eq!(reader.short_message("f", 254), Ok(Hidden(b"\0\0\0")));
        assert_eq!(reader.rest(), b"rest");
    }
}
