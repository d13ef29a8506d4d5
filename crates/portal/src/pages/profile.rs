//! The user's own profile: password, second factor, sessions.

use crate::elements::Chip;
use crate::forms::Field;
use crate::layout::Shell;
use crate::svg::Svg;
use crate::time::Time;
use askama::Template;

/// `GET /profile`.
///
/// Posts to `/profile/password` (`password`, `new_password`, `new_password_again`), `/profile/second-factor` (starts the
/// setup) and `/profile/sessions/{id}/end`, `/profile/sessions/end-others`. Switching the second factor off and making new
/// recovery codes are the pages `/profile/second-factor/off` and `/profile/second-factor/codes`.
#[derive(Clone, Debug, Template)]
#[template(path = "profile.html")]
pub struct ProfilePage {
    pub shell: Shell,
    /// Only errors are shown.
    pub password: Field,
    /// The code of the second factor, if there is one.
    pub code: Field,
    pub new_password: Field,
    pub new_password_again: Field,
    /// When the second factor was switched on.
    pub second_factor_since: Option<Time>,
    /// Recovery codes that were not used.
    pub codes_left: usize,
    pub sessions: Vec<SessionRow>,
    pub accounts: Vec<AccountRow>,
}

/// An account of the user.
#[derive(Clone, Debug)]
pub struct AccountRow {
    pub name: String,
    pub role: String,
    /// The page that leaves the account; `None` for its only owner.
    pub leave: Option<String>,
}

/// A session of the user.
#[derive(Clone, Debug)]
pub struct SessionRow {
    pub id: String,
    /// Such as `Firefox on Linux`.
    pub device: String,
    pub address: String,
    pub since: Time,
    pub last_seen: Time,
    pub is_current: bool,
}

/// The setup of a second factor. Posts `code` to `/profile/second-factor/confirm`.
#[derive(Clone, Debug, Template)]
#[template(path = "second_factor_setup.html")]
pub struct SecondFactorSetupPage {
    pub shell: Shell,
    /// `otpauth://totp/…`
    pub uri: String,
    /// The secret in groups of four letters, to type.
    pub secret: String,
    /// The URI as a QR code, with the class-free colours black and white.
    pub qr: Svg,
    pub code: Field,
}

/// The recovery codes, shown once.
#[derive(Clone, Debug, Template)]
#[template(path = "recovery_codes.html")]
pub struct RecoveryCodesPage {
    pub shell: Shell,
    pub codes: Vec<String>,
}

/// The mark of the session that shows the page.
pub(crate) fn this_device() -> Chip {
    Chip::new(crate::elements::Tone::Good, "This device")
}
