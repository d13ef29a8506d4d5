//! What an SMPP customer may say about a message beyond its text: a user data header of its own, a message class, a
//! protocol identifier. Plain texts have none of it.

use super::Encoding;

/// What a handset takes in one piece, headers included.
pub const PART_OCTETS_MAX: usize = 140;
/// Octets of the header that joins parts, with an 8-bit reference.
const JOINING_OCTETS: usize = 6;

/// Which part of which long message this is, where the customer has cut it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Joined {
    pub reference: u16,
    pub total: u8,
    pub part: u8,
}

/// How a message differs from a plain one. Passed on to the carrier, in the carrier's own way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The customer's own user data header as it came, its length octet first. Empty: none.
    pub header: Box<[u8]>,
    /// The same thing said with the three `sar_*` parameters. Never together with a header.
    pub joined: Option<Joined>,
    /// 0 is shown at once and not kept.
    pub class: Option<u8>,
    pub protocol_id: u8,
    /// How octets are to be read that only customer and handset understand. Nothing: as 8-bit data.
    pub data_coding: Option<u8>,
}

impl Shape {
    /// There is nothing special about it.
    pub fn is_plain(&self) -> bool {
        let Shape { header, joined, class, protocol_id, data_coding } = self;
        header.is_empty() && joined.is_none() && class.is_none() && *protocol_id == 0 && data_coding.is_none()
    }

    /// It brings a header along, so it is one part whatever its length, and has to fit.
    pub fn is_one_part(&self) -> bool {
        !self.header.is_empty() || self.joined.is_some()
    }

    /// Units of an alphabet that fit beside the header.
    pub fn units_max(&self, encoding: Encoding) -> usize {
        let header = if self.joined.is_some() { JOINING_OCTETS } else { self.header.len() };
        let octets = PART_OCTETS_MAX.saturating_sub(header);
        match encoding {
            // The text begins at a whole septet behind the header.
            Encoding::Gsm7 => octets * 8 / 7,
            Encoding::Ucs2 => octets / 2,
            Encoding::Octets => octets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_leaves_as_much_room_as_handsets_know_it() {
        let none = Shape::default();
        let joined = Shape { joined: Some(Joined { reference: 1, total: 2, part: 1 }), ..Shape::default() };
        let own = |octets: usize| Shape { header: vec![0; octets].into(), ..Shape::default() };
        let cases = [
            (none.clone(), [160, 70, 140]),
            (joined.clone(), [153, 67, 134]),
            (own(6), [153, 67, 134]),
            (own(7), [152, 66, 133]),
            (own(140), [0, 0, 0]),
            (own(141), [0, 0, 0]),
        ];
        for (shape, expect) in cases {
            let units = [Encoding::Gsm7, Encoding::Ucs2, Encoding::Octets].map(|it| shape.units_max(it));
            assert_eq!(units, expect, "{shape:?}");
        }
        assert!(none.is_plain() && !none.is_one_part());
        assert!(joined.is_one_part() && own(6).is_one_part() && !own(6).is_plain());
    }
}
