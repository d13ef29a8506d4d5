//! Parses the setting `log.level`: one level, or levels per module.

use tracing_subscriber::filter::{LevelFilter, Targets};

/// Parses `info` or `info,hermod_gateway=debug`. An unknown level is rejected: the usual parser would take it for a
/// module name, and a misspelt level would silence everything.
pub fn level_filter(text: &str) -> Result<Targets, String> {
    let mut targets = Targets::new();
    for directive in text.split(',') {
        let (part, level) = match directive.split_once('=') {
            Some((part, level)) => (Some(part.trim()), level.trim()),
            None => (None, directive.trim()),
        };
        // An empty text would be parsed as "error".
        let known = level.parse::<LevelFilter>().ok().filter(|_| !level.is_empty()).ok_or_else(|| {
            format!(
                "invalid level \"{level}\": use error, warn, info, debug or trace, or name a module as in \
                 \"info,hermod_gateway=debug\""
            )
        })?;
        targets = match part {
            Some(part) => targets.with_target(part, known),
            None => targets.with_default(known),
        };
    }
    Ok(targets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_may_name_modules_and_must_be_valid() {
        for text in ["info", "WARN", "info,hermod_gateway=debug", "hermod_store = trace , warn", "off"] {
            assert!(level_filter(text).is_ok(), "{text}");
        }
        for text in ["", "inof", "info,", "hermod_gateway", "hermod_gateway=loud"] {
            assert!(level_filter(text).is_err(), "{text}");
        }
    }
}
