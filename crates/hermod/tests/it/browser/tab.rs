//! One window of the browser, with the words of a person: open, fill in, press, see.

use super::driver::{Driver, Scripts};
use super::{EMAIL, PASSWORD};
use crate::real_time::{PATIENCE, now, pause};
use fantoccini::actions::{InputSource as _, KeyAction, KeyActions};
use fantoccini::elements::Element;
use fantoccini::key::Key;
use fantoccini::{Client, Locator};
use serde_json::{Value, json};
use std::time::Duration;

const POLL: Duration = Duration::from_millis(50);
/// More stops than any page has.
const FOCUS_STOPS_MAX: usize = 200;

pub(super) struct Tab {
    client: Client,
    driver: Driver,
    session: String,
    /// The address of the portal, without a path.
    origin: String,
}

impl Tab {
    /// Opens a window that runs scripts.
    pub(super) async fn open(origin: &str) -> Tab {
        Tab::open_with(origin, Scripts::On).await
    }

    pub(super) async fn open_with(origin: &str, scripts: Scripts) -> Tab {
        let driver = Driver::start();
        let client = driver.connect(scripts).await;
        let session = client.session_id().await.expect("the driver answers").expect("a session");
        Tab { client, driver, session, origin: origin.trim_end_matches('/').to_owned() }
    }

    /// Opens a window and signs in as the user of most tests.
    pub(super) async fn signed_in(origin: &str) -> Tab {
        let tab = Tab::open(origin).await;
        tab.go("/").await;
        tab.sign_in(EMAIL, PASSWORD).await;
        tab
    }

    /// Fills in and sends the sign-in that is shown.
    pub(super) async fn sign_in(&self, email: &str, password: &str) {
        self.fill("email", email).await;
        self.fill("password", password).await;
        self.press("Sign in").await;
    }

    /// Signs out by the menu of the user.
    pub(super) async fn sign_out(&self) {
        self.click(".rail details.user > summary").await;
        self.press("Sign out").await;
        self.sees("signed out").await;
        self.go("/sign-in").await;
    }

    /// Follows a gateway that has another address after a restart.
    pub(super) fn move_to(&mut self, origin: &str) {
        self.origin = origin.to_owned();
    }

    /// Opens a page by its path.
    pub(super) async fn go(&self, path: &str) {
        self.client.goto(&format!("{}{path}", self.origin)).await.expect("a page");
    }

    /// Returns the path and query of the page.
    pub(super) async fn path(&self) -> String {
        let url = self.client.current_url().await.expect("an address").to_string();
        url.strip_prefix(&self.origin).unwrap_or(&url).to_owned()
    }

    /// Waits until the page has another address than one that begins with this path.
    pub(super) async fn leaves(&self, path: &str) {
        let started = now();
        while self.path().await.starts_with(path) {
            assert!(started.elapsed() < PATIENCE, "still at {path}:\n{}", self.text().await);
            pause(POLL).await;
        }
    }

    /// Waits until the page has an address with this path.
    pub(super) async fn arrives_at(&self, path: &str) {
        let started = now();
        while self.path().await != path {
            let at = self.path().await;
            assert!(started.elapsed() < PATIENCE, "at {at} instead of {path}:\n{}", self.text().await);
            pause(POLL).await;
        }
    }

    /// Returns the visible text of the page.
    pub(super) async fn text(&self) -> String {
        self.element("body").await.text().await.unwrap_or_default()
    }

    /// Waits until the page shows this text.
    pub(super) async fn sees(&self, text: &str) {
        let started = now();
        loop {
            let shown = self.text().await;
            if shown.contains(text) {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "the page does not show {text:?}:\n{shown}");
            pause(POLL).await;
        }
    }

    /// Opens a page again and again until it shows this text.
    pub(super) async fn go_until(&self, path: &str, text: &str) {
        let started = now();
        loop {
            self.go(path).await;
            let shown = self.text().await;
            if shown.contains(text) {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "{path} does not show {text:?}:\n{shown}");
            pause(POLL).await;
        }
    }

    /// Returns the value of a fact with this name, such as a secret that can be copied.
    pub(super) async fn fact(&self, name: &str) -> String {
        let value = format!("//dt[normalize-space()=\"{name}\"]/following-sibling::dd[1]//code");
        let found = self.client.wait().at_most(PATIENCE).for_element(Locator::XPath(&value)).await;
        found.expect("the fact").text().await.expect("its text")
    }

    /// Chooses an option of a select, found by a selector of CSS, by its value.
    pub(super) async fn choose(&self, selector: &str, value: &str) {
        self.element(selector).await.select_by_value(value).await.expect("an option");
    }

    /// Presses a link that leads to a file, and returns the file.
    pub(super) async fn download(&self, link: &str) -> String {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let params = json!({ "behavior": "allow", "downloadPath": folder.path() });
        self.devtools("Page.setDownloadBehavior", params).await;
        self.press(link).await;
        let started = now();
        loop {
            let files = std::fs::read_dir(folder.path()).expect("the folder").filter_map(Result::ok);
            // An unfinished file has an ending of its own.
            let file =
                files.map(|file| file.path()).find(|path| path.extension().is_some_and(|end| end == "csv"));
            if let Some(text) = file.and_then(|path| std::fs::read_to_string(path).ok()) {
                return text;
            }
            assert!(started.elapsed() < PATIENCE, "no file");
            pause(POLL).await;
        }
    }

    /// Replaces the text of a field, found by its name.
    pub(super) async fn fill(&self, name: &str, text: &str) {
        let field = self.element(&format!("[name=\"{name}\"]:not([type=hidden])")).await;
        field.clear().await.expect("an input field");
        field.send_keys(text).await.expect("an input field");
    }

    /// Clicks the first visible button, link or summary with exactly this text. The navigation has two: one is for phones.
    pub(super) async fn press(&self, text: &str) {
        let any = ["button", "a", "summary"].map(|name| format!("//{name}[normalize-space()=\"{text}\"]"));
        let any = any.join(" | ");
        self.click_first(Locator::XPath(&any)).await;
    }

    /// Clicks the first visible element that a selector of CSS finds.
    pub(super) async fn click(&self, selector: &str) {
        self.click_first(Locator::Css(selector)).await;
    }

    /// Clicks the first visible element of these. A page that is still being left may take away an element that was just found:
    /// the one of the next page is clicked then.
    async fn click_first(&self, any: Locator<'_>) {
        let started = now();
        loop {
            for found in self.client.find_all(any).await.unwrap_or_default() {
                if found.is_displayed().await.unwrap_or_default() {
                    match found.click().await {
                        Ok(()) => return,
                        Err(error) if error.is_stale_element_reference() => {}
                        Err(error) => panic!("{any:?} cannot be clicked: {error}"),
                    }
                }
            }
            let shown = self.text().await;
            assert!(started.elapsed() < PATIENCE, "nothing to click with {any:?}:\n{shown}");
            pause(POLL).await;
        }
    }

    /// Waits for an element that a selector of CSS finds.
    pub(super) async fn element(&self, selector: &str) -> Element {
        let found = self.client.wait().at_most(PATIENCE).for_element(Locator::Css(selector)).await;
        found.unwrap_or_else(|error| panic!("no element {selector}: {error}"))
    }

    /// Presses keys one after the other, in the page as a whole.
    pub(super) async fn type_keys(&self, keys: &[char]) {
        let mut actions = KeyActions::new("keyboard".to_owned());
        for key in keys {
            actions = actions.then(KeyAction::Down { value: *key }).then(KeyAction::Up { value: *key });
        }
        self.client.perform_actions(actions).await.expect("a keyboard");
    }

    /// Presses a key together with Ctrl.
    pub(super) async fn press_with_control(&self, key: char) {
        let control = char::from(Key::Control);
        let actions = KeyActions::new("keyboard".to_owned())
            .then(KeyAction::Down { value: control })
            .then(KeyAction::Down { value: key })
            .then(KeyAction::Up { value: key })
            .then(KeyAction::Up { value: control });
        self.client.perform_actions(actions).await.expect("a keyboard");
    }

    /// Presses Tab until an element that the selector of CSS matches has the focus. Every stop must show its focus.
    pub(super) async fn tab_to(&self, selector: &str) {
        let (mut stops, started) = (Vec::new(), now());
        // The address of a page is known before it has anything that can have the focus.
        while self.evaluate("document.readyState").await != "complete" {
            assert!(started.elapsed() < PATIENCE, "the page is not loaded in time");
            pause(POLL).await;
        }
        for _ in 0..FOCUS_STOPS_MAX {
            self.type_keys(&[Key::Tab.into()]).await;
            let stop = self.focus(selector).await;
            assert_eq!(stop["shown"], true, "the focus of {} cannot be seen", stop["name"]);
            if stop["matches"] == true {
                return;
            }
            stops.push(stop["name"].to_string());
        }
        panic!("{selector} cannot be reached with Tab; stops: {stops:?}");
    }

    async fn focus(&self, selector: &str) -> Value {
        let script = format!(
            "(() => {{ const e = document.activeElement ?? document.documentElement, s = getComputedStyle(e); return {{
               name: e.tagName + ' ' + (e.name || e.textContent.trim().slice(0, 40)),
               shown: e === document.body || e === document.documentElement || s.outlineStyle !== 'none' || s.boxShadow !== 'none',
               matches: e.matches({selector:?}) }}; }})()"
        );
        self.evaluate(&script).await
    }

    /// Evaluates an expression in the page and returns its value, of a promise that of its end. The devtools evaluate it, so that
    /// the page's policy need not allow it.
    pub(super) async fn evaluate(&self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut evaluated = self.devtools("Runtime.evaluate", params).await;
        assert_eq!(evaluated.get("exceptionDetails"), None, "{expression:.200}");
        evaluated["result"]["value"].take()
    }

    pub(super) async fn devtools(&self, command: &str, params: Value) -> Value {
        self.driver.devtools(&self.session, command, params).await
    }

    /// Returns the visible part of the page as PNG.
    pub(super) async fn screenshot(&self) -> Vec<u8> {
        self.client.screenshot().await.expect("a picture")
    }

    /// Fails if a script failed or the browser refused something that a page wanted to do.
    pub(super) async fn assert_console_is_clean(&self) {
        let entries = self.driver.console(&self.session).await;
        // A page with status 400 or 404 is an error of the source "network".
        let faults =
            entries.iter().filter(|entry| entry["level"] == "SEVERE" && entry["source"] != "network");
        let faults: Vec<&Value> = faults.collect();
        assert!(faults.is_empty(), "errors in the console: {faults:#?}");
    }

    /// Checks the console and closes the browser.
    pub(super) async fn close(self) {
        self.assert_console_is_clean().await;
        self.client.close().await.expect("the driver closes the browser");
    }
}
