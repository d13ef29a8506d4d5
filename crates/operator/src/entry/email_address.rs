//! Checks e-mail addresses, and writes them in one way.

/// RFC 5321 section 4.5.3.1.3, without the angle brackets.
const EMAIL_CHARS_MAX: usize = 254;

/// Returns an e-mail address in lower case; none if it cannot be one. Only a mail that arrives shows that it is.
pub fn canonical_email(text: &str) -> Option<String> {
    let (local, domain) = text.rsplit_once('@')?;
    let is_plain = |part: &str| part.bytes().all(|b| b.is_ascii_graphic() && !b"<>()[],;:\\\"/".contains(&b));
    let is_valid = !local.is_empty()
        && !local.contains('@')
        && domain.split('.').all(|label| !label.is_empty())
        && is_plain(text)
        && text.len() <= EMAIL_CHARS_MAX;
    is_valid.then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn email_addresses_are_checked_and_written_in_lower_case() {
        for (text, expect) in [
            ("ann@example.com", Some("ann@example.com")),
            ("Ann.Lee+sms@Example.COM", Some("ann.lee+sms@example.com")),
            ("root@localhost", Some("root@localhost")),
            ("ann", None),
            ("@example.com", None),
            ("ann@", None),
            ("ann@example..com", None),
            ("ann@@example.com", None),
            ("a b@example.com", None),
            ("ann@example.com\r\nBcc: x@example.com", None),
            ("ann/x@example.com", None),
            ("<ann@example.com>", None),
        ] {
            assert_eq!(canonical_email(text).as_deref(), expect, "{text}");
        }
        assert_eq!(canonical_email(&format!("{}@example.com", "a".repeat(250))), None);
    }
}
