//! Several nodes: what an operator asks of one holds for all of them. The node that is asked asks the others by letters.

use super::asking::{ask_one, find_node, own_name, send};
use super::letters::{NodeLetter, Question};
use super::{OperatorRefusal, binds, carriers, news, traces};
use crate::author::Acting;
use crate::board::{NodeAnswer, Order, PostingLetter, PostingNotice, PostingOrder};
use crate::views::nodes::{NodeView, NodesView, StoppingView};
use crate::world::World;
use hermod_domain::ids::ConnectionId;
use hermod_store::{Letter, NodeRun};
use serde::Serialize;
use serde_json::{Value, json};
use std::net::IpAddr;

/// Lists the nodes that share the store.
pub fn list_nodes(world: &World) -> Result<NodesView, OperatorRefusal> {
    let items = world.store.nodes().into_iter().map(NodeView::from).collect();
    Ok(NodesView { at: world.clock.now().to_iso(), items })
}

/// Stops a node in order, as SIGTERM does: its links and the engine move to other nodes.
pub async fn drain_node(world: &Acting, name: &str) -> Result<StoppingView, OperatorRefusal> {
    let node = find_node(world, name)?;
    world.audited(None, "node.drain", name, &Value::Null).note_in_audit_log().await?;
    tracing::info!(node = name, "Drained by the operator");
    if node.is_this {
        world.stop_wanted.cancel();
    } else {
        ask_one(world, &node, Question::Stop).await?;
    }
    Ok(StoppingView { node: node.name })
}

/// Tells the other nodes what was taken here from limits that all nodes share.
pub fn share_limits(world: &World) {
    let uses = world.take_used();
    if !uses.is_empty() {
        send(world, None, &NodeLetter::Used(uses));
    }
}

/// Tells the other nodes what happened here since the last time.
pub fn share_news(world: &World) {
    if !world.store.can_serve() {
        return news::drop_old(world);
    }
    let news = news::take(world);
    if !news.is_empty() {
        send(world, None, &NodeLetter::News(news));
    }
}

/// Has the other nodes find out whether a bind of a customer is dead that may be bound there.
pub fn probe_bind_elsewhere(world: &World, connection: ConnectionId, peer: IpAddr) {
    send(world, None, &NodeLetter::ProbeBind { connection, peer });
}

/// Tells another node which webhooks to post. Only the node with the engine does.
pub fn order_webhook_posts(world: &World, to: NodeRun, order: PostingOrder) {
    send(world, Some(to), &NodeLetter::Webhooks(PostingLetter::Order(order)));
}

/// Tells the node with the engine which webhooks this one posts. Nothing is said while none has the engine.
pub fn tell_webhook_posts(world: &World, notice: PostingNotice) {
    let engine = world.store.nodes().into_iter().find(|node| node.runs_engine && !node.is_this);
    if let Some(engine) = engine {
        send(world, Some(engine.run), &NodeLetter::Webhooks(PostingLetter::Notice(notice)));
    }
}

/// A question of another node.
pub struct Asked {
    from: NodeRun,
    number: u64,
    question: Question,
}

/// Does what another node wants. Returns its question, if it has one.
pub fn read_letter(world: &World, letter: Letter) -> Option<Asked> {
    // A node of another release may say what this one does not understand.
    match serde_json::from_slice(&letter.octets).ok()? {
        NodeLetter::Used(uses) => world.charge_used(uses),
        NodeLetter::ProbeBind { connection, peer } => {
            if let Some(bind) = world.binds.oldest_from(connection, peer) {
                bind.order(Order::Probe);
            }
        }
        NodeLetter::News(told) => news::note(world, told),
        NodeLetter::Webhooks(said) => world.webhook_posting.put(letter.from, said),
        NodeLetter::Question { number, question } => {
            return Some(Asked { from: letter.from, number, question });
        }
        NodeLetter::Answer { number, node, answer } => world.asks.put(number, NodeAnswer { node, answer }),
    }
    None
}

/// Answers a question of another node.
pub async fn answer_question(world: &World, Asked { from, number, question }: Asked) {
    if let Some(answer) = answer(world, question).await {
        let node = own_name(world).unwrap_or_default();
        send(world, Some(from), &NodeLetter::Answer { number, node, answer });
    }
}

/// Answers another node; none if that fails: the other one then says that this node did not answer.
async fn answer(world: &World, question: Question) -> Option<Value> {
    match question {
        Question::Binds(query) => as_value(binds::list_here(world, &query).await.ok()?),
        Question::Carriers => as_value(carriers::list_here(world).await.ok()?),
        Question::Alarms(query) => as_value(carriers::alarms_here(world, &query)),
        Question::AcknowledgeAlarms(query) => as_value(carriers::acknowledge_here(world, &query)),
        Question::Resume(carrier) => Some(json!(carriers::resume_here(world, &carrier))),
        Question::Unbind(number) => {
            let bind = world.binds.find(number);
            bind.iter().for_each(|bind| bind.order(Order::Unbind));
            Some(json!(bind.is_some()))
        }
        Question::UnbindAll(connection) => {
            world.binds.unbind_all(connection);
            Some(Value::Null)
        }
        Question::Trace(traced, until) => traces::switch_here(world, traced, until).then_some(Value::Null),
        Question::Stop => {
            tracing::info!("Drained by the operator");
            world.stop_wanted.cancel();
            Some(Value::Null)
        }
    }
}

fn as_value(view: impl Serialize) -> Option<Value> {
    serde_json::to_value(view).ok()
}
