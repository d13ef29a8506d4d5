//! Writes PDU fields one by one, with the verbs of `Reader`. What would not survive the way (a string
//! that is too long for its field or holds a null) is refused instead of being cut.

use bytes::{BufMut, BytesMut};
use thiserror::Error;

use crate::{Address, CommandStatus, Hidden, Tlvs};

/// The field that does not fit. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{field} {why}")]
pub struct EncodeError {
    /// The first field at fault.
    pub field: &'static str,
    /// What is wrong with it.
    pub why: Unfit,
}

/// Why a value cannot be put on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unfit {
    /// More octets than the field holds.
    #[error("is too long")]
    TooLong,
    /// A null inside a C-octet string would end it early.
    #[error("contains a null octet")]
    ContainsNull,
    /// The field counts something and the count is outside its range.
    #[error("counts too few or too many entries")]
    BadCount,
}

pub(crate) struct Writer<'o> {
    out: &'o mut BytesMut,
}

type Written = Result<(), EncodeError>;

impl<'o> Writer<'o> {
    pub(crate) const fn new(out: &'o mut BytesMut) -> Self {
        Writer { out }
    }

    pub(crate) fn raw(&mut self, octets: &[u8]) {
        self.out.put_slice(octets);
    }

    pub(crate) fn octet(&mut self, _field: &'static str, value: u8) -> Written {
        self.out.put_u8(value);
        Ok(())
    }

    pub(crate) fn text(
        &mut self,
        field: &'static str,
        value: &[u8],
        octets_max: usize,
        _status: CommandStatus,
    ) -> Written {
        if value.len() >= octets_max {
            return Err(EncodeError { field, why: Unfit::TooLong });
        }
        if value.contains(&0) {
            return Err(EncodeError { field, why: Unfit::ContainsNull });
        }
        self.out.put_slice(value);
        self.out.put_u8(0);
        Ok(())
    }

    pub(crate) fn secret(
        &mut self,
        field: &'static str,
        value: Hidden<'_>,
        octets_max: usize,
        status: CommandStatus,
    ) -> Written {
        self.text(field, &value, octets_max, status)
    }

    pub(crate) fn address(
        &mut self,
        field: &'static str,
        value: Address<'_>,
        octets_max: usize,
        status: CommandStatus,
    ) -> Written {
        self.out.put_u8(value.ton);
        self.out.put_u8(value.npi);
        self.text(field, value.value, octets_max, status)
    }

    pub(crate) fn short_message(
        &mut self,
        field: &'static str,
        value: Hidden<'_>,
        octets_max: u8,
    ) -> Written {
        let length = u8::try_from(value.len()).ok().filter(|length| *length <= octets_max);
        self.out.put_u8(length.ok_or(EncodeError { field, why: Unfit::TooLong })?);
        self.out.put_slice(&value);
        Ok(())
    }

    pub(crate) fn tlvs(&mut self, _field: &'static str, value: Tlvs<'_>, _request: u8) -> Written {
        self.out.put_slice(value.as_bytes());
        Ok(())
    }

    pub(crate) fn lenient_tlvs(&mut self, _field: &'static str, value: Tlvs<'_>) -> Written {
        self.out.put_slice(value.as_bytes());
        Ok(())
    }

    pub(crate) fn lenient_text(
        &mut self,
        field: &'static str,
        value: &[u8],
        octets_max: usize,
        status: CommandStatus,
    ) -> Written {
        self.text(field, value, octets_max, status)
    }
}
