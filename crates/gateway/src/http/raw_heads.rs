//! Reads along with hyper and finds requests that have both Content-Length and Transfer-Encoding. hyper follows RFC 9112
//! section 6.1, takes the chunks and drops the length, so that nobody behind it can tell; a proxy in front of us may have
//! gone by the length. Such a request is refused.
//!
//! Only what is valid must be followed exactly: hyper ends the connection at anything else.

/// What is kept of a line that comes in pieces. A longer line that counts here is given up on.
const LINE_BYTES_MAX: usize = 128;

/// What is known about the lengths of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lengths {
    /// It has one at most.
    One,
    Two,
    /// Something before it on its connection could not be followed.
    Unknown,
}

#[derive(Default)]
pub(super) struct RawHeads {
    state: State,
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    /// Heads that have come whole.
    seen: u64,
    /// The first of them that has both lengths.
    two_lengths: Option<u64>,
    /// From this one on nothing is known.
    unknown_from: Option<u64>,
    /// Requests that were handed on.
    handed_on: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head(Head),
    /// Bytes of a body with a length.
    Body(u64),
    ChunkSize,
    /// Bytes of a chunk with the line end behind it.
    Chunk(u64),
    Trailers,
    /// Nothing more can be followed.
    Lost,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Head {
    /// The request line has come; empty lines before it count for nothing.
    has_begun: bool,
    is_chunked: bool,
    length: Option<Length>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Bytes(u64),
    Unreadable,
}

impl Default for State {
    fn default() -> State {
        State::Head(Head::default())
    }
}

impl RawHeads {
    /// Takes the next bytes of the connection.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = match &mut self.state {
                State::Lost => return,
                State::Body(left) | State::Chunk(left) => {
                    let skipped = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                    *left -= u64::try_from(skipped).expect("no longer than what is left");
                    if *left == 0 {
                        self.state = self.state.after_bytes();
                    }
                    &bytes[skipped..]
                }
                State::Head(_) | State::ChunkSize | State::Trailers => self.feed_line(bytes),
            };
        }
    }

    /// Tells about the request that is handed on now. Called once for each, in their order.
    pub(super) fn hand_on(&mut self) -> Lengths {
        let number = self.handed_on;
        self.handed_on += 1;
        if self.two_lengths == Some(number) {
            return Lengths::Two;
        }
        let is_known = self.unknown_from.is_none_or(|from| number < from);
        if is_known { Lengths::One } else { Lengths::Unknown }
    }

    /// Takes a line, or the beginning of one. Returns what is behind it.
    fn feed_line<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            self.keep(bytes);
            return &[];
        };
        if self.line.is_empty() {
            self.end_line(&bytes[..end]);
        } else {
            self.keep(&bytes[..end]);
            let line = std::mem::take(&mut self.line);
            self.end_line(&line);
        }
        &bytes[end + 1..]
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..room.min(bytes.len())]);
    }

    fn end_line(&mut self, line: &[u8]) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.state = match self.state {
            State::Head(head) if line.is_empty() && head.has_begun => self.end_head(head),
            State::Head(head) => head.with(line),
            State::ChunkSize => chunk(line).unwrap_or_else(|| self.lose()),
            State::Trailers if line.is_empty() => State::default(),
            state => state,
        };
    }

    fn end_head(&mut self, head: Head) -> State {
        let number = self.seen;
        self.seen += 1;
        match head {
            Head { is_chunked: true, length: Some(_), .. } => {
                self.two_lengths = Some(number);
                self.lose()
            }
            Head { is_chunked: true, .. } => State::ChunkSize,
            Head { length: None | Some(Length::Bytes(0)), .. } => State::default(),
            Head { length: Some(Length::Bytes(length)), .. } => State::Body(length),
            Head { length: Some(Length::Unreadable), .. } => self.lose(),
        }
    }

    fn lose(&mut self) -> State {
        self.unknown_from = Some(self.seen);
        State::Lost
    }
}

impl State {
    /// What follows once all bytes of a body or a chunk have come.
    fn after_bytes(self) -> State {
        match self {
            State::Chunk(_) => State::ChunkSize,
            _ => State::default(),
        }
    }
}

impl Head {
    fn with(self, line: &[u8]) -> State {
        if line.is_empty() || !self.has_begun {
            return State::Head(Head { has_begun: !line.is_empty(), ..self });
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { return State::Head(self) };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            return State::Head(Head { is_chunked: true, ..self });
        }
        if !name.eq_ignore_ascii_case(b"content-length") {
            return State::Head(self);
        }
        let length = str::from_utf8(value).ok().and_then(|value| value.parse().ok());
        // One that cannot be read counts all the same: beside a coding hyper does not look at it.
        State::Head(Head { length: Some(length.map_or(Length::Unreadable, Length::Bytes)), ..self })
    }
}

/// What follows the line before a chunk. `None` if it cannot be read.
fn chunk(line: &[u8]) -> Option<State> {
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
    let size = u64::from_str_radix(str::from_utf8(&line[..end]).ok()?, 16).ok()?;
    if size == 0 {
        return Some(State::Trailers);
    }
    // The line end behind it.
    size.checked_add(2).map(State::Chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "GET / HTTP/1.1\r\nHost: t\r\n\r\n";
    const SIZED: &str = "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 23\r\n\r\nTransfer-Encoding: x\r\n\r";
    const CHUNKED: &str = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n\
                           17\r\nContent-Length: 5\r\n\r\nok\r\n0\r\nX: y\r\nContent-Length: 1\r\n\r\n";
    const BOTH: &str =
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n";

    const ONE: Lengths = Lengths::One;
    const TWO: Lengths = Lengths::Two;

    /// What is known about the requests on a connection, whatever pieces the bytes come in.
    #[track_caller]
    fn check(requests: &[&str], expect: &[Lengths]) {
        let bytes = requests.concat().into_bytes();
        for size in [1, 2, 3, 7, 64, bytes.len()] {
            let mut heads = RawHeads::default();
            bytes.chunks(size).for_each(|piece| heads.feed(piece));
            let told: Vec<Lengths> = requests.iter().map(|_| heads.hand_on()).collect();
            assert_eq!(told, expect, "in pieces of {size}");
        }
    }

    #[test]
    fn both_lengths_are_found_in_either_order_and_any_spelling() {
        check(&[BOTH], &[TWO]);
        check(&["\r\nPOST / HTTP/1.1\nTRANSFER-ENCODING: chunked\nContent-length:5\n\n"], &[TWO]);
        check(&["POST / HTTP/1.1\r\nContent-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n"], &[TWO]);
        check(&["POST / HTTP/1.1\r\nX-Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"], &[ONE]);
        check(&["GET /?Content-Length: HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"], &[ONE]);
        let long = format!("POST / HTTP/1.1\r\nX: {}\r\nContent-Length: 5\r\n", "y".repeat(10_000));
        check(&[&format!("{long}Transfer-Encoding: chunked\r\n\r\n")], &[TWO]);
    }

    #[test]
    fn requests_behind_others_are_found_whatever_their_bodies_say() {
        check(&[PLAIN, SIZED, CHUNKED, PLAIN, BOTH], &[ONE, ONE, ONE, ONE, TWO]);
        check(&[CHUNKED, CHUNKED, SIZED, SIZED, PLAIN], &[ONE; 5]);
    }

    #[test]
    fn nothing_is_claimed_about_requests_behind_one_that_cannot_be_followed() {
        check(&["POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", PLAIN], &[ONE, Lengths::Unknown]);
        check(
            &["POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", BOTH],
            &[ONE, Lengths::Unknown],
        );
        let padded = format!("POST / HTTP/1.1\r\nContent-Length: {}5\r\n\r\nhello", " ".repeat(200));
        let mut heads = RawHeads::default();
        [padded.as_bytes(), BOTH.as_bytes()].concat().chunks(50).for_each(|piece| heads.feed(piece));
        assert_eq!((heads.hand_on(), heads.hand_on()), (ONE, Lengths::Unknown));
    }
}
