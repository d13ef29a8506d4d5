//! Lines over their loads as a chart: CPU per message and p99 of responses on logarithmic axes, for each protocol and build. The SVG
//! has its own background and colours for light and dark pages; builds differ by colour and line.

use super::figures::{CPU, Column, P99, figure};
use super::results::Line;

const PANEL_WIDTH: f64 = 440.0;
const PANEL_HEIGHT: f64 = 270.0;
/// From the edge of a panel to its axes: left, right, top, bottom.
const EDGES: [f64; 4] = [58.0, 18.0, 36.0, 44.0];
/// The heading and the legend above all panels.
const HEADING: f64 = 58.0;
/// Room beyond the smallest and the largest value, as a factor.
const ROOM: f64 = 1.5;
/// The panels of a protocol: column, title, and left edge.
const PANELS: [(Column, &str, f64); 2] =
    [(CPU, "gateway CPU per message, us", 0.0), (P99, "p99 of responses, ms", PANEL_WIDTH)];

const STYLE: &str = "\
text{font:12px system-ui,sans-serif;fill:#24292f}
.heading{font-size:16px;font-weight:600}
.panel{font-size:13px;font-weight:600}
.page{fill:#fff}
.grid{stroke:#d0d7de;stroke-width:1}
.line{fill:none;stroke-width:2}
.new{stroke:#0b5cad}
.old{stroke:#a8480f;stroke-dasharray:6 4}
.point{stroke-width:2;stroke-dasharray:none;fill:#fff}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}
.page,.point{fill:#0d1117}
.grid{stroke:#30363d}
.new{stroke:#79b8ff}
.old{stroke:#ffb077}
}
";

/// Returns the chart as the text of an SVG file.
pub(super) fn svg(lines: &[Line]) -> String {
    let mut protocols: Vec<&str> = lines.iter().map(|line| split(line).0).collect();
    protocols.dedup();
    let (width, height) = (2.0 * PANEL_WIDTH, HEADING + PANEL_HEIGHT * protocols.len() as f64);
    let title = "Cost and latency of a message over the offered load";
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    let left = EDGES[0];
    svg += &text(left, 24.0, "class=\"heading\"", title);
    let compares = lines.iter().any(|line| line.variant == "old");
    for (build, x) in [("old", left), ("new", left + 110.0)].into_iter().filter(|_| compares) {
        svg += &path(&format!("line {build}"), &format!("M{x} 44H{}", x + 28.0));
        svg += &text(x + 34.0, 48.0, "", &format!("{build} build"));
    }
    for (name, row) in protocols.into_iter().zip(0_u8..) {
        let own: Vec<&Line> = lines.iter().filter(|line| split(line).0 == name).collect();
        for (column, title, left) in PANELS {
            let top = HEADING + PANEL_HEIGHT * f64::from(row);
            svg += &panel(&format!("{name}: {title}"), column, &own, (left, top));
        }
    }
    svg + "</svg>\n"
}

/// Returns the protocol and the load of a line.
fn split(line: &Line) -> (&str, &str) {
    line.label.split_once(' ').unwrap_or((&line.label, ""))
}

/// Draws a column of these lines: the loads from left to right, the values as a curve for each build.
fn panel(title: &str, column: Column, lines: &[&Line], (left, top): (f64, f64)) -> String {
    let [x_start, x_end] = [left + EDGES[0], left + PANEL_WIDTH - EDGES[1]];
    let [y_start, y_end] = [top + PANEL_HEIGHT - EDGES[3], top + EDGES[2]];
    let mut svg = text(x_start, top + 22.0, "class=\"panel\"", title);
    let mut loads: Vec<&str> = lines.iter().map(|line| split(line).1).collect();
    loads.dedup();
    let step = (x_end - x_start) / loads.len() as f64;
    let x = |load: &str| {
        let at = loads.iter().position(|other| *other == load).unwrap_or_default();
        x_start + step * (at as f64 + 0.5)
    };
    let value = |line: &Line| line.figures()?.get(column).filter(|value| *value > 0.0);
    let values = || lines.iter().filter_map(|line| value(line));
    let (Some(low), Some(high)) = (values().reduce(f64::min), values().reduce(f64::max)) else {
        return svg + &text(x_start, top + 60.0, "", "not measured");
    };
    let (low, high) = (low / ROOM, high * ROOM);
    let y = |value: f64| y_start + (value / low).ln() / (high / low).ln() * (y_end - y_start);
    for mark in marks(low, high) {
        svg += &path("grid", &format!("M{x_start} {:.1}H{x_end}", y(mark)));
        svg += &text(x_start - 6.0, y(mark) + 4.0, "text-anchor=\"end\"", &figure(mark));
    }
    for (load, row) in loads.iter().zip(0_u8..) {
        // In two rows, because they are longer than a step.
        let below = y_start + 16.0 + 14.0 * f64::from(row % 2);
        svg += &text(x(load), below, "text-anchor=\"middle\"", load);
    }
    for build in ["old", "new"] {
        // A build alone has the style of the new one.
        let own = lines.iter().filter(|line| (line.variant == "old") == (build == "old"));
        let places: Vec<_> = own.filter_map(|line| Some((x(split(line).1), y(value(line)?)))).collect();
        let line: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        if !line.is_empty() {
            svg += &path(&format!("line {build}"), &format!("M{}", line.join("L")));
        }
        for (x, y) in places {
            svg += &format!("<circle class=\"{build} point\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>\n");
        }
    }
    svg
}

fn text(x: f64, y: f64, attributes: &str, content: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{content}</text>\n")
}

fn path(class: &str, path: &str) -> String {
    format!("<path class=\"{class}\" d=\"{path}\"/>\n")
}

/// Returns the values 1, 2 and 5 of each decade between these.
fn marks(low: f64, high: f64) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().floor() as i32;
    let marks = decades.flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
    marks.filter(|mark| (low..=high).contains(mark)).collect()
}

#[cfg(test)]
#[path = "chart_tests.rs"]
mod tests;
