//! The search for any id: shown if what was typed leads to no page, or to several.

use crate::elements::Link;
use crate::layout::Shell;
use askama::Template;

/// `GET /accounts/{account}/find?q=…`. One match redirects to its page; this page is for none and for several.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "find.html")]
pub struct Find {
    pub shell: Shell,
    /// What was typed.
    pub query: String,
    /// The pages that match, such as messages to a number.
    pub matches: Vec<Link>,
}
