//! The setting `log.level`: levels for everything, or for a named part.

use tracing_subscriber::filter::{LevelFilter, Targets};

/// Reads `info` or `info,hermod_gateway=debug`. A word that is no level is refused: taken for the name of a part, as is
/// usual, a misspelt level would silence everything.
pub fn level_filter(text: &str) -> Result<Targets, String> {
    let mut targets = Targets::new();
    for directive in text.split(',') {
        let (part, level) = match directive.split_once('=') {
            Some((part, level)) => (Some(part.trim()), level.trim()),
            None => (None, directive.trim()),
        };
        // The empty text would be read as "error".
        let known = level.parse::<LevelFilter>().ok().filter(|_| !level.is_empty()).ok_or_else(|| {
            format!(
                "\"{level}\" is no level: use error, warn, info, debug or trace, or name a part as in \
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
    fn a_level_may_name_parts_but_not_be_misspelt() {
        for text in ["info", "WARN", "info,hermod_gateway=debug", "hermod_store = trace , warn", "off"] {
            assert!(level_filter(text).is_ok(), "{text}");
        }
        for text in ["", "inof", "info,", "hermod_gateway", "hermod_gateway=loud"] {
            assert!(level_filter(text).is_err(), "{text}");
        }
    }
}
