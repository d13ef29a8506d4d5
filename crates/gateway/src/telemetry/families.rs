//! Writes metrics whose labels come and go, in the Prometheus text format: the recorder would keep each label for ever.

use super::NODE;
use super::descriptions::description_of;
use std::fmt::{Display, Write as _};

/// Adds a documented metric with its samples, each with its labels. Nothing if there are none.
pub fn push_family<V: Display>(text: &mut String, name: &str, samples: &[(Vec<(&str, &str)>, V)]) {
    if samples.is_empty() {
        return;
    }
    let (kind, meaning) = description_of(name);
    // A text takes everything.
    let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} {kind}", meaning.replace('\\', "\\\\"));
    for (labels, value) in samples {
        let node = NODE.get().map(|node| ("node", node.as_str()));
        let labels = node.iter().chain(labels).map(|(label, of)| format!("{label}=\"{}\"", escaped(of)));
        let labels = labels.collect::<Vec<_>>().join(",");
        let braced = if labels.is_empty() { labels } else { format!("{{{labels}}}") };
        let _ = writeln!(text, "{name}{braced} {value}");
    }
    text.push('\n');
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn family_has_help_type_and_escaped_labels() {
        let mut text = String::new();
        push_family::<u64>(&mut text, "hermod_account_waiting_parts", &[]);
        assert_eq!(text, "");
        let labels = vec![("account", "a\"b\\c\nd"), ("currency", "EUR")];
        push_family(&mut text, "hermod_account_waiting_parts", &[(labels, 7)]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("# HELP hermod_account_waiting_parts Parts"), "{text}");
        assert_eq!(lines[1], "# TYPE hermod_account_waiting_parts gauge");
        let sample = r#"hermod_account_waiting_parts{account="a\"b\\c\nd",currency="EUR"} 7"#;
        assert_eq!(lines[2..], [sample, ""]);
    }
}
