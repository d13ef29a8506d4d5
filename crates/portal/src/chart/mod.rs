//! Charts, drawn on the server: each is an SVG that fills its width, with the same numbers in a table behind it.
//!
//! Horizontal positions are percentages, so that texts keep their size on every screen. Colours come from classes of the
//! style sheet. The script only adds a readout under the pointer.

mod bars;
mod line;
mod scale;

pub use bars::{CountryBar, HourStates, horizontal_bars, states_by_hour};
pub use line::{HourCount, sparkline, volume_by_hour};

use crate::svg::Svg;
use crate::time::Time;
use askama::Template;
use askama::filters::HtmlSafe;
use scale::AxisScale;
use std::fmt::Write as _;

/// A chart with its legend and its table.
#[derive(Clone, Debug, PartialEq, Eq, Template)]
#[template(path = "chart.html")]
pub struct Chart {
    /// What the chart shows; its heading.
    pub title: String,
    /// The drawing.
    pub svg: Svg,
    /// The series with their classes; empty for one series.
    pub legend: Vec<LegendItem>,
    /// The headings of the table.
    pub columns: Vec<String>,
    /// The rows of the table, the first cell of each being its heading.
    pub rows: Vec<TableRow>,
}

impl HtmlSafe for Chart {}

/// A row of the table behind a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// The hour that the row is about; `None` if `label` names the row.
    pub time: Option<Time>,
    pub label: String,
    pub cells: Vec<String>,
}

/// A series in the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegendItem {
    pub label: &'static str,
    /// The class of its colour.
    pub class: &'static str,
}

/// The height of the plot, without the labels below it.
const PLOT: f64 = 168.0;
/// The room above the plot, for the label of the top line.
const HEAD: f64 = 14.0;
/// The room below the plot, for the hours.
const FOOT: f64 = 22.0;

/// The room left of the plot, for the values of the lines.
const TICKS: f64 = 30.0;

/// Opens a drawing of the full width, after the values of its axis if it has one. `summary` is read aloud in its place.
fn open(scale: Option<AxisScale>, height: f64, summary: &str) -> String {
    let mut svg = r#"<div class="plot-box">"#.to_owned();
    if let Some(scale) = scale {
        let _ = write!(svg, r#"<svg class="ticks" width="{TICKS}" height="{height}" aria-hidden="true">"#);
        for value in scale.lines().chain([0]) {
            let y = HEAD + PLOT * (1.0 - scale.share(value)) + 4.0;
            let text = crate::numbers::short(value);
            let _ = write!(svg, r#"<text x="{TICKS}" y="{y:.1}" text-anchor="end">{text}</text>"#);
        }
        svg.push_str("</svg>");
    }
    let summary = Svg::escape(summary);
    let _ =
        write!(svg, r#"<svg class="plot" width="100%" height="{height}" role="img" aria-label="{summary}">"#);
    svg
}

/// Closes what [`open`] opened.
fn close(mut svg: String) -> Svg {
    svg.push_str("</svg></div>");
    Svg::from_own_markup(svg)
}

/// Draws the lines of the axis.
fn draw_grid(svg: &mut String, scale: AxisScale) {
    for value in scale.lines() {
        let y = HEAD + PLOT * (1.0 - scale.share(value));
        let _ = write!(svg, r#"<line class="grid" x1="0" x2="100%" y1="{y:.1}" y2="{y:.1}"/>"#);
    }
    let y = HEAD + PLOT;
    let _ = write!(svg, r#"<line class="axis" x1="0" x2="100%" y1="{y:.1}" y2="{y:.1}"/>"#);
}

/// Draws the hour under every fourth column; the script turns it into local time.
fn draw_hours(svg: &mut String, hours: &[Time]) {
    let width = 100.0 / hours.len().max(1) as f64;
    for (index, hour) in hours.iter().enumerate().filter(|(index, _)| index % 4 == 2) {
        let x = width * (index as f64 + 0.5);
        let y = HEAD + PLOT + FOOT - 5.0;
        let _ = write!(
            svg,
            r#"<text class="tick hour" x="{x:.2}%" y="{y:.1}" text-anchor="middle" data-ms="{}">{}</text>"#,
            hour.0,
            hour.hour_text()
        );
    }
}

/// Draws the area of one column that shows `readout` under the pointer.
fn draw_hit_area(svg: &mut String, (index, columns): (usize, usize), hour: Time, readout: &str) {
    let width = 100.0 / columns.max(1) as f64;
    let readout = Svg::escape(readout);
    let _ = write!(
        svg,
        r#"<g class="hit" data-ms="{}" data-readout="{readout}"><title>{} UTC: {readout}</title><rect x="{:.2}%" y="0" width="{width:.2}%" height="{}"/></g>"#,
        hour.0,
        hour.hour_text(),
        width * index as f64,
        HEAD + PLOT
    );
}

/// Draws the words of a chart without values.
fn draw_nothing(svg: &mut String, words: &str) {
    let y = HEAD + PLOT / 2.0;
    let _ = write!(
        svg,
        r#"<text class="nothing" x="50%" y="{y:.1}" text-anchor="middle">{}</text>"#,
        Svg::escape(words)
    );
}

#[cfg(test)]
mod tests;
