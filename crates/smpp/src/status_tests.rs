//! Unit tests of `status.rs`.

use super::*;

#[test]
fn statuses_print_their_specification_names() {
    assert_eq!(CommandStatus::THROTTLED.to_string(), "ESME_RTHROTTLED (0x58)");
    assert_eq!(CommandStatus(0x0104).to_string(), "ESME_RINVDCS (0x104)");
    assert_eq!(CommandStatus(0x0400).to_string(), "status 0x00000400");
}

#[test]
fn table_is_in_order_without_duplicates() {
    assert!(CommandStatus::ALL.is_sorted_by(|a, b| a < b));
    let of_3_4 = CommandStatus::ALL.iter().filter(|status| status.0 < 0x100).count();
    assert_eq!((of_3_4, CommandStatus::ALL.len()), (48, 67));
}
