//! GET requests in plain HTTP, for the health and the metrics of gateways on this machine.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::shell::Failure;

/// A gateway that does not answer for this long is not well.
const READ_WAIT: Duration = Duration::from_secs(10);

/// Returns the whole response, its head included.
pub(crate) fn get(address: &str, path: &str) -> Result<String, Failure> {
    let cannot = |cause: std::io::Error| Failure(format!("http://{address}{path}: {cause}"));
    let mut stream = TcpStream::connect(address).map_err(cannot)?;
    stream.set_read_timeout(Some(READ_WAIT)).map_err(cannot)?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(cannot)?;
    let mut response = String::new();
    stream.read_to_string(&mut response).map_err(cannot)?;
    Ok(response)
}

/// Whether the gateway at this address can serve.
pub(crate) fn is_ready(address: &str) -> bool {
    get(address, "/readyz").is_ok_and(|response| response.starts_with("HTTP/1.1 200"))
}
