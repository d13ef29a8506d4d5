//! The profile as a chart: CPU per message and p99 of responses over the offered load, for each protocol and build. The
//! SVG has its own background and colours for light and dark pages; builds differ by colour, line and marker.

use std::fmt::Write;

use super::figures::{Column, Row};
use super::scale::{Scale, mark};
use super::scenario::{Offered, Protocol};
use super::text::figure;

const PANEL_WIDTH: f64 = 440.0;
const PANEL_HEIGHT: f64 = 270.0;
/// From the edge of a panel to its axes.
const LEFT: f64 = 58.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 44.0;
/// The heading and the legend above all panels.
const HEADING: f64 = 58.0;
/// Half the size of a marker.
const MARKER: f64 = 4.0;

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

/// One panel: a figure of a protocol over the load.
struct Panel {
    protocol: Protocol,
    column: Column,
    title: &'static str,
    unit: &'static str,
}

/// A point of a line: load, value, and whether it is saturation.
#[derive(Clone, Copy)]
struct Point {
    load: f64,
    value: f64,
    is_saturation: bool,
}

/// The points of one build.
struct Line {
    build: &'static str,
    points: Vec<Point>,
}

/// The chart as the text of an SVG file.
pub(super) fn svg(rows: &[Row]) -> String {
    let protocols: Vec<Protocol> = Protocol::ALL
        .into_iter()
        .filter(|protocol| rows.iter().any(|row| row.scenario.protocol == *protocol))
        .collect();
    let compares = rows.iter().any(|row| row.old.is_some());
    let (width, height) = (2.0 * PANEL_WIDTH, HEADING + PANEL_HEIGHT * count(protocols.len()));
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-labelledby=\"title desc\">\n<title id=\"title\">Cost and latency of a message over the offered load</title>\n"
    );
    let _ = writeln!(text, "<desc id=\"desc\">{}</desc>", description(rows, compares));
    let _ = writeln!(
        text,
        "<style>\n{STYLE}</style>\n<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>"
    );
    write_heading(&mut text, compares);
    for (at, protocol) in protocols.into_iter().enumerate() {
        let top = HEADING + PANEL_HEIGHT * count(at);
        let cpu = Panel { protocol, column: Column::Cpu, title: "gateway CPU per message", unit: "us" };
        let p99 = Panel { protocol, column: Column::ResponseP99, title: "p99 of responses", unit: "ms" };
        write_panel(&mut text, &cpu, rows, (0.0, top));
        write_panel(&mut text, &p99, rows, (PANEL_WIDTH, top));
    }
    text.push_str("</svg>\n");
    text
}

/// The points in words, for readers who do not see the chart.
fn description(rows: &[Row], compares: bool) -> String {
    let mut text = "Logarithmic axes. For each load in messages per second: the gateway's CPU per message in microseconds, and \
                    the 99th percentile of responses in milliseconds."
        .to_owned();
    for row in rows.iter().filter(|row| row.scenario.is_on_curve()) {
        for (build, measured) in row.builds() {
            let Ok(figures) = measured else { continue };
            let build = if compares { format!(", {build}") } else { String::new() };
            let _ = write!(
                text,
                " {} {}{build}: {} us, {} ms.",
                row.scenario.protocol.name(),
                row.scenario,
                figures.cell(Column::Cpu),
                figures.cell(Column::ResponseP99)
            );
        }
    }
    text
}

fn write_heading(text: &mut String, compares: bool) {
    let _ = writeln!(
        text,
        "<text class=\"heading\" x=\"{LEFT}\" y=\"24\">Cost and latency of a message over the offered load</text>"
    );
    let builds: &[(&str, &str)] = if compares { &[("old", "old build"), ("new", "new build")] } else { &[] };
    let mut x = LEFT;
    for (build, name) in builds {
        let end = x + 28.0;
        let _ = writeln!(text, "<path class=\"line {build}\" d=\"M{x} 44H{end}\"/>");
        let _ = writeln!(text, "<text x=\"{}\" y=\"48\">{name}</text>", end + 6.0);
        x += 110.0;
    }
    let middle = x + MARKER;
    write_marker(text, "new", (middle, 44.0), true);
    let _ = writeln!(text, "<text x=\"{}\" y=\"48\">saturation</text>", middle + 10.0);
}

fn write_panel(text: &mut String, panel: &Panel, rows: &[Row], (left, top): (f64, f64)) {
    let lines = lines(panel, rows);
    let points = || lines.iter().flat_map(|line| &line.points);
    let (x_start, x_end) = (left + LEFT, left + PANEL_WIDTH - RIGHT);
    let (y_start, y_end) = (top + PANEL_HEIGHT - BOTTOM, top + TOP);
    let x = Scale::over(points().map(|point| point.load), (x_start, x_end));
    let y = Scale::over(points().map(|point| point.value), (y_start, y_end));
    let _ = writeln!(
        text,
        "<text class=\"panel\" x=\"{x_start}\" y=\"{}\">{}: {}, {}</text>",
        top + 22.0,
        panel.protocol.name(),
        panel.title,
        panel.unit
    );
    let (Some(x), Some(y)) = (x, y) else {
        let _ = writeln!(text, "<text x=\"{x_start}\" y=\"{}\">not measured</text>", top + 60.0);
        return;
    };
    for value in x.marks() {
        let at = x.place(value);
        let _ = writeln!(text, "<path class=\"grid\" d=\"M{at:.1} {y_end}V{y_start}\"/>");
        let below = y_start + 16.0;
        let _ =
            writeln!(text, "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{}</text>", mark(value));
    }
    for value in y.marks() {
        let at = y.place(value);
        let _ = writeln!(text, "<path class=\"grid\" d=\"M{x_start} {at:.1}H{x_end}\"/>");
        let (beside, middle) = (x_start - 6.0, at + 4.0);
        let _ = writeln!(
            text,
            "<text x=\"{beside}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>",
            mark(value)
        );
    }
    let (center, foot) = (f64::midpoint(x_start, x_end), y_start + 34.0);
    let _ =
        writeln!(text, "<text x=\"{center}\" y=\"{foot}\" text-anchor=\"middle\">messages per second</text>");
    for line in &lines {
        write_line(text, line, panel.unit, &x, &y);
    }
}

/// The lines of a panel; the points of a line are in the order of their loads.
fn lines(panel: &Panel, rows: &[Row]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let rows =
        rows.iter().filter(|row| row.scenario.protocol == panel.protocol && row.scenario.is_on_curve());
    for row in rows {
        for (build, measured) in row.builds() {
            // A build alone has the style of the new one.
            let build = if build.is_empty() { "new" } else { build };
            let Ok(figures) = measured else { continue };
            let (Some(reached), Some(value)) = (figures.get(Column::Reached), figures.get(panel.column))
            else {
                continue;
            };
            let is_saturation = row.scenario.offered == Offered::Saturation;
            let load = match row.scenario.offered {
                #[expect(clippy::cast_precision_loss, reason = "a place in a chart")]
                Offered::Rate(rate) => rate as f64,
                Offered::Saturation => reached,
            };
            let at = lines.iter().position(|line| line.build == build).unwrap_or_else(|| {
                lines.push(Line { build, points: Vec::new() });
                lines.len() - 1
            });
            lines[at].points.push(Point { load, value, is_saturation });
        }
    }
    for line in &mut lines {
        line.points.sort_by(|one, other| one.load.total_cmp(&other.load));
    }
    lines
}

fn write_line(text: &mut String, line: &Line, unit: &str, x: &Scale, y: &Scale) {
    let places: Vec<(f64, f64)> =
        line.points.iter().map(|point| (x.place(point.load), y.place(point.value))).collect();
    let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    let _ = writeln!(text, "<path class=\"line {}\" d=\"M{}\"/>", line.build, path.join("L"));
    for (point, place) in line.points.iter().zip(places) {
        let _ = write!(text, "<g><title>{}/s: {} {unit}</title>", figure(point.load), figure(point.value));
        write_marker(text, line.build, place, point.is_saturation);
        text.push_str("</g>\n");
    }
}

/// A circle, or a square at saturation.
fn write_marker(text: &mut String, build: &str, (x, y): (f64, f64), is_saturation: bool) {
    let size = 2.0 * MARKER;
    let _ = if is_saturation {
        let (left, top) = (x - MARKER, y - MARKER);
        write!(
            text,
            "<rect class=\"{build} point\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{size}\" height=\"{size}\"/>"
        )
    } else {
        write!(text, "<circle class=\"{build} point\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{MARKER}\"/>")
    };
}

#[expect(clippy::cast_precision_loss, reason = "a number of panels")]
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::super::figures::Figures;
    use super::super::scenario::plan;
    use super::*;

    fn figures(reached: f64, cpu: f64, p99: f64) -> Figures {
        let mut figures = Figures::default();
        figures.set(Column::Reached, Some(reached));
        figures.set(Column::Cpu, Some(cpu));
        figures.set(Column::ResponseP99, Some(p99));
        figures
    }

    fn rows(compares: bool) -> Vec<Row> {
        plan(&[Offered::Rate(500), Offered::Saturation], None)
            .into_iter()
            .map(|scenario| Row {
                scenario,
                old: compares.then(|| Ok(figures(30_000.0, 541.0, 3.3))),
                new: Ok(figures(60_000.0, 180.0, 2.0)),
            })
            .collect()
    }

    #[test]
    fn every_protocol_has_two_panels_with_a_line_for_each_build() {
        let chart = svg(&rows(true));
        assert_eq!(chart.matches("class=\"panel\"").count(), 4);
        assert_eq!(chart.matches("class=\"line old\"").count(), 5, "four panels and the legend");
        assert_eq!(chart.matches("<circle").count(), 8);
        assert_eq!(chart.matches("<rect class=\"old point\"").count(), 4);
        assert!(chart.contains("SMPP 500, old: 541 us, 3.30 ms."), "{chart}");
        assert!(chart.contains("<title>60,000/s: 180 us</title>"), "{chart}");
        assert!(!svg(&rows(false)).contains("old build"));
    }

    #[test]
    fn every_element_is_closed() {
        let chart = svg(&rows(true));
        for element in ["svg", "title", "desc", "style", "text", "g"] {
            let opened = chart.matches(&format!("<{element}>")).count()
                + chart.matches(&format!("<{element} ")).count();
            assert_eq!(opened, chart.matches(&format!("</{element}>")).count(), "{element}");
        }
        assert!(!chart.contains("NaN") && !chart.contains("inf"), "{chart}");
    }

    #[test]
    fn panel_without_figures_says_so() {
        let scenario = plan(&[Offered::Saturation], Some(Protocol::Http))[0];
        let failed = Row { scenario, old: None, new: Err(crate::shell::Failure("down".to_owned())) };
        assert_eq!(svg(&[failed]).matches("not measured").count(), 2);
    }
}
