//! The limit of a traffic control as text.

use hermod_operator::money::views::ControlView;
use serde_json::Value;

/// Returns the limit of a control as text.
fn limit(entry: &Value) -> String {
    let most = |rule: &Value| format!("{} per {}", cell(&rule["most"]), cell(&rule["per"]));
    if !entry["spend_per_day"].is_null() {
        format!("spend {} per day", cell(&entry["spend_per_day"]))
    } else if !entry["messages_per_day"].is_null() {
        format!("{} messages per day", cell(&entry["messages_per_day"]))
    } else if !entry["per_recipient"].is_null() {
        format!("one number: {}", most(&entry["per_recipient"]))
    } else if !entry["per_range"].is_null() {
        format!("one range: {}", most(&entry["per_range"]))
    } else {
        let rule = &entry["per_country"];
        let except = rule["except"].as_array().into_iter().flatten().map(cell).collect::<Vec<_>>().join(", ");
        let but = if except.is_empty() { except } else { format!(" except {except}") };
        format!("one country{but}: {}", most(rule))
    }
}

/// Returns the limit of a control in a traffic view.
pub(super) fn limit_of_view(control: &ControlView) -> String {
    limit(&serde_json::to_value(control).unwrap_or_default())
}

fn cell(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn limits_are_printed_as_text() {
        for (entry, expect) in [
            (json!({ "spend_per_day": "50" }), "spend 50 per day"),
            (json!({ "messages_per_day": 7 }), "7 messages per day"),
            (json!({ "per_recipient": { "most": 20, "per": "1h" } }), "one number: 20 per 1h"),
            (json!({ "per_range": { "most": 200, "per": "10m" } }), "one range: 200 per 10m"),
            (json!({ "per_country": { "most": 50, "per": "1h" } }), "one country: 50 per 1h"),
            (
                json!({ "per_country": { "most": 50, "per": "1h", "except": ["DE", "AT"] } }),
                "one country except DE, AT: 50 per 1h",
            ),
        ] {
            assert_eq!(limit(&entry), expect);
        }
    }
}
