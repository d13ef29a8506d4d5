//! A mail server on the loopback that keeps what it receives.

use crate::real_time::{PATIENCE, now, pause};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A received mail: recipient, and everything after DATA.
type Received = (String, String);

pub(super) struct MailServer {
    pub(super) address: SocketAddr,
    mails: Arc<Mutex<Vec<Received>>>,
    /// Dropping it ends the server.
    _tasks: JoinSet<()>,
}

impl MailServer {
    pub(super) async fn start() -> MailServer {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let mails = Arc::new(Mutex::new(Vec::new()));
        let (mut tasks, kept) = (JoinSet::new(), mails.clone());
        tasks.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A lost connection is the gateway's to notice.
                let _ = receive(stream, &kept).await;
            }
        });
        MailServer { address, mails, _tasks: tasks }
    }

    pub(super) fn received(&self) -> Vec<Received> {
        self.mails.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for the mail number `count`, from 1.
    pub(super) async fn wait_for(&self, count: usize) -> Received {
        let started = now();
        loop {
            if let Some(mail) = self.received().get(count - 1) {
                return mail.clone();
            }
            assert!(started.elapsed() < PATIENCE, "no mail {count}: {:?}", self.received());
            pause(Duration::from_millis(20)).await;
        }
    }
}

/// Returns the path of the one-time link in a mail.
pub(super) fn link_in(text: &str) -> String {
    let (_, rest) = text.split_once("/links/").expect("a link");
    format!("/links/{}", rest.lines().next().unwrap_or_default())
}

async fn receive(stream: TcpStream, mails: &Mutex<Vec<Received>>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 here\r\n").await?;
    let (mut to, mut text, mut in_data) = (String::new(), String::new(), false);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let line = line.trim_end();
        if in_data && line != "." {
            text.push_str(&format!("{line}\n"));
            continue;
        }
        let answer: &[u8] = match line.split([' ', ':']).next() {
            Some("DATA") => b"354 go\r\n",
            Some("QUIT") => b"221 bye\r\n",
            _ => b"250 ok\r\n",
        };
        if let Some(address) = line.strip_prefix("RCPT TO:<") {
            to = address.trim_end_matches('>').to_owned();
        }
        if in_data {
            mails
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((to.clone(), std::mem::take(&mut text)));
        }
        in_data = line == "DATA";
        stream.write_all(answer).await?;
    }
}
