//! The style sheet and the script, compiled in. A URL has the digest of its content, so browsers may keep it forever.

use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// A file that pages refer to.
#[derive(Debug)]
pub struct Asset {
    /// The path of the URL, such as `/assets/portal.0123456789abcdef.css`.
    pub path: String,
    /// The value of the `Content-Type` header.
    pub content_type: &'static str,
    /// The content.
    pub bytes: &'static [u8],
}

static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    asset(
        "portal",
        "css",
        "text/css; charset=utf-8",
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/portal.css")),
    )
});

static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    asset(
        "portal",
        "js",
        "text/javascript; charset=utf-8",
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/portal.js")),
    )
});

/// Lines of the style of the API's page that have its own colours.
const OWN_COLOUR_LINES: usize = 2;
/// Where the tokens end in the portal's style sheet.
const AFTER_TOKENS: &str = "\n*, *::before";

static DOCS_STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let portal = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/portal.css"));
    let tokens = portal.split(AFTER_TOKENS).next().unwrap_or_default();
    let frame = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/docs.css"));
    let own: Vec<&str> = hermod_gateway::http::openapi_page::STYLE.lines().skip(OWN_COLOUR_LINES).collect();
    // Made once for the process, like the other assets.
    let bytes = [tokens, &own.join("\n"), frame].join("\n").into_bytes().leak();
    asset("docs", "css", "text/css; charset=utf-8", bytes)
});

/// The header that lets browsers keep an asset forever: other content has another URL.
pub const CACHE_CONTROL: &str = "public, max-age=31536000, immutable";

/// Returns the style sheet.
pub fn style() -> &'static Asset {
    &STYLE
}

/// Returns the script.
pub fn script() -> &'static Asset {
    &SCRIPT
}

/// Returns the style sheet of the API's page: the tokens of the portal, and the rules of that page.
pub fn docs_style() -> &'static Asset {
    &DOCS_STYLE
}

/// Returns the asset with this path, such as `/assets/portal.0123456789abcdef.css`.
pub fn find(path: &str) -> Option<&'static Asset> {
    [style(), script(), docs_style()].into_iter().find(|asset| asset.path == path)
}

fn asset(name: &str, extension: &str, content_type: &'static str, bytes: &'static [u8]) -> Asset {
    let digest: String = Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Asset { path: format!("/assets/{name}.{digest}.{extension}"), content_type, bytes }
}

#[cfg(test)]
#[path = "assets_tests.rs"]
mod tests;
