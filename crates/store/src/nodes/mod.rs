//! Several nodes on one database. One of them runs the engine; the others are front ends that serve customers and carriers
//! just the same, and send their operations to it.
//!
//! `front_end` is the side of a node without the engine, `sessions` the side of the engine, with one session per node. `wire`
//! connects them, and `frames` is what they say.

mod frames;
mod front_end;
mod held_links;
mod listening;
mod outgoing;
mod pending;
mod remote_link;
mod remote_port;
mod session;
mod sessions;
mod strangers;
mod wire;

pub(crate) use frames::{HeldPart, RunBefore};
pub(crate) use front_end::{EngineConnection, FrontEnd};

pub(crate) use held_links::HeldLink;
pub(crate) use listening::listen;
pub(crate) use remote_port::RemotePort;
pub(crate) use sessions::{EngineSessions, Unclaimed};
pub(crate) use wire::NodeConnector;
