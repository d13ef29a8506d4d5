//! The stored form of an MO message's addresses, encoding and header, which deliver it over SMPP in its own alphabet. The format
//! is permanent: a changed meaning needs a new version.

use crate::sql::blobs::{Blob, Octets, write_address};
use hermod_domain::inbound::MoEncoding;
use hermod_domain::origin::SmppAddress;
use hermod_engine::tables::{TableError, Wire};

const VERSION: u8 = 1;
const NARROW: u8 = 1;
const UCS2: u8 = 2;
const OCTETS: u8 = 3;

/// Returns the stored form.
pub(crate) fn to_blob(wire: &Wire) -> Blob {
    let Wire { source, destination, form, header } = wire;
    let (form, data_coding) = match form {
        MoEncoding::SingleByte => (NARROW, 0),
        MoEncoding::Ucs2 => (UCS2, 0),
        MoEncoding::Octets { data_coding } => (OCTETS, *data_coding),
    };
    let mut blob = Blob::from_slice(&[VERSION, form, data_coding]);
    write_address(&mut blob, source);
    write_address(&mut blob, destination);
    blob.extend_from_slice(header);
    blob
}

/// Reads the stored form. Fails if the version or encoding is unknown, or if octets are missing.
pub(crate) fn of_blob(blob: &[u8]) -> Result<Wire, TableError> {
    read(&mut Octets(blob)).ok_or_else(|| TableError::unreadable("the wire form of an inbound message"))
}

fn read(octets: &mut Octets<'_>) -> Option<Wire> {
    let [version, form, data_coding] = octets.array()?;
    if version != VERSION {
        return None;
    }
    let form = match form {
        NARROW => MoEncoding::SingleByte,
        UCS2 => MoEncoding::Ucs2,
        OCTETS => MoEncoding::Octets { data_coding },
        _ => return None,
    };
    let (source, destination) = (octets.address()?, octets.address()?);
    Some(Wire { source, destination, form, header: octets.rest().into() })
}

/// Returns the stored form of the addresses of a message with missing parts.
pub(crate) fn ends_to_blob(source: &SmppAddress, destination: &SmppAddress) -> Blob {
    let mut blob = Blob::new();
    write_address(&mut blob, source);
    write_address(&mut blob, destination);
    blob
}

/// Returns source and destination; `None` if the blob is damaged.
pub(crate) fn ends_of(blob: &[u8]) -> Option<(SmppAddress, SmppAddress)> {
    let mut octets = Octets(blob);
    octets.address().zip(octets.address())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StoreError;

    fn wire(form: MoEncoding, header: &[u8]) -> Wire {
        Wire {
            source: SmppAddress::new(1, 1, b"49"),
            destination: SmppAddress::new(3, 0, b"808"),
            form,
            header: header.into(),
        }
    }

    #[test]
    fn wire_is_read_back_unchanged_and_its_stored_format_does_not_change() {
        for (form, stored) in [
            (MoEncoding::SingleByte, [1, 0]),
            (MoEncoding::Ucs2, [2, 0]),
            (MoEncoding::Octets { data_coding: 0xf5 }, [3, 0xf5]),
        ] {
            let came = wire(form, &[5, 0]);
            let blob = to_blob(&came);
            assert_eq!(blob[..3], [1, stored[0], stored[1]]);
            assert_eq!(blob[3..], [1, 1, 2, b'4', b'9', 3, 0, 3, b'8', b'0', b'8', 5, 0]);
            assert_eq!(of_blob(&blob).unwrap(), came);
        }
        let Wire { source, destination, .. } = wire(MoEncoding::Ucs2, b"");
        let ends = ends_to_blob(&source, &destination);
        assert_eq!(ends_of(&ends).unwrap(), (source, destination));
    }

    #[test]
    fn damaged_blob_is_reported_as_invalid_data() {
        for blob in [&[][..], &[1], &[2, 1, 0], &[1, 9, 0, 0, 0, 0, 0, 0, 0], &[1, 1, 0, 0, 0, 9]] {
            let text = StoreError::from(of_blob(blob).unwrap_err()).to_string();
            assert_eq!(text, "invalid data in the database: the wire form of an inbound message", "{blob:?}");
        }
        assert!(ends_of(&[0, 0, 1]).is_none());
    }
}
