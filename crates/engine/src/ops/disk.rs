//! The disk under the data folder.

/// What the last measurement of the free space found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskSpace {
    pub free_bytes: u64,
    /// Below this, new messages are refused.
    pub low_water_bytes: u64,
    /// Whether new messages are accepted. A write that found no room ends it until the next measurement, too.
    pub accepting: bool,
}
