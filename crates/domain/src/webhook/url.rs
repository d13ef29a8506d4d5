//! Webhook URLs and the addresses that may be called. A customer's URL is hostile input: it must not reach machines of
//! the operator's networks (SSRF). The URL is checked when it is saved; a host name's addresses are checked again on
//! every connection, after the DNS look-up.

use ipnet::IpNet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest URL, in characters.
pub const URL_CHARS_MAX: usize = 2_048;
/// RFC 1035 section 2.3.4.
const NAME_CHARS_MAX: usize = 253;
const LABEL_CHARS_MAX: usize = 63;
/// The lowest port outside the well-known ones, of which only 80 and 443 are allowed.
const PORT_FREE_MIN: u16 = 1_024;

/// A parsed webhook URL.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl {
    pub tls: bool,
    pub host: Host,
    pub port: u16,
    /// The value of the `Host` header: host, and port unless it is the scheme's default.
    pub authority: String,
    /// Path and query, at least `/`.
    pub target: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// In lower case.
    Name(String),
    Address(IpAddr),
}

/// Prints no path and query: they may hold a token.
impl fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookUrl")
            .field("tls", &self.tls)
            .field("authority", &self.authority)
            .finish_non_exhaustive()
    }
}

/// Why a URL is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlRefusal {
    #[error("it must have at most {URL_CHARS_MAX} characters")]
    TooLong,
    #[error("it must begin with https:// (or http://, where that is allowed)")]
    Scheme,
    #[error(
        "it must consist of printable ASCII characters; percent-encode others, and write host names in Punycode"
    )]
    Characters,
    #[error("a user name and password are not allowed")]
    UserInfo,
    #[error("a fragment (#) is not allowed")]
    Fragment,
    #[error("it has no host")]
    NoHost,
    #[error("the host must be a name such as example.com, or an IP address in its canonical form")]
    Host,
    #[error("the port must be 80, 443 or {PORT_FREE_MIN} to 65535")]
    Port,
    #[error("a % in the path or query is not followed by two hexadecimal digits")]
    Encoding,
    #[error("plain http is not allowed here")]
    PlainHttp,
    #[error("{address} must not be called: {why}")]
    Forbidden { address: IpAddr, why: Forbidden },
}

/// Why an address must not be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Forbidden {
    #[error("it is a loopback address")]
    Loopback,
    #[error("it is in a private network")]
    Private,
    #[error("it is a link-local address")]
    LinkLocal,
    #[error("it is in the shared address space of carrier-grade NAT")]
    Shared,
    #[error("it is a cloud metadata service")]
    Metadata,
    #[error("it is a multicast address")]
    Multicast,
    #[error("it is the unspecified address")]
    Unspecified,
    #[error("it is reserved for documentation and tests")]
    Documentation,
    #[error("it is reserved")]
    Reserved,
    #[error("it is an IPv4 address embedded in an IPv6 address")]
    Embedded,
}

/// The operator's rules for webhook URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressRules {
    pub allow_http: bool,
    /// Networks that may be called although they are forbidden by default.
    pub allow: Vec<IpNet>,
}

impl AddressRules {
    /// Parses a customer's URL and checks it, without a DNS look-up.
    pub fn check(&self, text: &str) -> Result<WebhookUrl, UrlRefusal> {
        let url = WebhookUrl::parse(text)?;
        if !url.tls && !self.allow_http {
            return Err(UrlRefusal::PlainHttp);
        }
        match &url.host {
            Host::Address(address) => self.check_address(*address)?,
            // RFC 6761 section 6.3: localhost names always mean this machine.
            Host::Name(name) if name == "localhost" || name.ends_with(".localhost") => {
                self.check_address(IpAddr::V4(Ipv4Addr::LOCALHOST))?;
            }
            Host::Name(_) => {}
        }
        Ok(url)
    }

    /// Checks an address before a connection to it.
    pub fn check_address(&self, address: IpAddr) -> Result<(), UrlRefusal> {
        if self.allow.iter().any(|network| network.contains(&address)) {
            return Ok(());
        }
        match forbidden(address) {
            Some(why) => Err(UrlRefusal::Forbidden { address, why }),
            None => Ok(()),
        }
    }
}

impl WebhookUrl {
    /// Parses a URL. Stricter than browsers: text that two programs could parse differently is refused.
    pub fn parse(text: &str) -> Result<WebhookUrl, UrlRefusal> {
        if text.len() > URL_CHARS_MAX {
            return Err(UrlRefusal::TooLong);
        }
        if !text.bytes().all(|octet| octet.is_ascii_graphic())
            || text.contains(['\\', '"', '<', '>', '^', '`', '{', '|', '}'])
        {
            return Err(UrlRefusal::Characters);
        }
        let (scheme, rest) = text.split_once("://").ok_or(UrlRefusal::Scheme)?;
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return Err(UrlRefusal::Scheme),
        };
        if rest.contains('#') {
            return Err(UrlRefusal::Fragment);
        }
        let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(UrlRefusal::UserInfo);
        }
        check_encoding(target)?;
        let (host, port) = split_port(authority)?;
        let host = parse_host(host)?;
        let default_port = if tls { 443 } else { 80 };
        let port = match port {
            None => default_port,
            Some(port) => parse_port(port)?,
        };
        let host_text = match &host {
            Host::Name(name) => name.clone(),
            Host::Address(IpAddr::V4(address)) => address.to_string(),
            Host::Address(IpAddr::V6(address)) => format!("[{address}]"),
        };
        let authority = if port == default_port { host_text } else { format!("{host_text}:{port}") };
        let target = if target.starts_with('/') { target.to_owned() } else { format!("/{target}") };
        Ok(WebhookUrl { tls, host, port, authority, target })
    }
}

fn split_port(authority: &str) -> Result<(&str, Option<&str>), UrlRefusal> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(UrlRefusal::Host)?;
        let host = &authority[..host.len() + 2];
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err(UrlRefusal::Host),
        };
    }
    Ok(match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    })
}

fn parse_port(text: &str) -> Result<u16, UrlRefusal> {
    let plain = text.bytes().all(|octet| octet.is_ascii_digit()) && !text.starts_with('0');
    let port: u16 = text.parse().ok().filter(|_| plain).ok_or(UrlRefusal::Port)?;
    if port == 80 || port == 443 || port >= PORT_FREE_MIN { Ok(port) } else { Err(UrlRefusal::Port) }
}

/// Parses a host name or an address in its canonical form. A host that ends in a number must be an address: other
/// programs read `127.1`, `0x7f000001` and `2130706433` as one.
fn parse_host(text: &str) -> Result<Host, UrlRefusal> {
    if text.is_empty() {
        return Err(UrlRefusal::NoHost);
    }
    if let Some(inside) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        // A zone (%eth0) is valid on one machine only, so this form has none.
        return inside
            .parse::<Ipv6Addr>()
            .map(|v6| Host::Address(IpAddr::V6(v6)))
            .map_err(|_| UrlRefusal::Host);
    }
    let labels_fit = text.split('.').all(is_label);
    if !labels_fit || text.len() > NAME_CHARS_MAX {
        return Err(UrlRefusal::Host);
    }
    let last = text.rsplit('.').next().unwrap_or(text);
    if is_number(last) {
        return text
            .parse::<Ipv4Addr>()
            .map(|v4| Host::Address(IpAddr::V4(v4)))
            .map_err(|_| UrlRefusal::Host);
    }
    Ok(Host::Name(text.to_ascii_lowercase()))
}

fn is_label(label: &str) -> bool {
    (1..=LABEL_CHARS_MAX).contains(&label.len())
        && label.bytes().all(|octet| octet.is_ascii_alphanumeric() || octet == b'-' || octet == b'_')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Whether a browser reads the label as a number: decimal, octal or hexadecimal.
fn is_number(label: &str) -> bool {
    if label.bytes().all(|octet| octet.is_ascii_digit()) {
        return true;
    }
    let hex = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    hex.is_some_and(|digits| digits.bytes().all(|octet| octet.is_ascii_hexdigit()))
}

fn check_encoding(target: &str) -> Result<(), UrlRefusal> {
    let octets = target.as_bytes();
    let encoded =
        |at: usize| octets.get(at + 1..at + 3).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
    let is_valid = octets.iter().enumerate().all(|(at, octet)| *octet != b'%' || encoded(at));
    if is_valid { Ok(()) } else { Err(UrlRefusal::Encoding) }
}

/// Returns why an address must not be called; `None` if it may be. Follows the registries of special-purpose addresses
/// (RFC 6890 and successors); of IPv6, only global unicast may be called.
pub fn forbidden(address: IpAddr) -> Option<Forbidden> {
    match address {
        IpAddr::V4(address) => forbidden_v4(address),
        IpAddr::V6(address) => forbidden_v6(address),
    }
}

/// Metadata services of clouds, outside the networks that are forbidden anyway.
const METADATA_V4: [Ipv4Addr; 1] = [Ipv4Addr::new(168, 63, 129, 16)];

fn forbidden_v4(address: Ipv4Addr) -> Option<Forbidden> {
    let [a, b, c, _] = address.octets();
    if METADATA_V4.contains(&address) || address == Ipv4Addr::new(169, 254, 169, 254) {
        return Some(Forbidden::Metadata);
    }
    match (a, b, c) {
        (0, _, _) => Some(Forbidden::Unspecified),
        (10, _, _) | (172, 16..=31, _) | (192, 168, _) => Some(Forbidden::Private),
        (100, 64..=127, _) => Some(Forbidden::Shared),
        (127, _, _) => Some(Forbidden::Loopback),
        (169, 254, _) => Some(Forbidden::LinkLocal),
        (192, 0, 2) | (198, 51, 100) | (203, 0, 113) | (198, 18..=19, _) => Some(Forbidden::Documentation),
        // Protocol assignments and 6to4 relays.
        (192, 0, 0) | (192, 88, 99) | (240..=255, _, _) => Some(Forbidden::Reserved),
        (224..=239, _, _) => Some(Forbidden::Multicast),
        _ => None,
    }
}

fn forbidden_v6(address: Ipv6Addr) -> Option<Forbidden> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    if address.is_loopback() {
        return Some(Forbidden::Loopback);
    }
    if address.is_unspecified() {
        return Some(Forbidden::Unspecified);
    }
    match (a, b) {
        // NAT64 (RFC 6052): checked by the IPv4 address. Other positions of the address are local to a network (RFC
        // 8215).
        (0x64, 0xff9b) if [c, d, e, f] == [0; 4] => forbidden_v4(v4(g, h)),
        (0x64, 0xff9b) => Some(Forbidden::Embedded),
        // IPv4-mapped and IPv4-compatible.
        (0, 0) => Some(Forbidden::Embedded),
        (0xfc00..=0xfdff, _) => Some(Forbidden::Private),
        (0xfe80..=0xfebf, _) => Some(Forbidden::LinkLocal),
        (0xfec0..=0xfeff, _) => Some(Forbidden::Private),
        (0xff00..=0xffff, _) => Some(Forbidden::Multicast),
        (0x2002, _) => forbidden_v4(v4(b, c)).map(|_| Forbidden::Embedded),
        // Teredo: the server's address, and the client's with inverted bits.
        (0x2001, 0) => forbidden_v4(v4(c, d)).or(forbidden_v4(v4(!g, !h))).map(|_| Forbidden::Embedded),
        (0x2001, 0xdb8) | (0x3fff, 0..=0xfff) => Some(Forbidden::Documentation),
        (0x2001, 1..=0x1ff) => Some(Forbidden::Reserved),
        (0x2000..=0x3fff, _) => None,
        _ => Some(Forbidden::Reserved),
    }
}

fn v4(high: u16, low: u16) -> Ipv4Addr {
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    Ipv4Addr::new(a, b, c, d)
}

#[cfg(test)]
#[path = "url_tests.rs"]
mod tests;
