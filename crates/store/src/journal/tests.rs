//! The journal's rules on the real file system.
