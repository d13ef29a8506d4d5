//! Lines: messages by hour against the usual number, and sparklines.

use super::scale::AxisScale;
use super::{Chart, FOOT, HEAD, LegendItem, PLOT, TableRow};
use super::{close, draw_grid, draw_hit_area, draw_hours, draw_nothing, open};
use crate::numbers::grouped;
use crate::svg::Svg;
use crate::time::Time;
use std::fmt::Write as _;

/// The messages that were accepted in one hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HourCount {
    /// The beginning of the hour.
    pub start: Time,
    pub count: u64,
    /// The usual number of this hour; `None` if the account is too new to know.
    pub usual: Option<u64>,
}

const ACCEPTED: LegendItem = LegendItem { label: "Accepted", class: "s-accepted" };
const USUAL: LegendItem = LegendItem { label: "Usual", class: "s-usual" };

/// Draws the messages by hour as an area, and the usual number as a dashed line. Hours without messages must be present.
pub fn volume_by_hour(title: &str, hours: &[HourCount]) -> Chart {
    let largest = hours.iter().map(|hour| hour.count.max(hour.usual.unwrap_or_default())).max();
    let largest = largest.unwrap_or_default();
    let scale = AxisScale::covering(largest);
    let all = hours.iter().fold(0, |sum: u64, hour| sum.saturating_add(hour.count));
    let summary = format!("{title}. {} messages. The table below has every hour.", grouped(all));
    let mut svg = open(Some(scale), HEAD + PLOT + FOOT, &summary);
    draw_grid(&mut svg, scale);
    if largest == 0 {
        draw_nothing(&mut svg, "No messages in this period");
    } else {
        draw_lines(&mut svg, hours, scale);
    }
    for (index, hour) in hours.iter().enumerate() {
        draw_hit_area(&mut svg, (index, hours.len()), hour.start, &readout(*hour));
    }
    draw_hours(&mut svg, &hours.iter().map(|hour| hour.start).collect::<Vec<_>>());
    let svg = close(svg);
    let has_usual = hours.iter().any(|hour| hour.usual.is_some());
    let rows = hours.iter().map(|hour| TableRow {
        time: Some(hour.start),
        label: String::new(),
        cells: vec![grouped(hour.count), hour.usual.map_or_else(|| "–".to_owned(), grouped)],
    });
    Chart {
        title: title.to_owned(),
        svg,
        legend: if has_usual { vec![ACCEPTED, USUAL] } else { Vec::new() },
        columns: ["Hour", "Accepted", "Usual"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
    }
}

/// Draws both lines in a box of 100 by 100 that is stretched over the plot; strokes keep their width by a class.
fn draw_lines(svg: &mut String, hours: &[HourCount], scale: AxisScale) {
    let _ = write!(
        svg,
        r#"<svg x="0" y="{HEAD}" width="100%" height="{PLOT}" viewBox="0 0 100 100" preserveAspectRatio="none">"#
    );
    let counts: Vec<Option<u64>> = hours.iter().map(|hour| Some(hour.count)).collect();
    let line = path(&counts, scale);
    let (first, last) = (column_centre(0, hours.len()), column_centre(hours.len() - 1, hours.len()));
    let _ = write!(svg, r#"<path class="area s-accepted" d="{line}L{last:.2} 100L{first:.2} 100Z"/>"#);
    let usual: Vec<Option<u64>> = hours.iter().map(|hour| hour.usual).collect();
    if usual.iter().any(Option::is_some) {
        let _ = write!(svg, r#"<path class="stroke s-usual" d="{}"/>"#, path(&usual, scale));
    }
    let _ = write!(svg, r#"<path class="stroke s-accepted" d="{line}"/></svg>"#);
}

/// Returns the line through the values, interrupted where there is none.
fn path(values: &[Option<u64>], scale: AxisScale) -> String {
    let mut path = String::new();
    let mut is_drawing = false;
    for (index, value) in values.iter().enumerate() {
        if let Some(value) = value {
            let (x, y) = (column_centre(index, values.len()), 100.0 * (1.0 - scale.share(*value)));
            let _ = write!(path, "{}{x:.2} {y:.2}", if is_drawing { 'L' } else { 'M' });
        }
        is_drawing = value.is_some();
    }
    path
}

fn column_centre(index: usize, columns: usize) -> f64 {
    100.0 * (index as f64 + 0.5) / columns as f64
}

fn readout(hour: HourCount) -> String {
    let mut text = format!("{} accepted", grouped(hour.count));
    if let Some(usual) = hour.usual {
        let _ = write!(text, " · usually {}", grouped(usual));
    }
    text
}

/// Draws a line without axes. `summary` says what it shows, for readers who do not see it.
pub fn sparkline(summary: &str, values: &[u64]) -> Svg {
    let scale = AxisScale { step: 1, top: values.iter().copied().max().unwrap_or_default().max(1) };
    let values: Vec<Option<u64>> = values.iter().copied().map(Some).collect();
    let mut svg = format!(
        r#"<svg class="spark" width="100%" height="32" viewBox="0 -4 100 108" preserveAspectRatio="none" role="img" aria-label="{}">"#,
        Svg::escape(summary)
    );
    if values.len() > 1 {
        let _ = write!(svg, r#"<path class="stroke s-accepted" d="{}"/>"#, path(&values, scale));
    }
    svg.push_str("</svg>");
    Svg::from_own_markup(svg)
}
