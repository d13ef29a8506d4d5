//! Unit tests of `csv_rows.rs`.

use super::*;
use crate::audit_log::AuditRowView;
use crate::bind::BindView;
use crate::opt_out::OptOutView;
use crate::queue::CarrierQueueView;

#[test]
fn columns_are_the_fields_of_the_view_and_of_tables_inside() {
    assert_eq!(headings::<OptOutView>(), "number,source,how,at\r\n");
    let queue = headings::<CarrierQueueView>();
    assert!(queue.starts_with("carrier,") && queue.contains("queue.waiting,"), "{queue}");
    assert!(BindView::columns().contains(&"last_error.text".to_owned()), "{:?}", BindView::columns());
    assert!(AuditRowView::columns().contains(&"detail".to_owned()));
}

#[test]
fn cells_are_raw_and_guarded() {
    let view = |number: &str, how: &str| OptOutView {
        number: number.to_owned().into(),
        source: "operator".to_owned(),
        how: how.to_owned(),
        at: "2026-11-19T12:00:00Z".to_owned(),
    };
    let views = [view("+4915112345678", "=1+1"), view("+4915112345679", "a, b")];
    assert_eq!(
        rows(&views),
        "4915112345678,operator,'=1+1,2026-11-19T12:00:00Z\r\n\
         4915112345679,operator,\"a, b\",2026-11-19T12:00:00Z\r\n"
    );
    assert_eq!(text(&serde_json::json!(["DE", "AT"])), "DE, AT");
    assert_eq!(text(&serde_json::json!([{"a": 1}])), "[{\"a\":1}]");
}
