//! The address of a gateway, read strictly: what is not plainly an address is refused with a sentence, because a wrong
//! one would carry a secret to a stranger.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const URL_BYTES_MAX: usize = 2048;
const HOST_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    https: bool,
    host: String,
    port: u16,
    /// Without a slash at its end.
    path: String,
}

impl Url {
    /// Reads `http[s]://host[:port][/path]`. An address without a path gets `default_path`.
    pub(crate) fn parse(text: &str, default_path: &str) -> Result<Url, String> {
        let wrong = |sentence: &str| format!("{text:?} is no address of a gateway: {sentence}");
        if text.len() > URL_BYTES_MAX {
            return Err(format!("an address has {URL_BYTES_MAX} characters at most"));
        }
        let (https, rest) = if let Some(rest) = text.strip_prefix("https://") {
            (true, rest)
        } else if let Some(rest) = text.strip_prefix("http://") {
            (false, rest)
        } else {
            return Err(wrong("it begins with https:// or http://"));
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err("a user name or password has no place in an address: it would show in process lists"
                .to_owned());
        }
        let (host, port) =
            split_port(authority).ok_or_else(|| wrong("its port is no number from 1 to 65535"))?;
        let host = read_host(host).ok_or_else(|| wrong("its host is neither a name nor an IP address"))?;
        let path = path.trim_end_matches('/');
        if !is_plain_path(path) {
            return Err(wrong("its path may have letters, digits and - . _ ~ / only"));
        }
        let path = if path.is_empty() { default_path } else { path };
        let port = port.unwrap_or(if https { 443 } else { 80 });
        Ok(Url { https, host, port, path: path.to_owned() })
    }

    pub(crate) fn is_https(&self) -> bool {
        self.https
    }

    /// An IPv6 address stands without brackets.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Host and port as they stand in an address.
    pub(crate) fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match (self.https, self.port) {
            (true, 443) | (false, 80) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }

    /// Nothing on the way can read along: it is encrypted, or it does not leave this machine.
    pub(crate) fn is_private(&self) -> bool {
        let loopback = self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        self.https || loopback || self.host == "localhost"
    }
}

impl std::fmt::Display for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}{}", if self.https { "https" } else { "http" }, self.authority(), self.path)
    }
}

fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let after_address = authority.find(']').map_or(0, |at| at + 1);
    match authority[after_address..].find(':') {
        None => Some((authority, None)),
        Some(at) => {
            let (host, port) = authority.split_at(after_address + at);
            let digits = &port[1..];
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            let port = plain.then(|| digits.parse::<u16>().ok()).flatten().filter(|port| *port != 0)?;
            Some((host, Some(port)))
        }
    }
}

fn read_host(text: &str) -> Option<String> {
    if let Some(inner) = text.strip_prefix('[') {
        let address: Ipv6Addr = inner.strip_suffix(']')?.parse().ok()?;
        return Some(address.to_string());
    }
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        // Nothing but digits and dots is an address or a mistake: "127.1" means other things to other programs.
        return text.parse::<Ipv4Addr>().ok().map(|address| address.to_string());
    }
    let is_label = |label: &str| {
        (1..=LABEL_BYTES_MAX).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let is_name = text.len() <= HOST_BYTES_MAX && text.split('.').all(is_label);
    is_name.then(|| text.to_ascii_lowercase())
}

fn is_plain_path(path: &str) -> bool {
    let plain = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte));
    plain && !path.split('/').any(|segment| segment == "." || segment == "..")
}

/// A text as one part of a path: whatever could mean something else there is written as %XX.
pub(crate) fn escape(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let read = Url::parse(text, "/api/v1");
        assert_eq!(read.map_or_else(|sentence| sentence, |url| format!("{url} as {}", url.host())), expect);
    }

    #[test]
    fn addresses_are_read_to_the_letter() {
        check("https://sms.example.com", "https://sms.example.com/api/v1 as sms.example.com");
        check("https://SMS.example.com:443/", "https://sms.example.com/api/v1 as sms.example.com");
        check("http://127.0.0.1:8080/api/v1/", "http://127.0.0.1:8080/api/v1 as 127.0.0.1");
        check("http://[::1]:8080", "http://[::1]:8080/api/v1 as ::1");
        check("http://[::1]/below/api", "http://[::1]/below/api as ::1");
    }

    #[test]
    fn whatever_is_no_address_is_refused() {
        for (text, expect) in [
            ("", "it begins with https:// or http://"),
            ("sms.example.com", "it begins with https:// or http://"),
            ("ftp://sms.example.com", "it begins with https:// or http://"),
            ("https://", "its host is neither"),
            ("https://a b", "its host is neither"),
            ("https://-a.com", "its host is neither"),
            ("https://a..com", "its host is neither"),
            ("https://127.1", "its host is neither"),
            ("https://[::1", "its port is no number"),
            ("https://[::1]x", "its host is neither"),
            ("https://exämple.com", "its host is neither"),
            ("https://a.com:", "its port is no number"),
            ("https://a.com:0", "its port is no number"),
            ("https://a.com:+80", "its port is no number"),
            ("https://a.com:65536", "its port is no number"),
            ("https://a.com/x?y=1", "its path may have"),
            ("https://a.com/#x", "its path may have"),
            ("https://a.com/../x", "its path may have"),
            ("https://a.com/\r\nX: y", "its path may have"),
            ("https://key:secret@a.com", "has no place in an address"),
        ] {
            let told = Url::parse(text, "/api/v1").expect_err(text);
            assert!(told.contains(expect), "{text}: {told}");
        }
    }

    #[test]
    fn only_the_loopback_is_private_without_encryption() {
        for (text, expect) in [
            ("https://a.com", true),
            ("http://a.com", false),
            ("http://localhost:80", true),
            ("http://127.9.9.9", true),
            ("http://[::1]", true),
            ("http://10.0.0.1", false),
            ("http://localhost.example.com", false),
        ] {
            assert_eq!(Url::parse(text, "").unwrap().is_private(), expect, "{text}");
        }
    }

    #[test]
    fn names_in_a_path_mean_themselves() {
        assert_eq!(escape("*/My Shop&Co"), "%2A%2FMy%20Shop%26Co");
        assert_eq!(escape("+49ä"), "%2B49%C3%A4");
    }
}
