//! Writes the PDUs of a connection as a capture file: raw IPv4 packets, one for each PDU.

use super::wire::Side;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

const MAGIC: u32 = 0xa1b2_c3d4;
const LINKTYPE_RAW: u32 = 101;
const PACKET_BYTES_MAX: u32 = 65_535;
const IP_HEADER_BYTES: usize = 20;
const TCP_HEADER_BYTES: usize = 20;
const PUSH_AND_ACKNOWLEDGE: u8 = 0x18;
const MICROSECONDS_APART: u32 = 1000;

/// A connection of two IPv4 addresses with the sequence number of each side.
struct Connection {
    client: SocketAddr,
    server: SocketAddr,
    client_sequence: u32,
    server_sequence: u32,
}

pub(super) fn write(path: &Path, client: SocketAddr, server: SocketAddr, said: &[(Side, Vec<u8>)]) {
    let mut file = Vec::new();
    file.extend(MAGIC.to_le_bytes());
    for version in [2u16, 4] {
        file.extend(version.to_le_bytes());
    }
    for field in [0, 0, PACKET_BYTES_MAX, LINKTYPE_RAW] {
        file.extend(field.to_le_bytes());
    }
    let mut connection = Connection { client, server, client_sequence: 1, server_sequence: 1 };
    for (place, (side, pdu)) in (0u32..).zip(said) {
        let packet = connection.packet(*side, pdu);
        let length = u32::try_from(packet.len()).expect("a PDU is short");
        for field in [0, place * MICROSECONDS_APART, length, length] {
            file.extend(field.to_le_bytes());
        }
        file.extend(packet);
    }
    std::fs::write(path, file).expect("a file in a temporary folder");
}

impl Connection {
    fn packet(&mut self, side: Side, pdu: &[u8]) -> Vec<u8> {
        let (client, server) = (self.client, self.server);
        let (from, to, sequence, acknowledged) = match side {
            Side::Client => (client, server, &mut self.client_sequence, self.server_sequence),
            Side::Server => (server, client, &mut self.server_sequence, self.client_sequence),
        };
        let length = u16::try_from(IP_HEADER_BYTES + TCP_HEADER_BYTES + pdu.len()).expect("a PDU is short");
        let mut packet = Vec::with_capacity(usize::from(length));
        // Version and header length, service, total length, identification and "do not fragment", time to live, TCP. No
        // checksum here nor below: captures on the sending machine have none either.
        packet.extend([0x45, 0]);
        packet.extend(length.to_be_bytes());
        packet.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        for address in [from, to] {
            let IpAddr::V4(address) = address.ip() else { panic!("{address} is no IPv4 address") };
            packet.extend(address.octets());
        }
        for port in [from.port(), to.port()] {
            packet.extend(port.to_be_bytes());
        }
        packet.extend(sequence.to_be_bytes());
        packet.extend(acknowledged.to_be_bytes());
        packet.extend([0x50, PUSH_AND_ACKNOWLEDGE, 0xff, 0xff, 0, 0, 0, 0]);
        packet.extend(pdu);
        *sequence += u32::try_from(pdu.len()).expect("a PDU is short");
        packet
    }
}
