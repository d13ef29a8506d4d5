//! A client of the bare protocol, which keeps every octet that was said.

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
    /// Every PDU in the order it was written or came.
    pub(super) said: Vec<(Side, Vec<u8>)>,
    pub(super) delivered: usize,
}

impl Wire {
    pub(super) async fn connect(address: SocketAddr) -> Wire {
        let stream = TcpStream::connect(address).await.expect("somebody listens");
        Wire { stream, inbox: BytesMut::new(), sequence: 0, said: Vec::new(), delivered: 0 }
    }

    pub(super) fn client(&self) -> SocketAddr {
        self.stream.local_addr().expect("it is connected")
    }

    /// The answer to a request. What is delivered meanwhile is answered.
    pub(super) async fn asks(&mut self, request: &Pdu<'_>) -> Frame {
        self.sequence += 1;
        let sequence = self.sequence;
        self.says(request, sequence).await;
        loop {
            let frame = self.hears().await.expect("an answer, not the end");
            if frame.header.command.is_answer() && frame.header.sequence == sequence {
                return frame;
            }
        }
    }

    pub(super) async fn is_delivered(&mut self, count: usize) {
        while self.delivered < count {
            self.hears().await.expect("something is delivered");
        }
    }

    /// The server closes, and says nothing more before.
    pub(super) async fn ends(&mut self) {
        assert!(self.hears().await.is_none(), "something was said after the last answer");
    }

    async fn says(&mut self, pdu: &Pdu<'_>, sequence: u32) {
        let mut octets = BytesMut::new();
        encode(pdu, CommandStatus::OK, sequence, &mut octets).expect("a PDU that can be written");
        self.stream.write_all(&octets).await.expect("it is read");
        self.said.push((Side::Client, octets.to_vec()));
    }

    async fn hears(&mut self) -> Option<Frame> {
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
                () = pause(PATIENCE) => panic!("nothing was said for {PATIENCE:?}"),
            }
        };
        self.said.push((Side::Server, frame.bytes().to_vec()));
        if frame.header.command == CommandId::DELIVER_SM {
            self.delivered += 1;
            let taken = Pdu::DeliverSmResp(DeliverSmResp::default());
            self.says(&taken, frame.header.sequence).await;
        }
        Some(frame)
    }
}
