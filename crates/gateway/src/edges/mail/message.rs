//! Writes a mail as RFC 5322 and RFC 2045 say: plain text in UTF-8, in Base64 if a line is long or not ASCII.

use crate::live_status::Mail;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermod_domain::time::Timestamp;

/// The longest line of a message without its line break (RFC 5322 section 2.1.1).
const LINE_CHARS_MAX: usize = 998;
/// The longest line of Base64 (RFC 2045 section 6.8).
const BASE64_LINE_CHARS: usize = 76;
/// Octets of a subject in one encoded word (RFC 2047 section 2: at most 75 characters).
const WORD_OCTETS_MAX: usize = 42;

/// Returns the message with lines that end in CR LF, as DATA sends it: a line that begins with a dot gets another one
/// (RFC 5321 section 4.5.2).
pub(super) fn encode(mail: &Mail, sender: &str, id: &str, now: Timestamp) -> String {
    let Mail { to, subject, text } = mail;
    let domain = sender.rsplit_once('@').map_or("localhost", |(_, domain)| domain);
    let is_plain = text.is_ascii() && text.lines().all(|line| line.len() <= LINE_CHARS_MAX);
    let (encoding, body) = if is_plain { ("7bit", text.clone()) } else { ("base64", in_base64(text)) };
    let head = format!(
        "From: Hermod <{sender}>\nTo: <{to}>\nSubject: {}\nDate: {}\nMessage-ID: <{id}@{domain}>\nMIME-Version: 1.0\n\
         Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: {encoding}\nAuto-Submitted: auto-generated\n\n",
        header_text(subject),
        date(now),
    );
    let mut message = String::with_capacity(head.len() + body.len() + 64);
    for line in head.lines().chain(body.lines()) {
        if line.starts_with('.') {
            message.push('.');
        }
        message.push_str(line);
        message.push_str("\r\n");
    }
    message
}

fn in_base64(text: &str) -> String {
    let encoded = STANDARD.encode(text.replace('\n', "\r\n"));
    let lines = encoded.as_bytes().chunks(BASE64_LINE_CHARS).map(String::from_utf8_lossy);
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a text for a header: encoded words (RFC 2047) if it is not printable ASCII, so that no text adds a header.
fn header_text(text: &str) -> String {
    if text.bytes().all(|b| b == b' ' || b.is_ascii_graphic()) && !text.contains("=?") {
        return text.to_owned();
    }
    let mut words = vec![String::new()];
    for c in text.chars() {
        let last = words.last_mut().expect("there is one");
        if last.len() + c.len_utf8() > WORD_OCTETS_MAX {
            words.push(c.to_string());
        } else {
            last.push(c);
        }
    }
    let words = words.iter().map(|word| format!("=?utf-8?B?{}?=", STANDARD.encode(word)));
    words.collect::<Vec<_>>().join("\n ")
}

/// RFC 5322 section 3.3, in UTC.
fn date(now: Timestamp) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let ((year, month, day), (hour, minute, second)) = now.to_utc();
    // 1970-01-01 was a Thursday.
    let weekday = usize::try_from(now.day().get().rem_euclid(7)).unwrap_or(0);
    let month = usize::try_from(month).ok().and_then(|month| MONTHS.get(month.checked_sub(1)?));
    let (weekday, month) = (DAYS[weekday], month.copied().unwrap_or("Jan"));
    format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} +0000")
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
