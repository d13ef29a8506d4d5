//! Writes HTML so that nothing foreign becomes markup: markup must be a literal of this program, everything else is
//! escaped.

/// A piece of page in the making.
#[derive(Default)]
pub(super) struct Html(String);

impl Html {
    /// Markup. Only a literal can be given here, so no document can reach it.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Html {
        self.0.push_str(markup);
        self
    }

    /// Content, or the value of an attribute between double quotes.
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

    /// The name of a place in the page: its kind, and of the given name whatever may stand in a fragment.
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
