//! Writes HTML. Only literals of this program are markup; everything else is escaped.

/// A page under construction.
#[derive(Default)]
pub(super) struct Html(String);

impl Html {
    /// Writes markup, which must be a literal of this program.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Html {
        self.0.push_str(markup);
        self
    }

    /// Writes the markup of a frame, which a program of ours wrote.
    pub(super) fn frame(&mut self, markup: &str) -> &mut Html {
        self.0.push_str(markup);
        self
    }

    /// Writes escaped text, as content or as a quoted attribute value.
    pub(super) fn text(&mut self, text: &str) -> &mut Html {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                other => self.0.push(other),
            }
        }
        self
    }

    /// Writes an element id from a kind and the URL-safe characters of a name.
    pub(super) fn id(&mut self, kind: &'static str, name: &str) -> &mut Html {
        self.0.push_str(kind);
        self.0.push('-');
        let fit = |character: char| character.is_ascii_alphanumeric() || character == '_';
        self.0.extend(name.chars().map(|character| if fit(character) { character } else { '-' }));
        self
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}
