//! Unit tests of `sms_options.rs`.

use super::*;

#[test]
fn header_reduces_the_units_of_one_part() {
    let none = SmsOptions::default();
    let concat =
        SmsOptions { concat: Some(ConcatPart { reference: 1, total: 2, part: 1 }), ..SmsOptions::default() };
    let own = |octets: usize| SmsOptions { header: vec![0; octets].into(), ..SmsOptions::default() };
    let cases = [
        (none.clone(), [160, 70, 140]),
        (concat.clone(), [153, 67, 134]),
        (own(6), [153, 67, 134]),
        (own(7), [152, 66, 133]),
        (own(140), [0, 0, 0]),
        (own(141), [0, 0, 0]),
    ];
    for (options, expect) in cases {
        let units =
            [Encoding::Gsm7, Encoding::Ucs2, Encoding::Octets].map(|encoding| options.units_max(encoding));
        assert_eq!(units, expect, "{options:?}");
    }
    assert!(none.is_plain() && !none.is_one_part());
    assert!(concat.is_one_part() && own(6).is_one_part() && !own(6).is_plain());
}
