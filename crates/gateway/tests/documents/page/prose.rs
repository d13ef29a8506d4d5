//! The Markdown of descriptions as HTML. HTML in it is text.

use askama::filters::Safe;
use pulldown_cmark::{Event, Parser, Tag, TagEnd, html};

/// Returns a description with its paragraphs.
pub(super) fn blocks(text: &str) -> Safe<String> {
    written(events(text))
}

/// Returns a description without paragraphs, for the cell of a table.
pub(super) fn line(text: &str) -> Safe<String> {
    let is_paragraph =
        |event: &Event<'_>| matches!(event, Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph));
    written(events(text).filter(|event| !is_paragraph(event)))
}

fn events(text: &str) -> impl Iterator<Item = Event<'_>> {
    Parser::new(text).map(|event| match event {
        Event::Html(markup) | Event::InlineHtml(markup) => Event::Text(markup),
        other => other,
    })
}

fn written<'a>(events: impl Iterator<Item = Event<'a>>) -> Safe<String> {
    let mut page = String::new();
    html::push_html(&mut page, events);
    Safe(page)
}
