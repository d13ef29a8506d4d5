//! QR codes as SVG.

use crate::svg::Svg;
use qrcode::{Color, QrCode};

/// Modules of white around a code (ISO/IEC 18004).
const QUIET: usize = 4;

/// Draws a text as a QR code; nothing if the text is too long for one.
pub(crate) fn draw(text: &str, label: &str) -> Svg {
    let Ok(code) = QrCode::new(text) else { return Svg::default() };
    let (width, colors) = (code.width(), code.to_colors());
    let mut path = String::new();
    for (y, row) in colors.chunks(width).enumerate() {
        let mut x = 0;
        while x < width {
            let length = row[x..].iter().take_while(|color| **color == Color::Dark).count();
            if length > 0 {
                path.push_str(&format!("M{} {}h{length}v1h-{length}z", x + QUIET, y + QUIET));
            }
            x += length.max(1);
        }
    }
    let side = width + 2 * QUIET;
    Svg::from_own_markup(format!(
        r##"<svg viewBox="0 0 {side} {side}" role="img" aria-label="{}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h{side}v{side}H0z"/><path fill="#000" d="{path}"/></svg>"##,
        Svg::escape(label)
    ))
}

#[cfg(test)]
mod tests {
    use super::draw;

    #[test]
    fn code_has_its_modules_and_an_escaped_label() {
        let svg = draw("otpauth://totp/Hermod:ann@example.com?secret=ABC", "<b>").to_string();
        // The upper edge of the first finder pattern is seven modules long.
        assert!(svg.contains("M4 4h7v1h-7z"), "{svg}");
        assert!(svg.contains("&lt;b&gt;") && !svg.contains("<b>"));
        assert_eq!(draw(&"x".repeat(5_000), "").to_string(), "");
    }
}
