//! Small things that many pages show: status chips, notices, links, names with values.

use askama::Template;
use askama::filters::HtmlSafe;
use serde::Serialize;

/// What a status or notice means to the reader. Each tone has a colour and a shape of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// As it should be: delivered, active, approved.
    Good,
    /// Not finished: queued, waiting, pending.
    Waiting,
    /// Needs attention soon: expired, low balance.
    Warning,
    /// Failed: undeliverable, revoked, blocked.
    Bad,
    /// Rejected or stopped by decision.
    Stopped,
    /// Neither good nor bad.
    #[default]
    Neutral,
}

impl Tone {
    /// Returns the name of the tone in classes of the style sheet.
    pub fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Waiting => "waiting",
            Tone::Warning => "warning",
            Tone::Bad => "bad",
            Tone::Stopped => "stopped",
            Tone::Neutral => "neutral",
        }
    }

    /// Returns the name of the icon, so that colour is not the only sign.
    pub fn icon(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Waiting => "clock",
            Tone::Warning => "warning",
            Tone::Bad => "bad",
            Tone::Stopped => "stop",
            Tone::Neutral => "dot",
        }
    }
}

/// A status with text, shape and colour.
#[derive(Clone, Debug, PartialEq, Eq, Template)]
#[template(
    source = r##"<span class="chip chip-{{ tone.class() }}"><svg class="icon" aria-hidden="true"><use href="#i-{{ tone.icon() }}"></use></svg>{{ label }}</span>"##,
    ext = "html"
)]
pub struct Chip {
    pub tone: Tone,
    /// The status in one or two words.
    pub label: String,
}

impl HtmlSafe for Chip {}

impl Chip {
    /// Returns a chip.
    pub fn new(tone: Tone, label: impl Into<String>) -> Chip {
        Chip { tone, label: label.into() }
    }

    /// Returns the chip of a message state, such as `delivered`. Unknown states are shown as they are written.
    pub fn of_state(state: &str) -> Chip {
        let (tone, label) = match state {
            "queued" => (Tone::Waiting, "Queued"),
            "submitted" => (Tone::Waiting, "Submitted"),
            "enroute" => (Tone::Waiting, "En route"),
            "delivered" => (Tone::Good, "Delivered"),
            "expired" => (Tone::Warning, "Expired"),
            "undeliverable" => (Tone::Bad, "Undeliverable"),
            "rejected" => (Tone::Stopped, "Rejected"),
            other => (Tone::Neutral, other),
        };
        Chip::new(tone, label)
    }

    /// Returns the chip of a webhook event's state: `waiting`, `delivered` or `failed`.
    pub fn of_event(state: &str) -> Chip {
        let (tone, label) = match state {
            "waiting" => (Tone::Waiting, "Waiting"),
            "delivered" => (Tone::Good, "Delivered"),
            "failed" => (Tone::Bad, "Given up"),
            other => (Tone::Neutral, other),
        };
        Chip::new(tone, label)
    }
}

/// A link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageLink {
    pub label: String,
    pub href: String,
}

impl PageLink {
    /// Returns a link.
    pub fn new(label: impl Into<String>, href: impl Into<String>) -> PageLink {
        PageLink { label: label.into(), href: href.into() }
    }
}

/// A sentence that needs the reader's attention, with the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub tone: Tone,
    pub text: String,
    /// Where the reader can do something about it.
    pub link: Option<PageLink>,
}

impl Notice {
    /// Returns a notice without a link.
    pub fn new(tone: Tone, text: impl Into<String>) -> Notice {
        Notice { tone, text: text.into(), link: None }
    }

    /// Returns the same notice with a link.
    pub fn with_link(self, label: &str, href: &str) -> Notice {
        Notice { link: Some(PageLink::new(label, href)), ..self }
    }
}

/// A name and its value, for lists of facts. The script gets these two alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fact {
    pub name: String,
    pub value: String,
    /// Whether the value is an id, address or code: shown in a fixed-width font, with a copy button.
    #[serde(skip)]
    pub is_code: bool,
    /// Where the value leads.
    #[serde(skip)]
    pub href: Option<String>,
}

impl Fact {
    /// Returns a fact in words.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Fact {
        Fact { name: name.into(), value: value.into(), is_code: false, href: None }
    }

    /// Returns a fact whose value is an id, address or code.
    pub fn code(name: impl Into<String>, value: impl Into<String>) -> Fact {
        Fact { is_code: true, ..Fact::new(name, value) }
    }

    /// Returns the same fact, leading to this address.
    pub fn linked(self, href: impl Into<String>) -> Fact {
        Fact { href: Some(href.into()), ..self }
    }
}

/// How current the data of a page is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// When the page was made.
    pub as_of: crate::Time,
    /// How far the record is behind, in words, such as `0.3 s`; `None` if it has every change.
    pub lag: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chip_escapes_its_label() {
        let html = Chip::of_state("<script>").render().unwrap();
        assert!(html.contains("&#60;script&#62;"), "{html}");
    }

    #[test]
    fn every_message_state_has_words_of_its_own() {
        let states = ["queued", "submitted", "enroute", "delivered", "expired", "undeliverable", "rejected"];
        for state in states {
            let chip = Chip::of_state(state);
            assert_ne!(chip.tone, Tone::Neutral, "{state}");
            assert!(chip.label.starts_with(char::is_uppercase), "{state}");
        }
    }
}
