//! The options of scenarios: declared as text in their table, read by name.

use clap::{Arg, ArgAction, ArgMatches};

/// Returns the option that a line declares, with its help: `name=10 Help` is a number with its default, `name=a,b Help` a text with its
/// default, `name:FILE Help` a text without one, `name:a|b Help` one of these words, and `name Help` a flag.
pub(super) fn arg(line: &'static str) -> Arg {
    let (declared, help) = line.split_once(' ').unwrap_or((line, ""));
    let arg = |name: &'static str| Arg::new(name).long(name).help(help);
    match (declared.split_once('='), declared.split_once(':')) {
        (Some((name, default)), _) if default.parse::<f64>().is_ok() => {
            arg(name).value_parser(clap::value_parser!(f64)).default_value(default)
        }
        (Some((name, default)), _) => arg(name).default_value(default),
        (None, Some((name, words))) if words.contains('|') => {
            arg(name).value_parser(words.split('|').collect::<Vec<_>>())
        }
        (None, Some((name, word))) => arg(name).value_name(word),
        (None, None) => arg(declared).action(ArgAction::SetTrue),
    }
}

/// What a scenario was given. A flag or text that it does not have is not given.
pub(super) struct Options(pub(super) ArgMatches);

impl Options {
    pub(super) fn is(&self, name: &str) -> bool {
        self.0.try_get_one(name).ok().flatten().copied().unwrap_or_default()
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.try_get_one::<String>(name).ok().flatten().map(String::as_str)
    }

    pub(super) fn number(&self, name: &str) -> f64 {
        *self.0.get_one(name).expect("a number has a default")
    }

    pub(super) fn count(&self, name: &str) -> u64 {
        self.number(name) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_declare_numbers_texts_words_and_flags() {
        let lines =
            ["seconds=20 Time", "rates=5,saturation Loads", "file:FILE A file", "only:a|b One", "short"];
        let command = || clap::Command::new("bench").args(lines.map(arg));
        let options = Options(command().get_matches_from(["", "--seconds", "7", "--only", "b", "--short"]));
        assert_eq!((options.count("seconds"), options.is("short"), options.is("gone")), (7, true, false));
        assert_eq!(
            ["rates", "file", "only"].map(|name| options.text(name)),
            [Some("5,saturation"), None, Some("b")]
        );
        assert!(command().try_get_matches_from(["", "--only", "c"]).is_err());
        assert!(command().try_get_matches_from(["", "--seconds", "ten"]).is_err());
    }
}
