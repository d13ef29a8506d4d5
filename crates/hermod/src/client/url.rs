//! The base URL of a gateway. It is parsed strictly, because a mistyped URL would send a secret to another server.

use hyper::Uri;
use std::net::IpAddr;

/// An `http` or `https` URL without query, fragment and credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    is_https: bool,
    /// In lower case; an IPv6 address without brackets.
    host: String,
    port: u16,
    /// Without a trailing slash.
    path: String,
}

impl Url {
    /// Parses `http[s]://host[:port][/path]`. A URL without a path gets `default_path`.
    pub(crate) fn parse(text: &str, default_path: &str) -> Result<Url, String> {
        let invalid = |reason: &str| format!("invalid gateway URL {text:?}: {reason}");
        if text.contains('@') {
            return Err("invalid gateway URL: it must not contain a user name or password, which would be visible in \
                        process lists"
                .to_owned());
        }
        if !text.starts_with("https://") && !text.starts_with("http://") {
            return Err(invalid("it must begin with https:// or http://"));
        }
        let uri: Uri = text.parse().map_err(|_| invalid("its host, port or path is not valid"))?;
        let (Some(authority), Some(host)) = (uri.authority(), uri.host()) else {
            return Err(invalid("it has no host"));
        };
        // An authority with an invalid port has no port at all for `Uri`.
        let port = uri.port_u16().filter(|port| *port != 0);
        if authority.as_str() != port.map_or(host.to_owned(), |port| format!("{host}:{port}")) {
            return Err(invalid("its port must be a number from 1 to 65535"));
        }
        // `Uri` drops a fragment.
        if uri.query().is_some() || text.contains('#') {
            return Err(invalid("it must not have a query or fragment"));
        }
        let is_https = uri.scheme_str() == Some("https");
        let path = match uri.path().trim_end_matches('/') {
            "" => default_path,
            path => path,
        };
        Ok(Url {
            is_https,
            host: host.trim_matches(['[', ']']).to_ascii_lowercase(),
            port: port.unwrap_or(if is_https { 443 } else { 80 }),
            path: path.to_owned(),
        })
    }

    pub(crate) fn is_https(&self) -> bool {
        self.is_https
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Host and port, as in the `Host` header.
    pub(crate) fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match (self.is_https, self.port) {
            (true, 443) | (false, 80) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }

    /// Whether secrets are safe on the way: the connection is encrypted, or does not leave this machine.
    pub(crate) fn is_private(&self) -> bool {
        let is_loopback = self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        self.is_https || is_loopback || self.host == "localhost"
    }
}

impl std::fmt::Display for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}{}", if self.is_https { "https" } else { "http" }, self.authority(), self.path)
    }
}

/// Escapes a text as one segment of a path: all but unreserved characters become %XX.
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
#[path = "url_tests.rs"]
mod tests;
