//! The stored form of a message's SMS options and origin: a version, flags for the optional fields, and the fields. The format is
//! permanent: a new field needs a new flag, a changed meaning a new version.

use hermod_domain::origin::{Alias, Origin, RegisteredDelivery, SmppAddress};
use hermod_domain::text::{ConcatPart, SmsOptions};
use hermod_engine::tables::TableError;
use smallvec::SmallVec;

/// Stored octets, in a buffer that most values fit into without an allocation.
pub(crate) type Blob = SmallVec<[u8; 64]>;

const VERSION: u8 = 1;

mod options_flag {
    pub(super) const CONCAT: u8 = 1;
    pub(super) const CLASS: u8 = 2;
    pub(super) const DATA_CODING: u8 = 4;
    pub(super) const ALL: u8 = CONCAT | CLASS | DATA_CODING;
}

mod origin_flag {
    pub(super) const SUCCESS: u8 = 1;
    pub(super) const FAILURE: u8 = 2;
    pub(super) const INTERMEDIATE: u8 = 4;
    pub(super) const SHORT_ID: u8 = 8;
    pub(super) const ON_TRANSMITTER: u8 = 16;
    pub(super) const REFERENCE: u8 = 32;
    pub(super) const ALIAS: u8 = 64;
    pub(super) const ALL: u8 = 127;
}

/// Returns the stored form of a options.
pub(crate) fn options_to_blob(options: &SmsOptions) -> Blob {
    use options_flag::{CLASS, CONCAT, DATA_CODING};
    let SmsOptions { header, concat, class, protocol_id, data_coding } = options;
    let flags = flag(CONCAT, concat.is_some())
        | flag(CLASS, class.is_some())
        | flag(DATA_CODING, data_coding.is_some());
    let mut blob = Blob::from_slice(&[VERSION, flags, *protocol_id]);
    if let Some(ConcatPart { reference, total, part }) = concat {
        blob.extend_from_slice(&reference.to_be_bytes());
        blob.extend_from_slice(&[*total, *part]);
    }
    blob.extend(*class);
    blob.extend(*data_coding);
    blob.extend_from_slice(header);
    blob
}

/// Reads a stored options. Fails if the version or a flag is unknown, or if octets are missing.
pub(crate) fn options_of(blob: &[u8]) -> Result<SmsOptions, TableError> {
    read_options(&mut Octets(blob)).ok_or_else(|| TableError::unreadable("a message's SMS options"))
}

fn read_options(octets: &mut Octets<'_>) -> Option<SmsOptions> {
    use options_flag::{ALL, CLASS, CONCAT, DATA_CODING};
    let flags = octets.flags(ALL)?;
    let protocol_id = octets.one()?;
    let concat = if flags & CONCAT == 0 {
        None
    } else {
        Some(ConcatPart { reference: octets.two()?, total: octets.one()?, part: octets.one()? })
    };
    let class = if flags & CLASS == 0 { None } else { Some(octets.one()?) };
    let data_coding = if flags & DATA_CODING == 0 { None } else { Some(octets.one()?) };
    Some(SmsOptions { header: octets.rest().into(), concat, class, protocol_id, data_coding })
}

/// Returns the stored form of an origin and the message's alias. They are stored together so that a report needs one read.
pub(crate) fn origin_to_blob(origin: &Origin, alias: Option<Alias>) -> Blob {
    use origin_flag as is;
    let Origin { registered_delivery, short_id, on_transmitter, reference, source, destination, quote } =
        origin;
    let RegisteredDelivery { success, failure, intermediate } = *registered_delivery;
    let flags = flag(is::SUCCESS, success)
        | flag(is::FAILURE, failure)
        | flag(is::INTERMEDIATE, intermediate)
        | flag(is::SHORT_ID, *short_id)
        | flag(is::ON_TRANSMITTER, *on_transmitter)
        | flag(is::REFERENCE, reference.is_some())
        | flag(is::ALIAS, alias.is_some());
    let mut blob = Blob::from_slice(&[VERSION, flags]);
    if let Some(reference) = reference {
        blob.extend_from_slice(&reference.to_be_bytes());
    }
    if let Some(alias) = alias {
        blob.extend_from_slice(&alias.get().to_be_bytes());
    }
    write_address(&mut blob, source);
    write_address(&mut blob, destination);
    blob.extend_from_slice(quote);
    blob
}

/// Reads a stored origin and alias. Fails if the version or a flag is unknown, or if octets are missing.
pub(crate) fn origin_of(blob: &[u8]) -> Result<(Origin, Option<Alias>), TableError> {
    read_origin(&mut Octets(blob)).ok_or_else(|| TableError::unreadable("a message's origin"))
}

fn read_origin(octets: &mut Octets<'_>) -> Option<(Origin, Option<Alias>)> {
    use origin_flag as is;
    let flags = octets.flags(is::ALL)?;
    let has = |flag| flags & flag != 0;
    let reference = if has(is::REFERENCE) { Some(octets.two()?) } else { None };
    let alias = if has(is::ALIAS) { Some(Alias::new(octets.four()?)?) } else { None };
    let origin = Origin {
        registered_delivery: RegisteredDelivery {
            success: has(is::SUCCESS),
            failure: has(is::FAILURE),
            intermediate: has(is::INTERMEDIATE),
        },
        short_id: has(is::SHORT_ID),
        on_transmitter: has(is::ON_TRANSMITTER),
        reference,
        source: octets.address()?,
        destination: octets.address()?,
        quote: SmallVec::from_slice(octets.rest()),
    };
    Some((origin, alias))
}

/// Appends an address: TON, NPI, one length octet and the digits. SMPP addresses are shorter than 255 octets; a longer one
/// is cut.
pub(crate) fn write_address(blob: &mut Blob, address: &SmppAddress) {
    let SmppAddress { ton, npi, digits } = address;
    let length = u8::try_from(digits.len()).unwrap_or(u8::MAX);
    blob.extend_from_slice(&[*ton, *npi, length]);
    blob.extend(digits.iter().take(usize::from(length)).copied());
}

const fn flag(flag: u8, set: bool) -> u8 {
    if set { flag } else { 0 }
}

/// The octets of a blob that are not read yet.
pub(crate) struct Octets<'a>(pub &'a [u8]);

impl<'a> Octets<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn one(&mut self) -> Option<u8> {
        self.array::<1>().map(|[octet]| octet)
    }

    fn two(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn four(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// Reads the version and the flags; `None` if either is unknown.
    fn flags(&mut self, known: u8) -> Option<u8> {
        let [version, flags] = self.array()?;
        (version == VERSION && flags & !known == 0).then_some(flags)
    }

    pub(crate) fn address(&mut self) -> Option<SmppAddress> {
        let [ton, npi, length] = self.array()?;
        Some(SmppAddress::new(ton, npi, self.take(usize::from(length))?))
    }
}

#[cfg(test)]
#[path = "blobs_tests.rs"]
mod tests;
