//! Tests of a session with a submit whose outcome is not known.

use super::*;
use crate::edges::smpp::bind::tests::{Stage, peer};
use crate::listeners::limit_key_of;
use bytes::BytesMut;
use futures_util::StreamExt as _;
use hermod_smpp::session::{BindRequest, CloseReason};
use hermod_smpp::{Hidden, SubmitSm, encode, next_frame};

impl CustomerSession {
    fn receive(&mut self, pdu: &Pdu<'_>, sequence: u32) {
        let mut octets = BytesMut::new();
        encode(pdu, CommandStatus::OK, sequence, &mut octets).unwrap();
        self.session.receive(&octets, self.gateway.clock.moment());
        self.turn();
    }

    async fn next_outcome(&mut self) -> RequestOutcome {
        self.working.next().await.unwrap()
    }

    /// Takes the output: commands and sequence numbers.
    fn take_sent(&mut self) -> Vec<(CommandId, u32)> {
        let mut octets = self.session.output().split();
        let frames = std::iter::from_fn(|| next_frame(&mut octets, 1 << 14).unwrap());
        frames.map(|frame| (frame.header.command, frame.header.sequence)).collect()
    }
}

#[tokio::test]
async fn bind_with_a_submit_of_unknown_outcome_gets_its_other_responses_and_ends() {
    let Stage { gateway, settings, _folder } = Stage::new(|_| {}).await;
    let peer = peer(1, false);
    let slot = settings.connection_limits.enter(limit_key_of(peer.address), settings.per_address).unwrap();
    let mut session = CustomerSession::new(gateway, Arc::new(settings), peer, Arc::new(slot));
    let bind = BindRequest::new(BindType::Transceiver, b"shop", b"secret08");
    session.receive(&Pdu::Bind(bind.kind, bind.bind), 1);
    let bound = session.next_outcome().await;
    session.on_outcome(bound);
    session.turn();
    assert_eq!(session.take_sent(), [(CommandId::BIND_TRANSCEIVER_RESP, 1)]);

    for sequence in [2, 3] {
        let submit = SubmitSm {
            source: Address::alphanumeric(b"Shop"),
            destination: Address::international(b"4915112345678"),
            short_message: Hidden(b"hello"),
            ..SubmitSm::default()
        };
        session.receive(&Pdu::SubmitSm(submit), sequence);
    }
    assert_eq!(session.take_sent(), [], "both are being decided");
    let (known, lost) = (session.next_outcome().await, session.next_outcome().await);
    let (RequestOutcome::Submitted(answered, _), RequestOutcome::Submitted(lost, _)) = (&known, lost) else {
        panic!("submits have another outcome")
    };
    let answered = answered.sequence;
    session.on_outcome(RequestOutcome::Unknown(lost));
    session.on_outcome(known);
    session.turn();
    let unbind = session.take_sent();
    assert_eq!(unbind, [(CommandId::UNBIND, 1), (CommandId::SUBMIT_SM_RESP, answered)]);
    assert_eq!(session.over, None, "the client has not responded");
    session.receive(&Pdu::UnbindResp, 1);
    assert_eq!((session.take_sent(), session.over), (vec![], Some(CloseReason::Unbound)));
}
