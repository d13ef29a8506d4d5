//! The clock and the store of a benchmark.

use hermod_domain::time::Timestamp;
use hermod_store::{OpenOptions, Server, Store};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
pub(crate) fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    Timestamp::from_millis(i64::try_from(since.as_millis()).expect("before the year 292 million"))
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}

/// Opens the store of a folder, with its record or without, embedded or on a server.
pub(crate) fn open(folder: &Path, record: bool, server: Option<Server>) -> Store {
    let (folder, now) = (folder.to_owned(), wall_clock());
    let options = OpenOptions {
        folder,
        server,
        low_water_bytes: 0,
        in_doubt_wait: Duration::from_secs(30),
        record,
        now,
    };
    Store::open(&options).expect("a store")
}
