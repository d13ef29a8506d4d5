//! The stored form of the addresses of an MO message with missing parts. The format is permanent.

use crate::sql::blobs::{Blob, Octets, write_address};
use hermod_domain::origin::SmppAddress;

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

    #[test]
    fn addresses_are_read_back_unchanged_and_damaged_ones_are_not() {
        let (source, destination) = (SmppAddress::new(1, 1, b"49"), SmppAddress::new(3, 0, b"808"));
        let ends = ends_to_blob(&source, &destination);
        assert_eq!(ends_of(&ends).unwrap(), (source, destination));
        assert!(ends_of(&[0, 0, 1]).is_none());
    }
}
