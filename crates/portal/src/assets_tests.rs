//! Unit tests of `assets.rs`.

use super::*;

#[test]
fn asset_path_has_sixteen_digits_of_the_digest() {
    let asset = asset("portal", "css", "text/css", b"");
    assert_eq!(asset.path, "/assets/portal.e3b0c44298fc1c14.css");
}

#[test]
fn asset_is_found_by_its_path_only() {
    assert_eq!(find(&style().path).unwrap().content_type, "text/css; charset=utf-8");
    assert_eq!(find(&script().path).unwrap().content_type, "text/javascript; charset=utf-8");
    assert!(find("/assets/portal.css").is_none());
    assert!(find("/assets/../portal.css").is_none());
}

#[test]
fn script_is_under_40_kb_and_makes_no_markup_from_text() {
    let text = std::str::from_utf8(script().bytes).unwrap();
    assert!(text.len() < 40_000, "{}", text.len());
    for forbidden in ["innerHTML", "outerHTML", "insertAdjacentHTML", "DOMParser", "document.write", "eval("]
    {
        assert!(!text.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn style_loads_nothing() {
    for asset in [style(), docs_style()] {
        let text = std::str::from_utf8(asset.bytes).unwrap();
        for forbidden in ["url(", "@import", "@font-face"] {
            assert!(!text.contains(forbidden), "{forbidden}");
        }
    }
}

#[test]
fn style_of_the_api_page_has_the_tokens_of_the_portal_and_no_colours_of_its_own() {
    let text = std::str::from_utf8(docs_style().bytes).unwrap();
    assert!(text.contains("--pine: #0d6354") && text.contains(".operation"), "{text}");
    assert!(!text.contains("--link:#0a58ca"));
}
