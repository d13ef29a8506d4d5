//! Axe-core in four variants of a page. The devtools run it, so that the policy of the pages stays as it is.

use super::tab::Tab;
use crate::clients::program;
use serde_json::{Value, json};

/// How a page is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variant {
    pub(super) name: &'static str,
    width: u32,
    height: u32,
    is_dark: bool,
}

pub(super) const WIDE: [Variant; 2] = [
    Variant { name: "wide-light", width: 1280, height: 900, is_dark: false },
    Variant { name: "wide-dark", width: 1280, height: 900, is_dark: true },
];
pub(super) const PHONE: [Variant; 2] = [
    Variant { name: "phone-light", width: 390, height: 844, is_dark: false },
    Variant { name: "phone-dark", width: 390, height: 844, is_dark: true },
];

/// Shows pages in this way from now on.
pub(super) async fn show_as(tab: &Tab, variant: Variant) {
    resize(tab, variant, variant.height).await;
    let scheme = if variant.is_dark { "dark" } else { "light" };
    let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
    tab.devtools("Emulation.setEmulatedMedia", json!({ "features": features })).await;
}

/// Makes the window as high as the page, for a picture of all of it.
pub(super) async fn show_whole(tab: &Tab, variant: Variant) {
    /// Browsers refuse larger pictures.
    const HEIGHT_MAX: u64 = 8_000;
    let height = tab.evaluate("document.documentElement.scrollHeight").await.as_u64().unwrap_or_default();
    let height = height.clamp(variant.height.into(), HEIGHT_MAX);
    resize(tab, variant, u32::try_from(height).expect("a clamped number")).await;
}

async fn resize(tab: &Tab, variant: Variant, height: u32) {
    let params = json!({ "width": variant.width, "height": height, "deviceScaleFactor": 1, "mobile": false });
    tab.devtools("Emulation.setDeviceMetricsOverride", params).await;
}

/// Axe-core, read once for a test.
pub(super) struct Axe(String);

/// A page that is loaded anew meanwhile ends the script, which is then run again.
const RUNS_MAX: usize = 3;

impl Axe {
    pub(super) fn load() -> Axe {
        Axe(std::fs::read_to_string(program("axe")).expect("`cargo xtask client axe` has installed it"))
    }

    /// Fails if axe-core finds something in the page, or if the page is wider than its window.
    pub(super) async fn assert_accessible(&self, tab: &Tab, page: &str) {
        /// WCAG 2.2 A and AA, and what axe-core recommends beside it.
        const RUN: &str = "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], \
             resultTypes: ['violations'] }).then((result) => result.violations.map((found) => ({ rule: found.id, help: found.help, \
             places: found.nodes.map((node) => node.html.slice(0, 200) + ' ' + node.failureSummary) })))";
        let mut found = Value::Null;
        for _ in 0..RUNS_MAX {
            if tab.evaluate("typeof axe").await == "undefined" {
                tab.evaluate(&format!("{};0", self.0)).await;
            }
            found = tab.evaluate(RUN).await;
            if found.is_array() {
                break;
            }
        }
        let found = found.as_array().unwrap_or_else(|| panic!("{page}: axe-core did not run: {found}"));
        assert!(
            found.is_empty(),
            "{page}: {}",
            serde_json::to_string_pretty(&Value::from(found.clone())).unwrap_or_default()
        );
        let overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(tab.evaluate(overflow).await, 0, "{page} is wider than its window");
    }
}
