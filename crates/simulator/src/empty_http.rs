//! A reference HTTP endpoint: reads the body of `POST /api/v1/sms` and returns a fixed response, as long as a real one.
//! Benchmarks run the same client against it and the gateway: the ratio shows the cost of durability, independent of the
//! machine.

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

/// As long as a real response: 18 digits of id, the seven documented fields.
const RESPONSE: &str = concat!(
    r#"{"message_id":"288230376151711743","status":"queued","to":"+4915112345678","from":"Hermod","#,
    r#""charged":true,"cost":0.065,"balance":99999.935}"#
);

/// A running reference endpoint.
pub struct EmptyHttp {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinHandle<io::Result<()>>,
}

impl EmptyHttp {
    /// Listens on `listen`; port 0 selects a free one.
    pub async fn start(listen: SocketAddr) -> io::Result<EmptyHttp> {
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let listener = listener.tap_io(|stream| {
            // Without the option the connection works, only slower.
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

    /// The base URL for clients.
    pub fn base_url(&self) -> String {
        format!("http://{}/api/v1", self.address)
    }

    /// Stops listening and waits for open connections to end.
    pub async fn stop(self) -> io::Result<()> {
        // The server may have ended by itself.
        let _ = self.stop.send(());
        self.server.await.expect("the endpoint's task does not panic")
    }
}

async fn accept(body: Bytes) -> impl IntoResponse {
    // The extractor `Bytes` reads the whole body.
    drop(body);
    (StatusCode::ACCEPTED, [(header::CONTENT_TYPE, "application/json")], RESPONSE)
}
