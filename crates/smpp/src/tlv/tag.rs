//! TLV tags by name (SMPP v3.4 §5.3.2), with the sizes and values a server holds them to.

use std::{fmt, ops::RangeInclusive};

/// A TLV tag. Unknown tags are kept and ignored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub u16);

/// Requests whose TLVs are checked, as bits: submit_sm (§4.4.1), submit_multi (§4.5.1) and data_sm (§4.7.1).
pub(crate) const SUBMIT: u8 = 1;
pub(crate) const MULTI: u8 = 2;
pub(crate) const DATA: u8 = 4;
const NONE: u8 = 0;

macro_rules! tags {
    ($($name:ident = $value:literal, $octets:expr, $allowed:expr, $text:literal;)*) => {
        known_values! { Tag, "Every tag of the 3.4 table.": $($name = $value, $text;)* }

        impl Tag {
            /// Returns the permitted octets of a value; `None` for unknown tags.
            pub const fn octets(self) -> Option<RangeInclusive<u16>> {
                match self.0 {
                    $($value => Some($octets),)*
                    _ => None,
                }
            }

            /// Whether one of these requests allows the TLV. Others are ignored (§3.3).
            pub(crate) const fn is_allowed_in(self, requests: u8) -> bool {
                let allowed: u8 = match self.0 {
                    $($value => $allowed,)*
                    _ => NONE,
                };
                allowed & requests != 0
            }
        }
    };
}

tags! {
    DEST_ADDR_SUBUNIT = 0x0005, 1..=1, SUBMIT | MULTI | DATA, "dest_addr_subunit";
    DEST_NETWORK_TYPE = 0x0006, 1..=1, DATA, "dest_network_type";
    DEST_BEARER_TYPE = 0x0007, 1..=1, DATA, "dest_bearer_type";
    DEST_TELEMATICS_ID = 0x0008, 2..=2, DATA, "dest_telematics_id";
    SOURCE_ADDR_SUBUNIT = 0x000D, 1..=1, SUBMIT | MULTI | DATA, "source_addr_subunit";
    SOURCE_NETWORK_TYPE = 0x000E, 1..=1, DATA, "source_network_type";
    SOURCE_BEARER_TYPE = 0x000F, 1..=1, DATA, "source_bearer_type";
    SOURCE_TELEMATICS_ID = 0x0010, 1..=1, DATA, "source_telematics_id";
    QOS_TIME_TO_LIVE = 0x0017, 4..=4, DATA, "qos_time_to_live";
    PAYLOAD_TYPE = 0x0019, 1..=1, SUBMIT | MULTI | DATA, "payload_type";
    ADDITIONAL_STATUS_INFO_TEXT = 0x001D, 1..=256, NONE, "additional_status_info_text";
    RECEIPTED_MESSAGE_ID = 0x001E, 1..=65, DATA, "receipted_message_id";
    MS_MSG_WAIT_FACILITIES = 0x0030, 1..=1, SUBMIT | MULTI | DATA, "ms_msg_wait_facilities";
    PRIVACY_INDICATOR = 0x0201, 1..=1, SUBMIT | MULTI | DATA, "privacy_indicator";
    SOURCE_SUBADDRESS = 0x0202, 2..=23, SUBMIT | MULTI | DATA, "source_subaddress";
    DEST_SUBADDRESS = 0x0203, 2..=23, SUBMIT | MULTI | DATA, "dest_subaddress";
    USER_MESSAGE_REFERENCE = 0x0204, 2..=2, SUBMIT | MULTI | DATA, "user_message_reference";
    USER_RESPONSE_CODE = 0x0205, 1..=1, SUBMIT | DATA, "user_response_code";
    SOURCE_PORT = 0x020A, 2..=2, SUBMIT | MULTI | DATA, "source_port";
    DESTINATION_PORT = 0x020B, 2..=2, SUBMIT | MULTI | DATA, "destination_port";
    SAR_MSG_REF_NUM = 0x020C, 2..=2, SUBMIT | MULTI | DATA, "sar_msg_ref_num";
    LANGUAGE_INDICATOR = 0x020D, 1..=1, SUBMIT | MULTI | DATA, "language_indicator";
    SAR_TOTAL_SEGMENTS = 0x020E, 1..=1, SUBMIT | MULTI | DATA, "sar_total_segments";
    SAR_SEGMENT_SEQNUM = 0x020F, 1..=1, SUBMIT | MULTI | DATA, "sar_segment_seqnum";
    SC_INTERFACE_VERSION = 0x0210, 1..=1, NONE, "sc_interface_version";
    CALLBACK_NUM_PRES_IND = 0x0302, 1..=1, SUBMIT | MULTI | DATA, "callback_num_pres_ind";
    CALLBACK_NUM_ATAG = 0x0303, 0..=65, SUBMIT | MULTI | DATA, "callback_num_atag";
    NUMBER_OF_MESSAGES = 0x0304, 1..=1, SUBMIT | DATA, "number_of_messages";
    CALLBACK_NUM = 0x0381, 4..=19, SUBMIT | MULTI | DATA, "callback_num";
    DPF_RESULT = 0x0420, 1..=1, NONE, "dpf_result";
    SET_DPF = 0x0421, 1..=1, DATA, "set_dpf";
    MS_AVAILABILITY_STATUS = 0x0422, 1..=1, NONE, "ms_availability_status";
    NETWORK_ERROR_CODE = 0x0423, 3..=3, DATA, "network_error_code";
    MESSAGE_PAYLOAD = 0x0424, 0..=u16::MAX, SUBMIT | MULTI | DATA, "message_payload";
    DELIVERY_FAILURE_REASON = 0x0425, 1..=1, NONE, "delivery_failure_reason";
    MORE_MESSAGES_TO_SEND = 0x0426, 1..=1, SUBMIT | DATA, "more_messages_to_send";
    MESSAGE_STATE = 0x0427, 1..=1, DATA, "message_state";
    USSD_SERVICE_OP = 0x0501, 1..=1, SUBMIT, "ussd_service_op";
    DISPLAY_TIME = 0x1201, 1..=1, SUBMIT | MULTI | DATA, "display_time";
    SMS_SIGNAL = 0x1203, 2..=2, SUBMIT | MULTI | DATA, "sms_signal";
    MS_VALIDITY = 0x1204, 1..=1, SUBMIT | MULTI | DATA, "ms_validity";
    ALERT_ON_MESSAGE_DELIVERY = 0x130C, 0..=0, SUBMIT | MULTI | DATA, "alert_on_message_delivery";
    ITS_REPLY_TYPE = 0x1380, 1..=1, SUBMIT | DATA, "its_reply_type";
    ITS_SESSION_INFO = 0x1383, 2..=2, SUBMIT | DATA, "its_session_info";
}

impl Tag {
    /// Whether the value is in the tag's range. Only counts can be out of range; reserved values of enumerations mean
    /// the default (§3.3).
    pub const fn permits(self, value: &[u8]) -> bool {
        match (self, value) {
            (Tag::SAR_TOTAL_SEGMENTS | Tag::SAR_SEGMENT_SEQNUM, [0]) => false,
            (Tag::NUMBER_OF_MESSAGES, [count]) => *count <= 99,
            _ => true,
        }
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "tlv 0x{:04x}", self.0),
        }
    }
}
