//! The table of error codes: statuses, meaning and what to do.

use super::html::Html;
use hermod_domain::refusal::Class;
use hermod_domain::refusal::published::PublishedError;

pub(super) fn catalogue(page: &mut Html, errors: &[PublishedError]) {
    if errors.is_empty() {
        return;
    }
    // Codes without an SMPP status have 0, which means success.
    let smpp = errors.iter().any(|row| row.smpp != 0);
    page.raw("<section class=\"group\">\n<h2 id=\"errors\">Errors</h2>\n");
    page.raw("<p>An error response has one form, <code>{&quot;error&quot;: &quot;CODE: sentence&quot;}</code>, and the code again in the header ");
    page.raw("<code>X-Error-Code</code>. Rely on the code: texts may change, codes do not.</p>\n");
    page.raw("<div class=\"wide\"><table class=\"cards errors\">\n<thead><tr><th>Code</th><th>HTTP</th>");
    if smpp {
        page.raw("<th>SMPP</th>");
    }
    page.raw(
        "<th>Try again?</th><th>Charged?</th><th>Meaning</th><th>What to do</th></tr></thead>\n<tbody>\n",
    );
    for row in errors {
        write_row(page, row, smpp);
    }
    page.raw("</tbody>\n</table></div>\n</section>\n");
}

fn write_row(page: &mut Html, row: &PublishedError, smpp: bool) {
    let PublishedError { code, http, smpp: status, smpp_extended, class, charged, meaning, what_to_do } = row;
    page.raw("<tr id=\"").id("error", code).raw("\"><th scope=\"row\"><code>").text(code).raw("</code></th>");
    page.raw("<td data-label=\"HTTP\">").text(&http.to_string()).raw("</td>");
    if smpp {
        page.raw("<td data-label=\"SMPP\"><code>").text(&format!("{status:#04x}")).raw("</code>");
        if let Some(detail) = smpp_extended {
            page.raw(" <small>in detail <code>").text(&format!("{detail:#06x}")).raw("</code></small>");
        }
        page.raw("</td>");
    }
    page.raw("<td data-label=\"Retry?\">").raw(match class {
        Class::Temporary => "<span class=\"yes\">yes</span>",
        Class::Permanent => "no",
    });
    page.raw("</td><td data-label=\"Charged?\">").raw(if *charged { "yes" } else { "no" });
    page.raw("</td><td data-label=\"Meaning\">").text(meaning);
    page.raw("</td><td data-label=\"What to do\">").text(what_to_do).raw("</td></tr>\n");
}
