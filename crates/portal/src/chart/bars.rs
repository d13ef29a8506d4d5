//! Bars: stacked by state for each hour, and horizontal ones for countries.

use super::scale::AxisScale;
use super::{Chart, FOOT, HEAD, LegendItem, PLOT, TableRow};
use super::{close, draw_grid, draw_hit_area, draw_hours, draw_nothing, open};
use crate::numbers::grouped;
use crate::svg::Svg;
use crate::time::Time;
use std::fmt::Write as _;

/// The messages that were accepted in one hour, by the state that they have now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HourStates {
    /// The beginning of the hour.
    pub start: Time,
    pub delivered: u64,
    /// Accepted and not ended.
    pub open: u64,
    pub expired: u64,
    pub undeliverable: u64,
    pub rejected: u64,
}

const STATES: [LegendItem; 5] = [
    LegendItem { label: "Delivered", class: "s-delivered" },
    LegendItem { label: "Open", class: "s-open" },
    LegendItem { label: "Expired", class: "s-expired" },
    LegendItem { label: "Undeliverable", class: "s-undeliverable" },
    LegendItem { label: "Rejected", class: "s-rejected" },
];

impl HourStates {
    /// Returns the counts in the order of the legend.
    fn counts(self) -> [u64; 5] {
        [self.delivered, self.open, self.expired, self.undeliverable, self.rejected]
    }

    fn total(self) -> u64 {
        self.counts().into_iter().fold(0, u64::saturating_add)
    }
}

/// Draws one column for each hour, stacked by state. Hours without messages must be present, with zeros.
pub fn states_by_hour(title: &str, hours: &[HourStates]) -> Chart {
    let largest = hours.iter().map(|hour| hour.total()).max().unwrap_or_default();
    let scale = AxisScale::covering(largest);
    let all = hours.iter().fold(0, |sum: u64, hour| sum.saturating_add(hour.total()));
    let delivered = hours.iter().fold(0, |sum: u64, hour| sum.saturating_add(hour.delivered));
    let summary = format!(
        "{title}. {} messages, {} delivered. The table below has every hour.",
        grouped(all),
        grouped(delivered)
    );
    let mut svg = open(Some(scale), HEAD + PLOT + FOOT, &summary);
    draw_grid(&mut svg, scale);
    if largest == 0 {
        draw_nothing(&mut svg, "No messages in this period");
    }
    for (index, hour) in hours.iter().enumerate() {
        draw_column(&mut svg, (index, hours.len()), *hour, scale);
        draw_hit_area(&mut svg, (index, hours.len()), hour.start, &readout(*hour));
    }
    draw_hours(&mut svg, &hours.iter().map(|hour| hour.start).collect::<Vec<_>>());
    let svg = close(svg);
    let labels = ["Hour", "Accepted"].into_iter().chain(STATES.iter().map(|state| state.label));
    let rows = hours.iter().map(|hour| TableRow {
        time: Some(hour.start),
        label: String::new(),
        cells: [hour.total()].into_iter().chain(hour.counts()).map(grouped).collect(),
    });
    Chart {
        title: title.to_owned(),
        svg,
        legend: STATES.to_vec(),
        columns: labels.map(str::to_owned).collect(),
        rows: rows.collect(),
    }
}

fn draw_column(svg: &mut String, (index, columns): (usize, usize), hour: HourStates, scale: AxisScale) {
    let width = 100.0 / columns as f64;
    let (x, bar) = (width * (index as f64 + 0.14), width * 0.72);
    let mut bottom = HEAD + PLOT;
    for (count, state) in hour.counts().into_iter().zip(STATES) {
        if count == 0 {
            continue;
        }
        // At least a visible line: one failed message among thousands is the news.
        let height = (PLOT * scale.share(count)).max(1.5);
        bottom -= height;
        let _ = write!(
            svg,
            r#"<rect class="{}" x="{x:.2}%" y="{bottom:.1}" width="{bar:.2}%" height="{height:.1}"/>"#,
            state.class
        );
    }
}

fn readout(hour: HourStates) -> String {
    let mut text = format!("{} accepted", grouped(hour.total()));
    for (count, state) in hour.counts().into_iter().zip(STATES).filter(|(count, _)| *count > 0) {
        let _ = write!(text, " · {} {}", grouped(count), state.label.to_lowercase());
    }
    text
}

/// One horizontal bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountryBar {
    /// The name of the country.
    pub label: String,
    /// The number of messages.
    pub count: u64,
    /// More about it, such as the delivery rate; may be empty.
    pub note: String,
}

/// The height of one horizontal bar with its distance to the next.
const ROW: f64 = 30.0;

/// Draws a bar for each country, in the order given. `note_heading` is the heading of the notes in the table.
pub fn horizontal_bars(title: &str, bars: &[CountryBar], note_heading: &str) -> Chart {
    let largest = bars.iter().map(|bar| bar.count).max().unwrap_or_default().max(1);
    let height = (ROW * bars.len() as f64).max(HEAD + PLOT / 2.0 + FOOT);
    let summary = format!("{title}. {} countries. The table below has every country.", bars.len());
    let mut svg = open(None, height, &summary);
    if bars.is_empty() {
        draw_nothing(&mut svg, "No messages in this period");
    }
    for (index, bar) in bars.iter().enumerate() {
        let top = ROW * index as f64;
        let width = (44.0 * bar.count as f64 / largest as f64).max(0.4);
        let (label, count) = (Svg::escape(&bar.label), grouped(bar.count));
        let note = Svg::escape(&bar.note);
        let _ = write!(
            svg,
            r#"<g><title>{label}: {count} {note}</title><text class="name" x="0" y="{0:.1}">{label}</text><rect class="track" x="37%" y="{1:.1}" width="44%" height="10" rx="2"/><rect class="s-delivered" x="37%" y="{1:.1}" width="{width:.2}%" height="10" rx="2"/><text class="value" x="100%" y="{0:.1}" text-anchor="end">{count}</text></g>"#,
            top + 19.0,
            top + 10.0,
        );
    }
    let svg = close(svg);
    let rows = bars.iter().map(|bar| TableRow {
        time: None,
        label: bar.label.clone(),
        cells: vec![grouped(bar.count), bar.note.clone()],
    });
    Chart {
        title: title.to_owned(),
        svg,
        legend: Vec::new(),
        columns: ["Country", "Messages", note_heading].map(str::to_owned).to_vec(),
        rows: rows.collect(),
    }
}
