//! Whose messages they are: address, key and secret, gathered from the command line, the environment and a file that only
//! its owner may read.

use super::{API_PATH, Access};
use crate::client::Url;
use crate::ending::Failure;
use crate::secret_file::first_line;
use hermod_gateway::config::Source;
use hermod_gateway::secrets::Secret;
use hyper::header::HeaderValue;
use serde::Deserialize;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

const FILE: &str = ".config/hermod/credentials.toml";

pub(super) struct Credentials {
    pub(super) url: Url,
    pub(super) ca: Option<PathBuf>,
    key: String,
    secret: Secret,
}

/// What the file may say. All of it can be given otherwise.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Kept {
    url: Option<String>,
    api_key: Option<String>,
    api_secret: Option<String>,
    ca: Option<PathBuf>,
}

impl Credentials {
    pub(super) fn find(access: Access) -> Result<Credentials, Failure> {
        let Access { url, api_key, api_secret_file, api_secret, credentials, .. } = access;
        let kept = kept(credentials)?;
        let secret = match api_secret_file {
            Some(file) => Some(first_line(&file)?),
            None => api_secret,
        };
        // A secret belongs to its key: the file's secret is not sent along with somebody else's key.
        let same_key = api_key.is_none() || api_key == kept.api_key;
        let url = url.or(kept.url).ok_or_else(|| missing("address", "--url or HERMOD_URL"))?;
        let key =
            api_key.or(kept.api_key).ok_or_else(|| missing("API key", "--api-key or HERMOD_API_KEY"))?;
        let secret = secret
            .or(kept.api_secret.filter(|_| same_key))
            .ok_or_else(|| missing("API secret", "--api-secret-file or HERMOD_API_SECRET"))?;
        for (what, text) in [("API key", &key), ("API secret", &secret)] {
            if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(Failure::mend(format!("the {what} has characters that no {what} has")));
            }
        }
        let url = Url::parse(&url, API_PATH).map_err(Failure::mend)?;
        Ok(Credentials { url, ca: kept.ca, key, secret: Secret::new(secret) })
    }

    pub(super) fn key_header(&self) -> HeaderValue {
        HeaderValue::try_from(&self.key).expect("it was checked to be printable")
    }

    pub(super) fn secret_header(&self) -> HeaderValue {
        let mut value = HeaderValue::try_from(self.secret.reveal()).expect("it was checked to be printable");
        value.set_sensitive(true);
        value
    }
}

fn missing(what: &str, how: &str) -> Failure {
    Failure::mend(format!("no {what}: say {how}, or write it into ~/{FILE}"))
}

/// A file that was named must be there; the one at the usual place need not.
fn kept(named: Option<PathBuf>) -> Result<Kept, Failure> {
    let path = match named {
        Some(path) => path,
        None => match std::env::home_dir().map(|home| home.join(FILE)).filter(|path| path.exists()) {
            Some(path) => path,
            None => return Ok(Kept::default()),
        },
    };
    let metadata = std::fs::metadata(&path);
    let metadata = metadata.map_err(|error| Failure::mend(format!("{}: {error}", path.display())))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let path = path.display();
        return Err(Failure::mend(format!(
            "{path} can be read by others (mode {mode:04o}), and it holds a secret: chmod 600 {path}"
        )));
    }
    Source::read(&path).and_then(|source| source.parse()).map_err(Failure::mend)
}
