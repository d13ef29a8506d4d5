//! How a message from a handset came, as it stands beside its text: enough to bring it on over SMPP in its own alphabet.
//! On disk for ever: a new meaning is a new version.

use crate::sqlite::blobs::{Blob, Octets, write_address};
use hermod_domain::inbound::Form;
use hermod_domain::origin::WrittenAddress;
use hermod_engine::tables::{TableError, Wire};

const VERSION: u8 = 1;
const NARROW: u8 = 1;
const UCS2: u8 = 2;
const OCTETS: u8 = 3;

pub(crate) fn to_blob(wire: &Wire) -> Blob {
    let Wire { source, destination, form, header } = wire;
    let (form, data_coding) = match form {
        Form::Narrow => (NARROW, 0),
        Form::Ucs2 => (UCS2, 0),
        Form::Octets { data_coding } => (OCTETS, *data_coding),
    };
    let mut blob = Blob::from_slice(&[VERSION, form, data_coding]);
    write_address(&mut blob, source);
    write_address(&mut blob, destination);
    blob.extend_from_slice(header);
    blob
}

pub(crate) fn of_blob(blob: &[u8]) -> Result<Wire, TableError> {
    read(&mut Octets(blob)).ok_or_else(|| TableError::unreadable("how an inbound message came"))
}

fn read(octets: &mut Octets<'_>) -> Option<Wire> {
    let [version, form, data_coding] = octets.array()?;
    if version != VERSION {
        return None;
    }
    let form = match form {
        NARROW => Form::Narrow,
        UCS2 => Form::Ucs2,
        OCTETS => Form::Octets { data_coding },
        _ => return None,
    };
    let (source, destination) = (octets.address()?, octets.address()?);
    Some(Wire { source, destination, form, header: octets.rest().into() })
}

/// Both ends of a message whose parts are still to come.
pub(crate) fn ends_to_blob(source: &WrittenAddress, destination: &WrittenAddress) -> Blob {
    let mut blob = Blob::new();
    write_address(&mut blob, source);
    write_address(&mut blob, destination);
    blob
}

/// Returns both ends, or `None` if the blob is damaged.
pub(crate) fn ends_of(blob: &[u8]) -> Option<(WrittenAddress, WrittenAddress)> {
    let mut octets = Octets(blob);
    octets.address().zip(octets.address())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StoreError;

    fn wire(form: Form, header: &[u8]) -> Wire {
        Wire {
            source: WrittenAddress::new(1, 1, b"49"),
            destination: WrittenAddress::new(3, 0, b"808"),
            form,
            header: header.into(),
        }
    }

    #[test]
    fn it_is_read_back_as_it_was_and_the_octets_on_disk_do_not_change() {
        for (form, stored) in
            [(Form::Narrow, [1, 0]), (Form::Ucs2, [2, 0]), (Form::Octets { data_coding: 0xf5 }, [3, 0xf5])]
        {
            let came = wire(form, &[5, 0]);
            let blob = to_blob(&came);
            assert_eq!(blob[..3], [1, stored[0], stored[1]]);
            assert_eq!(blob[3..], [1, 1, 2, b'4', b'9', 3, 0, 3, b'8', b'0', b'8', 5, 0]);
            assert_eq!(of_blob(&blob).unwrap(), came);
        }
        let Wire { source, destination, .. } = wire(Form::Ucs2, b"");
        let ends = ends_to_blob(&source, &destination);
        assert_eq!(ends_of(&ends).unwrap(), (source, destination));
    }

    #[test]
    fn damaged_octets_are_told_for_what_they_are() {
        for blob in [&[][..], &[1], &[2, 1, 0], &[1, 9, 0, 0, 0, 0, 0, 0, 0], &[1, 1, 0, 0, 0, 9]] {
            let told = StoreError::from(of_blob(blob).unwrap_err()).to_string();
            assert_eq!(told, "invalid data in the database: how an inbound message came", "{blob:?}");
        }
        assert!(ends_of(&[0, 0, 1]).is_none());
    }
}
