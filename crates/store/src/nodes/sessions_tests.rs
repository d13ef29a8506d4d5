//! Unit tests of `sessions.rs`.

use super::*;
use hermod_engine::ops::Handout;

#[test]
fn what_a_session_left_in_a_mailbox_is_not_sent_by_the_next_one() {
    let (link, carrier) = (LinkId::NONE, CarrierId::new(1));
    let mut node = NodeLink::default();
    node.begin(&Arc::default());
    node.links.insert(link, RemoteLink::new(carrier));
    node.links[&link].mailbox.put(Handout { received: vec![7], ..Handout::default() });

    let next = Arc::new(Outgoing::default());
    node.begin(&next);
    node.send_answers();

    assert_eq!(next.octets(), 0, "the node has not said what it has");
    assert_eq!(node.all_links().collect::<Vec<_>>(), [(link, carrier)], "the end of the session closes it");
    assert!(!node.left[0].1.mailbox.is_empty(), "it returns to the engine when the link is closed");
}
