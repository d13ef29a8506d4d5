//! Several nodes on one database. One of them runs the engine; the others are front ends that serve customers and carriers
//! just the same, and send their operations to it.
//!
//! `node_thread` runs the engine or sends operations to the node that does; `lease_renewal` keeps the lease of this node and looks
//! after the others. `front_end` is the side of a node without the engine, `sessions` the side of the engine, with one session per node. `wire`
//! connects them, and `frames` is what they say.

pub(crate) mod envelope;
mod frames;
mod front_end;
mod held_links;
pub(crate) mod lease_renewal;
mod listening;
pub(crate) mod node_thread;
mod outgoing;
mod pending;
mod remote_link;
mod remote_port;
mod session;
mod sessions;
mod strangers;
mod wire;

pub(crate) use front_end::FrontEnd;
pub(crate) use remote_port::RemotePort;
pub(crate) use wire::NodeConnector;
