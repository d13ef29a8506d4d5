//! Starts a task for every endpoint with due events: woken by the store, or when a retry is due. The task ends when the
//! endpoint was idle for a while. The node with the engine leads: it may have another node post to an endpoint (`spread.rs`). While the
//! gateway is held no task runs, on any node: receivers may have got since what waits in a restored backup.

use super::Shared;
use super::endpoint;
use super::spread::{Heard, Silent, Spread, TELL_EVERY};
use super::wakeup::EndpointWakeup;
use crate::clock::{Moment, within};
use crate::live_status::{EndedPosting, PostingMessage, PostingNotice, PostingOrder};
use crate::node_messages::{order_webhook_posts, tell_webhook_posts};
use crate::workers::Workers;
use hermod_domain::time::Timestamp;
use hermod_store::{Endpoint, NodeRun};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How often all waiting events are read again: for missed wake-ups, and in case the wall clock was set.
const READ_ALL_EVERY: Duration = Duration::from_secs(60);
/// The longest sleep, in case the wall clock was set.
const SLEEP_MAX: Duration = Duration::from_secs(5);
/// How often the alarms about failing endpoints are updated.
const ALARMS_EVERY: Duration = SLEEP_MAX;
/// How often the leader looks for silent nodes.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Ended tasks that are not processed yet.
const ENDED_MAX: usize = 256;
/// How long a new leader listens which endpoints the other nodes post to, unless it has heard all of them.
const LISTEN_MAX: Duration = Duration::from_secs(4);
/// How long a helper waits for its tasks when it is stopped, to say that they have ended.
const LEAVE_WAIT: Duration = Duration::from_secs(3);

type Ending = (Endpoint, Option<Timestamp>);

struct Dispatcher {
    shared: Arc<Shared>,
    workers: Workers,
    /// The endpoints that this node posts to.
    served: HashMap<Endpoint, Arc<EndpointWakeup>>,
    ended: mpsc::Sender<Ending>,
    role: Role,
}

enum Role {
    /// Another node has the engine, and says which endpoints to post to.
    Helper(Helper),
    Leader(Leader),
}

struct Helper {
    /// Ended tasks that the leader has not been sent yet.
    unreported: Vec<EndedPosting>,
    /// When to say what this node posts to.
    tell_at: Moment,
}

struct Leader {
    spread: Spread,
    /// The endpoints without a task on any node, by the time when their next event is due.
    due: BTreeSet<(Timestamp, Endpoint)>,
    listens_until: Moment,
    read_at: Moment,
    alarms_at: Moment,
    /// When to look for silent nodes.
    look_at: Moment,
}

pub(super) async fn serve(shared: Arc<Shared>, workers: Workers) {
    let Some(mut messages) = shared.gateway.webhook_posting.receiver() else { return };
    let (ended, mut endings) = mpsc::channel(ENDED_MAX);
    let (clock, store) = (shared.gateway.clock.clone(), shared.gateway.store.clone());
    let stopping = workers.stopping();
    let mut holds = shared.gateway.hold_changes();
    let role = Role::Helper(Helper { unreported: Vec::new(), tell_at: clock.moment() });
    let mut dispatcher = Dispatcher { shared, workers, served: HashMap::new(), ended, role };
    loop {
        dispatcher.take_turn().await;
        tokio::select! {
            () = store.engine_came(), if dispatcher.leader().is_none() => dispatcher.lead().await,
            woken = store.webhooks().woken_endpoints(), if dispatcher.chooses() => {
                woken.into_iter().for_each(|endpoint| dispatcher.wake(endpoint));
            }
            Some((from, message)) = messages.recv() => dispatcher.read_message(from, message),
            Some((endpoint, next_due)) = endings.recv() => dispatcher.end(endpoint, next_due),
            Ok(()) = holds.changed() => dispatcher.follow_hold(),
            () = clock.sleep(dispatcher.sleep()) => {}
            () = stopping.cancelled() => break,
        }
    }
    // Real time, because of the network.
    let _ = within(LEAVE_WAIT, dispatcher.leave(&mut endings)).await;
}

impl Dispatcher {
    fn leader(&mut self) -> Option<&mut Leader> {
        match &mut self.role {
            Role::Leader(leader) => Some(leader),
            Role::Helper(_) => None,
        }
    }

    fn moment(&self) -> Moment {
        self.shared.gateway.clock.moment()
    }

    /// Whether this node chooses now who posts.
    fn chooses(&self) -> bool {
        let Role::Leader(leader) = &self.role else { return false };
        leader.listens_until <= self.moment() && !self.shared.gateway.is_held()
    }

    /// Ends all tasks when the gateway is held. When it is released, the leader reads what waits.
    fn follow_hold(&mut self) {
        if self.shared.gateway.is_held() {
            self.served.values().for_each(|wakeup| wakeup.leave());
        }
        let moment = self.moment();
        if let Some(leader) = self.leader() {
            leader.read_at = moment;
        }
    }

    /// Does what is due by the clock.
    async fn take_turn(&mut self) {
        let moment = self.moment();
        self.update_alarms(moment);
        self.end_listening(moment);
        if self.chooses() {
            self.read_waiting(moment).await;
            self.replace_silent();
            self.start_due();
            self.send_orders();
        } else {
            self.tell(moment);
        }
    }

    fn sleep(&self) -> Duration {
        let gateway = &self.shared.gateway;
        let longest = if gateway.store.cluster().has_nodes() { TELL_EVERY } else { SLEEP_MAX };
        match &self.role {
            Role::Leader(leader) if self.chooses() => {
                leader.due.first().map_or(longest, |(due, _)| due.since(gateway.clock.now()).min(longest))
            }
            Role::Leader(_) | Role::Helper(_) => longest,
        }
    }

    /// Begins to choose who posts: this node has the engine now.
    async fn lead(&mut self) {
        let gateway = self.shared.gateway.clone();
        match gateway.store.webhooks().failing_endpoints().await {
            Ok(failing) => self.shared.statuses.load_failing(failing),
            Err(fault) => tracing::error!(%fault, "Could not read the failing webhook endpoints"),
        }
        let moment = self.moment();
        let listens_until =
            if gateway.store.cluster().has_other_nodes() { moment.plus(LISTEN_MAX) } else { moment };
        self.role = Role::Leader(Leader {
            spread: Spread::default(),
            due: BTreeSet::new(),
            listens_until,
            read_at: moment,
            alarms_at: moment,
            look_at: moment,
        });
    }

    /// Ends the time of listening when every other node was heard.
    fn end_listening(&mut self, moment: Moment) {
        let Role::Leader(leader) = &mut self.role else { return };
        if leader.listens_until <= moment {
            return;
        }
        let nodes = self.shared.gateway.store.cluster().nodes();
        let others = nodes.iter().filter(|node| node.is_alive && !node.is_this);
        if leader.spread.knows(others.map(|node| node.run)) {
            leader.listens_until = moment;
        }
    }

    /// Only the leader raises alarms: it hears from the others how their posts fare.
    fn update_alarms(&mut self, moment: Moment) {
        let shared = self.shared.clone();
        if let Some(leader) = self.leader().filter(|leader| leader.alarms_at <= moment) {
            leader.alarms_at = moment.plus(ALARMS_EVERY);
            shared.statuses.update_alarms(&shared.gateway);
        }
    }

    /// Reads all endpoints with waiting events, if it is time.
    async fn read_waiting(&mut self, moment: Moment) {
        let shared = self.shared.clone();
        let Role::Leader(leader) = &mut self.role else { return };
        if moment < leader.read_at {
            return;
        }
        leader.read_at = moment.plus(READ_ALL_EVERY);
        match shared.gateway.store.webhooks().waiting().await {
            Ok(waiting) => {
                // A task of this node knows its own due time.
                let waiting = waiting.into_iter().filter(|(endpoint, _)| !self.served.contains_key(endpoint));
                leader.due = waiting.map(|(endpoint, due)| (due, endpoint)).collect();
            }
            Err(fault) => tracing::error!(%fault, "Could not read the waiting webhooks; retrying"),
        }
    }

    fn start_due(&mut self) {
        let now = self.shared.gateway.clock.now();
        while let Role::Leader(leader) = &mut self.role
            && let Some((due, endpoint)) = leader.due.first().copied()
            && due <= now
        {
            leader.due.pop_first();
            self.wake(endpoint);
        }
    }

    /// Chooses others for the endpoints of nodes that are silent.
    fn replace_silent(&mut self) {
        let moment = self.moment();
        let is_time = |leader: &&mut Leader| leader.look_at <= moment;
        let Some(leader) = self.leader().filter(is_time) else { return };
        leader.look_at = moment.plus(LOOK_EVERY);
        let Silent { nodes, endpoints } = leader.spread.take_silent(moment);
        if nodes > 0 {
            tracing::warn!(nodes, "Nodes are silent: others post to their webhook endpoints");
        }
        endpoints.into_iter().for_each(|endpoint| self.wake(endpoint));
    }

    fn send_orders(&mut self) {
        let orders = self.leader().map(|leader| leader.spread.take_orders()).unwrap_or_default();
        for (node, order) in orders {
            order_webhook_posts(&self.shared.gateway, node, order);
        }
    }

    /// Tells the leader what has changed, and every second which endpoints this node posts to.
    fn tell(&mut self, moment: Moment) {
        let shared = &self.shared;
        let Role::Helper(Helper { unreported, tell_at }) = &mut self.role else { return };
        if !shared.gateway.store.can_serve() {
            // The notice is sent as soon as the engine is reached again.
            *tell_at = moment;
            return;
        }
        let is_time = *tell_at <= moment;
        if !is_time && unreported.is_empty() {
            return;
        }
        if is_time {
            *tell_at = moment.plus(TELL_EVERY);
        }
        let notice = PostingNotice {
            ended: std::mem::take(unreported),
            changed: shared.statuses.take_changed(),
            posting_to: is_time.then(|| self.served.keys().copied().collect()),
            is_leaving: self.workers.stopping().is_cancelled(),
        };
        tell_webhook_posts(&shared.gateway, notice);
    }

    fn read_message(&mut self, from: NodeRun, message: PostingMessage) {
        match (message, &self.role) {
            (PostingMessage::Order(order), Role::Helper(_)) => self.follow(order),
            (PostingMessage::Notice(notice), Role::Leader(_)) => self.hear(from, notice),
            (PostingMessage::Order(_) | PostingMessage::Notice(_), _) => {}
        }
    }

    /// Does what the leader wants.
    fn follow(&mut self, PostingOrder { leave, post_to }: PostingOrder) {
        for wakeup in leave.iter().filter_map(|endpoint| self.served.get(endpoint)) {
            wakeup.leave();
        }
        if self.shared.gateway.is_held() {
            return;
        }
        for (endpoint, failing) in post_to {
            if !self.served.contains_key(&endpoint) {
                self.shared.statuses.set(endpoint, failing);
            }
            self.wake(endpoint);
        }
    }

    /// Takes in what a helper says.
    fn hear(&mut self, from: NodeRun, notice: PostingNotice) {
        let moment = self.moment();
        let Role::Leader(leader) = &mut self.role else { return };
        let is_here = |endpoint: &Endpoint| self.served.contains_key(endpoint);
        let Heard { ended, changed, unserved } = leader.spread.hear(from, notice, is_here, moment);
        for EndedPosting { endpoint, next_due, failing } in ended {
            self.shared.statuses.set(endpoint, failing);
            leader.due.extend(next_due.map(|due| (due, endpoint)));
        }
        for (endpoint, failing) in changed {
            self.shared.statuses.set(endpoint, failing);
        }
        unserved.into_iter().for_each(|endpoint| self.wake(endpoint));
    }

    /// Has the events of an endpoint posted, by the node that does it already or by one that is chosen now. Does nothing while the
    /// gateway is held.
    fn wake(&mut self, endpoint: Endpoint) {
        if self.shared.gateway.is_held() {
            return;
        }
        if let Some(wakeup) = self.served.get(&endpoint) {
            return wakeup.wake();
        }
        let (moment, failing) = (self.moment(), self.shared.statuses.failing(endpoint));
        let is_ordered = self.leader().is_some_and(|leader| leader.spread.order(endpoint, failing, moment));
        if !is_ordered {
            self.start(endpoint);
        }
    }

    /// Starts the task of an endpoint.
    fn start(&mut self, endpoint: Endpoint) {
        let wakeup = Arc::new(EndpointWakeup::new(&self.workers.stopping()));
        self.served.insert(endpoint, wakeup.clone());
        let (shared, ended) = (self.shared.clone(), self.ended.clone());
        let name = format!("webhooks/{}/{}", endpoint.account, endpoint.kind.as_str());
        self.workers.spawn_named(name, async move {
            let next_due = endpoint::serve(endpoint, shared, wakeup).await;
            // Fails only while the gateway stops.
            let _ = ended.send((endpoint, next_due)).await;
        });
    }

    fn end(&mut self, endpoint: Endpoint, next_due: Option<Timestamp>) {
        let woken_again = self.served.remove(&endpoint).is_some_and(|wakeup| wakeup.take_wake());
        if woken_again && !self.workers.stopping().is_cancelled() {
            return self.wake(endpoint);
        }
        match &mut self.role {
            Role::Leader(leader) => leader.due.extend(next_due.map(|due| (due, endpoint))),
            Role::Helper(helper) => {
                let failing = self.shared.statuses.forget(endpoint);
                helper.unreported.push(EndedPosting { endpoint, next_due, failing });
            }
        }
    }

    /// Tells the leader that this node is about to stop, and what its tasks leave.
    async fn leave(mut self, endings: &mut mpsc::Receiver<Ending>) {
        if self.leader().is_some() || !self.shared.gateway.store.cluster().has_nodes() {
            return;
        }
        if let Role::Helper(helper) = &mut self.role {
            helper.tell_at = Moment(0);
        }
        self.tell(self.moment());
        while !self.served.is_empty() {
            let Some((endpoint, next_due)) = endings.recv().await else { return };
            self.end(endpoint, next_due);
            self.tell(self.moment());
        }
    }
}
