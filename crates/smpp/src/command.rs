//! Command ids: which PDU it is, whether it is an answer, and which answer belongs to which request.

use std::fmt;

/// `command_id` as it travels (SMPP v3.4 §5.1.2.1). Any value can arrive, so this is not an enum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommandId(pub u32);

macro_rules! commands {
    ($($name:ident = $value:literal, $text:literal;)*) => {
        impl CommandId {
            $(#[doc = concat!("`", $text, "`")] pub const $name: CommandId = CommandId($value);)*

            /// Every command this crate has a PDU for.
            pub const ALL: &'static [CommandId] = &[$(CommandId::$name),*];

            /// The specification's name, if it has one.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some($text),)*
                    _ => None,
                }
            }
        }
    };
}

commands! {
    GENERIC_NACK = 0x8000_0000, "generic_nack";
    BIND_RECEIVER = 0x0000_0001, "bind_receiver";
    BIND_RECEIVER_RESP = 0x8000_0001, "bind_receiver_resp";
    BIND_TRANSMITTER = 0x0000_0002, "bind_transmitter";
    BIND_TRANSMITTER_RESP = 0x8000_0002, "bind_transmitter_resp";
    QUERY_SM = 0x0000_0003, "query_sm";
    QUERY_SM_RESP = 0x8000_0003, "query_sm_resp";
    SUBMIT_SM = 0x0000_0004, "submit_sm";
    SUBMIT_SM_RESP = 0x8000_0004, "submit_sm_resp";
    DELIVER_SM = 0x0000_0005, "deliver_sm";
    DELIVER_SM_RESP = 0x8000_0005, "deliver_sm_resp";
    UNBIND = 0x0000_0006, "unbind";
    UNBIND_RESP = 0x8000_0006, "unbind_resp";
    REPLACE_SM = 0x0000_0007, "replace_sm";
    REPLACE_SM_RESP = 0x8000_0007, "replace_sm_resp";
    CANCEL_SM = 0x0000_0008, "cancel_sm";
    CANCEL_SM_RESP = 0x8000_0008, "cancel_sm_resp";
    BIND_TRANSCEIVER = 0x0000_0009, "bind_transceiver";
    BIND_TRANSCEIVER_RESP = 0x8000_0009, "bind_transceiver_resp";
    OUTBIND = 0x0000_000B, "outbind";
    ENQUIRE_LINK = 0x0000_0015, "enquire_link";
    ENQUIRE_LINK_RESP = 0x8000_0015, "enquire_link_resp";
    SUBMIT_MULTI = 0x0000_0021, "submit_multi";
    SUBMIT_MULTI_RESP = 0x8000_0021, "submit_multi_resp";
    ALERT_NOTIFICATION = 0x0000_0102, "alert_notification";
    DATA_SM = 0x0000_0103, "data_sm";
    DATA_SM_RESP = 0x8000_0103, "data_sm_resp";
}

/// Bit 31 marks an answer.
const ANSWER_BIT: u32 = 0x8000_0000;

impl CommandId {
    /// Answers, known or not, have bit 31 set; they are never answered themselves.
    pub const fn is_answer(self) -> bool {
        self.0 & ANSWER_BIT != 0
    }

    /// The command is in the 3.4 table.
    pub const fn is_known(self) -> bool {
        self.name().is_some()
    }

    /// The answer that belongs to this request. `outbind` and `alert_notification` have none, nor has
    /// anything we do not know: those are answered with `generic_nack` or not at all.
    pub const fn answer(self) -> Option<CommandId> {
        match self {
            CommandId::OUTBIND | CommandId::ALERT_NOTIFICATION => None,
            _ if self.is_answer() || !self.is_known() => None,
            _ => Some(CommandId(self.0 | ANSWER_BIT)),
        }
    }
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "command 0x{:08x}", self.0),
        }
    }
}

impl fmt::Debug for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_but_two_has_its_answer_in_the_table() {
        for command in CommandId::ALL.iter().filter(|c| !c.is_answer()) {
            match *command {
                CommandId::OUTBIND | CommandId::ALERT_NOTIFICATION => assert_eq!(command.answer(), None),
                _ => assert!(CommandId::ALL.contains(&command.answer().expect("has an answer")), "{command}"),
            }
        }
        assert_eq!(CommandId::SUBMIT_SM.answer(), Some(CommandId::SUBMIT_SM_RESP));
        assert_eq!(CommandId::SUBMIT_SM_RESP.answer(), None);
        assert_eq!(CommandId(0x111).answer(), None);
    }

    #[test]
    fn commands_print_their_specification_names() {
        assert_eq!(CommandId::DATA_SM_RESP.to_string(), "data_sm_resp");
        assert_eq!(CommandId(0x0001_0200).to_string(), "command 0x00010200");
    }
}
