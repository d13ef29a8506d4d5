//! Where webhooks may go. A customer's address is hostile input: it must not lead us to machines that only we can reach.
//! What can be seen in the text is refused when it is saved; where a name leads is only known when it is looked up, so
//! every address is judged again whenever one is dialled.

use ipnet::IpNet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest address that is kept.
pub const URL_CHARS_MAX: usize = 2_048;
/// RFC 1035 section 2.3.4.
const NAME_CHARS_MAX: usize = 253;
const LABEL_CHARS_MAX: usize = 63;
/// Below it are the well-known ports, of which web servers have two.
const PORT_FREE_MIN: u16 = 1_024;

/// An address of an account, taken apart.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl {
    pub tls: bool,
    pub host: Host,
    pub port: u16,
    /// Host and port as the `Host` header has them: the port only where it is not the scheme's own.
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

/// Without the path and query: they may hold a token.
impl fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookUrl")
            .field("tls", &self.tls)
            .field("authority", &self.authority)
            .finish_non_exhaustive()
    }
}

/// Why an address cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlRefusal {
    #[error("it has at most {URL_CHARS_MAX} characters")]
    TooLong,
    #[error("it begins with https:// (or http://, where that is allowed)")]
    Scheme,
    #[error(
        "it consists of printable ASCII characters; others are percent-encoded, and names with them have a form in ASCII"
    )]
    Characters,
    #[error("a name and password before the host are not allowed")]
    UserInfo,
    #[error("it has no fragment (#)")]
    Fragment,
    #[error("it has no host")]
    NoHost,
    #[error("the host is a name such as example.com, or an address in its usual form")]
    Host,
    #[error("the port is 80, 443 or {PORT_FREE_MIN} to 65535")]
    Port,
    #[error("the path and query have a % without two hexadecimal digits")]
    Encoding,
    #[error("plain http is not allowed by this installation")]
    PlainHttp,
    #[error("{address} is not to be called: {why}")]
    Forbidden { address: IpAddr, why: Forbidden },
}

/// Why nobody is called at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Forbidden {
    #[error("it is this machine")]
    Loopback,
    #[error("it is of a private network")]
    Private,
    #[error("it is of one link only")]
    LinkLocal,
    #[error("it is behind a carrier's address translation")]
    Shared,
    #[error("it tells a machine about itself")]
    Metadata,
    #[error("it is a group of machines")]
    Multicast,
    #[error("it stands for no machine")]
    Unspecified,
    #[error("it is for documents and tests")]
    Documentation,
    #[error("it is reserved")]
    Reserved,
    #[error("it is an IPv4 address in an IPv6 one")]
    Embedded,
}

/// What an operator allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressRules {
    pub allow_http: bool,
    /// Networks that may be called although they would be forbidden.
    pub allow: Vec<IpNet>,
}

impl AddressRules {
    /// Judges an address of an account by what can be seen in it.
    pub fn judge(&self, text: &str) -> Result<WebhookUrl, UrlRefusal> {
        let url = WebhookUrl::parse(text)?;
        if !url.tls && !self.allow_http {
            return Err(UrlRefusal::PlainHttp);
        }
        match &url.host {
            Host::Address(address) => self.judge_address(*address)?,
            // RFC 6761 section 6.3: whoever answers for it, it is this machine.
            Host::Name(name) if name == "localhost" || name.ends_with(".localhost") => {
                self.judge_address(IpAddr::V4(Ipv4Addr::LOCALHOST))?;
            }
            Host::Name(_) => {}
        }
        Ok(url)
    }

    /// Judges an address that is about to be dialled.
    pub fn judge_address(&self, address: IpAddr) -> Result<(), UrlRefusal> {
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
    /// Takes an address apart. Stricter than browsers: what two programs could read in two ways is refused.
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
        let (place, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if place.contains('@') {
            return Err(UrlRefusal::UserInfo);
        }
        check_encoding(target)?;
        let (host, port) = split_port(place)?;
        let host = parse_host(host)?;
        let usual = if tls { 443 } else { 80 };
        let port = match port {
            None => usual,
            Some(port) => parse_port(port)?,
        };
        let shown = match &host {
            Host::Name(name) => name.clone(),
            Host::Address(IpAddr::V4(address)) => address.to_string(),
            Host::Address(IpAddr::V6(address)) => format!("[{address}]"),
        };
        let authority = if port == usual { shown } else { format!("{shown}:{port}") };
        let target = if target.starts_with('/') { target.to_owned() } else { format!("/{target}") };
        Ok(WebhookUrl { tls, host, port, authority, target })
    }
}

fn split_port(place: &str) -> Result<(&str, Option<&str>), UrlRefusal> {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(UrlRefusal::Host)?;
        let host = &place[..host.len() + 2];
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err(UrlRefusal::Host),
        };
    }
    Ok(match place.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (place, None),
    })
}

fn parse_port(text: &str) -> Result<u16, UrlRefusal> {
    let plain = text.bytes().all(|octet| octet.is_ascii_digit()) && !text.starts_with('0');
    let port: u16 = text.parse().ok().filter(|_| plain).ok_or(UrlRefusal::Port)?;
    if port == 80 || port == 443 || port >= PORT_FREE_MIN { Ok(port) } else { Err(UrlRefusal::Port) }
}

/// A name, or an address in its one usual form. Whatever ends in a number is meant as an address: other programs read
/// `127.1`, `0x7f000001` and `2130706433` as one.
fn parse_host(text: &str) -> Result<Host, UrlRefusal> {
    if text.is_empty() {
        return Err(UrlRefusal::NoHost);
    }
    if let Some(inside) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        // A zone (%eth0) is of one machine only, and this form has none.
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

/// As a browser would read it: decimal, octal or hexadecimal.
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
    let whole = octets.iter().enumerate().all(|(at, octet)| *octet != b'%' || encoded(at));
    if whole { Ok(()) } else { Err(UrlRefusal::Encoding) }
}

/// Why nobody is called there, if so. By the registries of special addresses (RFC 6890 and what came after), and beyond
/// them: of IPv6 only what is given out as global unicast is called at all.
pub fn forbidden(address: IpAddr) -> Option<Forbidden> {
    match address {
        IpAddr::V4(address) => forbidden_v4(address),
        IpAddr::V6(address) => forbidden_v6(address),
    }
}

/// Where clouds answer machines' questions about themselves, outside the networks that are forbidden anyway.
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
        // Protocol assignments, and relays of 6to4.
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
        // Translated to IPv4 on the way (RFC 6052): judged by what it becomes. Other places for the address are a
        // network's own business (RFC 8215).
        (0x64, 0xff9b) if [c, d, e, f] == [0; 4] => forbidden_v4(v4(g, h)),
        (0x64, 0xff9b) => Some(Forbidden::Embedded),
        // Mapped and compatible.
        (0, 0) => Some(Forbidden::Embedded),
        (0xfc00..=0xfdff, _) => Some(Forbidden::Private),
        (0xfe80..=0xfebf, _) => Some(Forbidden::LinkLocal),
        (0xfec0..=0xfeff, _) => Some(Forbidden::Private),
        (0xff00..=0xffff, _) => Some(Forbidden::Multicast),
        (0x2002, _) => forbidden_v4(v4(b, c)).map(|_| Forbidden::Embedded),
        // Teredo: its server, and its client with every bit turned.
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
