//! What a server's answers mean, in words that say what to do.

use hermod_smpp::CommandStatus;

/// About a bind that was refused.
pub(super) fn of_bind(status: CommandStatus) -> &'static str {
    match status {
        CommandStatus::INVPASWD => {
            "The system_id or the password is wrong; which of the two, the server does not say. Check both for spaces and \
             capitals. Passwords have 8 characters. Do not try again and again: too many wrong passwords are \
             refused unlooked-at for a minute."
        }
        CommandStatus::INVSYSID => "The system_id is empty or longer than 15 characters.",
        CommandStatus::INVSYSTYP => {
            "Your connection wants a system_type of its own. Give it with --system-type; the operator knows it."
        }
        CommandStatus::BINDFAIL => {
            "The server does not let this bind in at the moment. In the order in which it is likely: your address is not \
             on the connection's list, the connection is for TLS only (try --tls), it has as many binds as it may, this \
             type of bind is not allowed, the account is closed, there were too many wrong passwords a moment ago, or the \
             server is stopping. The operator's log says which."
        }
        CommandStatus::ALYBND => "The server says that this connection is bound already.",
        CommandStatus::SYSERR => {
            "The server is in trouble of its own. Nothing is wrong with your side; try again later."
        }
        CommandStatus::INVBNDSTS => "The server did not expect a bind now.",
        CommandStatus::INVCMDID => "The server does not know this type of bind. Try another --type.",
        CommandStatus::INVCMDLEN => "The server could not read the bind. Perhaps it is no SMPP server.",
        CommandStatus::THROTTLED | CommandStatus::MSGQFUL => {
            "The server wants fewer attempts. Wait some seconds and try again."
        }
        _ => "This code is not in the server's documentation for binds; ask its operator.",
    }
}

/// About a message that was refused.
pub(super) fn of_submit(status: CommandStatus) -> &'static str {
    match status {
        CommandStatus::INVSRCADR => {
            "The sender is malformed or not approved for your account. Give one that is with --from, or none to use the \
             connection's own."
        }
        CommandStatus::INVDSTADR => {
            "The recipient is no number that can be sent to: malformed, in a country that is not enabled, or without a \
             price or route."
        }
        CommandStatus::INVMSGLEN => "The text is empty or too long.",
        CommandStatus::SUBMITFAIL => {
            "It was refused for good: the balance, the recipient's wish to get no more messages, or a rule of the account. \
             The HTTP API and the operator say which."
        }
        CommandStatus::THROTTLED => "You send faster than you may. Try again in a second.",
        CommandStatus::MSGQFUL => "Not now. Try again in some minutes.",
        CommandStatus::SYSERR => {
            "The server is in trouble of its own; the message was not accepted. Try again later."
        }
        CommandStatus::INVBNDSTS => "This type of bind may not send. Use --type trx or tx.",
        _ => "See the list of codes in docs/smpp.md.",
    }
}
