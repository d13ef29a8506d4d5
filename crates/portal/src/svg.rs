//! SVG that our own code made, the only markup that pages print without escaping.

use std::fmt;

/// A drawing. Prints as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Svg(String);

impl Svg {
    /// Wraps markup that our own code made. Every text in it must be escaped already (see [`Svg::escape`]): never pass
    /// markup from outside.
    pub fn from_own_markup(markup: String) -> Svg {
        Svg(markup)
    }

    /// Returns the text with the characters replaced that have a meaning in markup.
    pub fn escape(text: &str) -> String {
        let mut escaped = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                '"' => escaped.push_str("&quot;"),
                '\'' => escaped.push_str("&#39;"),
                c => escaped.push(c),
            }
        }
        escaped
    }

    /// Returns the markup.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Svg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl askama::filters::HtmlSafe for Svg {}
