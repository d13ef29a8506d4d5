//! A raw SMPP client that records every PDU.

use crate::real_time::{PATIENCE, pause};
use bytes::BytesMut;
use hermod_smpp::{CommandId, CommandStatus, DeliverSmResp, Frame, Pdu, encode, next_frame};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const PDU_BYTES_MAX: u32 = 16_384;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

pub(super) struct Wire {
    stream: TcpStream,
    inbox: BytesMut,
    sequence: u32,
    /// Every PDU in the order it was sent or received.
    pub(super) pdus: Vec<(Side, Vec<u8>)>,
    pub(super) delivered: usize,
}

impl Wire {
    pub(super) async fn connect(address: SocketAddr) -> Wire {
        let stream = TcpStream::connect(address).await.expect("the gateway listens");
        Wire { stream, inbox: BytesMut::new(), sequence: 0, pdus: Vec::new(), delivered: 0 }
    }

    pub(super) fn client(&self) -> SocketAddr {
        self.stream.local_addr().expect("it is connected")
    }

    /// Sends a request and returns its response. Answers deliver_sm meanwhile.
    pub(super) async fn request(&mut self, request: &Pdu<'_>) -> Frame {
        self.sequence += 1;
        let sequence = self.sequence;
        self.send(request, sequence).await;
        loop {
            let frame = self.read_pdu().await.expect("a response before the end");
            if frame.header.command.is_response() && frame.header.sequence == sequence {
                return frame;
            }
        }
    }

    pub(super) async fn take_deliveries(&mut self, count: usize) {
        while self.delivered < count {
            self.read_pdu().await.expect("something is delivered");
        }
    }

    /// Asserts that the server closes without another PDU.
    pub(super) async fn assert_closed(&mut self) {
        assert!(self.read_pdu().await.is_none(), "a PDU came after the last response");
    }

    async fn send(&mut self, pdu: &Pdu<'_>, sequence: u32) {
        let mut octets = BytesMut::new();
        encode(pdu, CommandStatus::OK, sequence, &mut octets).expect("a PDU that can be written");
        self.stream.write_all(&octets).await.expect("it is read");
        self.pdus.push((Side::Client, octets.to_vec()));
    }

    async fn read_pdu(&mut self) -> Option<Frame> {
        let frame = loop {
            if let Some(frame) = next_frame(&mut self.inbox, PDU_BYTES_MAX).expect("PDUs") {
                break frame;
            }
            tokio::select! {
                read = self.stream.read_buf(&mut self.inbox) => {
                    if read.expect("no reset") == 0 {
                        return None;
                    }
                }
                () = pause(PATIENCE) => panic!("no PDU within {PATIENCE:?}"),
            }
        };
        self.pdus.push((Side::Server, frame.bytes().to_vec()));
        if frame.header.command == CommandId::DELIVER_SM {
            self.delivered += 1;
            let taken = Pdu::DeliverSmResp(DeliverSmResp::default());
            self.send(&taken, frame.header.sequence).await;
        }
        Some(frame)
    }
}
