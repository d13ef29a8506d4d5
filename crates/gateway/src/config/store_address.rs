//! Where the messages are stored: `[data] store`.

use crate::tls::authorities;
use hermod_store::{Server, StoreError};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use std::fmt;
use std::path::Path;

const EMBEDDED: &str = "embedded";
const FORM: &str = "a store is \"embedded\" or the address of a PostgreSQL server: \
     \"postgres://user:password@host:5432/database\"";
/// Parameters of the address: a file of certificate authorities, and the schema of the tables.
const ROOT_CERT: &str = "sslrootcert=";
const SCHEMA: &str = "schema=";
/// Stands for a password.
const HIDDEN: &str = "...";
/// Parameters that are printed with their value. Others, `password` among them, are hidden.
const PRINTED: [&str; 16] = [
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "load_balance_hosts",
    "port",
    "schema",
    "sslmode",
    "sslrootcert",
    "target_session_attrs",
    "user",
];

/// Where the messages are stored.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum StoreAddress {
    /// In the data folder.
    #[default]
    Embedded,
    /// On the server with this address, which may contain a password.
    Postgres(String),
}

impl StoreAddress {
    pub fn parse(text: &str) -> Option<StoreAddress> {
        match text {
            EMBEDDED => Some(StoreAddress::Embedded),
            _ if ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) => {
                Some(StoreAddress::Postgres(text.to_owned()))
            }
            _ => None,
        }
    }

    /// Returns the server; none for the embedded store. Reads the certificate authorities if it may need TLS: those of the
    /// file `sslrootcert` in the address, else those of this machine.
    pub fn server(&self) -> Result<Option<Server>, StoreError> {
        let StoreAddress::Postgres(url) = self else { return Ok(None) };
        let (url, file) = split_off(url, ROOT_CERT);
        let (url, schema) = split_off(&url, SCHEMA);
        let mut server = Server::parse(&url)?;
        if let Some(schema) = schema {
            server = server.with_schema(&schema);
        }
        if !server.may_use_tls() {
            return Ok(Some(server));
        }
        let authorities = authorities(file.as_deref().map(Path::new)).map_err(StoreError::Server)?;
        Ok(Some(server.with_authorities(authorities)))
    }
}

/// Returns the address without a parameter of our own, and the value of that parameter.
fn split_off(url: &str, name: &str) -> (String, Option<String>) {
    let Some((address, parameters)) = url.split_once('?') else { return (url.to_owned(), None) };
    let value = parameters.split('&').find_map(|parameter| parameter.strip_prefix(name));
    let others: Vec<&str> = parameters.split('&').filter(|parameter| !parameter.starts_with(name)).collect();
    (format!("{address}?{}", others.join("&")), value.map(str::to_owned))
}

/// Without the password.
impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StoreAddress::Postgres(url) = self else { return f.write_str(EMBEDDED) };
        let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
        let (place, parameters) = match (rest.find('@'), rest.find('?')) {
            // An @ in a parameter, or a ? in the password: it is not certain what is what.
            (Some(at), Some(query)) if query < at => return write!(f, "{scheme}://{HIDDEN}"),
            (_, Some(query)) => (&rest[..query], Some(&rest[query + 1..])),
            (_, None) => (rest, None),
        };
        // The last @ ends the password, which may contain others.
        match place.rsplit_once('@').map(|(sign_in, host)| (sign_in.split_once(':'), host)) {
            Some((Some((user, _)), host)) => write!(f, "{scheme}://{user}:{HIDDEN}@{host}")?,
            _ => write!(f, "{scheme}://{place}")?,
        }
        for (index, parameter) in parameters.into_iter().flat_map(|all| all.split('&')).enumerate() {
            let name = parameter.split_once('=').map_or("", |(name, _)| name);
            f.write_str(if index == 0 { "?" } else { "&" })?;
            match PRINTED.contains(&name) {
                true => f.write_str(parameter)?,
                false if name.bytes().all(|octet| octet.is_ascii_lowercase() || octet == b'_') => {
                    write!(f, "{name}={HIDDEN}")?;
                }
                false => f.write_str(HIDDEN)?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for StoreAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StoreAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StoreAddress, D::Error> {
        // The text is not repeated in the error: it may contain a password.
        StoreAddress::parse(&String::deserialize(deserializer)?).ok_or_else(|| D::Error::custom(FORM))
    }
}

#[cfg(test)]
#[path = "store_address_tests.rs"]
mod tests;
