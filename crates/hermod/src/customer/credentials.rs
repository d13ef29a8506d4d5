//! Address, API key and API secret of a customer: from the command line, the environment or a file that only its owner may
//! read.

use super::{API_PATH, AccessArgs};
use crate::client::Url;
use crate::failure::Failure;
use crate::input_file::first_line;
use hermod_gateway::config::Source;
use hermod_gateway::secrets::Secret;
use hyper::header::HeaderValue;
use serde::Deserialize;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

const FILE: &str = ".config/hermod/credentials.toml";

pub(super) struct ApiCredentials {
    pub(super) url: Url,
    pub(super) ca: Option<PathBuf>,
    key: String,
    secret: Secret,
}

/// The fields of the file, all optional.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct CredentialsFile {
    url: Option<String>,
    api_key: Option<String>,
    api_secret: Option<String>,
    ca: Option<PathBuf>,
}

impl ApiCredentials {
    pub(super) fn find(access: AccessArgs) -> Result<ApiCredentials, Failure> {
        let AccessArgs { url, api_key, api_secret_file, api_secret, credentials, .. } = access;
        let file = read_file(credentials)?;
        let secret = match api_secret_file {
            Some(secret_file) => Some(first_line(&secret_file)?),
            None => api_secret,
        };
        // A secret belongs to its key: the secret of the file is not sent with another key.
        let same_key = api_key.is_none() || api_key == file.api_key;
        let url = url.or(file.url).ok_or_else(|| missing("address", "--url or HERMOD_URL"))?;
        let key =
            api_key.or(file.api_key).ok_or_else(|| missing("API key", "--api-key or HERMOD_API_KEY"))?;
        let secret = secret
            .or(file.api_secret.filter(|_| same_key))
            .ok_or_else(|| missing("API secret", "--api-secret-file or HERMOD_API_SECRET"))?;
        for (what, text) in [("API key", &key), ("API secret", &secret)] {
            if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(Failure::usage(format!("the {what} has invalid characters")));
            }
        }
        let url = Url::parse(&url, API_PATH).map_err(Failure::usage)?;
        Ok(ApiCredentials { url, ca: file.ca, key, secret: Secret::new(secret) })
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
    Failure::usage(format!("no {what}: give {how}, or write it to ~/{FILE}"))
}

/// Reads the file that is named, which must exist, or the default one if it exists.
fn read_file(named: Option<PathBuf>) -> Result<CredentialsFile, Failure> {
    let path = match named {
        Some(path) => path,
        None => match std::env::home_dir().map(|home| home.join(FILE)).filter(|path| path.exists()) {
            Some(path) => path,
            None => return Ok(CredentialsFile::default()),
        },
    };
    let metadata = std::fs::metadata(&path);
    let metadata = metadata.map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let path = path.display();
        return Err(Failure::usage(format!(
            "{path} is readable by others (mode {mode:04o}) and holds a secret: chmod 600 {path}"
        )));
    }
    Source::read(&path).and_then(|source| source.parse()).map_err(Failure::usage)
}
