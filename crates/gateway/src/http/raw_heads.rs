//! Parses the raw bytes beside hyper to find requests with both Content-Length and Transfer-Encoding. hyper follows
//! RFC 9112 section 6.1 and drops the length, so it cannot be seen later; a proxy in front of us may have used the
//! length. Such a request is rejected (request smuggling).
//!
//! Only valid requests must be followed exactly: hyper closes the connection at anything else.

/// The most bytes kept of a line that arrives in pieces. A longer relevant line makes the state unknown.
const LINE_BYTES_MAX: usize = 128;

/// The length headers of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LengthHeaders {
    /// At most one.
    One,
    Two,
    /// An earlier request on the connection could not be followed.
    Unknown,
}

#[derive(Default)]
pub(super) struct RawHeads {
    state: State,
    /// The beginning of an incomplete line.
    line: Vec<u8>,
    /// Complete heads so far.
    seen: u64,
    /// The first head with both lengths.
    two_lengths: Option<u64>,
    /// The first head that could not be followed.
    unknown_from: Option<u64>,
    /// Requests passed on to the router.
    handed_on: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head(Head),
    /// Bytes of a body with a length.
    Body(u64),
    ChunkSize,
    /// Bytes of a chunk and its line end.
    Chunk(u64),
    Trailers,
    /// The connection cannot be followed any more.
    Lost,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Head {
    /// The request line was read; empty lines before it are ignored.
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
    /// Processes the next bytes of the connection.
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

    /// Returns the lengths of the request that is passed on now. To be called once for each, in order.
    pub(super) fn hand_on(&mut self) -> LengthHeaders {
        let number = self.handed_on;
        self.handed_on += 1;
        if self.two_lengths == Some(number) {
            return LengthHeaders::Two;
        }
        let is_known = self.unknown_from.is_none_or(|from| number < from);
        if is_known { LengthHeaders::One } else { LengthHeaders::Unknown }
    }

    /// Processes a line, or the beginning of one. Returns the remaining bytes.
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
    /// Returns the state after the last byte of a body or a chunk.
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
        // An unreadable length counts too: hyper ignores it beside a transfer coding.
        State::Head(Head { length: Some(length.map_or(Length::Unreadable, Length::Bytes)), ..self })
    }
}

/// Parses a chunk-size line. Returns `None` if it is invalid.
fn chunk(line: &[u8]) -> Option<State> {
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
    let size = u64::from_str_radix(str::from_utf8(&line[..end]).ok()?, 16).ok()?;
    if size == 0 {
        return Some(State::Trailers);
    }
    // Plus its line end.
    size.checked_add(2).map(State::Chunk)
}

#[cfg(test)]
#[path = "raw_heads_tests.rs"]
mod tests;
