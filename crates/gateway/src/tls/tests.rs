//! Tests of loading, reloading and expiring certificate files.

use super::*;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use std::path::Path;

const NOW: Timestamp = Timestamp::from_millis(1_750_000_000_000);

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn files(&self) -> CertificateFiles {
        CertificateFiles { certificate: self.0.path().join("chain.pem"), key: self.0.path().join("key.pem") }
    }

    fn write(&self, certificate: &str, key: &str) {
        let files = self.files();
        std::fs::write(files.certificate, certificate).unwrap();
        std::fs::write(files.key, key).unwrap();
    }

    fn load(&self) -> Result<Tls, CertificateError> {
        Tls::load(self.files(), &["http/1.1"], NOW)
    }

    /// Checks the error, without the folder's name.
    #[track_caller]
    fn check(&self, certificate: &str, key: &str, expect: &str) {
        self.write(certificate, key);
        let actual = self.load().err().expect("it is refused").to_string();
        let actual = actual.replace(&format!("{}/", self.0.path().display()), "");
        assert!(actual.starts_with(expect), "{actual}");
    }
}

/// Certificate and key as PEM.
fn pair(ends_in: i32) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.not_after = date_time_ymd(ends_in, 1, 1);
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

fn actual(look: &Look) -> &'static str {
    match look {
        Look::Unchanged => "unchanged",
        Look::Replaced => "replaced",
        Look::Kept(_) => "kept",
    }
}

#[test]
fn invalid_certificate_or_key_is_rejected_with_its_file() {
    let folder = Folder::new();
    let ((certificate, key), (_, other_key)) = (pair(2031), pair(2031));
    assert!(folder.load().err().unwrap().to_string().contains("chain.pem: cannot be read: No such file"));
    folder.check("", &key, "chain.pem: has no certificate in it (BEGIN CERTIFICATE)");
    folder.check(&key, &key, "chain.pem: has no certificate in it (BEGIN CERTIFICATE)");
    folder.check(&certificate[..200], &key, "chain.pem: is not PEM");
    folder.check(&certificate, "", "key.pem: has no private key in it (BEGIN PRIVATE KEY)");
    folder.check(&certificate, &certificate, "key.pem: has no private key in it (BEGIN PRIVATE KEY)");
    folder.check(&certificate, &other_key, "key.pem: is not the key of the certificate in chain.pem");
    let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    folder.check(garbage, &key, "chain.pem: cannot be used: ");
    let garbage = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    folder.check(&certificate, garbage, "key.pem: cannot be used: ");
    folder.check(&"x".repeat(2 << 20), &key, "chain.pem: has more than 1048576 bytes");
}

#[test]
fn new_pair_is_loaded_and_an_invalid_one_reported_once() {
    let folder = Folder::new();
    let ((certificate, key), (next_certificate, next_key)) = (pair(2031), pair(2032));
    folder.write(&certificate, &key);
    let tls = folder.load().unwrap();
    let look = || actual(&tls.look(NOW));
    assert_eq!(look(), "unchanged");

    // A renewal that writes the certificate first and the key later.
    folder.write(&next_certificate, &key);
    assert_eq!([look(), look()], ["kept", "unchanged"]);
    assert_eq!(tls.expires().unwrap().to_iso(), "2031-01-01T00:00:00Z");
    folder.write(&next_certificate, &next_key);
    assert_eq!([look(), look()], ["replaced", "unchanged"]);
    assert_eq!(tls.expires().unwrap().to_iso(), "2032-01-01T00:00:00Z");

    std::fs::remove_file(folder.files().key).unwrap();
    assert_eq!([look(), look()], ["kept", "unchanged"]);
    folder.write(&certificate, &key);
    assert_eq!([look(), look()], ["replaced", "unchanged"]);
}

#[test]
fn reload_always_reports_its_result() {
    let folder = Folder::new();
    let (certificate, key) = pair(2031);
    folder.write(&certificate, &key);
    let tls = folder.load().unwrap();
    assert_eq!(actual(&tls.reload(NOW)), "replaced");
    folder.write(&certificate, "nothing");
    assert_eq!([actual(&tls.reload(NOW)), actual(&tls.reload(NOW))], ["kept", "kept"]);
}

#[test]
fn expiry_is_warned_about_daily_from_thirty_days_before() {
    let folder = Folder::new();
    let (certificate, key) = pair(2031);
    folder.write(&certificate, &key);
    let tls = folder.load().unwrap();
    let warned = |tls: &Tls| tls.watched.lock().warned_on;
    let end = tls.expires().unwrap();
    let days = |count: u64| Duration::from_secs(count * 24 * 3600);
    tls.look(end.minus(days(31)));
    assert_eq!(warned(&tls), None);
    for left in [30, 29, 1] {
        let now = end.minus(days(left));
        tls.look(now);
        assert_eq!(warned(&tls), Some(now.day()), "{left} days before");
    }
    let now = end.plus(days(1));
    tls.look(now);
    assert_eq!(warned(&tls), Some(now.day()), "after the end");
}

#[test]
fn key_is_never_in_an_error_or_in_debug() {
    let folder = Folder::new();
    let (certificate, key) = pair(2031);
    folder.write(&certificate, &key.replace("PRIVATE", "PUBLIC"));
    let error = folder.load().err().unwrap();
    let secret = key.lines().nth(1).unwrap();
    assert!(!format!("{error} {error:?}").contains(secret));
    let pair = Pair::read(&CertificateFiles { key: Path::new("/dev/null").to_owned(), ..folder.files() });
    assert_eq!(format!("{:?}", pair.unwrap()), "Pair(…)");
}
