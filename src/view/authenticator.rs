//! The setup of an authenticator app, as link and QR code.

use qrcodegen::{QrCode, QrCodeEcc};

/// Empty modules around a QR code, as the standard requires.
const QUIET_ZONE: i32 = 4;

/// Draws a QR code; empty if the text is too long, since the page also has the link and the secret.
pub fn qr_code(text: &str) -> String {
    let Ok(code) = QrCode::encode_text(text, QrCodeEcc::Medium) else { return String::new() };
    let size = code.size() + 2 * QUIET_ZONE;
    let mut svg = format!(
        r#"<svg class="qr" viewBox="0 0 {size} {size}" width="200" height="200" role="img" aria-label="QR code of the setup link"><rect width="{size}" height="{size}" fill="white"/><path fill="black" d=""#
    );
    for y in 0..code.size() {
        for x in (0..code.size()).filter(|x| code.get_module(*x, y)) {
            svg.push_str(&format!("M{},{}h1v1h-1z", x + QUIET_ZONE, y + QUIET_ZONE));
        }
    }
    svg + r#""/></svg>"#
}

/// The setup link, in the format of <https://github.com/google/google-authenticator/wiki/Key-Uri-Format>.
pub fn setup_link(service: &str, email: &str, secret: &str) -> String {
    let email: String = form_urlencoded::byte_serialize(email.as_bytes()).collect();
    let service: String = form_urlencoded::byte_serialize(service.as_bytes()).collect();
    let service = service.replace('+', "%20");
    format!("otpauth://totp/{service}:{email}?secret={secret}&issuer={service}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_qr_code_is_drawn_with_its_quiet_zone() {
        let qr = qr_code("otpauth://totp/VentureDex:a%40b.example?secret=GEZDGNBVGY3TQOJQ");
        // The corner of the first finder pattern, seven modules wide.
        for x in 4..11 {
            assert!(qr.contains(&format!("M{x},4h1v1h-1z")), "{qr}");
        }
        assert!(!qr.contains("M11,4h") && !qr.contains("M3,4h") && qr.contains("fill=\"white\""));
        assert_eq!(qr_code(&"x".repeat(3_000)), "");
    }

    #[test]
    fn the_link_is_encoded() {
        assert_eq!(
            setup_link("Deals & Co", "a+b&c@example.com", "GEZD"),
            "otpauth://totp/Deals%20%26%20Co:a%2Bb%26c%40example.com?secret=GEZD&issuer=Deals%20%26%20Co"
        );
    }
}
