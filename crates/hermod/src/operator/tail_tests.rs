//! Unit tests of `tail.rs`.

use super::*;

#[test]
fn events_are_parsed_from_pieces_of_any_size() {
    let stream = "retry: 2000\n\n: keep-alive\n\nid: 7\nevent: frame\ndata: {\"a\":1}\n\nid: 8\ndata: {}\n\n";
    for size in [1, 3, 1_000] {
        let (mut events, mut seen) = (Events::default(), Vec::new());
        for piece in stream.as_bytes().chunks(size) {
            events
                .add(piece, |id, data| {
                    seen.push((id, data.to_owned()));
                    Ok(())
                })
                .unwrap();
        }
        assert_eq!(seen, [(Some(7), "{\"a\":1}".to_owned()), (Some(8), "{}".to_owned())]);
    }
}
