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
mod tests {
    use super::*;

    fn form() -> MessageForm {
        MessageForm {
            recipients: ("+4915100000998".to_owned(), 3),
            sender: Some("Hermod".to_owned()),
            ..MessageForm::default()
        }
    }

    #[track_caller]
    fn check(form: MessageForm, index: u64, recipient: &str, text: &[u8]) {
        let messages = SmppMessages::new(form).expect("a good form");
        let mut buffers = MessageBuffers::default();
        // Whatever was written before leaves no trace.
        messages.write(index + 1, &mut buffers);
        let submit_sm = messages.write(index, &mut buffers);
        assert_eq!(submit_sm.destination, Address::international(recipient.as_bytes()));
        assert_eq!(submit_sm.text(), Hidden(text));
        assert_eq!(submit_sm.short_message.is_empty(), messages.form.payload);
    }

    #[test]
    fn messages_differ_in_recipient_and_text() {
        check(form(), 0, "4915100000998", b"Load test 0000000000");
        check(form(), 2, "4915100001000", b"Load test 0000000002");
        check(form(), 3, "4915100000998", b"Load test 0000000003");
        check(MessageForm { text_chars: 2, ..form() }, 123, "4915100000998", b"23");
        let ucs2 = MessageForm { text_chars: 11, data_coding: 8, ..form() };
        check(ucs2, 7, "4915100000999", b"\0L\x000\x000\x000\x000\x000\x000\x000\x000\x000\x007");
        let long = MessageForm { text_chars: 400, payload: true, ..form() };
        let text = [&b"Load test message ".repeat(22)[..390], b"0000000001"].concat();
        check(long, 1, "4915100000999", &text);
    }

    #[test]
    fn sender_kind_decides_ton_and_npi() {
        for (sender, expect) in [
            ("", Address::new(0, 0, b"")),
            ("Hermod", Address::alphanumeric(b"Hermod")),
            ("+4915112345678", Address::international(b"4915112345678")),
            ("80808", Address::new(0, 0, b"80808")),
        ] {
            let form = MessageForm { sender: Some(sender.to_owned()), ..form() };
            let messages = SmppMessages::new(form).expect("a good form");
            assert_eq!(messages.write(0, &mut MessageBuffers::default()).source, expect, "{sender}");
        }
    }

    #[track_caller]
    fn check_refusal(form: MessageForm, expect: &str) {
        assert_eq!(SmppMessages::new(form).expect_err("must be refused").to_string(), expect);
    }

    #[test]
    fn invalid_parameters_are_rejected() {
        let rule = "expected a plus, a first digit 1 to 9 and 7 to 15 digits in all";
        let to = |text: &str, count| MessageForm { recipients: (text.to_owned(), count), ..form() };
        check_refusal(to("4915100000000", 1), &format!(r#""4915100000000" is not a recipient: {rule}"#));
        check_refusal(to("+9999999", 2), "2 recipients from +9999999 would not all have 7 digits");
        let sender = MessageForm { sender: Some("twelve chars".to_owned()), ..form() };
        let kinds = "expected a plus and digits, digits, or 1 to 11 ASCII characters";
        check_refusal(sender, &format!(r#""twelve chars" is not a sender: {kinds}"#));
        let long = MessageForm { text_chars: 255, ..form() };
        let sentence =
            "a text of 255 octets does not fit into short_message (254 octets): send it in message_payload";
        check_refusal(long, sentence);
        let none = MessageForm { text_chars: 0, ..form() };
        check_refusal(none, "a text must have between 1 and 16000 octets, not 0");
    }
}
