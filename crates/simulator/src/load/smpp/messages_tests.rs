//! Unit tests of `messages.rs`.

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
