//! The file by which commands on this machine find the operator API.
//!
//! Over TLS it has the SHA-256 of the certificate in use, which commands expect, in a second line. It does not name the file of the
//! certificate: that may have another one, which the gateway has not loaded yet. Only the owner of the data folder can write it, as
//! with the token that commands send.

use crate::secrets::write_private;
use crate::tls::Tls;
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Its name in the data folder. It exists while a gateway runs.
pub const OPERATOR_URL_FILE: &str = "operator.url";

pub(super) struct OperatorUrl {
    folder: PathBuf,
    url: String,
    tls: Option<Arc<Tls>>,
    /// The content of the file.
    written: Mutex<Option<String>>,
}

impl OperatorUrl {
    /// `address`: where this machine reaches the operator API.
    pub(super) fn new(folder: &Path, address: SocketAddr, base: &str, tls: Option<Arc<Tls>>) -> OperatorUrl {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{address}{base}\n");
        OperatorUrl { folder: folder.to_owned(), url, tls, written: Mutex::default() }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.join(OPERATOR_URL_FILE)
    }

    /// Writes the file, unless it has the certificate in use.
    pub(super) fn write(&self) -> std::io::Result<()> {
        let mut written = self.written.lock();
        let mut text = self.url.clone();
        if let Some(fingerprint) = self.tls.as_ref().and_then(|tls| tls.fingerprint()) {
            text.push_str(&format!("{fingerprint}\n"));
        }
        if written.as_ref() != Some(&text) {
            write_private(&self.folder, OPERATOR_URL_FILE, text.as_bytes())?;
            *written = Some(text);
        }
        Ok(())
    }
}
