//! Renders the Markdown of descriptions: paragraphs, lists with `- `, fenced code, `code` and **bold**. Anything else is
//! plain text.

use super::html::Html;

pub(super) fn write(page: &mut Html, text: &str) {
    for (index, block) in text.split("```").enumerate() {
        if index % 2 == 1 {
            // The language after the fence is ignored.
            let code = block.split_once('\n').map_or(block, |(_, code)| code);
            page.raw("<pre><code>").text(code.trim_end()).raw("</code></pre>\n");
        } else {
            block.split("\n\n").for_each(|paragraph| write_paragraph(page, paragraph.trim()));
        }
    }
}

/// Writes a description inline, without paragraphs.
pub(super) fn line(page: &mut Html, text: &str) {
    for (index, span) in text.split('`').enumerate() {
        if index % 2 == 1 {
            page.raw("<code>").text(span).raw("</code>");
        } else {
            weighted(page, span);
        }
    }
}

fn write_paragraph(page: &mut Html, paragraph: &str) {
    if paragraph.is_empty() {
        return;
    }
    if !paragraph.starts_with("- ") {
        page.raw("<p>");
        line(page, paragraph);
        page.raw("</p>\n");
        return;
    }
    page.raw("<ul>\n");
    for item in paragraph.trim_start_matches("- ").split("\n- ") {
        page.raw("<li>");
        line(page, item);
        page.raw("</li>\n");
    }
    page.raw("</ul>\n");
}

fn weighted(page: &mut Html, text: &str) {
    for (index, span) in text.split("**").enumerate() {
        if index % 2 == 1 {
            page.raw("<strong>").text(span).raw("</strong>");
        } else {
            page.text(span);
        }
    }
}
