//! The demo's credentials, and its certificate with the private key, kept in files so that every start has the same ones. Only
//! their owner can read the credentials and the key. A real gateway never stores a secret of a customer in clear text.

use crate::failure::{CommandResult, Failure};
use hermod_gateway::clock::Clock;
use hermod_gateway::secrets::{passwords, random_token};
use hermod_gateway::tls::{CertificateFiles, Tls};
use hermod_operator::entry::plan::Made;
use hermod_operator::setup::file_entries::WantedSetup;
use rcgen::{CertificateParams, KeyPair};
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

const FILE: &str = "demo-credentials.json";
const DATABASE: &str = "hermod.db";
const PORTAL_PASSWORD_CHARS: usize = 16;
const CERTIFICATE: &str = "demo-certificate.pem";
const KEY: &str = "demo-certificate.key";

/// The file's content.
#[derive(Serialize, Deserialize)]
pub(super) struct DemoCredentials {
    #[serde(flatten)]
    pub(super) own: ApiKeyPair,
    /// The SMPP password of the demo's customer.
    pub(super) smpp_password: String,
    /// The password of the demo's user of the portal.
    pub(super) portal_password: String,
    /// Generated secrets of keys in a provision file.
    made: Vec<ApiKeyPair>,
}

/// The SMPP credentials of a customer.
#[derive(Clone, Serialize)]
pub(super) struct BindPair {
    pub(super) system_id: String,
    pub(super) password: String,
}

/// Returns the SMPP credentials in a provision file. Of other passwords only a hash is stored.
pub(super) fn binds_of(wanted: &WantedSetup) -> Vec<BindPair> {
    let known = wanted.connections.iter().filter_map(|connection| {
        let password = connection.password.as_ref()?.reveal().to_owned();
        Some(BindPair { system_id: connection.system_id.clone()?, password })
    });
    known.collect()
}

/// The API credentials of a customer.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct ApiKeyPair {
    pub(super) api_key: String,
    pub(super) api_secret: String,
}

impl DemoCredentials {
    pub(super) fn load_or_make(folder: &Path) -> Result<DemoCredentials, Failure> {
        let path = folder.join(FILE);
        let about = |error: std::io::Error| Failure::failed(format!("{}: {error}", path.display()));
        if path.exists() {
            let text = std::fs::read_to_string(&path).map_err(about)?;
            return serde_json::from_str(&text).map_err(|error| {
                Failure::usage(format!("{}: {error}; correct or remove it", path.display()))
            });
        }
        if folder.join(DATABASE).exists() {
            // It may hold real customers, who must not share it with a demo account.
            let folder = folder.display();
            return Err(Failure::usage(format!(
                "{folder} was not created by the demo; choose another --data-dir"
            )));
        }
        let own = ApiKeyPair {
            api_key: format!("demo-{}", random_token(12).map_err(about)?),
            api_secret: random_token(32).map_err(about)?,
        };
        let smpp_password = passwords::random().map_err(about)?.reveal().to_owned();
        let portal_password = random_token(PORTAL_PASSWORD_CHARS).map_err(about)?;
        let credentials = DemoCredentials { own, smpp_password, portal_password, made: Vec::new() };
        credentials.keep(folder)?;
        Ok(credentials)
    }

    /// Stores generated secrets.
    pub(super) fn remember(&mut self, secrets: &[Made], folder: &Path) -> CommandResult {
        if secrets.is_empty() {
            return Ok(());
        }
        for Made { key, secret } in secrets {
            self.made.retain(|pair| pair.api_key != *key);
            self.made.push(ApiKeyPair { api_key: key.clone(), api_secret: secret.reveal().to_owned() });
        }
        self.keep(folder)
    }

    /// Returns the keys of a provision file whose secrets are known: from the file, or generated here.
    pub(super) fn of_file(&self, wanted: &WantedSetup) -> Vec<ApiKeyPair> {
        let known = wanted.keys.iter().filter_map(|key| {
            let api_secret = match &key.secret {
                Some(secret) => secret.reveal().to_owned(),
                None => self.made.iter().find(|pair| pair.api_key == key.key)?.api_secret.clone(),
            };
            Some(ApiKeyPair { api_key: key.key.clone(), api_secret })
        });
        known.collect()
    }

    /// Writes the file under another name first, because an incomplete file would lock the demo out of its data.
    fn keep(&self, folder: &Path) -> CommandResult {
        let write = || {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            let draft = folder.join(format!("{FILE}.new"));
            let options =
                std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).clone();
            let mut file = options.open(&draft)?;
            file.write_all(serde_json::to_string_pretty(self)?.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&draft, folder.join(FILE))
        };
        write().map_err(|error| Failure::failed(format!("{}: {error}", folder.join(FILE).display())))
    }
}

pub(super) fn load_or_make_certificate(folder: &Path, clock: &Clock) -> Result<Tls, Failure> {
    let files = CertificateFiles { certificate: folder.join(CERTIFICATE), key: folder.join(KEY) };
    if !files.certificate.exists() || !files.key.exists() {
        make_certificate(&files)
            .map_err(|error| Failure::failed(format!("{}: {error}", files.certificate.display())))?;
    }
    Tls::load(files, &[], clock.now()).map_err(Failure::usage)
}

fn make_certificate(files: &CertificateFiles) -> std::io::Result<()> {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let key = KeyPair::generate().map_err(std::io::Error::other)?;
    let params = CertificateParams::new(names).map_err(std::io::Error::other)?;
    let certificate = params.self_signed(&key).map_err(std::io::Error::other)?;
    let mut file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&files.key)?;
    file.write_all(key.serialize_pem().as_bytes())?;
    std::fs::write(&files.certificate, certificate.pem())
}
