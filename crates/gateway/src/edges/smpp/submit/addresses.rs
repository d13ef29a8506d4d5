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
#[path = "addresses_tests.rs"]
mod tests;
