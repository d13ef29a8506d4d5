//! Unit tests of `fold.rs`.

use super::*;

#[test]
fn look_alike_texts_fold_to_the_same() {
    for (plain, disguised) in [
        ("bank", "BANK"),
        ("bank", "b\u{200b}a\u{200d}n\u{feff}k\u{ad}"),
        ("bank", "\u{202e}bank\u{2060}"),
        ("bank", "ｂａｎｋ"),
        ("bank", "𝐛𝒂𝓷𝕜"),
        ("bank", "ⓑⓐⓝⓚ"),
        ("bank", "🅱🅰🅽🅺"),
        ("bank", "🇧🇦🇳🇰"),
        ("bank", "ВАNК"),
        ("bank", "bаnk"),
        ("bank", "bаnк"),
        ("bank", "ʙᴀɴᴋ"),
        ("bank", "b\u{336}a\u{336}n\u{336}k\u{336}"),
        ("банк", "бaнк"),
        ("банк", "банk"),
        ("paypal", "раураl"),
        ("https://bit.ly", "ｈttps：∕∕bit․ly"),
        ("año", "an\u{303}o"),
    ] {
        assert_eq!(fold(disguised), fold(plain), "{plain} {disguised}");
    }
    for (one, other) in [("año", "ano"), ("über", "uber"), ("банк", "банка"), ("mail", "mall")] {
        assert_ne!(fold(one), fold(other), "{one} {other}");
    }
    assert_eq!(fold("Call 0110 in May"), "call 0110 in may");
}
