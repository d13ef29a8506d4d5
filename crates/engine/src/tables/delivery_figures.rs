//! The table of delivery figures per carrier, network and day.

/// Reads and writes delivery figures per carrier, network and day.
pub trait DeliveryFigureRows {}
