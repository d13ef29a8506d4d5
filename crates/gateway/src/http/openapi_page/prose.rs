//! The little Markdown that descriptions are written in: paragraphs, lists with `- `, fenced code, `code` and **weight**.
//! Anything else stands as it was written.

use super::html::Html;

pub(super) fn write(page: &mut Html, text: &str) {
    for (index, block) in text.split("```").enumerate() {
        if index % 2 == 1 {
            // The word after the fence names a language, and we colour none.
            let code = block.split_once('\n').map_or(block, |(_, code)| code);
            page.raw("<pre><code>").text(code.trim_end()).raw("</code></pre>\n");
        } else {
            block.split("\n\n").for_each(|paragraph| write_paragraph(page, paragraph.trim()));
        }
    }
}

/// A description that stands inside a cell or a line: no paragraphs.
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
