//! Carriers as they really are. Every difference between them that has ever mattered is one field of a [`Profile`];
//! what their error codes mean is one table ([`ErrorClass`]), and how the ids in their answers and receipts are matched
//! is one function ([`RemoteKey`]). A carrier that needs something special gets a setting, never a branch elsewhere.

mod error_class;
mod health;
mod ids;
mod profile;

pub use error_class::{ErrorClass, QUEUE_FULL_PAUSE, RetryOverride, THROTTLED_PAUSE};
pub use health::Health;
pub use ids::{IdConversion, RemoteKey};
pub use profile::{
    Addressing, Binds, DefaultAlphabet, LINKS_MAX, LongMessages, Profile, ProfileRefusal, RECEIPT_WAIT_MAX_S,
    REWRITES_MAX, ReceiptDialect, SenderRewrite, SmppVersion, TLV_OCTETS_MAX, TLVS_MAX, TonNpi,
    ValidityFormat, VendorTlv,
};
