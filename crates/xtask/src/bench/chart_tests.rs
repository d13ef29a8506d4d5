//! Unit tests of `chart.rs`.

use super::super::figures::Figures;
use super::super::results::{Results, Table};
use super::*;

static TABLE: Table = Table { columns: &[], ratio: ["new", "old"], limits: &[], may_fall_short: true };

#[test]
fn every_protocol_has_two_panels_with_a_curve_for_each_build() {
    let mut results = Results::new(&TABLE);
    for (label, build) in [("SMPP 500", "old"), ("SMPP 500", "new"), ("HTTP 500", "old"), ("HTTP 500", "new")]
    {
        results.add(label, build, Figures::from([(CPU, 180.0), (P99, 2.0)]));
    }
    let both = svg(&results.lines);
    assert_eq!(both.matches("class=\"panel\"").count(), 4);
    assert_eq!(both.matches("class=\"line old\"").count(), 5, "four panels and the legend");
    assert_eq!((both.matches("<circle").count(), both.contains("NaN")), (8, false));
    results.fail("HTTP 500", "old", "down");
    results.fail("HTTP 500", "new", "down");
    assert_eq!(svg(&results.lines).matches("not measured").count(), 2);
    assert_eq!(marks(30.0, 240.0), [50.0, 100.0, 200.0]);
}
