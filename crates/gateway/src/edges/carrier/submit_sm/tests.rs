//! Tests of the submit_sm of a part, field by field, for each profile setting.

use super::*;
use hermod_domain::carrier::{Addressing, DefaultAlphabet, Profile, SenderRewrite, TonNpi, VendorTlv};

const NOW: Timestamp = Timestamp::from_millis(1_794_700_800_000); // 2026-11-15T00:00:00Z
const THREE_DAYS: Duration = Duration::from_secs(3 * 24 * 3600);

/// One message and the profile it is encoded by.
struct Case {
    profile: Profile,
    from: &'static str,
    text: String,
    part: u8,
    whole: bool,
    left: Duration,
    tlvs: TlvBuffer,
    options: Option<SmsOptions>,
    is_3_4: bool,
}

impl Case {
    fn new(profile: Profile, text: &str) -> Case {
        Case {
            profile,
            from: "Hermod",
            text: text.to_owned(),
            part: 1,
            whole: false,
            left: THREE_DAYS,
            tlvs: TlvBuffer::new(),
            options: None,
            is_3_4: true,
        }
    }

    fn with<T>(&self, look: impl FnOnce(Option<SubmitSm<'_>>) -> T) -> T {
        let text = MessageText::parse(&self.text).unwrap();
        let measure = text.measure();
        let mut raw = Vec::new();
        for tlv in self.tlvs.as_tlvs() {
            raw.extend(tlv.tag.0.to_be_bytes());
            raw.extend(u16::try_from(tlv.value.len()).unwrap().to_be_bytes());
            raw.extend(tlv.value);
        }
        let part = PartToSend {
            number: PartNo::new(self.part).unwrap(),
            of: measure.parts,
            whole: self.whole,
            from: Sender::parse(self.from).unwrap(),
            to: Msisdn::parse("+4915112345678").unwrap(),
            text: &text,
            encoding: measure.encoding,
            reference: 0xAB,
            expires_at: NOW.plus(self.left),
            tlvs: &raw,
            options: self.options.as_ref(),
        };
        let mut draft = PartEncoder::new(&self.profile, "acme");
        draft.on_bound(self.is_3_4);
        // Leftovers of an earlier part must not appear.
        draft.source.extend(b"old");
        draft.body.extend(b"old");
        draft.tlvs.push_u8(Tag::PRIVACY_INDICATOR, 1);
        match draft.submit_sm(&part, NOW) {
            Some(Pdu::SubmitSm(submit_sm)) => look(Some(submit_sm)),
            Some(_) => panic!("another PDU"),
            None => look(None),
        }
    }

    /// `esm coding octets | tlvs`.
    fn text_shown(&self) -> String {
        self.with(|pdu| {
            let Some(pdu) = pdu else { return "nothing".to_owned() };
            let mut shown =
                format!("{:02x} {} {}", pdu.esm_class, pdu.data_coding, pdu.short_message.0.escape_ascii());
            for tlv in pdu.tlvs {
                shown.push_str(&format!(" | {:04x} {}", tlv.tag.0, tlv.value.escape_ascii()));
            }
            shown
        })
    }

    fn addresses_shown(&self) -> String {
        self.with(|pdu| {
            let pdu = pdu.unwrap();
            let shown = |address: Address<'_>| {
                format!("{}/{} {}", address.ton, address.npi, address.value.escape_ascii())
            };
            format!("{} -> {}", shown(pdu.source), shown(pdu.destination))
        })
    }

    fn validity_shown(&self) -> String {
        self.with(|pdu| String::from_utf8(pdu.unwrap().validity_period.to_vec()).unwrap())
    }
}

fn profile(change: impl FnOnce(&mut Profile)) -> Profile {
    let mut profile = Profile::default();
    change(&mut profile);
    profile
}

fn long(way: LongMessages) -> Profile {
    profile(|profile| profile.long_messages = way)
}

#[test]
fn single_part_message_is_plain_for_every_long_message_setting() {
    for way in [LongMessages::Udh, LongMessages::Sar, LongMessages::Payload] {
        for whole in [false, true] {
            let case = Case { whole, ..Case::new(long(way), "h@i") };
            assert_eq!(case.text_shown(), r"00 0 h\x00i", "{way:?} {whole}");
        }
    }
}

#[test]
fn long_messages_are_joined_as_the_profile_says() {
    let text = "a".repeat(152) + "@" + "bb@[";
    let first = "a".repeat(152) + r"\x00";
    let rest = r"bb\x00\x1b<";
    let text = "x".repeat(3 * 153) + &text;
    let at = |way, part, is_3_4| Case { part, is_3_4, ..Case::new(long(way), &text) }.text_shown();
    let udh = |part, body: &str| format!(r"40 0 \x05\x00\x03\xab\x05\x{part:02x}{body}");
    let sar = |part, body: &str| format!(r"00 0 {body} | 020c \x00\xab | 020e \x05 | 020f \x{part:02x}");
    assert_eq!(at(LongMessages::Udh, 4, true), udh(4, &first));
    assert_eq!(at(LongMessages::Udh, 5, true), udh(5, rest));
    assert_eq!(at(LongMessages::Sar, 4, true), sar(4, &first));
    assert_eq!(at(LongMessages::Sar, 5, true), sar(5, rest));
    // Without optional parameters there are no sar_* ones.
    assert_eq!(at(LongMessages::Sar, 5, false), udh(5, rest));
    // Cut before the profile was changed.
    assert_eq!(at(LongMessages::Payload, 5, true), udh(5, rest));
    assert_eq!(at(LongMessages::Udh, 6, true), "nothing");
}

#[test]
fn whole_message_is_sent_in_message_payload() {
    let case = |text: &str| Case { whole: true, ..Case::new(long(LongMessages::Payload), text) };
    assert_eq!(case(&"a@".repeat(100)).text_shown(), format!("00 0  | 0424 {}", r"a\x00".repeat(100)));
    assert_eq!(case(&"😀".repeat(40)).text_shown(), format!("00 8  | 0424 {}", r"\xd8=\xde\x00".repeat(40)));
    let plain = Case { is_3_4: false, ..case(&"a".repeat(200)) };
    assert_eq!(plain.text_shown(), "nothing", "it cannot be encoded");
}

#[test]
fn ucs2_fallback_stays_within_the_part() {
    let shown = |way, text: &str, part| {
        let profile = profile(|profile| {
            profile.alphabet = DefaultAlphabet::Latin1;
            profile.long_messages = way;
        });
        Case { part, ..Case::new(profile, text) }.text_shown()
    };
    let cut = |shown: String| shown.chars().filter(|character| *character == '?').count();
    assert_eq!(shown(LongMessages::Udh, "grüß 5€", 1), r"00 8 \x00g\x00r\x00\xfc\x00\xdf\x00 \x005 \xac");
    // 70 units fit alone; of several parts each has room for 67.
    assert!(shown(LongMessages::Udh, &("a".repeat(69) + "€"), 1).starts_with("00 8 "));
    assert!(shown(LongMessages::Udh, &("a".repeat(70) + "€"), 1).starts_with("00 0 aaa"));
    let ends_in = |units: usize| "a".repeat(153) + &"b".repeat(units - 1) + "€";
    for way in [LongMessages::Udh, LongMessages::Sar] {
        assert!(shown(way, &ends_in(67), 1).contains("aaa"), "the part without it is as it was");
        assert_eq!(cut(shown(way, &ends_in(67), 2)), 0);
        assert_eq!(cut(shown(way, &ends_in(68), 2)), 1);
    }
    // A whole message always fits.
    let profile = profile(|profile| profile.alphabet = DefaultAlphabet::Ascii);
    let whole = Case { whole: true, ..Case::new(profile, &"é".repeat(200)) };
    assert_eq!(whole.text_shown(), format!("00 8  | 0424 {}", r"\x00\xe9".repeat(200)));
}

#[test]
fn addresses_have_ton_and_npi_of_their_kind_and_a_plus_if_configured() {
    let odd = profile(|profile| {
        let of = |ton, npi| TonNpi { ton, npi };
        profile.source = Addressing { alphanumeric: of(5, 9), international: of(2, 8), short_code: of(6, 4) };
        profile.destination = of(0, 1);
        profile.plus = true;
    });
    for (from, standard, own) in [
        ("Hermod", "5/0 Hermod", "5/9 Hermod"),
        ("+49301234567", "1/1 49301234567", "2/8 +49301234567"),
        ("49301234567", "1/1 49301234567", "2/8 +49301234567"),
        ("80080", "3/0 80080", "6/4 80080"),
    ] {
        let shown = |profile: &Profile| Case { from, ..Case::new(profile.clone(), "hi") }.addresses_shown();
        assert_eq!(shown(&Profile::default()), format!("{standard} -> 1/1 4915112345678"));
        assert_eq!(shown(&odd), format!("{own} -> 0/1 +4915112345678"));
    }
}

#[test]
fn sender_is_rewritten_by_country_and_sender_rules() {
    let rule = |country: Option<&str>, from: Option<&str>, to: &str| SenderRewrite {
        country: country.map(|code| code.parse().unwrap()),
        from: from.map(|from| Sender::parse(from).unwrap()),
        to: Sender::parse(to).unwrap(),
    };
    let shown = |senders: Vec<SenderRewrite>| {
        Case::new(profile(|profile| profile.senders = senders), "hi").addresses_shown()
    };
    let to = "1/1 4915112345678";
    assert_eq!(shown(vec![rule(Some("DE"), None, "80080")]), format!("3/0 80080 -> {to}"));
    assert_eq!(shown(vec![rule(Some("FR"), None, "80080")]), format!("5/0 Hermod -> {to}"));
    assert_eq!(shown(vec![rule(None, Some("Hermod"), "+4930123456")]), format!("1/1 4930123456 -> {to}"));
    let first = vec![rule(Some("DE"), Some("Hermod"), "Odin"), rule(None, None, "Thor")];
    assert_eq!(shown(first), format!("5/0 Odin -> {to}"));
}

#[test]
fn validity_period_is_the_remaining_time_and_at_least_a_minute() {
    let shown = |format, left| {
        let profile = profile(|profile| profile.validity = format);
        Case { left, ..Case::new(profile, "hi") }.validity_shown()
    };
    let ms = Duration::from_millis;
    for (left, relative, absolute) in [
        (THREE_DAYS, "000003000000000R", "261118000000000+"),
        (THREE_DAYS - ms(1), "000002235959000R", "261117235959000+"),
        (ms(61_999), "000000000101000R", "261115000101000+"),
        (ms(59_000), "000000000100000R", "261115000100000+"),
        (ms(0), "000000000100000R", "261115000100000+"),
    ] {
        assert_eq!(shown(ValidityFormat::Relative, left), relative, "{left:?}");
        assert_eq!(shown(ValidityFormat::Absolute, left), absolute, "{left:?}");
        assert_eq!(shown(ValidityFormat::Off, left), "");
    }
    let ages = Duration::from_secs(20 * 365 * 24 * 3600);
    assert_eq!(shown(ValidityFormat::Absolute, ages), "", "a two-digit year cannot express it");
}

#[test]
fn tlvs_are_added_and_passed_through_where_the_carrier_allows_them() {
    let own = profile(|profile| {
        let own = |tag, value: &[u8]| VendorTlv { tag, value: value.to_vec() };
        profile.tlvs = vec![own(0x1400, b"entity"), own(0x1401, b"template")];
        profile.pass_tlvs = vec![0x1401, 0x1402];
    });
    let case = |profile: &Profile| Case::new(profile.clone(), "hi");
    assert_eq!(case(&own).text_shown(), "00 0 hi | 1400 entity | 1401 template");
    assert_eq!(Case { is_3_4: false, ..case(&own) }.text_shown(), "00 0 hi");
    let mut sent = TlvBuffer::new();
    sent.push(Tag(0x1403), b"no").push(Tag(0x1402), b"\x00two").push(Tag(0x1402), b"again");
    let passed = Case { tlvs: sent.clone(), ..case(&own) };
    assert_eq!(passed.text_shown(), r"00 0 hi | 1400 entity | 1401 template | 1402 \x00two");
    sent.push(Tag(0x1401), b"theirs").push(Tag::MESSAGE_PAYLOAD, b"no");
    let replaced = Case { tlvs: sent.clone(), ..case(&own) };
    assert_eq!(replaced.text_shown(), r"00 0 hi | 1400 entity | 1401 theirs | 1402 \x00two");
    assert_eq!(Case { tlvs: sent, ..case(&Profile::default()) }.text_shown(), "00 0 hi");
}

#[test]
fn service_type_and_registered_delivery_come_from_the_profile() {
    let asked = profile(|profile| {
        profile.service_type = "WAP".to_owned();
        profile.registered_delivery = 0x11;
    });
    let shown = |profile: Profile| {
        Case::new(profile, "hi").with(|pdu| {
            let pdu = pdu.unwrap();
            (pdu.service_type.to_vec(), pdu.registered_delivery)
        })
    };
    assert_eq!(shown(Profile::default()), (Vec::new(), 1));
    assert_eq!(shown(asked), (b"WAP".to_vec(), 0x11));
}

#[test]
fn ordinary_part_reuses_the_buffers() {
    let text = MessageText::parse("hello").unwrap();
    let part = PartToSend {
        number: PartNo::new(1).unwrap(),
        of: 1,
        whole: false,
        from: Sender::parse("Hermod").unwrap(),
        to: Msisdn::parse("+4915112345678").unwrap(),
        text: &text,
        encoding: Encoding::Gsm7,
        reference: 0,
        expires_at: NOW,
        tlvs: &[],
        options: None,
    };
    let mut draft = PartEncoder::new(&Profile::default(), "acme");
    let mut room = |_| {
        assert!(draft.submit_sm(&part, NOW).is_some());
        [&draft.source, &draft.destination, &draft.body].map(|buffer| (buffer.as_ptr(), buffer.capacity()))
    };
    let first = room(0);
    assert!((1..100).all(|again| room(again) == first));
}
