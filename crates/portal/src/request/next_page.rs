//! Where to go after signing in: a path of ours, never another site.

/// A longer one is not ours.
const CHARS_MAX: usize = 1_000;

/// Returns the path if it is one of ours, else the start page.
pub(crate) fn checked(path: &str) -> String {
    let is_ours = path.len() <= CHARS_MAX
        && (["/", "/profile", "/invitations"].contains(&path)
            || path.starts_with("/accounts/")
            || path.starts_with("/invitations?link="))
        && path.bytes().all(|b| b.is_ascii_graphic() && b != b'\\')
        && !path.contains("//");
    if is_ours { path.to_owned() } else { "/".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::checked;

    #[test]
    fn only_paths_of_ours_are_followed() {
        for ours in [
            "/",
            "/profile",
            "/invitations",
            "/invitations?link=abcd",
            "/accounts/shop",
            "/accounts/shop/messages?state=delivered&to=%2B49*",
        ] {
            assert_eq!(checked(ours), ours);
        }
        for other in [
            "",
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "/accounts//evil.example",
            "/accounts/a\r\nSet-Cookie: x=y",
            "javascript:alert(1)",
            "/sign-out",
        ] {
            assert_eq!(checked(other), "/", "{other}");
        }
    }
}
