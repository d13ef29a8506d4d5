//! Unit tests of `compose.rs`.

use super::*;

#[test]
fn preview_has_every_field_that_the_script_reads() {
    let preview = Preview {
        parts: vec![PreviewPart { runs: vec![TextRun::default()], used: String::new() }],
        facts: vec![Fact::default()],
        forced: vec![ForcedCharacter::default()],
        rejections: vec![SendRejection::default()],
        ..Preview::default()
    };
    let json = serde_json::to_string(&preview).unwrap();
    let script = std::str::from_utf8(crate::assets::script().bytes).unwrap();
    for field in ["parts", "runs", "is_marked", "used", "facts", "forced", "forced_words", "rejections"] {
        assert!(json.contains(&format!("\"{field}\":")), "{field}");
        assert!(script.contains(field), "{field}");
    }
    for field in ["summary", "price", "send_label", "can_send", "replacement", "character", "href"] {
        assert!(json.contains(&format!("\"{field}\":")), "{field}");
        assert!(script.contains(field), "{field}");
    }
}
