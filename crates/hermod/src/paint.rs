//! Colours of output on a terminal.

use std::io::IsTerminal as _;

/// Colours on a terminal, plain text elsewhere.
#[derive(Clone, Copy)]
pub(crate) enum Paint {
    Plain,
    Coloured,
}

impl Paint {
    pub(crate) fn for_output() -> Paint {
        // The convention of no-color.org: set and not empty.
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if std::io::stdout().is_terminal() && !refused { Paint::Coloured } else { Paint::Plain }
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.with("33", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.with("31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        match self {
            Paint::Plain => text.to_owned(),
            Paint::Coloured => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}
