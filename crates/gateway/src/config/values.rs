//! Durations, sizes and networks in settings. Parsed here for clear error messages; the printed form parses again.

use ipnet::{IpNet, Ipv4Net};
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::ser::Serializer;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

/// A duration, such as "15s".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period(pub Duration);

/// A size, such as "64MiB".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// A network such as "10.0.0.0/8", or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IpNetwork(pub IpNet);

/// Largest first; each is a multiple of the next.
const PERIOD_UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
const BYTE_UNITS: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

const PERIOD_FORM: &str =
    "a time is a whole number and a unit: \"500ms\", \"15s\", \"10m\", \"72h\" or \"30d\"";
const BYTES_FORM: &str = "a size is a whole number and a unit: \"512B\", \"64KiB\", \"1MiB\" or \"2GiB\"";
const NETWORK_FORM: &str = "a network is an address, or one with the length of its prefix: \"192.0.2.7\", \"10.0.0.0/8\" or \
     \"2001:db8::/32\"";
/// RFC 4291 section 2.5.5.2: a v6 address with this many fixed bits holds a v4 address.
const MAPPED_BITS: u8 = 96;

impl Period {
    pub const fn from_secs(seconds: u64) -> Period {
        Period(Duration::from_secs(seconds))
    }

    pub const fn from_millis(millis: u64) -> Period {
        Period(Duration::from_millis(millis))
    }

    pub fn whole_ms(self) -> u64 {
        u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX)
    }

    pub fn parse(text: &str) -> Option<Period> {
        parse(text, &PERIOD_UNITS).map(|ms| Period(Duration::from_millis(ms)))
    }
}

impl From<Period> for Duration {
    fn from(period: Period) -> Duration {
        period.0
    }
}

impl Bytes {
    pub fn parse(text: &str) -> Option<Bytes> {
        parse(text, &BYTE_UNITS).map(Bytes)
    }
}

impl IpNetwork {
    /// Parses a network. Clears bits beyond the prefix; an IPv4-mapped IPv6 network becomes IPv4.
    pub fn parse(text: &str) -> Option<IpNetwork> {
        let net = match text.parse::<IpNet>() {
            Ok(net) => net.trunc(),
            Err(_) => IpNet::from(text.parse::<IpAddr>().ok()?),
        };
        let (IpAddr::V4(inside), Some(bits)) =
            (net.addr().to_canonical(), net.prefix_len().checked_sub(MAPPED_BITS))
        else {
            return Some(IpNetwork(net));
        };
        match net {
            IpNet::V4(_) => Some(IpNetwork(net)),
            IpNet::V6(_) => Ipv4Net::new(inside, bits).ok().map(|net| IpNetwork(IpNet::V4(net))),
        }
    }
}

fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// Writes the value in the largest exact unit.
fn write(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let (smallest, _) = units.last().expect("there are units");
    let fits = |(_, factor): &&(&str, u64)| value != 0 && value.is_multiple_of(*factor);
    match units.iter().find(fits) {
        Some((name, factor)) => write!(f, "{}{name}", value / factor),
        None => write!(f, "{value}{smallest}"),
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX), &PERIOD_UNITS)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.0, &BYTE_UNITS)
    }
}

/// A single address is written without a prefix length.
impl fmt::Display for IpNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let IpNetwork(net) = self;
        if net.prefix_len() == net.max_prefix_len() { net.addr().fmt(f) } else { net.fmt(f) }
    }
}

/// Deserializes a text with `parse`; the error describes the expected form.
struct Written<T> {
    parse: fn(&str) -> Option<T>,
    form: &'static str,
}

impl<T> Visitor<'_> for Written<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.form)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).ok_or_else(|| E::custom(format!("\"{text}\": {}", self.form)))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        Err(E::custom(format!("{} has no unit: {}", Unexpected::Signed(number), self.form)))
    }
}

macro_rules! written_as_text {
    ($name:ident, $form:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                deserializer.deserialize_any(Written { parse: $name::parse, form: $form })
            }
        }
    };
}

written_as_text!(Period, PERIOD_FORM);
written_as_text!(Bytes, BYTES_FORM);
written_as_text!(IpNetwork, NETWORK_FORM);

#[cfg(test)]
#[path = "values_tests.rs"]
mod tests;
