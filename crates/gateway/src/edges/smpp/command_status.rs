//! Turns a refusal into the command_status for a bind: by the published error catalogue, limited to the codes that the
//! bind's version and its connection understand.

use hermod_domain::catalogue::SmppAccess;
use hermod_domain::refusal::Refusal;
use hermod_smpp::CommandStatus;

/// Returns the status for a refusal: the extended code if the connection has `extended_codes`, else the standard one.
pub(super) fn status_of(refusal: &Refusal, access: &SmppAccess, is_3_4: bool) -> CommandStatus {
    let in_detail = refusal.published().smpp_extended.filter(|_| access.extended_codes && is_3_4);
    CommandStatus(in_detail.unwrap_or_else(|| refusal.smpp_status()))
}

/// Replaces codes about optional parameters, which SMPP 3.3 does not have.
pub(super) const fn in_version(status: CommandStatus, is_3_4: bool) -> CommandStatus {
    match status {
        CommandStatus(0xC0..=0xC4) if !is_3_4 => CommandStatus::SUBMITFAIL,
        status => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermod_domain::refusal::Unavailable;

    #[test]
    fn extended_codes_need_the_connection_setting_and_version_3_4() {
        let plain = SmppAccess::new("shop", "");
        let extended = SmppAccess { extended_codes: true, ..plain.clone() };
        let full = Refusal::GatewayUnavailable { cause: Unavailable::QueueFull, retry_after_s: 1 };
        for (refusal, access, is_3_4, expect) in [
            (&Refusal::RecipientOptedOut, &plain, true, 0x45),
            (&Refusal::RecipientOptedOut, &extended, true, 0x401),
            (&Refusal::RecipientOptedOut, &extended, false, 0x45),
            (&Refusal::NoRoute, &extended, true, 0x403),
            (&full, &extended, true, 0x14),
            (&Refusal::SubmitFailed, &extended, true, 0x08),
        ] {
            assert_eq!(status_of(refusal, access, is_3_4).0, expect, "{refusal}");
        }
    }

    #[test]
    fn tlv_codes_are_replaced_on_3_3_binds() {
        let actual = |status, is_3_4| in_version(CommandStatus(status), is_3_4).0;
        assert_eq!(
            [actual(0xC2, true), actual(0xC0, false), actual(0xC4, false), actual(0x0B, false)],
            [0xC2, 0x45, 0x45, 0x0B]
        );
    }
}
