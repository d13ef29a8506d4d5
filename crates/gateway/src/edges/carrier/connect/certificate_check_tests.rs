//! Unit tests of `certificate_check.rs`.

use super::*;

#[test]
fn fingerprints_are_read_as_tools_print_them() {
    let plain = "0123456789abcdef".repeat(4);
    let colons: Vec<String> =
        plain.as_bytes().chunks(2).map(|pair| String::from_utf8_lossy(pair).to_uppercase()).collect();
    for text in [plain.clone(), plain.to_uppercase(), colons.join(":")] {
        let Rule::Fingerprint(wanted) = CertificateCheck::by_fingerprint(&text).unwrap().rule else {
            panic!("{text}")
        };
        assert_eq!(hex(&wanted), plain);
    }
    for text in ["", "01", &plain[1..], &format!("{plain}0"), &plain.replace('0', "g"), &"é".repeat(32)] {
        assert_eq!(
            CertificateCheck::by_fingerprint(text).unwrap_err(),
            "invalid tls.fingerprint: expected a SHA-256 of 64 hexadecimal digits"
        );
    }
}
