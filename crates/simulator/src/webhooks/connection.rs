//! One connection to a webhook receiver: reads requests one after another and treats each by the current behaviour.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use super::behaviour::ReceiverBehaviour;
use super::record::ReceivedPost;
use super::{CONNECTIONS_MAX, Shared};
use crate::runtime;

const HEAD_BYTES_MAX: usize = 64 * 1024;
const BODY_BYTES_MAX: usize = 1024 * 1024;
const HEADERS_MAX: usize = 100;
const _: () = assert!(
    CONNECTIONS_MAX * (HEAD_BYTES_MAX / 1024) < 2 * 1024 * 1024,
    "all heads together stay below 2 GiB"
);

/// Serves a connection until it ends. Errors of the connection are ignored.
pub(super) async fn run_connection(stream: TcpStream, acceptor: Option<TlsAcceptor>, shared: Arc<Shared>) {
    let ended = match acceptor {
        None => plain(stream, &shared).await,
        Some(acceptor) => match acceptor.accept(stream).await {
            Ok(stream) => serve(stream, &shared).await.map(drop),
            Err(error) => Err(error),
        },
    };
    drop(ended);
}

async fn plain(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    match serve(stream, shared).await? {
        End::Close(_) => Ok(()),
        // Closing with a linger time of zero resets the connection.
        End::Reset(stream) => {
            rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).map_err(io::Error::from)
        }
    }
}

/// How a connection ends.
enum End<S> {
    Close(S),
    Reset(S),
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, shared: &Shared) -> io::Result<End<S>> {
    let mut read = BytesMut::new();
    if *shared.behaviour.borrow() == ReceiverBehaviour::Deaf {
        std::future::pending::<()>().await;
    }
    while let Some(post) = read_request(&mut stream, &mut read).await? {
        let behaviour = shared.behaviour.borrow().clone();
        let is_valid = shared.check.as_ref().is_none_or(|check| check(&post));
        shared.record().add(post);
        if !is_valid {
            respond(&mut stream, 403, "").await?;
            continue;
        }
        match behaviour {
            ReceiverBehaviour::Status(status) => respond(&mut stream, status, "").await?,
            ReceiverBehaviour::Slow(wait) => {
                runtime::pause(wait).await;
                respond(&mut stream, 200, "").await?;
            }
            ReceiverBehaviour::Hang | ReceiverBehaviour::Deaf => std::future::pending::<()>().await,
            ReceiverBehaviour::Drip => drip(&mut stream).await?,
            ReceiverBehaviour::Endless => endless(&mut stream).await?,
            ReceiverBehaviour::Reset => return Ok(End::Reset(stream)),
            ReceiverBehaviour::Redirect(url) => {
                respond(&mut stream, 307, &format!("location: {url}\r\n")).await?
            }
            ReceiverBehaviour::Garbage => {
                stream.write_all(b"\x00\x01\x02 this is not HTTP\r\n\r\n").await?;
                return Ok(End::Close(stream));
            }
        }
    }
    Ok(End::Close(stream))
}

async fn respond<S: AsyncWrite + Unpin>(stream: &mut S, status: u16, header: &str) -> io::Result<()> {
    let response = format!("HTTP/1.1 {status} .\r\n{header}content-length: 2\r\n\r\nok");
    stream.write_all(response.as_bytes()).await?;
    stream.flush().await
}

async fn drip<S: AsyncWrite + Unpin>(stream: &mut S) -> io::Result<()> {
    for octet in b"HTTP/1.1 200 .\r\ncontent-length: 2\r\n\r\nok" {
        stream.write_all(&[*octet]).await?;
        stream.flush().await?;
        runtime::pause(Duration::from_secs(1)).await;
    }
    Ok(())
}

async fn endless<S: AsyncWrite + Unpin>(stream: &mut S) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 .\r\ntransfer-encoding: chunked\r\n\r\n").await?;
    let chunk = [b"1000\r\n".as_slice(), &[b'x'; 0x1000], b"\r\n"].concat();
    loop {
        stream.write_all(&chunk).await?;
    }
}

/// Reads the next request; none at the end of the connection.
async fn read_request<S: AsyncRead + Unpin>(
    stream: &mut S,
    read: &mut BytesMut,
) -> io::Result<Option<ReceivedPost>> {
    let head = loop {
        if let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            break read.split_to(end + 4);
        }
        if read.len() > HEAD_BYTES_MAX {
            return Err(io::Error::other("the request head is too long"));
        }
        if stream.read_buf(read).await? == 0 {
            return Ok(None);
        }
    };
    let mut post = parse_head(&head)?;
    let length = post.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    if length > BODY_BYTES_MAX {
        return Err(io::Error::other("the request body is too long"));
    }
    while read.len() < length {
        if stream.read_buf(read).await? == 0 {
            return Ok(None);
        }
    }
    post.body = read.copy_to_bytes(length);
    post.at = runtime::unix_time();
    Ok(Some(post))
}

fn parse_head(head: &[u8]) -> io::Result<ReceivedPost> {
    let invalid = || io::Error::other("not an HTTP request");
    let head = std::str::from_utf8(head).map_err(|_| invalid())?;
    let mut lines = head.split("\r\n");
    let mut request = lines.next().unwrap_or_default().split(' ');
    let (method, path) = request.next().zip(request.next()).ok_or_else(invalid)?;
    let headers = lines
        .take(HEADERS_MAX)
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    Ok(ReceivedPost {
        at: Duration::ZERO,
        method: method.to_owned(),
        path: path.to_owned(),
        headers: headers.collect(),
        body: bytes::Bytes::new(),
    })
}
