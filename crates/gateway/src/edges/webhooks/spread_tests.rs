//! Tests of who posts to which endpoint.

use super::*;
use hermod_domain::ids::AccountId;
use hermod_domain::webhook::WebhookKind;

fn endpoint(account: u32) -> Endpoint {
    Endpoint { account: AccountId::new(account), kind: WebhookKind::Dlr }
}

fn endpoints() -> impl Iterator<Item = Endpoint> {
    (1..=3_000).map(endpoint)
}

fn node(id: u32) -> NodeRun {
    serde_json::from_value(serde_json::json!({ "id": id, "epoch": 1 })).expect("a node")
}

fn posting_to(endpoints: &[Endpoint]) -> PostingNotice {
    PostingNotice { posting_to: Some(endpoints.to_vec()), ..PostingNotice::default() }
}

fn nothing_here(_: &Endpoint) -> bool {
    false
}

impl Spread {
    fn hears(&mut self, id: u32, notice: PostingNotice, now: u64) -> Heard {
        self.hear(node(id), notice, nothing_here, Moment(now))
    }
}

/// Returns a spread over this node and two others, and an endpoint that the first of those posts to.
fn spread() -> (Spread, Endpoint) {
    let mut spread = Spread::default();
    for id in [1, 2] {
        spread.hears(id, posting_to(&[]), 0);
    }
    let chosen = endpoints().find(|endpoint| spread.choose(*endpoint) == Some(node(1))).expect("one of many");
    assert!(spread.order(chosen, None, Moment(0)));
    let orders = spread.take_orders();
    assert_eq!(orders[&node(1)], PostingOrder { post_to: vec![(chosen, None)], leave: Vec::new() });
    (spread, chosen)
}

#[test]
fn every_node_gets_its_share_and_keeps_it_when_another_comes() {
    let mut spread = Spread::default();
    assert!(endpoints().all(|endpoint| spread.choose(endpoint).is_none()), "alone");
    for id in [1, 2] {
        spread.hears(id, posting_to(&[]), 0);
    }
    let before: Vec<_> = endpoints().map(|endpoint| spread.choose(endpoint)).collect();
    for one in [None, Some(node(1)), Some(node(2))] {
        let share = before.iter().filter(|chosen| **chosen == one).count();
        assert!((850..1_150).contains(&share), "{one:?}: {share} of 3,000");
    }
    spread.hears(3, posting_to(&[]), 0);
    let moved = endpoints().zip(before).filter(|(endpoint, before)| spread.choose(*endpoint) != *before);
    let moved: Vec<Endpoint> = moved.map(|(endpoint, _)| endpoint).collect();
    assert!((600..900).contains(&moved.len()), "{} of 3,000 moved", moved.len());
    assert!(moved.iter().all(|endpoint| spread.choose(*endpoint) == Some(node(3))));
}

#[test]
fn node_that_posts_keeps_the_endpoint_until_it_has_ended() {
    let (mut spread, chosen) = spread();
    // It would be chosen for another node now.
    spread.heard.remove(&node(1));
    assert!(spread.order(chosen, None, Moment(10)));
    assert!(spread.take_orders().contains_key(&node(1)));
    let ended = EndedPosting { endpoint: chosen, next_due: None, failing: None };
    let notice = PostingNotice { ended: vec![ended.clone()], ..PostingNotice::default() };
    assert_eq!(spread.hears(2, notice.clone(), 20).ended, [], "only its node can say so");
    assert_eq!(spread.hears(1, notice, 20).ended, [ended]);
    assert!(!spread.elsewhere.contains_key(&chosen));
}

#[test]
fn endpoints_of_a_silent_node_are_given_to_others() {
    let (mut spread, chosen) = spread();
    for now in [1_000, 2_000, 3_000] {
        spread.hears(2, posting_to(&[]), now);
        assert_eq!(spread.take_silent(Moment(now)), Silent::default());
    }
    assert_eq!(spread.take_silent(Moment(4_000)), Silent { nodes: 1, endpoints: vec![chosen] });
    assert!(spread.knows([node(2)].into_iter()) && !spread.knows([node(1), node(2)].into_iter()));
    let is_ordered = spread.order(chosen, None, Moment(4_000));
    assert!(!spread.take_orders().contains_key(&node(1)));
    // It comes back, and still posts.
    spread.hear(node(1), posting_to(&[chosen]), |_| !is_ordered, Moment(5_000));
    assert_eq!(spread.take_orders()[&node(1)].leave, [chosen]);
}

#[test]
fn node_that_was_stopped_itself_calls_nobody_silent() {
    let (mut spread, _) = spread();
    assert_eq!(spread.take_silent(Moment(0)), Silent::default());
    assert_eq!(spread.take_silent(Moment(60_000)), Silent::default());
    assert!(spread.knows([node(1), node(2)].into_iter()));
}

#[test]
fn lost_order_is_noticed() {
    let (mut spread, chosen) = spread();
    assert_eq!(spread.hears(1, posting_to(&[]), 1_000).unserved, [], "it may be on its way");
    assert_eq!(spread.hears(1, posting_to(&[]), 2_000).unserved, [chosen]);
    assert_eq!(spread.hears(1, posting_to(&[]), 3_000).unserved, []);
}

#[test]
fn new_leader_learns_who_posts_and_two_never_go_on() {
    let mut spread = Spread::default();
    let [first, second] = [1, 2].map(endpoint);
    spread.hears(1, posting_to(&[first]), 0);
    assert!(spread.take_orders().is_empty());
    spread.hears(2, posting_to(&[first, second]), 0);
    assert_eq!(spread.take_orders()[&node(2)].leave, [first]);
    let here = |endpoint: &Endpoint| *endpoint == endpoint_here();
    spread.hear(node(2), posting_to(&[endpoint_here()]), here, Moment(0));
    assert_eq!(spread.take_orders()[&node(2)].leave, [endpoint_here()]);
}

fn endpoint_here() -> Endpoint {
    endpoint(9)
}

#[test]
fn leaving_node_gets_no_more_and_has_time_to_finish() {
    let (mut spread, chosen) = spread();
    spread.hears(1, PostingNotice { is_leaving: true, ..PostingNotice::default() }, 1_000);
    assert_eq!(spread.take_silent(Moment(1_000)), Silent::default());
    assert!(endpoints().all(|endpoint| spread.choose(endpoint) != Some(node(1))));
    let ended = EndedPosting { endpoint: chosen, next_due: None, failing: None };
    let notice = PostingNotice { ended: vec![ended.clone()], is_leaving: true, ..PostingNotice::default() };
    assert_eq!(spread.hears(1, notice, 2_000).ended, [ended]);
}
