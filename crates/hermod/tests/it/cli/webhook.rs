//! `hermod webhook verify` and `hermod webhook listen`.

use super::process::{Process, path, run};
use hermod_domain::webhook::signature::Signer;
use std::io::{Read, Write};
use std::net::TcpStream;

const SECRET: &str = "s3cret of a test";
const BODY: &str = "{\"message_id\":\"15483539504496640\",\"status\":\"DELIVRD\"}";

#[test]
fn webhook_verify_accepts_a_valid_signature_only() {
    let folder = tempfile::tempdir().unwrap();
    let (secret, body) = (folder.path().join("secret.txt"), folder.path().join("body.json"));
    std::fs::write(&secret, format!("{SECRET}\n")).unwrap();
    std::fs::write(&body, BODY).unwrap();
    let verify = |more: &[&str]| {
        run(&[&["webhook", "verify", "--secret-file", path(&secret), "--body", path(&body)][..], more]
            .concat())
    };
    let signer = Signer::new(SECRET);
    let (code, out, _) = verify(&["--signature", &signer.of_body(BODY.as_bytes())]);
    assert_eq!((code, out.as_str()), (0, "valid: signed with this secret in X-SVC-Signature\n"));

    let standard = format!("webhook-signature: {}", signer.of_event("evt_7", 1_794_754_616, BODY.as_bytes()));
    let headers = ["--header", "Webhook-Id: evt_7", "--header", "webhook-timestamp: 1794754616", "--header"];
    let (code, out, _) = verify(&[&headers[..], &[&standard]].concat());
    assert_eq!((code, out.as_str()), (0, "valid: signed with this secret in webhook-signature\n"));

    let (code, out, stderr) = verify(&["--signature", &signer.of_body(b"another body")]);
    assert_eq!((code, out.starts_with("NOT valid"), stderr.as_str()), (1, true, ""), "{out}");
    let (code, _, stderr) = verify(&["--header", "nonsense"]);
    assert_eq!((code, stderr.contains("write 'Name: value'")), (2, true), "{stderr}");
}

/// Posts a webhook and returns the status of the response.
fn post(address: &str, signature: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let length = BODY.len();
    let head = format!(
        "POST /dlr HTTP/1.1\r\nHost: x\r\nX-SVC-Signature: {signature}\r\nwebhook-id: evt_7\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    stream.write_all(format!("{head}{BODY}").as_bytes()).expect("it reads");
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).expect("it answers");
    String::from_utf8_lossy(&answer[9..]).into_owned()
}

#[test]
fn webhook_listen_prints_posts_and_rejects_invalid_signatures() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret.txt");
    std::fs::write(&secret, SECRET).unwrap();
    let mut listening = Process::start(&["webhook", "listen", "--port", "0", "--secret-file", path(&secret)]);
    let said = listening.first_line();
    let address = said.trim().strip_prefix("Listening on http://").and_then(|url| url.strip_suffix('/'));
    let address = address.unwrap_or_else(|| panic!("an address in {said}")).to_owned();

    assert_eq!(post(&address, &Signer::new(SECRET).of_body(BODY.as_bytes())), "200");
    assert_eq!(post(&address, &Signer::new("another").of_body(BODY.as_bytes())), "403");
    let mut shown = String::new();
    while shown.matches("valid: ").count() < 2 {
        let line = listening.first_line();
        assert!(!line.is_empty(), "the output ended after: {shown}");
        shown.push_str(&line);
    }
    for part in [
        "POST /dlr",
        "webhook-id       evt_7",
        "valid: signed with this secret in X-SVC-Signature",
        "NOT valid",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(shown.contains("\"status\": \"DELIVRD\""), "{shown}");
    assert_eq!(listening.terminate(), 0);
}
