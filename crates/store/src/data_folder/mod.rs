//! What every data folder has, whichever database the store uses: the lock, the list of erasures, and the space on its disk.

pub(crate) mod disk;
pub(crate) mod erasure_list;
pub(crate) mod lock;
mod log_limiter;
