//! The messages that customers send, one of every kind, and the submits that the carrier must receive.

use hermod_simulator::carrier::{CarrierRecord, ReceivedSubmit};
use serde_json::{Value, json};

pub(super) const DESTINATION: &str = "4915112345678";
/// Characters with other codes than in ASCII, and one with code 0.
pub(super) const TEXT: &str = "Hello @ all: £1 = $1.30_";
pub(super) const UCS2: &str = "Привет, 世界 🌍";
const FLASH: &str = "Look up now";
const BINARY: [u8; 8] = [0x00, 0x01, 0x02, 0x1b, 0x7f, 0x80, 0xff, 0x00];
pub(super) const REFERENCE: u16 = 0x1234;
/// Of [`long_text`].
pub(super) const LONG_PARTS: usize = 3;

/// Returns a text of three parts in GSM-7.
pub(super) fn long_text() -> String {
    "Hermod rode nine nights through deep and dark valleys, and saw nothing at all. ".repeat(5)
}

pub(super) fn messages() -> Value {
    let hex: String = BINARY.iter().map(|octet| format!("{octet:02x}")).collect();
    json!({
        "destination": DESTINATION,
        "refused": "12",
        "text": TEXT,
        "long": long_text(),
        "ucs2": UCS2,
        "flash": FLASH,
        "binary": hex,
        "reference": REFERENCE,
    })
}

/// (name of a message, its submits by the client, parts made by the gateway)
pub(super) const SENT: [(&str, usize, usize); 7] = [
    ("short", 1, 1),
    ("parts", LONG_PARTS, 1),
    ("payload", 1, LONG_PARTS),
    ("ucs2", 1, 1),
    ("flash by subunit", 1, 1),
    ("flash by coding", 1, 1),
    ("binary", 1, 1),
];

/// Checks that the carrier received all messages once for each of `visits` runs.
#[track_caller]
pub(super) fn check(carrier: &CarrierRecord, visits: usize) {
    let submits = carrier.submits();
    let each: usize = SENT.iter().map(|(_, messages, parts)| messages * parts).sum();
    assert_eq!(submits.len(), visits * each, "the number of submits");
    assert!(submits.iter().all(|submit| submit.destination == DESTINATION && submit.source == "Hermod"));
    for (text, times) in [(TEXT, 1), (&long_text(), 2), (UCS2, 1)] {
        assert_eq!(carrier.count_text(text), visits * times, "{text}: {:?}", carrier.received_texts());
    }
    let count =
        |is_so: &dyn Fn(&ReceivedSubmit) -> bool| submits.iter().filter(|submit| is_so(submit)).count();
    let plain = |submit: &ReceivedSubmit| submit.header.is_empty() && submit.esm_class & 0x40 == 0;
    let short = count(&|submit| submit.text == TEXT && submit.data_coding == 0 && plain(submit));
    let ucs2 = count(&|submit| submit.text == UCS2 && submit.data_coding == 8 && plain(submit));
    let binary = count(&|submit| submit.octets == BINARY && submit.data_coding == 4 && plain(submit));
    let flash = count(&|submit| {
        // Class 0 in GSM-7 has two data codings.
        submit.octets == FLASH.as_bytes() && matches!(submit.data_coding, 0x10 | 0xf0) && plain(submit)
    });
    assert_eq!((short, ucs2, binary, flash), (visits, visits, visits, 2 * visits));
    for part in 1..=LONG_PARTS {
        let place = [u8::try_from(LONG_PARTS).expect("few"), u8::try_from(part).expect("few")];
        let seen = count(&|submit| submit.header.ends_with(&place) && submit.esm_class & 0x40 != 0);
        assert_eq!(seen, 2 * visits, "part {part}, split by the client and by the gateway");
    }
}
