//! Reads sender and recipient of a submit. TON and NPI count only where the digits agree with them, because clients set
//! them inconsistently.

use hermod_domain::catalogue::SmppAccess;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::{Sender, SenderKind};
use hermod_smpp::{Address, CommandStatus};

const TON_INTERNATIONAL: u8 = 1;
/// The digit mode of a `callback_num` in ASCII.
const DIGITS_IN_ASCII: u8 = 1;
/// The defined NPI values (SMPP v3.4 section 5.2.6).
const PLANS: [u8; 10] = [0, 1, 3, 4, 6, 8, 9, 10, 14, 18];
/// The highest defined TON (SMPP v3.4 section 5.2.5).
const TON_LAST: u8 = 6;

/// Reads the sender. Returns `None` if the connection's default sender is to be used.
pub(in crate::edges::smpp) fn sender(
    source: Address<'_>,
    access: &SmppAccess,
) -> Result<Option<Sender>, CommandStatus> {
    if source.value.is_empty() {
        return Ok(None);
    }
    check(source, access, CommandStatus::INVSRCTON, CommandStatus::INVSRCNPI)?;
    let text = text_of(source).ok_or(CommandStatus::INVSRCADR)?;
    let digits = national_prefix_off(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|octet| octet.is_ascii_digit());
    let is_international = is_number && (source.ton == TON_INTERNATIONAL || digits.len() < text.len());
    let parsed = if is_international { Sender::parse(&format!("+{digits}")) } else { Sender::parse(text) };
    parsed.map(Some).map_err(|_| CommandStatus::INVSRCADR)
}

pub(in crate::edges::smpp) fn recipient(
    destination: Address<'_>,
    access: &SmppAccess,
) -> Result<Msisdn, CommandStatus> {
    check(destination, access, CommandStatus::INVDSTTON, CommandStatus::INVDSTNPI)?;
    let text = text_of(destination).ok_or(CommandStatus::INVDSTADR)?;
    Msisdn::parse_digits(national_prefix_off(text)).map_err(|_| CommandStatus::INVDSTADR)
}

/// Reads a `callback_num` (SMPP v3.4 section 5.3.2.36): digit mode, TON, NPI, digits. An invalid one does not reject
/// the message; it is passed on unchanged.
pub(super) fn callback(value: &[u8]) -> Option<Sender> {
    let [DIGITS_IN_ASCII, ton, _, digits @ ..] = value else { return None };
    let text = std::str::from_utf8(digits).ok()?.trim_end_matches('\0');
    let bare = national_prefix_off(text);
    let is_international = *ton == TON_INTERNATIONAL || bare.len() < text.len();
    let parsed = if is_international { Sender::parse(&format!("+{bare}")) } else { Sender::parse(text) };
    parsed.ok().filter(|number| number.kind() != SenderKind::Alphanumeric)
}

/// Rejects undefined TON and NPI values on strict connections.
fn check(
    address: Address<'_>,
    access: &SmppAccess,
    ton: CommandStatus,
    npi: CommandStatus,
) -> Result<(), CommandStatus> {
    if access.strict && address.ton > TON_LAST {
        return Err(ton);
    }
    if access.strict && !PLANS.contains(&address.npi) {
        return Err(npi);
    }
    Ok(())
}

fn text_of(address: Address<'_>) -> Option<&str> {
    std::str::from_utf8(address.value).ok()
}

/// Removes a leading `+` or `00`.
fn national_prefix_off(text: &str) -> &str {
    text.strip_prefix('+').or_else(|| text.strip_prefix("00")).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address<'_> {
        let (kind, value) = text.split_once(' ').unwrap();
        let (ton, npi) = kind.split_once('/').unwrap();
        Address::new(ton.parse().unwrap(), npi.parse().unwrap(), value.as_bytes())
    }

    fn access(strict: bool) -> SmppAccess {
        SmppAccess { strict, ..SmppAccess::new("shop", "") }
    }

    #[test]
    fn sender_kind_follows_from_ton_and_digits() {
        for (given, expect) in [
            ("5/0 Hermod", "Hermod Alphanumeric"),
            ("0/0 Hermod", "Hermod Alphanumeric"),
            ("1/1 4915112345678", "+4915112345678 International"),
            ("1/1 +4915112345678", "+4915112345678 International"),
            ("0/1 004915112345678", "+4915112345678 International"),
            ("0/0 4915112345678", "4915112345678 International"),
            ("3/0 80800", "80800 ShortCode"),
            ("6/0 80800", "80800 ShortCode"),
            ("0/1 80800", "80800 ShortCode"),
            ("1/1 80800", "+80800 International"),
            ("0/0 ", "none"),
            ("5/0 ThisIsTooLong", "0xa"),
            ("5/0 Bad!", "0xa"),
            ("1/1 12", "0xa"),
            ("1/1 +", "0xa"),
            ("9/99 Hermod", "Hermod Alphanumeric"),
        ] {
            let shown = match sender(address(given), &access(false)) {
                Ok(Some(sender)) => format!("{sender} {:?}", sender.kind()),
                Ok(None) => "none".to_owned(),
                Err(status) => format!("{:#x}", status.0),
            };
            assert_eq!(shown, expect, "{given}");
        }
        assert_eq!(sender(Address::new(5, 0, b"\xff"), &access(false)), Err(CommandStatus::INVSRCADR));
    }

    #[test]
    fn callback_num_is_read_if_it_is_a_number() {
        for (value, expect) in [
            (&b"\x01\x01\x014915700000001"[..], Some("+4915700000001")),
            (b"\x01\x00\x00004915700000001", Some("+4915700000001")),
            (b"\x01\x01\x01+4915700000001", Some("+4915700000001")),
            (b"\x01\x03\x0080800\0", Some("80800")),
            (b"\x01\x05\x00Hermod", None),
            (b"\x00\x01\x01\x94\x51", None),
            (b"\x01\x01\x01", None),
            (b"\x01", None),
            (b"\x01\x01\x01\xff", None),
        ] {
            let read = callback(value).map(|number| number.to_string());
            assert_eq!(read.as_deref(), expect, "{}", value.escape_ascii());
        }
    }

    #[test]
    fn recipient_must_be_an_international_number() {
        for (given, expect) in [
            ("1/1 4915112345678", "+4915112345678"),
            ("0/0 +4915112345678", "+4915112345678"),
            ("2/1 004915112345678", "+4915112345678"),
            ("9/9 4915112345678", "+4915112345678"),
            ("1/1 015112345678", "0xb"),
            ("1/1 123456", "0xb"),
            ("1/1 1234567890123456", "0xb"),
            ("5/0 Hermod", "0xb"),
            ("1/1 ", "0xb"),
        ] {
            let shown = match recipient(address(given), &access(false)) {
                Ok(number) => number.to_string(),
                Err(status) => format!("{:#x}", status.0),
            };
            assert_eq!(shown, expect, "{given}");
        }
    }

    #[test]
    fn strict_connection_rejects_undefined_ton_and_npi() {
        let strict = access(true);
        let known = Address::new(1, 1, b"4915112345678");
        let cases = [(7, 1, 0x50), (1, 2, 0x51)];
        assert!(recipient(known, &strict).is_ok());
        for (ton, npi, expect) in cases {
            let odd = Address { ton, npi, ..known };
            assert_eq!(recipient(odd, &strict).map_err(|status| status.0), Err(expect));
            assert_eq!(sender(odd, &strict).map_err(|status| status.0), Err(expect - 8));
        }
    }
}
