//! Kannel as a customer: its bearerbox binds, its smsbox accepts messages over HTTP, and its DLR callbacks arrive.

use super::fixture::{PASSWORD, SENDER, SYSTEM_ID, Stage};
use super::messages::{DESTINATION, LONG_PARTS, UCS2, long_text};
use super::program;
use crate::gateways::free_address;
use crate::real_time::{PATIENCE, now, pause};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

const SHORT: &str = "Hello from Kannel @ home";
/// Kannel's DLR mask bits: delivered, and accepted by the SMSC.
const DELIVERED: &str = "1";
const TAKEN: &str = "8";
/// All DLR mask bits.
const EVERY_REPORT: &str = "31";
const REQUEST_BYTES_MAX: usize = 8192;

#[tokio::test]
async fn kannel_messages_are_sent_and_its_dlr_callbacks_arrive() {
    for over_tls in [false, true] {
        let stage = Stage::set().await;
        send_three(&stage, over_tls).await;
        let carrier = stage.carrier();
        for text in [SHORT, &long_text(), UCS2] {
            assert_eq!(carrier.count_text(text), 1, "{text}: {:?}", carrier.received_texts());
        }
        let submits = carrier.submits();
        assert_eq!(submits.len(), 2 + LONG_PARTS);
        let parts = submits.iter().filter(|submit| submit.part.is_some() && submit.esm_class & 0x40 != 0);
        assert_eq!(parts.count(), LONG_PARTS, "the parts are those that Kannel made");
        let codings: Vec<_> = submits.iter().map(|submit| submit.data_coding).collect();
        assert_eq!(codings, [0, 0, 0, 0, 8]);
        stage.end().await;
    }
}

async fn send_three(stage: &Stage, over_tls: bool) {
    let reports = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
    let kannel = Kannel::start(stage, over_tls).await;
    let listening = reports.local_addr().expect("it listens");
    let long = long_text();
    for (name, coding, text) in [("short", "0", SHORT), ("long", "0", &long), ("ucs2", "2", UCS2)] {
        kannel.send(name, coding, text, listening).await;
        // Kannel reports for each message that it was accepted and that it was delivered, in any order.
        let mut statuses = Vec::new();
        for _ in 0..2 {
            let report = report(&reports).await;
            let about = report.strip_prefix(&format!("/dlr?name={name}&status="));
            let (status, text) = about.and_then(|about| about.split_once("&text=")).expect(&report);
            if status == DELIVERED {
                assert!(text.ends_with("+stat%3ADELIVRD+err%3A000+text%3A"), "{report}");
            }
            statuses.push(status.to_owned());
        }
        statuses.sort();
        assert_eq!(statuses, [DELIVERED, TAKEN], "{name}");
    }
    kannel.stop().await;
}

/// The bearerbox and smsbox processes.
struct Kannel {
    bearerbox: Child,
    smsbox: Child,
    send_address: SocketAddr,
    // The folder of their settings.
    _folder: tempfile::TempDir,
}

impl Kannel {
    /// Starts both and waits until the bearerbox is bound.
    async fn start(stage: &Stage, over_tls: bool) -> Kannel {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [admin, boxes, send_address] = [(); 3].map(|()| free_address());
        let smsc = if over_tls { stage.secure } else { stage.plain };
        let file = folder.path().join("kannel.conf");
        std::fs::write(&file, settings(smsc, over_tls, [admin, boxes, send_address])).expect("a file");
        let program = program("kannel");
        let bearerbox = spawn(&program, &file);
        until("the bearerbox runs", || async { status(admin).await.is_some() }).await;
        let smsbox = spawn(&program.with_file_name("smsbox"), &file);
        until("the link is up and the smsbox there", || async {
            let status = status(admin).await.unwrap_or_default();
            status.contains("(online ") && status.contains("smsbox:")
        })
        .await;
        until("the smsbox listens", || async { TcpStream::connect(send_address).await.is_ok() }).await;
        Kannel { bearerbox, smsbox, send_address, _folder: folder }
    }

    async fn send(&self, name: &str, coding: &str, text: &str, reports: SocketAddr) {
        let report_to = escaped(&format!("http://{reports}/dlr?name={name}&status=%d&text=%A"));
        let path = format!(
            "/cgi-bin/sendsms?username=shop&password=shop&from={SENDER}&to={DESTINATION}&coding={coding}&charset=utf-8\
             &text={}&dlr-mask={EVERY_REPORT}&dlr-url={report_to}",
            escaped(text)
        );
        let answer = get(self.send_address, &path).await.expect("an answer of the smsbox");
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
    }

    /// Stops the smsbox first, then the bearerbox, which unbinds.
    async fn stop(mut self) {
        for process in [&mut self.smsbox, &mut self.bearerbox] {
            let id = process.id().expect("it runs").to_string();
            let asked = Command::new("kill").args(["-TERM", &id]).status().await;
            assert!(asked.expect("kill is everywhere").success());
            tokio::select! {
                ended = process.wait() => assert!(ended.expect("it can be waited for").success()),
                () = pause(PATIENCE) => panic!("Kannel does not end"),
            }
        }
    }
}

fn spawn(program: &Path, settings: &Path) -> Child {
    let mut command = Command::new(program);
    // Only errors, on the standard error of the test.
    command.args(["-v", "4"]).arg(settings).stdin(Stdio::null()).kill_on_drop(true);
    command.spawn().unwrap_or_else(|error| panic!("{command:?} starts: {error}"))
}

fn settings(smsc: SocketAddr, over_tls: bool, [admin, boxes, send]: [SocketAddr; 3]) -> String {
    let [admin, boxes, send] = [admin, boxes, send].map(|address| address.port());
    let (host, port) = (smsc.ip(), smsc.port());
    format!(
        "group = core\nadmin-port = {admin}\nadmin-interface = 127.0.0.1\nadmin-password = admin\n\
         smsbox-port = {boxes}\nsmsbox-interface = 127.0.0.1\nbox-allow-ip = 127.0.0.1\ndlr-storage = internal\n\n\
         group = smsc\nsmsc = smpp\nsmsc-id = hermod\nhost = {host}\nport = {port}\nuse-ssl = {over_tls}\n\
         transceiver-mode = true\nsmsc-username = {SYSTEM_ID}\nsmsc-password = {PASSWORD}\nsystem-type = \"\"\n\
         address-range = \"\"\ninterface-version = 34\nsource-addr-ton = 5\nsource-addr-npi = 0\n\
         dest-addr-ton = 1\ndest-addr-npi = 1\nreconnect-delay = 1\n\n\
         group = smsbox\nbearerbox-host = 127.0.0.1\nbearerbox-port = {boxes}\nsendsms-port = {send}\n\
         sendsms-interface = 127.0.0.1\n\n\
         group = sendsms-user\nusername = shop\npassword = shop\nconcatenation = true\nmax-messages = 10\n"
    )
}

/// Returns the bearerbox's status page, if it answers.
async fn status(admin: SocketAddr) -> Option<String> {
    get(admin, "/status.txt?password=admin").await.ok()
}

/// Returns the whole response to a GET.
async fn get(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Answers the next DLR callback and returns its path.
async fn report(reports: &TcpListener) -> String {
    let (mut stream, _) = tokio::select! {
        accepted = reports.accept() => accepted.expect("a connection"),
        () = pause(PATIENCE) => panic!("no report came for {PATIENCE:?}"),
    };
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") && request.len() < REQUEST_BYTES_MAX {
        assert_ne!(
            stream.read_buf(&mut request).await.expect("a request"),
            0,
            "a request ends with a blank line"
        );
    }
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    stream.write_all(answer).await.expect("it is read");
    let request = String::from_utf8(request).expect("UTF-8");
    request.split(' ').nth(1).expect("a path").to_owned()
}

async fn until<F: Future<Output = bool>>(what: &str, is_so: impl Fn() -> F) {
    let started = now();
    while !is_so().await {
        assert!(started.elapsed() < PATIENCE, "timed out after {PATIENCE:?}: {what}");
        pause(Duration::from_millis(20)).await;
    }
}

fn escaped(text: &str) -> String {
    text.bytes().map(|octet| format!("%{octet:02X}")).collect()
}
