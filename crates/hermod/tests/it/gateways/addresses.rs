//! Addresses of gateways.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

pub(crate) fn is_ready(address: SocketAddr) -> bool {
    use std::io::{Read, Write};
    let Ok(mut stream) = std::net::TcpStream::connect(address) else { return false };
    let asked = stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: hermod\r\nConnection: close\r\n\r\n");
    let mut answer = String::new();
    asked.and_then(|()| stream.read_to_string(&mut answer)).is_ok() && answer.starts_with("HTTP/1.1 200")
}

/// Returns an address that stays free while a gateway is stopped and started again. The system assigns no port of this range to
/// a connection or a listener, and this process uses each for one test.
pub(crate) fn free_address() -> SocketAddr {
    const PORTS: std::ops::Range<u16> = 10_000..32_000;
    static GIVEN: AtomicU16 = AtomicU16::new(0);
    // Other processes of the same run begin with another port.
    let first = usize::try_from(std::process::id()).expect("a small number") * 131;
    for _ in PORTS {
        let given = usize::from(GIVEN.fetch_add(1, Ordering::Relaxed));
        let port = PORTS.clone().nth((first + given) % PORTS.len()).expect("within the range");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
    panic!("no port of {PORTS:?} is free");
}
