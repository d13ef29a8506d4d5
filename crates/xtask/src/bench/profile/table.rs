//! The profile as a table: on the screen line by line, and in Markdown.

use std::fmt::Write;

use super::figures::{Column, Row, SHORT};
use super::scenario::Protocol;

/// Characters of the first columns.
const LOAD_CHARS: usize = 23;
const BUILD_CHARS: usize = 8;
const CELL_CHARS: usize = 9;

const SHORT_NOTE: &str =
    "* The offered load was not reached; latencies count from the time a message was due.";

/// The head of the lines of a protocol, for the screen.
pub(super) fn head(protocol: Protocol) -> String {
    let line = |first: &str, row: usize| screen_line(first, "", Column::ALL.map(|column| column.head()[row]));
    format!("{}\n{}\n{}", protocol.heading(), line("offered", 0).trim_end(), line("", 1).trim_end())
}

/// The lines of a row, for the screen.
pub(super) fn lines(row: &Row) -> String {
    let mut load = row.scenario.to_string();
    let lines = row.lines().into_iter().map(|(build, cells)| {
        let load = std::mem::take(&mut load);
        match cells {
            Ok(cells) => screen_line(&load, build, cells),
            Err(failure) => screen_line(&load, build, [""; 0]) + "  failed: " + &failure,
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn screen_line(load: &str, build: &str, cells: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    let cells: String = cells.into_iter().map(|cell| format!("{cell:>CELL_CHARS$}")).collect();
    format!("{load:<LOAD_CHARS$}{build:<BUILD_CHARS$}{cells}")
}

/// What the mark means, if a line has one.
pub(super) fn note(rows: &[Row]) -> Option<&'static str> {
    let mut measured = rows.iter().flat_map(Row::builds);
    let has_mark = measured.any(|(_, measured)| measured.as_ref().is_ok_and(|figures| figures.is_short));
    has_mark.then_some(SHORT_NOTE)
}

/// The tables of all protocols in Markdown, with `facts` about the run above them.
pub(super) fn markdown(facts: &str, rows: &[Row]) -> String {
    let mut text = format!("{facts}\n");
    for protocol in Protocol::ALL {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.scenario.protocol == protocol).collect();
        if !rows.is_empty() {
            write_table(&mut text, protocol, &rows);
        }
    }
    if let Some(note) = note(rows) {
        let _ = write!(text, "\n\\{note}\n");
    }
    text
}

fn write_table(text: &mut String, protocol: Protocol, rows: &[&Row]) {
    let compares = rows.iter().any(|row| row.old.is_some());
    let mut heads = vec!["Offered, /s"];
    heads.extend(compares.then_some("Build"));
    let left = heads.len();
    heads.extend(Column::ALL.map(|column| column.head()[2]));
    let _ = write!(text, "\n{}\n\n", protocol.heading());
    let _ = writeln!(text, "| {} |", heads.join(" | "));
    let _ = writeln!(text, "|{}{}", "---|".repeat(left), "--:|".repeat(Column::ALL.len()));
    for row in rows {
        for (build, cells) in row.lines() {
            let cells = match cells {
                Ok(cells) => cells.join(" | ").replace(SHORT, "\\*"),
                Err(failure) => format!("failed: {}", failure.replace('|', "\\|")),
            };
            let build = if compares { format!(" {build} |") } else { String::new() };
            let _ = writeln!(text, "| {} |{build} {cells} |", row.scenario);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::{Figures, Measured};
    use super::super::scenario::{Offered, plan};
    use super::*;
    use crate::shell::Failure;

    fn figures(reached: f64, cpu: f64) -> Figures {
        let mut figures = Figures::default();
        figures.set(Column::Reached, Some(reached));
        figures.set(Column::Cpu, Some(cpu));
        figures.is_short = reached < 500.0;
        figures
    }

    fn row(old: Option<Measured>, new: Measured) -> Row {
        let scenario = plan(&[Offered::Rate(500)], Some(Protocol::Smpp))[0];
        Row { scenario, old, new }
    }

    fn words(text: &str) -> Vec<Vec<&str>> {
        text.lines().map(|line| line.split_whitespace().collect()).collect()
    }

    #[test]
    fn two_builds_have_three_lines_of_equal_length() {
        let text = lines(&row(Some(Ok(figures(500.0, 541.0))), Ok(figures(450.0, 180.0))));
        let words = words(&text);
        assert_eq!(words[0][..4], ["500", "old", "500", "541"]);
        assert_eq!(words[1][..3], ["new", "450*", "180"]);
        assert_eq!(words[2][..3], ["new/old", "0.90", "0.33"]);
        assert!(text.lines().all(|line| line.len() == text.lines().next().map_or(0, str::len)), "{text}");
        assert_eq!(head(Protocol::Smpp).lines().count(), 3);
    }

    #[test]
    fn failure_stands_in_the_place_of_figures() {
        let text = lines(&row(Some(Err(Failure("the audit failed".to_owned()))), Ok(figures(500.0, 180.0))));
        assert!(text.starts_with("500"), "{text}");
        assert!(text.contains("failed: the audit failed"), "{text}");
        assert!(!text.contains("new/old"), "{text}");
    }

    #[test]
    fn markdown_has_as_many_cells_in_each_line() {
        let rows = [
            row(Some(Ok(figures(500.0, 541.0))), Ok(figures(450.0, 180.0))),
            row(Some(Ok(figures(500.0, 541.0))), Ok(figures(500.0, 180.0))),
        ];
        let text = markdown("Facts.", &rows);
        let cells: Vec<usize> =
            text.lines().filter(|line| line.starts_with('|')).map(|line| line.matches('|').count()).collect();
        assert_eq!(cells, [17; 8]);
        assert!(text.starts_with("Facts.\n\nSMPP: "), "{text}");
        assert!(text.contains("| 500 | new | 450\\* | 180 | - |"), "{text}");
        assert!(text.contains("\n\\* The offered load"), "{text}");
        let alone = markdown("Facts.", &[row(None, Ok(figures(500.0, 180.0)))]);
        assert!(alone.contains("| 500 | 500 | 180 | - |"), "{alone}");
        assert!(!alone.contains('*'), "{alone}");
    }
}
