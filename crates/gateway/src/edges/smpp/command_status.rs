//! What a refusal is on a bind: the status of the one table, in the words that the bind's version and its connection
//! understand.

use hermod_domain::catalogue::SmppAccess;
use hermod_domain::refusal::Refusal;
use hermod_smpp::CommandStatus;

/// The status that tells a refusal.
pub(super) fn status_of(refusal: &Refusal, access: &SmppAccess, is_3_4: bool) -> CommandStatus {
    let in_detail = refusal.published().smpp_extended.filter(|_| access.extended_codes && is_3_4);
    CommandStatus(in_detail.unwrap_or_else(|| refusal.smpp_status()))
}

/// 3.3 has no codes about optional parameters.
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
    fn detail_is_told_to_those_who_asked_for_it_and_can_read_it() {
        let plain = SmppAccess::new("shop", "");
        let asking = SmppAccess { extended_codes: true, ..plain.clone() };
        let full = Refusal::GatewayUnavailable { cause: Unavailable::QueueFull, retry_after_s: 1 };
        for (refusal, access, is_3_4, expect) in [
            (&Refusal::RecipientOptedOut, &plain, true, 0x45),
            (&Refusal::RecipientOptedOut, &asking, true, 0x401),
            (&Refusal::RecipientOptedOut, &asking, false, 0x45),
            (&Refusal::NoRoute, &asking, true, 0x403),
            (&full, &asking, true, 0x14),
            (&Refusal::SubmitFailed, &asking, true, 0x08),
        ] {
            assert_eq!(status_of(refusal, access, is_3_4).0, expect, "{refusal}");
        }
    }

    #[test]
    fn codes_about_parameters_are_not_told_to_3_3() {
        let told = |status, is_3_4| in_version(CommandStatus(status), is_3_4).0;
        assert_eq!(
            [told(0xC2, true), told(0xC0, false), told(0xC4, false), told(0x0B, false)],
            [0xC2, 0x45, 0x45, 0x0B]
        );
    }
}
