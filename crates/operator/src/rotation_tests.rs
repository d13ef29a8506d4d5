//! Unit tests of `rotation.rs`.

use super::*;

#[test]
fn overlap_is_a_time_of_at_most_thirty_days() {
    let read = |text: Option<&str>| {
        overlap_of(&RotateQuery { overlap: text.map(str::to_owned) }).map_err(|refusal| refusal.to_string())
    };
    assert_eq!(read(None), Ok(Duration::ZERO));
    assert_eq!(read(Some("24h")), Ok(Duration::from_secs(86_400)));
    assert_eq!(read(Some("30d")), Ok(OVERLAP_MAX));
    assert!(read(Some("31d")).is_err_and(|error| error.contains("is longer than 30d")));
    assert!(read(Some("soon")).is_err_and(|error| error.contains("24h")));
}
