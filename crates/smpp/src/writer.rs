//! Writes PDU fields, with the method names of `Reader`. A string that is too long for its field or contains a null is
//! refused instead of being cut.

use bytes::BytesMut;

use crate::{Address, CommandStatus, EncodeError, EncodeErrorKind, Hidden, Tlvs};

/// Octets by which the buffer grows. One step is enough for most PDUs.
const ROOM_BYTES: usize = 256;

/// Appends to `out`. The buffer grows ahead of the fields and is truncated at the end.
pub(crate) struct FieldWriter<'o> {
    out: &'o mut BytesMut,
    at: usize,
}

type Written = Result<(), EncodeError>;

impl<'o> FieldWriter<'o> {
    pub(crate) fn new(out: &'o mut BytesMut) -> Self {
        let at = out.len();
        FieldWriter { out, at }
    }

    /// Truncates the buffer to the written octets.
    pub(crate) fn finish(self) {
        self.out.truncate(self.at);
    }

    #[inline]
    pub(crate) fn raw(&mut self, octets: &[u8]) {
        let end = self.at.saturating_add(octets.len());
        if end > self.out.len() {
            self.make_room(end);
        }
        if let Some(field) = self.out.get_mut(self.at..end) {
            field.copy_from_slice(octets);
        }
        self.at = end;
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.raw(&value.to_be_bytes());
    }

    #[cold]
    fn make_room(&mut self, end: usize) {
        self.out.resize(end.saturating_add(ROOM_BYTES), 0);
    }

    #[inline]
    pub(crate) fn octet(&mut self, _field: &'static str, value: u8) -> Written {
        if self.at >= self.out.len() {
            self.make_room(self.at);
        }
        if let Some(slot) = self.out.get_mut(self.at) {
            *slot = value;
        }
        self.at = self.at.saturating_add(1);
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
            return Err(EncodeError { field, why: EncodeErrorKind::TooLong });
        }
        if value.contains(&0) {
            return Err(EncodeError { field, why: EncodeErrorKind::ContainsNull });
        }
        if !value.is_empty() {
            self.raw(value);
        }
        self.octet(field, 0)
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
        self.raw(&[value.ton, value.npi]);
        self.text(field, value.value, octets_max, status)
    }

    pub(crate) fn short_message(
        &mut self,
        field: &'static str,
        value: Hidden<'_>,
        octets_max: u8,
    ) -> Written {
        let length = u8::try_from(value.len()).ok().filter(|length| *length <= octets_max);
        self.octet(field, length.ok_or(EncodeError { field, why: EncodeErrorKind::TooLong })?)?;
        self.raw(&value);
        Ok(())
    }

    pub(crate) fn tlvs(&mut self, field: &'static str, value: Tlvs<'_>, _request: u8) -> Written {
        self.lenient_tlvs(field, value)
    }

    pub(crate) fn lenient_tlvs(&mut self, _field: &'static str, value: Tlvs<'_>) -> Written {
        self.raw(value.as_bytes());
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
