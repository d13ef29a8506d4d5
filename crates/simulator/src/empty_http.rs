//! An endpoint that does nothing: it reads the body of `POST /api/v1/sms` and gives the answer an accepted
//! message would get, without looking at either. Benchmarks measure the gateway beside it with the same client,
//! so that the ratio says what durability costs and not how fast the machine is.

use std::io;
use std::net::SocketAddr;

use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::post;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::runtime;

/// As long as a real answer: 18 digits of id, the seven documented fields.
const ANSWER: &str = concat!(
    r#"{"message_id":"288230376151711743","status":"queued","to":"+4915112345678","from":"Hermod","#,
    r#""charged":true,"cost":0.065,"balance":99999.935}"#
);

/// A running empty endpoint.
pub struct EmptyHttp {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinHandle<io::Result<()>>,
}

impl EmptyHttp {
    /// Listens on `listen` (port 0: any free one) and serves until stopped.
    pub async fn start(listen: SocketAddr) -> io::Result<EmptyHttp> {
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let listener = listener.tap_io(|stream| {
            // A stream that refuses the option still serves, only slower: nothing to do about it here.
            let _ = stream.set_nodelay(true);
        });
        let (stop, stopped) = oneshot::channel();
        let app = Router::new().route("/api/v1/sms", post(accept));
        let serve = axum::serve(listener, app).with_graceful_shutdown(async {
            let _ = stopped.await;
        });
        let server = runtime::spawn(async move { serve.await });
        Ok(EmptyHttp { address, stop, server })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL clients are given.
    pub fn base_url(&self) -> String {
        format!("http://{}/api/v1", self.address)
    }

    /// Takes no new connections and waits for the open ones to end.
    pub async fn stop(self) -> io::Result<()> {
        // The server may have ended by itself; then there is nobody left to tell.
        let _ = self.stop.send(());
        self.server.await.expect("the endpoint's task does not panic")
    }
}

async fn accept(body: Bytes) -> impl IntoResponse {
    // Taking `Bytes` is what reads the whole body.
    drop(body);
    (StatusCode::ACCEPTED, [(header::CONTENT_TYPE, "application/json")], ANSWER)
}
