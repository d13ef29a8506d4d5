//! Unit tests of `welcome.rs`.

use super::*;

#[test]
fn quoted_text_is_one_word_of_a_shell() {
    for (text, expect) in [
        ("/usr/bin/hermod", "/usr/bin/hermod"),
        ("/my data/hermod", "'/my data/hermod'"),
        ("it's", r"'it'\''s'"),
        ("$HOME`id`", "'$HOME`id`'"),
        ("", "''"),
    ] {
        assert_eq!(quoted(text), expect);
    }
}
