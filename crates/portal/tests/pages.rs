//! Checks every page of the preview: escaping, the content security policy, labels, tokens, sizes.

mod samples;

use hermod_portal::assets;
use std::collections::BTreeSet;

/// A start tag with its attributes.
struct Tag<'h> {
    name: &'h str,
    attributes: Vec<(&'h str, &'h str)>,
}

impl<'h> Tag<'h> {
    fn get(&self, name: &str) -> Option<&'h str> {
        self.attributes.iter().find(|(found, _)| *found == name).map(|(_, value)| *value)
    }

    fn is_field(&self) -> bool {
        match self.name {
            "select" | "textarea" => true,
            "input" => self.get("type") != Some("hidden"),
            _ => false,
        }
    }
}

/// Returns the start tags in order. Enough of HTML for what our templates write: quoted values without `<` or `>`.
fn tags(html: &str) -> Vec<Tag<'_>> {
    let starts = html.match_indices('<').map(|(at, _)| &html[at + 1..]);
    let starts = starts.filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
    starts.map(|rest| tag(rest.split_once('>').map_or(rest, |(inner, _)| inner))).collect()
}

fn tag(inner: &str) -> Tag<'_> {
    let inner = inner.trim_end_matches('/');
    let (name, mut rest) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start();
        let end = rest.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(rest.len());
        let (attribute, after) = rest.split_at(end);
        if attribute.is_empty() {
            return Tag { name, attributes };
        }
        let value = after.strip_prefix("=\"").and_then(|value| value.split_once('"'));
        attributes.push((attribute, value.map_or("", |(value, _)| value)));
        rest = value.map_or(after, |(_, after)| after);
    }
}

/// WAI-ARIA 1.2 prohibits a name on the roles `code` and `generic`, which screen readers then ignore.
#[test]
fn text_that_has_a_name_has_a_role_that_may_have_one() {
    for (page, html) in samples::all() {
        let nameless = |tag: &Tag<'_>| {
            ["code", "div", "pre", "span"].contains(&tag.name)
                && tag.get("aria-label").is_some()
                && tag.get("role").is_none()
        };
        assert_eq!(tags(&html).iter().filter(|tag| nameless(tag)).count(), 0, "{page}");
    }
}

#[test]
fn hostile_strings_are_escaped_on_every_page() {
    let mut pages_with_hostile_text = 0;
    for (page, html) in samples::all() {
        assert!(!html.contains("<script>alert"), "{page}");
        assert!(!html.contains("<img"), "{page}");
        pages_with_hostile_text += usize::from(html.contains("alert(1)"));
    }
    assert!(pages_with_hostile_text >= 8, "{pages_with_hostile_text}");
}

#[test]
fn pages_obey_the_content_security_policy() {
    for (page, html) in samples::all() {
        for tag in tags(&html) {
            for (attribute, value) in &tag.attributes {
                assert_ne!(*attribute, "style", "{page}: <{}>", tag.name);
                assert!(!attribute.starts_with("on"), "{page}: <{}> has {attribute}", tag.name);
                assert!(!value.trim_start().to_lowercase().starts_with("javascript:"), "{page}: {value}");
            }
            assert!(
                !matches!(tag.name, "style" | "iframe" | "object" | "base" | "img"),
                "{page}: <{}>",
                tag.name
            );
            assert!(tag.name != "script" || tag.get("src").is_some(), "{page}: inline script");
        }
    }
}

#[test]
fn every_form_that_changes_something_sends_the_token() {
    for (page, html) in samples::all() {
        for form in html.split("<form").skip(1) {
            let form = form.split("</form>").next().unwrap_or_default();
            let has_token = form.contains(r#"name="csrf" value="f3c1b2a49d""#);
            // This form is sent without a session, so it has no token: the origin alone is checked.
            let is_outside = form.contains(r#"action="/sign-in/forgotten""#);
            let needs_token = form.contains(r#"method="post""#) && !is_outside;
            assert_eq!(needs_token, has_token, "{page}: {form}");
        }
    }
}

#[test]
fn every_field_has_a_label() {
    for (page, html) in samples::all() {
        let tags = tags(&html);
        let labelled: BTreeSet<&str> =
            tags.iter().filter(|tag| tag.name == "label").filter_map(|tag| tag.get("for")).collect();
        for field in tags.iter().filter(|tag| tag.is_field()) {
            let is_labelled = field.get("id").is_some_and(|id| labelled.contains(id));
            assert!(is_labelled || field.get("aria-label").is_some(), "{page}: {:?}", field.get("name"));
        }
    }
}

#[test]
fn ids_are_unique_and_references_lead_somewhere() {
    for (page, html) in samples::all() {
        let tags = tags(&html);
        let ids: Vec<&str> = tags.iter().filter_map(|tag| tag.get("id")).collect();
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        let repeated: Vec<&&str> =
            ids.iter().filter(|id| ids.iter().filter(|other| other == id).count() > 1).collect();
        assert!(repeated.is_empty(), "{page}: {repeated:?}");
        for tag in &tags {
            let described = tag.get("aria-describedby").or_else(|| tag.get("aria-labelledby")).unwrap_or("");
            let icon = tag.get("href").filter(|_| tag.name == "use").and_then(|href| href.strip_prefix('#'));
            for id in described.split_whitespace().chain(icon) {
                assert!(unique.contains(id), "{page}: no element has the id {id}");
            }
        }
    }
}

#[test]
fn table_headers_have_a_scope_and_pages_one_main_heading() {
    for (page, html) in samples::all() {
        let tags = tags(&html);
        let is_without_scope = |tag: &&Tag<'_>| tag.name == "th" && tag.get("scope").is_none();
        assert_eq!(tags.iter().filter(is_without_scope).count(), 0, "{page}");
        assert_eq!(tags.iter().filter(|tag| tag.name == "h1").count(), 1, "{page}");
        assert_eq!(tags.iter().filter(|tag| tag.name == "main").count(), 1, "{page}");
    }
}

#[test]
fn first_visit_of_any_page_is_under_120_kb() {
    let fixed = assets::style().bytes.len() + assets::script().bytes.len();
    for (page, html) in samples::all() {
        assert!(html.len() + fixed < 120_000, "{page}: {}", html.len() + fixed);
    }
}
