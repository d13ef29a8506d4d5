//! Reads PDU fields. An unreadable field gives the `command_status` of the response. `Writer` has methods of the same
//! names, so that a PDU's field list (see `pdu::fields!`) serves both directions.

use crate::{Address, CommandStatus, Hidden, Tlvs, tlv};

/// The first unreadable field of a body, and the status of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FieldError {
    pub(crate) status: CommandStatus,
    pub(crate) field: &'static str,
}

/// The body ends before its mandatory fields.
pub(crate) const fn ended(field: &'static str) -> FieldError {
    FieldError { status: CommandStatus::INVCMDLEN, field }
}

pub(crate) struct FieldReader<'a> {
    rest: &'a [u8],
    is_lenient: bool,
    /// The first field that exceeded its maximum and was cut.
    cut: Option<&'static str>,
}

impl<'a> FieldReader<'a> {
    pub(crate) const fn new(rest: &'a [u8]) -> Self {
        FieldReader { rest, is_lenient: false, cut: None }
    }

    /// Reads a request of a carrier: over-long and unterminated strings are cut to their maximum, and TLVs are read by
    /// [`FieldReader::lenient_tlvs`]. Rejecting a receipt for them would lose it.
    pub(crate) const fn lenient(rest: &'a [u8]) -> Self {
        FieldReader { rest, is_lenient: true, cut: None }
    }

    pub(crate) const fn is_lenient(&self) -> bool {
        self.is_lenient
    }

    /// Returns the first field that was cut, if one was.
    pub(crate) const fn cut(&self) -> Option<&'static str> {
        self.cut
    }

    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    pub(crate) fn octet(&mut self, field: &'static str) -> Result<u8, FieldError> {
        let (octet, rest) = self.rest.split_first().ok_or(ended(field))?;
        self.rest = rest;
        Ok(*octet)
    }

    pub(crate) fn u32(&mut self, field: &'static str) -> Result<u32, FieldError> {
        let (octets, rest) = self.rest.split_first_chunk().ok_or(ended(field))?;
        self.rest = rest;
        Ok(u32::from_be_bytes(*octets))
    }

    /// Reads a C-octet string of at most `octets_max` octets, null included. A body that ends first is too short; a
    /// field without a null has the field's own status.
    #[inline]
    pub(crate) fn text(
        &mut self,
        field: &'static str,
        octets_max: usize,
        status: CommandStatus,
    ) -> Result<&'a [u8], FieldError> {
        let field_octets = self.rest.get(..octets_max).unwrap_or(self.rest);
        match field_octets.iter().position(|octet| *octet == 0) {
            Some(end) => {
                let (value, rest) = self.rest.split_at_checked(end).ok_or(ended(field))?;
                self.rest = rest.get(1..).unwrap_or_default();
                Ok(value)
            }
            None if field_octets.len() < octets_max => Err(ended(field)),
            None if self.is_lenient => self.cut_text(field, octets_max),
            None => Err(FieldError { status, field }),
        }
    }

    /// Reads a string without a null within its maximum. It ends at the next null, or before a control octet, which
    /// never occurs in text: then it has no terminator, and the octet belongs to the next field (such as a TON).
    #[cold]
    fn cut_text(&mut self, field: &'static str, octets_max: usize) -> Result<&'a [u8], FieldError> {
        let end = self.rest.iter().position(|octet| *octet < b' ').ok_or(ended(field))?;
        let (value, rest) = self.rest.split_at_checked(end).ok_or(ended(field))?;
        self.rest = match rest.split_first() {
            Some((0, after_null)) => after_null,
            _ => rest,
        };
        self.cut.get_or_insert(field);
        Ok(value.get(..octets_max.saturating_sub(1)).unwrap_or(value))
    }

    /// Reads a C-octet string that must not be printed.
    pub(crate) fn secret(
        &mut self,
        field: &'static str,
        octets_max: usize,
        status: CommandStatus,
    ) -> Result<Hidden<'a>, FieldError> {
        self.text(field, octets_max, status).map(Hidden)
    }

    #[inline]
    pub(crate) fn address(
        &mut self,
        field: &'static str,
        octets_max: usize,
        status: CommandStatus,
    ) -> Result<Address<'a>, FieldError> {
        let ton = self.octet(field)?;
        let npi = self.octet(field)?;
        let value = self.text(field, octets_max, status)?;
        Ok(Address { ton, npi, value })
    }

    /// Reads `sm_length` and its octets, which may include nulls (`@` in GSM).
    #[inline]
    pub(crate) fn short_message(
        &mut self,
        field: &'static str,
        octets_max: u8,
    ) -> Result<Hidden<'a>, FieldError> {
        let length = self.octet(field)?;
        let error = FieldError { status: CommandStatus::INVMSGLEN, field };
        if length > octets_max {
            return Err(error);
        }
        let (value, rest) = self.rest.split_at_checked(usize::from(length)).ok_or(error)?;
        self.rest = rest;
        Ok(Hidden(value))
    }

    /// Reads the TLVs of a customer's request, strictly.
    pub(crate) fn tlvs(&mut self, field: &'static str, request: u8) -> Result<Tlvs<'a>, FieldError> {
        if self.is_lenient {
            return self.lenient_tlvs(field);
        }
        let rest = std::mem::take(&mut self.rest);
        tlv::parse_strict(rest, request).map_err(|status| FieldError { status, field })
    }

    /// Reads the TLVs of a carrier's PDU. Trailing octets that are no TLV are ignored, because rejecting a receipt for
    /// them would lose it.
    pub(crate) fn lenient_tlvs(&mut self, _field: &'static str) -> Result<Tlvs<'a>, FieldError> {
        let rest = std::mem::take(&mut self.rest);
        Ok(tlv::parse_with_stray_null(rest).unwrap_or_else(|| Tlvs::from_prefix(rest)))
    }

    /// Reads a string of a response. A missing string is empty, and a missing null is tolerated.
    pub(crate) fn lenient_text(
        &mut self,
        field: &'static str,
        octets_max: usize,
        status: CommandStatus,
    ) -> Result<&'a [u8], FieldError> {
        match self.text(field, octets_max, status) {
            Err(error) if error.status == CommandStatus::INVCMDLEN => Ok(std::mem::take(&mut self.rest)),
            other => other,
        }
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
