//! The messages of a run as `submit_sm`, computed from their index: recipient and a text with the message's number. They are
//! written into buffers of the caller, without allocation.

use hermod_smpp::{Address, Hidden, SubmitSm, Tag, TlvBuffer, Tlvs};
use thiserror::Error;

use crate::load::recipients::{NUMBER_DIGITS_MAX, Recipients, RecipientsRefusal, write_digits};

/// Octets of a `short_message`.
const SHORT_MESSAGE_BYTES_MAX: usize = 254;
/// Octets of a text: what fits into the largest PDU that servers are likely to accept.
const TEXT_BYTES_MAX: usize = 16_000;
/// `data_coding` of UCS-2.
const UCS2: u8 = 0x08;
/// Digits of the number in a text; shorter texts have its last digits.
const COUNTER_DIGITS: usize = 10;
/// The text around the number.
const FILLING: &[u8] = b"Load test message ";
/// Characters of an alphanumeric sender.
const NAME_CHARS_MAX: usize = 11;

/// The parameters of the messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageForm {
    /// The first recipient, with its plus, and the number of recipients.
    pub recipients: (String, u64),
    /// None: the server's default.
    pub sender: Option<String>,
    /// Characters of the text.
    pub text_chars: usize,
    pub data_coding: u8,
    /// Sends the text in `message_payload`.
    pub payload: bool,
    pub registered_delivery: u8,
}

impl Default for MessageForm {
    fn default() -> MessageForm {
        MessageForm {
            recipients: ("+4915100000000".to_owned(), 100_000_000),
            sender: None,
            text_chars: 20,
            data_coding: 0,
            payload: false,
            registered_delivery: 1,
        }
    }
}

/// Why the parameters are invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormRefusal {
    #[error(transparent)]
    Recipients(#[from] RecipientsRefusal),
    #[error("{0:?} is not a sender: expected a plus and digits, digits, or 1 to 11 ASCII characters")]
    BadSender(String),
    #[error(
        "a text of {bytes} octets does not fit into short_message (254 octets): send it in message_payload"
    )]
    NeedsPayload { bytes: usize },
    #[error("a text must have between 1 and {TEXT_BYTES_MAX} octets, not {0}")]
    BadLength(usize),
}

/// The messages of a run.
#[derive(Debug, Clone)]
pub struct SmppMessages {
    form: MessageForm,
    recipients: Recipients,
    sender_ton: u8,
    sender_npi: u8,
    sender: String,
}

/// The buffers of one message.
#[derive(Default)]
pub(super) struct MessageBuffers {
    recipient: Vec<u8>,
    text: Vec<u8>,
    tlvs: TlvBuffer,
}

impl SmppMessages {
    pub fn new(form: MessageForm) -> Result<SmppMessages, FormRefusal> {
        let recipients = Recipients::new(&form.recipients.0, form.recipients.1)?;
        let (sender_ton, sender_npi, sender) = parse_sender(form.sender.as_deref().unwrap_or(""))?;
        let bytes = form.text_bytes();
        if bytes == 0 || bytes > TEXT_BYTES_MAX {
            return Err(FormRefusal::BadLength(bytes));
        }
        if bytes > SHORT_MESSAGE_BYTES_MAX && !form.payload {
            return Err(FormRefusal::NeedsPayload { bytes });
        }
        Ok(SmppMessages { form, recipients, sender_ton, sender_npi, sender })
    }

    /// Whether a receipt is requested for every outcome.
    pub(super) fn want_receipts(&self) -> bool {
        self.form.registered_delivery & 0x03 == 1
    }

    /// Writes the message with this index.
    pub(super) fn write<'a>(&'a self, index: u64, buffers: &'a mut MessageBuffers) -> SubmitSm<'a> {
        let MessageBuffers { recipient, text, tlvs } = buffers;
        recipient.resize(self.recipients.digits, b'0');
        write_digits(recipient, self.recipients.number(index));
        self.write_text(index, text);
        tlvs.clear();
        let mut short_message = Hidden(text);
        let mut extra = Tlvs::EMPTY;
        if self.form.payload {
            tlvs.push(Tag::MESSAGE_PAYLOAD, text);
            short_message = Hidden(&[]);
            extra = tlvs.as_tlvs();
        }
        SubmitSm {
            source: Address::new(self.sender_ton, self.sender_npi, self.sender.as_bytes()),
            destination: Address::international(recipient),
            registered_delivery: self.form.registered_delivery,
            data_coding: self.form.data_coding,
            short_message,
            tlvs: extra,
            ..SubmitSm::default()
        }
    }

    /// Writes the filling text, with the message's number at its end.
    fn write_text(&self, index: u64, text: &mut Vec<u8>) {
        let chars = self.form.text_chars;
        text.clear();
        text.extend(FILLING.iter().cycle().take(chars));
        let counter_at = chars - chars.min(COUNTER_DIGITS);
        write_digits(&mut text[counter_at..], index);
        if self.form.data_coding == UCS2 {
            text.resize(2 * chars, 0);
            for at in (0..chars).rev() {
                text[2 * at + 1] = text[at];
                text[2 * at] = 0;
            }
        }
    }
}

impl MessageForm {
    fn text_bytes(&self) -> usize {
        self.text_chars.saturating_mul(if self.data_coding == UCS2 { 2 } else { 1 })
    }
}

/// Returns TON, NPI and the address.
fn parse_sender(text: &str) -> Result<(u8, u8, String), FormRefusal> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let is_digits = digits.bytes().all(|b| b.is_ascii_digit());
    match text {
        "" => Ok((0, 0, String::new())),
        _ if is_digits && !digits.is_empty() && digits.len() <= NUMBER_DIGITS_MAX => {
            let ton = u8::from(text.starts_with('+'));
            Ok((ton, ton, digits.to_owned()))
        }
        name if name.len() <= NAME_CHARS_MAX
            && name.bytes().all(|b| b == b' ' || b.is_ascii_graphic())
            && !is_digits =>
        {
            Ok((5, 0, name.to_owned()))
        }
        _ => Err(FormRefusal::BadSender(text.to_owned())),
    }
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
