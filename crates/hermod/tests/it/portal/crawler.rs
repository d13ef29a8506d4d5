//! Walks every page and form that links lead to, as each role and as a member of another account. A new page is walked
//! without a change here as soon as another one links to it.

use super::{Browser, member};
use crate::scenario::{Page, Scenario};
use hermod_domain::catalogue::Role;
use hermod_simulator::carrier::Script;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// More pages than an account of this test has.
const PAGES_MAX: usize = 400;
/// Forms of a person, not of an account: every role sends them.
const OWN_FORMS: [&str; 3] = ["/sign-out", "/profile", "/re-authenticate"];

/// A form of a page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Form {
    action: String,
    is_post: bool,
    /// Names and values as the page has filled them in.
    fields: Vec<(String, String)>,
}

impl Form {
    /// Returns the body with this token; none leaves it out.
    fn body(&self, csrf: Option<&str>) -> String {
        let others = self.fields.iter().filter(|(name, _)| name != "csrf");
        let others = others.map(|(name, value)| (name.as_str(), value.as_str()));
        let fields: Vec<(&str, &str)> = others.chain(csrf.map(|token| ("csrf", token))).collect();
        let written = fields.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        written.collect::<Vec<_>>().join("&")
    }

    fn is_of_the_account(&self) -> bool {
        self.is_post && !OWN_FORMS.iter().any(|own| self.action.contains(own))
    }
}

/// What a walk has found.
#[derive(Default)]
struct Walked {
    /// The status of each page by its address.
    pages: BTreeMap<String, u16>,
    /// One form of each action.
    forms: BTreeMap<String, Form>,
}

/// Opens everything that can be reached from the start page. No response may be an error of the server.
async fn walk(browser: &Browser, account: &str) -> Walked {
    let mut walked = Walked::default();
    let mut known = BTreeSet::new();
    let mut waiting = VecDeque::from([format!("/accounts/{account}"), "/".to_owned(), "/profile".to_owned()]);
    while let Some(path) = waiting.pop_front() {
        if !known.insert(path.clone()) {
            continue;
        }
        assert!(known.len() < PAGES_MAX, "more than {PAGES_MAX} pages: {known:?}");
        let page = browser.get(&path).await;
        assert!(matches!(page.status, 200 | 303 | 403 | 404), "GET {path}: {}\n{}", page.status, page.text);
        if page.status == 303 {
            waiting.push_back(page.location().to_owned());
        }
        for link in links(&page.text).filter(|link| is_page(link)) {
            waiting.push_back(link);
        }
        for form in forms(&path, &page.text) {
            match form.is_post {
                true => drop(walked.forms.entry(form.action.clone()).or_insert(form)),
                false => waiting.push_back(format!("{}?{}", form.action, form.body(None))),
            }
        }
        walked.pages.insert(path, page.status);
    }
    walked
}

/// Whether a link leads to a page of the portal. The documents of the API are the API's own.
fn is_page(link: &str) -> bool {
    link.starts_with('/') && !["/docs", "/api/", "/assets/"].iter().any(|other| link.starts_with(other))
}

fn links(html: &str) -> impl Iterator<Item = String> {
    let tags = html.split("<a ").skip(1).filter_map(|rest| rest.split('>').next());
    tags.filter_map(|tag| attribute(tag, "href"))
        .map(|link| link.split('#').next().unwrap_or_default().to_owned())
}

fn forms(page: &str, html: &str) -> Vec<Form> {
    let parts = html.split("<form").skip(1).filter_map(|rest| rest.split("</form>").next());
    let parsed = parts.map(|part| {
        let (tag, content) = part.split_once('>').unwrap_or((part, ""));
        let own = || page.split('?').next().unwrap_or_default().to_owned();
        Form {
            action: attribute(tag, "action").filter(|action| !action.is_empty()).unwrap_or_else(own),
            is_post: attribute(tag, "method").as_deref() == Some("post"),
            fields: fields(content),
        }
    });
    parsed.collect()
}

fn fields(html: &str) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for name in ["<input", "<button", "<textarea"] {
        for tag in html.split(name).skip(1).filter_map(|rest| rest.split('>').next()) {
            let kind = attribute(tag, "type").unwrap_or_default();
            let is_sent = !matches!(kind.as_str(), "checkbox" | "radio") || tag.contains(" checked");
            if let Some(name) = attribute(tag, "name").filter(|_| is_sent) {
                fields.push((name, attribute(tag, "value").unwrap_or_default()));
            }
        }
    }
    for select in html.split("<select").skip(1) {
        let Some(name) = attribute(select.split('>').next().unwrap_or_default(), "name") else { continue };
        let chosen = select.split("<option").skip(1).find(|option| option.contains(" selected"));
        let value =
            chosen.and_then(|option| attribute(option.split('>').next().unwrap_or_default(), "value"));
        fields.push((name, value.unwrap_or_default()));
    }
    fields
}

/// Returns the value of an attribute, without the escapes of HTML.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\"")).or_else(|| {
        let start = format!("{name}=\"");
        tag.strip_prefix(start.as_str()).map(|rest| ("", rest))
    })?;
    let value = rest.split('"').next()?;
    let escapes = [
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
    ];
    let plain = escapes.iter().fold(value.to_owned(), |text, (escape, plain)| text.replace(escape, plain));
    Some(plain.replace("&#38;", "&").replace("&amp;", "&"))
}

fn encode(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// An account with something on every page, and a member of each role.
async fn furnished() -> Scenario {
    let s = Scenario::with(Script::new()).await;
    for text in ["first", "second"] {
        let id = s.alice.send("+4915112345678", text).await.accepted();
        s.alice.status_of(&id).becomes("delivered").await;
    }
    let refused = s.alice.send("+4915112345678", "").await;
    assert_eq!(refused.status, 400, "{}", refused.body);
    s.gateway().store.record().flush().await.expect("the record is written");
    s
}

fn is_of_the_account(path: &str) -> bool {
    path.starts_with("/accounts/alice")
}

#[tokio::test]
async fn every_page_opens_for_its_roles_and_none_for_a_member_of_another_account() {
    let s = furnished().await;
    let owner = walk(&member(&s, "owner@example.com", "alice", Role::Owner).await, "alice").await;
    assert!(owner.pages.len() > 5, "{:?}", owner.pages);
    for (path, status) in &owner.pages {
        assert!(*status != 403, "an owner may open {path}");
    }
    for (email, role) in [
        ("developer@example.com", Role::Developer),
        ("billing@example.com", Role::Billing),
        ("viewer@example.com", Role::Viewer),
    ] {
        let browser = member(&s, email, "alice", role).await;
        let own = walk(&browser, "alice").await;
        // What a page offers can be opened.
        let refused: Vec<_> = own.pages.iter().filter(|(_, status)| **status == 403).collect();
        assert!(refused.is_empty(), "pages lead {role:?} to {refused:?}");
        for path in owner.pages.keys() {
            let page = browser.get(path).await;
            assert!(page.status < 500, "GET {path} as {role:?}: {}", page.status);
        }
    }
    let stranger = member(&s, "stranger@example.com", "bob", Role::Owner).await;
    for (path, status) in owner.pages.iter().filter(|(path, _)| is_of_the_account(path)) {
        let page = stranger.get(path).await;
        assert_eq!(page.status, 404, "GET {path}, {status} for its owner, by a member of another account");
        assert!(!page.text.contains("4915112345678"), "{path}");
    }
    let nobody = Browser::new(&s);
    for path in owner.pages.keys().filter(|path| is_of_the_account(path)) {
        let page = nobody.get(path).await;
        assert!(page.status == 303 && page.location().starts_with("/sign-in"), "GET {path}: {}", page.status);
    }
    s.end().await;
}

#[tokio::test]
async fn every_form_needs_its_token_and_its_role() {
    let s = furnished().await;
    let mut owner = member(&s, "owner@example.com", "alice", Role::Owner).await;
    let mut viewer = member(&s, "viewer@example.com", "alice", Role::Viewer).await;
    let mut stranger = member(&s, "stranger@example.com", "bob", Role::Owner).await;
    let walked = walk(&owner, "alice").await;
    assert!(walked.forms.contains_key("/sign-out"), "{:?}", walked.forms.keys());
    let tokens = (owner.token("alice").await, viewer.token("alice").await, stranger.token("bob").await);
    for form in walked.forms.values() {
        for token in [None, Some(""), Some(tokens.1.as_str())] {
            let page = owner.post(&form.action, &form.body(token)).await;
            assert_eq!(page.status, 403, "POST {} with the token {token:?}", form.action);
        }
        let origin = "https://evil.example";
        let page = owner.post_from(origin, &form.action, &form.body(Some(&tokens.0))).await;
        assert_eq!(page.status, 403, "POST {} from {origin}", form.action);
        if form.is_of_the_account() {
            let page = viewer.post(&form.action, &form.body(Some(&tokens.1))).await;
            assert_eq!(page.status, 403, "POST {} as a viewer", form.action);
            let page = stranger.post(&form.action, &form.body(Some(&tokens.2))).await;
            assert_eq!(page.status, 404, "POST {} as a member of another account", form.action);
        }
    }
    // As the pages have filled them in, most are invalid; signing out is last.
    let (last, others): (Vec<&Form>, Vec<&Form>) =
        walked.forms.values().partition(|form| form.action.contains("sign-out"));
    for form in others.into_iter().chain(last) {
        let page: Page = owner.post(&form.action, &form.body(Some(&tokens.0))).await;
        assert!(page.status < 500 && page.status != 403, "POST {}: {}", form.action, page.status);
    }
    s.end().await;
}

impl Browser {
    /// Returns the token of this session's forms.
    async fn token(&self, account: &str) -> String {
        self.get(&format!("/accounts/{account}")).await.csrf()
    }
}

#[test]
fn forms_and_links_are_found_in_markup() {
    let html = "<a class=\"x\" href=\"/a?b=1&amp;c=2#d\">x</a><form action=\"/f\" method=\"post\"><input type=\"hidden\" \
                name=\"csrf\" value=\"t\"><input name=\"n\" value=\"&#34;v\"><input type=\"checkbox\" name=\"no\"><select \
                name=\"s\"><option value=\"1\"><option value=\"2\" selected>two</select></form>";
    assert_eq!(links(html).collect::<Vec<_>>(), ["/a?b=1&c=2"]);
    let found = forms("/page", html);
    assert_eq!((found.len(), found[0].action.as_str(), found[0].is_post), (1, "/f", true));
    assert_eq!(found[0].body(Some("k")), "%6E=%22%76&%73=%32&%63%73%72%66=%6B");
}
