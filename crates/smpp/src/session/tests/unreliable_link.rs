//! Two sessions over an unreliable virtual link that delays, fragments, coalesces and cuts. Every request's token is
//! returned exactly once, and every reported response was sent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{START, acceptance, deliver, submit};
use crate::session::*;
use crate::*;

/// A small seeded random generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }
}

/// How a link transports octets.
#[derive(Clone, Copy, Debug)]
struct Style {
    delay_ms_max: u64,
    /// The maximum of octets that arrive together.
    chunk_max: u64,
    /// Octets are collected for this many milliseconds; 0 sends at once.
    gather_ms: u64,
}

/// One direction of the link, in order.
struct Wire {
    style: Style,
    in_flight: VecDeque<(Moment, Vec<u8>)>,
}

impl Wire {
    fn send(&mut self, octets: &[u8], now: Moment, random: &mut Random) {
        let Style { delay_ms_max, chunk_max, gather_ms } = self.style;
        let mut rest = octets;
        while !rest.is_empty() {
            let size = (1 + random.below(chunk_max)).min(rest.len() as u64) as usize;
            let (chunk, behind) = rest.split_at(size);
            let gathered = now.0.checked_div(gather_ms).map_or(now.0, |slot| (slot + 1) * gather_ms);
            let last = self.in_flight.back().map_or(START, |(at, _)| *at);
            let at = Moment(gathered + random.below(delay_ms_max + 1)).max(last);
            self.in_flight.push_back((at, chunk.to_vec()));
            rest = behind;
        }
    }

    fn next_at(&self) -> Option<Moment> {
        self.in_flight.front().map(|(at, _)| *at)
    }

    fn arrived(&mut self, now: Moment) -> Option<Vec<u8>> {
        self.next_at().filter(|at| *at <= now)?;
        self.in_flight.pop_front().map(|(_, octets)| octets)
    }
}

/// The results of the tokens.
#[derive(Default, Debug)]
struct Outcomes {
    responded: BTreeSet<u32>,
    in_doubt: BTreeSet<u32>,
    /// Timed out without a late response, by sequence number.
    overdue: BTreeMap<u32, u32>,
    late: BTreeSet<u32>,
}

impl Outcomes {
    fn note<T>(&mut self, event: &SessionEvent<u32>, other: T) -> T {
        let fresh = match event {
            SessionEvent::Response { token, .. } => self.responded.insert(*token),
            SessionEvent::TimedOut { sequence, token } => {
                self.in_doubt.insert(*token) && self.overdue.insert(*sequence, *token).is_none()
            }
            SessionEvent::LateResponse { sequence, .. } => {
                let token = self.overdue.remove(sequence).expect("only what timed out is responded late");
                self.late.insert(token)
            }
            SessionEvent::Lost(tokens) => tokens.iter().all(|token| self.in_doubt.insert(*token)),
            _ => true,
        };
        assert!(fresh, "a token came back twice: {event:?}");
        assert!(self.responded.is_disjoint(&self.in_doubt), "a token came back as two things: {event:?}");
        other
    }
}

struct Pair {
    now: Moment,
    random: Random,
    client: Session<u32>,
    server: Session<u32>,
    to_server: Wire,
    to_client: Wire,
    cut_at: Option<Moment>,
    /// Submits to send and sent.
    unsent: u32,
    submits: Outcomes,
    deliveries: Outcomes,
    /// Requests that the server's application will respond to, by time.
    pending: BTreeMap<(Moment, u32), Header>,
    /// The longest time for a response.
    answer_ms_max: u64,
    /// Receipts to send and sent.
    receipts_due: VecDeque<u32>,
    receipts_sent: u32,
    /// Submits that the server accepted, by sequence number.
    accepted: BTreeSet<u32>,
    closed: [Option<CloseReason>; 2],
}

impl Pair {
    fn new(seed: u64, style: Style, submits: u32, cut_at: Option<Moment>) -> Pair {
        let bind = BindRequest::new(BindType::Transceiver, b"acme", b"pw");
        let wire = || Wire { style, in_flight: VecDeque::new() };
        Pair {
            now: START,
            random: Random(seed),
            client: Session::client(ClientConfig::standard(), &bind, START).unwrap(),
            server: Session::server(ServerConfig::standard(), START),
            to_server: wire(),
            to_client: wire(),
            cut_at,
            unsent: submits,
            submits: Outcomes::default(),
            deliveries: Outcomes::default(),
            pending: BTreeMap::new(),
            answer_ms_max: 50,
            receipts_due: VecDeque::new(),
            receipts_sent: 0,
            accepted: BTreeSet::new(),
            closed: [None, None],
        }
    }

    /// Runs until both sides have closed. Virtual time advances only when nothing is left to do.
    fn run(mut self, submits: u32) -> Pair {
        for _ in 0..1_000_000 {
            if self.closed.iter().all(Option::is_some) {
                assert_eq!(
                    self.submits.responded.len() + self.submits.in_doubt.len() + self.unsent as usize,
                    submits as usize
                );
                assert_eq!(
                    self.deliveries.responded.len() + self.deliveries.in_doubt.len(),
                    self.receipts_sent as usize
                );
                return self;
            }
            if !(self.client_turn() | self.server_turn() | self.link_turn()) {
                self.advance();
            }
        }
        panic!("the pair never came to an end: {:?}", self.closed);
    }

    fn client_turn(&mut self) -> bool {
        let mut busy = false;
        while let Some(event) = self.client.next_event(self.now) {
            busy = true;
            match self.submits.note(&event, event_of(&event)) {
                Some(ResultKind::Request(header)) => {
                    let response = Pdu::DeliverSmResp(DeliverSmResp::default());
                    self.client.respond(header, &response, self.now).unwrap();
                }
                Some(ResultKind::Closed(reason)) => self.closed[0] = Some(reason),
                None => {}
            }
        }
        while self.unsent > 0 && self.client.window_free() > 0 {
            busy = true;
            self.client.request(&submit(), self.unsent, self.now).unwrap();
            self.unsent -= 1;
        }
        let settled = self.unsent == 0 && self.client.outstanding() == 0;
        let reported = self.receipts_due.is_empty() && self.server.outstanding() == 0;
        if settled
            && reported
            && self.pending.is_empty()
            && matches!(self.client.state(), SessionState::Bound(_))
        {
            self.client.unbind(self.now);
            busy = true;
        }
        let octets = self.client.output().split();
        self.to_server.send(&octets, self.now, &mut self.random);
        busy
    }

    fn server_turn(&mut self) -> bool {
        let mut busy = false;
        while let Some(event) = self.server.next_event(self.now) {
            busy = true;
            match (&event, self.deliveries.note(&event, event_of(&event))) {
                (SessionEvent::BindRequested(_), _) => {
                    self.server.accept_bind(&acceptance(), self.now).unwrap()
                }
                (_, Some(ResultKind::Request(header))) => {
                    let due = self.now.plus_ms(self.random.below(self.answer_ms_max));
                    self.pending.insert((due, header.sequence), header);
                }
                (_, Some(ResultKind::Closed(reason))) => self.closed[1] = Some(reason),
                (_, None) => {}
            }
        }
        while let Some(entry) = self.pending.first_entry().filter(|entry| entry.key().0 <= self.now) {
            busy = true;
            let header = entry.remove();
            let pdu = Pdu::SubmitSmResp(SubmitSmResp { message_id: b"1", ..SubmitSmResp::default() });
            if self.server.respond(header, &pdu, self.now).is_ok() {
                self.accepted.insert(header.sequence);
                self.receipts_due.push_back(header.sequence);
            }
        }
        while self.server.window_free() > 0
            && let Some(receipt) = self.receipts_due.pop_front()
        {
            busy = true;
            self.server.request(&deliver(), receipt, self.now).unwrap();
            self.receipts_sent += 1;
        }
        let octets = self.server.output().split();
        self.to_client.send(&octets, self.now, &mut self.random);
        busy
    }

    fn link_turn(&mut self) -> bool {
        if self.cut_at.is_some_and(|at| at <= self.now) {
            self.client.connection_lost(self.now);
            self.server.connection_lost(self.now);
            self.cut_at = None;
            return true;
        }
        let mut busy = false;
        if self.server.may_read()
            && let Some(octets) = self.to_server.arrived(self.now)
        {
            self.server.receive(&octets, self.now);
            busy = true;
        }
        if self.client.may_read()
            && let Some(octets) = self.to_client.arrived(self.now)
        {
            self.client.receive(&octets, self.now);
            busy = true;
        }
        // A side that has closed closes the connection; the other notices after it has read everything.
        if self.closed[0].is_some() && self.closed[1].is_none() && self.to_server.in_flight.is_empty() {
            self.server.connection_lost(self.now);
            busy = true;
        }
        if self.closed[1].is_some() && self.closed[0].is_none() && self.to_client.in_flight.is_empty() {
            self.client.connection_lost(self.now);
            busy = true;
        }
        busy
    }

    fn advance(&mut self) {
        let arrivals = [
            self.to_server.next_at().filter(|_| self.server.may_read()),
            self.to_client.next_at().filter(|_| self.client.may_read()),
        ];
        let work = self.pending.first_key_value().map(|((at, _), _)| *at);
        let timers = [self.client.next_deadline(), self.server.next_deadline(), work, self.cut_at];
        let next = arrivals.into_iter().chain(timers).flatten().min().expect("an event is still due");
        self.now = self.now.max(next);
        self.client.on_deadline(self.now);
        self.server.on_deadline(self.now);
    }
}

enum ResultKind {
    Request(Header),
    Closed(CloseReason),
}

fn event_of(event: &SessionEvent<u32>) -> Option<ResultKind> {
    match event {
        SessionEvent::Request(frame) => Some(ResultKind::Request(frame.header)),
        SessionEvent::Closed(reason) => Some(ResultKind::Closed(*reason)),
        _ => None,
    }
}

const STYLES: [Style; 4] = [
    Style { delay_ms_max: 0, chunk_max: 1 << 20, gather_ms: 0 },
    Style { delay_ms_max: 200, chunk_max: 64, gather_ms: 0 },
    Style { delay_ms_max: 0, chunk_max: 1, gather_ms: 0 },
    Style { delay_ms_max: 20, chunk_max: 1 << 20, gather_ms: 500 },
];

#[test]
fn slow_link_loses_nothing() {
    for style in STYLES {
        for seed in 0..5 {
            let pair = Pair::new(seed, style, 40, None).run(40);
            assert_eq!(pair.submits.responded.len(), 40, "{style:?} seed {seed}");
            assert_eq!(pair.deliveries.responded.len(), 40, "{style:?} seed {seed}");
            assert_eq!(pair.closed, [Some(CloseReason::Unbound), Some(CloseReason::PeerUnbound)]);
            for session in [&pair.client, &pair.server] {
                let Counters { unmatched_responses, timeouts, wrong_state, undecodable, .. } =
                    session.counters();
                assert_eq!((unmatched_responses, timeouts, wrong_state, undecodable), (0, 0, 0, 0));
            }
            assert_eq!(pair.client.counters().pdus_out, pair.server.counters().pdus_in);
        }
    }
}

#[test]
fn every_token_is_returned_after_a_cut_link() {
    let mut in_doubt = 0;
    for style in STYLES {
        for seed in 0..25 {
            let cut_at = START.plus_ms(Random(seed).below(1_000));
            let pair = Pair::new(seed, style, 60, Some(cut_at)).run(60);
            assert!(pair.submits.responded.len() <= pair.accepted.len(), "{style:?} seed {seed}");
            // Accepted without a response to the client: in doubt.
            let unknown = pair.accepted.len() - pair.submits.responded.len();
            assert!(unknown <= pair.submits.in_doubt.len(), "{style:?} seed {seed}");
            in_doubt += pair.submits.in_doubt.len();
        }
    }
    assert!(in_doubt > 100, "the cuts hit something: {in_doubt}");
}

#[test]
fn late_responses_of_a_slow_peer_resolve_every_doubt() {
    let mut late = 0;
    for seed in 0..10 {
        let mut pair = Pair::new(seed, STYLES[1], 60, None);
        pair.answer_ms_max = 70_000;
        let pair = pair.run(60);
        let Outcomes { responded, in_doubt, overdue, late: late_tokens } = &pair.submits;
        assert_eq!(responded.len() + in_doubt.len(), 60, "seed {seed}");
        // The client unbound only after the server had responded to everything.
        assert_eq!((in_doubt, overdue.len()), (late_tokens, 0), "seed {seed}");
        assert_eq!(pair.accepted.len(), 60, "seed {seed}");
        let Counters { timeouts, late_responses, unmatched_responses, .. } = pair.client.counters();
        assert_eq!((timeouts, unmatched_responses), (late_responses, 0), "seed {seed}");
        late += late_tokens.len();
    }
    assert!(late > 30, "some responses were late: {late}");
}

#[test]
fn dead_link_is_detected_by_both_sides() {
    let style = Style { delay_ms_max: 1, chunk_max: 1 << 20, gather_ms: 0 };
    let mut pair = Pair::new(7, style, 1_000_000, None);
    while pair.submits.responded.len() < 50 {
        if !(pair.client_turn() | pair.server_turn() | pair.link_turn()) {
            pair.advance();
        }
    }
    let stopped = pair.now;
    while pair.closed.iter().any(Option::is_none) {
        pair.to_server.in_flight.clear();
        pair.to_client.in_flight.clear();
        if !(pair.client_turn() | pair.server_turn()) {
            pair.advance();
        }
    }
    assert_eq!(pair.closed, [Some(CloseReason::PeerSilent), Some(CloseReason::Inactive)]);
    assert!(pair.now.ms_since(stopped) <= 65_000 + 50, "{} ms", pair.now.ms_since(stopped));
    assert_eq!(pair.submits.in_doubt.len(), 10);
}
