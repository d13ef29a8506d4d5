//! Explanations of the server's responses and of other protocols, with advice.

use hermod_smpp::CommandStatus;

/// Explains why a bind was rejected.
pub(super) fn of_bind(status: CommandStatus) -> &'static str {
    match status {
        CommandStatus::INVPASWD => {
            "The system_id or the password is wrong; the server does not say which. Check both for spaces and capitals. \
             Passwords have 8 characters. Do not repeat the attempt quickly: after too many wrong passwords all attempts \
             are rejected for a minute."
        }
        CommandStatus::INVSYSID => "The system_id is empty or longer than 15 characters.",
        CommandStatus::INVSYSTYP => {
            "The connection requires a system_type. Set it with --system-type; the operator knows it."
        }
        CommandStatus::BINDFAIL => {
            "Bind rejected. Possible reasons: your address is not on the allow-list; TLS is required (try --tls); the \
             maximum number of binds is reached; the bind type is not allowed; the account is closed or suspended; too many wrong \
             passwords; the server is shutting down. The operator's log has the reason."
        }
        CommandStatus::ALYBND => "The connection is already bound.",
        CommandStatus::SYSERR => "The server has an internal error. Try again later.",
        CommandStatus::INVBNDSTS => "The server did not expect a bind in this state.",
        CommandStatus::INVCMDID => "The server does not support this bind type. Try another --type.",
        CommandStatus::INVCMDLEN => "The server could not parse the bind. It may not be an SMPP server.",
        CommandStatus::THROTTLED | CommandStatus::MSGQFUL => {
            "Too many attempts. Wait a few seconds and try again."
        }
        _ => "This status is not documented for binds; ask the operator of the server.",
    }
}

/// Explains why a message was rejected.
pub(super) fn of_submit(status: CommandStatus) -> &'static str {
    match status {
        CommandStatus::INVSRCADR => {
            "The sender is invalid or not approved for your account. Set another with --from, or leave it out to use the \
             connection's default."
        }
        CommandStatus::INVDSTADR => {
            "The recipient is invalid, in a country that is not enabled, or has no price or route."
        }
        CommandStatus::INVMSGLEN => "The text is empty or too long.",
        CommandStatus::SUBMITFAIL => {
            "Permanently rejected: insufficient balance, opted-out recipient, or a rule of the account. The HTTP API and \
             the operator have the reason."
        }
        CommandStatus::THROTTLED => "Rate limit exceeded. Try again in a second.",
        CommandStatus::MSGQFUL => "The queue is full. Try again in a few minutes.",
        CommandStatus::SYSERR => {
            "The server has an internal error and did not accept the message. Try again later."
        }
        CommandStatus::INVBNDSTS => "This bind type may not submit. Use --type trx or tx.",
        _ => "See the list of statuses in docs/smpp.md.",
    }
}

/// Explains which protocol the server uses, where its first octets are not SMPP.
pub(super) fn of_other_protocol(first: &[u8]) -> Option<&'static str> {
    // A TLS record of any version: alert or handshake.
    const TLS_ALERT: &[u8] = &[0x15, 0x03];
    const TLS_HANDSHAKE: &[u8] = &[0x16, 0x03];
    if first.starts_with(b"HTTP/") {
        Some("an HTTP server responded, not an SMPP server. The default port of SMPP is 2775")
    } else if first.starts_with(TLS_ALERT) || first.starts_with(TLS_HANDSHAKE) {
        Some("the server uses TLS: try again with --tls")
    } else if first.starts_with(b"SSH-") {
        Some("an SSH server responded, not an SMPP server")
    } else {
        None
    }
}

#[cfg(test)]
#[path = "explanations_tests.rs"]
mod tests;
