//! Whether a carrier is worth giving a message to. Links and receipts tell; the route asks.

/// How a carrier is doing, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Health {
    /// A link that sends is bound, and things go as they should.
    Up,
    /// Bound, but it refuses or loses more than it should: taken only where nobody better is.
    Poor,
    /// No link that sends is bound.
    #[default]
    Down,
    /// It said too often that we are wrong, or the operator stopped it. Nothing is sent, the queue is kept.
    Stopped,
    /// The operator disabled it.
    Disabled,
}

impl Health {
    pub const fn as_str(self) -> &'static str {
        match self {
            Health::Up => "up",
            Health::Poor => "poor",
            Health::Down => "down",
            Health::Stopped => "stopped",
            Health::Disabled => "disabled",
        }
    }

    /// Would something given to it now leave now?
    pub const fn sends(self) -> bool {
        match self {
            Health::Up | Health::Poor => true,
            Health::Down | Health::Stopped | Health::Disabled => false,
        }
    }
}
