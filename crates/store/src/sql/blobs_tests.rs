//! Unit tests of `blobs.rs`.

use super::*;
use crate::error::StoreError;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn all_options() -> impl Strategy<Value = SmsOptions> {
    let concat = option::of(any::<(u16, u8, u8)>());
    let codes = (option::of(any::<u8>()), any::<u8>(), option::of(any::<u8>()));
    (vec(any::<u8>(), 0..140), concat, codes).prop_map(
        |(header, concat, (class, protocol_id, data_coding))| {
            let concat = concat.map(|(reference, total, part)| ConcatPart { reference, total, part });
            SmsOptions { header: header.into(), concat, class, protocol_id, data_coding }
        },
    )
}

fn origins() -> impl Strategy<Value = (Origin, Option<Alias>)> {
    let address = || {
        (any::<u8>(), any::<u8>(), vec(any::<u8>(), 0..66))
            .prop_map(|(ton, npi, digits)| SmppAddress::new(ton, npi, &digits))
    };
    let alias = option::of(Alias::FIRST.get()..=u32::MAX).prop_map(|number| number.and_then(Alias::new));
    let rest = (option::of(any::<u16>()), vec(any::<u8>(), 0..20), alias);
    (any::<[bool; 5]>(), address(), address(), rest).prop_map(
        |([success, failure, intermediate, short_id, on_transmitter], source, destination, rest)| {
            let (reference, quote, alias) = rest;
            let registered_delivery = RegisteredDelivery { success, failure, intermediate };
            let quote = SmallVec::from_slice(&quote);
            (
                Origin {
                    registered_delivery,
                    short_id,
                    on_transmitter,
                    reference,
                    source,
                    destination,
                    quote,
                },
                alias,
            )
        },
    )
}

proptest! {
    #[test]
    fn every_option_is_read_back_as_it_was(options in all_options()) {
        prop_assert_eq!(options_of(&options_to_blob(&options)).unwrap(), options);
    }

    #[test]
    fn every_origin_is_read_back_as_it_was(origin in origins()) {
        prop_assert_eq!(origin_of(&origin_to_blob(&origin.0, origin.1)).unwrap(), origin);
    }

    #[test]
    fn any_octets_are_rejected_or_written_back_unchanged(octets in vec(any::<u8>(), 0..40)) {
        if let Ok(options) = options_of(&octets) {
            prop_assert_eq!(&options_to_blob(&options)[..], &octets[..]);
        }
        if let Ok((origin, alias)) = origin_of(&octets) {
            prop_assert_eq!(&origin_to_blob(&origin, alias)[..], &octets[..]);
        }
    }
}

#[test]
fn stored_format_does_not_change() {
    let concat = Some(ConcatPart { reference: 0x0102, total: 3, part: 2 });
    let options = SmsOptions { concat, class: Some(0), protocol_id: 7, ..SmsOptions::default() };
    assert_eq!(options_to_blob(&options)[..], [1, 3, 7, 1, 2, 3, 2, 0]);
    let header =
        SmsOptions { header: [5, 0, 3, 9, 2, 1].into(), data_coding: Some(0xf5), ..SmsOptions::default() };
    assert_eq!(options_to_blob(&header)[..], [1, 4, 0, 0xf5, 5, 0, 3, 9, 2, 1]);
    let origin = Origin {
        registered_delivery: RegisteredDelivery { success: true, failure: false, intermediate: true },
        short_id: true,
        on_transmitter: false,
        reference: Some(0x0a0b),
        source: SmppAddress::new(5, 0, b"Ab"),
        destination: SmppAddress::new(1, 1, b"49"),
        quote: SmallVec::from_slice(b"q"),
    };
    let expect = [1, 0x6d, 0x0a, 0x0b, 0x10, 0, 0, 0, 5, 0, 2, b'A', b'b', 1, 1, 2, b'4', b'9', b'q'];
    assert_eq!(origin_to_blob(&origin, Some(Alias::FIRST))[..], expect);
}

#[test]
fn damaged_blob_is_reported_as_invalid_data() {
    for blob in [&[][..], &[1], &[2, 0, 0], &[1, 0], &[1, 8, 0], &[1, 1, 0, 1, 2, 3], &[1, 2, 0]] {
        let text = StoreError::from(options_of(blob).unwrap_err()).to_string();
        assert_eq!(text, "invalid data in the database: a message's SMS options", "{blob:?}");
    }
    let no_alias = [1, 64, 0x0f, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0];
    for blob in [&[][..], &[1, 128], &[1, 0, 1, 1, 3, 1, 1], &[3, 0, 0, 0, 0, 0, 0, 0], &no_alias] {
        let text = StoreError::from(origin_of(blob).unwrap_err()).to_string();
        assert_eq!(text, "invalid data in the database: a message's origin", "{blob:?}");
    }
}
