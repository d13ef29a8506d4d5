//! Tests of the charts: nothing, one value, hostile names, gaps.

use super::*;

fn hour(start: i64, delivered: u64, undeliverable: u64) -> HourStates {
    HourStates { start: Time(start * 3_600_000), delivered, open: 0, expired: 0, undeliverable, rejected: 0 }
}

#[test]
fn chart_without_hours_says_so_and_has_an_empty_table() {
    for chart in [states_by_hour("By state", &[]), volume_by_hour("Volume", &[])] {
        assert!(chart.svg.as_str().contains("No messages in this period"));
        assert!(chart.rows.is_empty());
    }
    assert!(horizontal_bars("By country", &[], "Rate").svg.as_str().contains("No messages"));
}

#[test]
fn single_hour_fills_the_axis() {
    let chart = states_by_hour("By state", &[hour(0, 1, 0)]);
    assert!(
        chart
            .svg
            .as_str()
            .contains(r#"class="s-delivered" x="14.00%" y="14.0" width="72.00%" height="168.0""#)
    );
    assert_eq!(chart.rows[0].cells, ["1", "1", "0", "0", "0", "0"]);
}

#[test]
fn one_failed_message_among_thousands_is_visible() {
    let chart = states_by_hour("By state", &[hour(0, 100_000, 1)]);
    assert!(chart.svg.as_str().contains(r#"class="s-undeliverable""#));
    assert!(chart.svg.as_str().contains(r#"height="1.5""#));
}

#[test]
fn largest_counts_do_not_overflow() {
    let chart = states_by_hour("By state", &[hour(0, u64::MAX / 4, u64::MAX / 4), hour(1, u64::MAX, 9)]);
    assert!(!chart.svg.as_str().contains("NaN"));
    assert!(!chart.svg.as_str().contains("inf"));
}

#[test]
fn line_is_interrupted_where_the_usual_number_is_unknown() {
    let count = |start, usual| HourCount { start: Time(start), count: 5, usual };
    let chart = volume_by_hour("Volume", &[count(0, Some(1)), count(1, None), count(2, Some(3))]);
    let svg = chart.svg.as_str();
    let usual = svg.split(r#"class="stroke s-usual" d=""#).nth(1).unwrap();
    let path = usual.split('"').next().unwrap();
    assert_eq!(path.matches('M').count(), 2, "{path}");
    assert_eq!(chart.rows[1].cells[1], "–");
}

#[test]
fn hostile_name_is_escaped_in_drawing_and_table() {
    let bar = CountryBar { label: "<script>\"'&".to_owned(), count: 3, note: "</title>".to_owned() };
    let html = horizontal_bars("By <b>", &[bar], "<i>").render().unwrap();
    for forbidden in ["<script>", "</title> ", "<b>", "<i>"] {
        assert!(!html.contains(forbidden), "{forbidden} in {html}");
    }
    assert!(html.contains("&lt;script&gt;&quot;&#39;&amp;"));
}

#[test]
fn sparkline_of_less_than_two_values_draws_no_line() {
    assert!(!sparkline("nothing", &[]).as_str().contains("<path"));
    assert!(!sparkline("one", &[4]).as_str().contains("<path"));
    assert!(sparkline("two", &[4, 0]).as_str().contains("M25.00 0.00L75.00 100.00"));
}

#[test]
fn charts_have_no_inline_style() {
    let html = states_by_hour("By state", &[hour(0, 5, 1)]).render().unwrap();
    assert!(!html.contains("style="));
    assert!(html.contains("Show as table"));
}
