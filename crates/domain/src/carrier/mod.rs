//! Differences between carriers. Each is a field of a carrier's [`Profile`]; the meaning of error statuses is one table
//! ([`ErrorClass`]), and [`RemoteKey`] matches the ids of responses and receipts. A carrier with special needs gets a
//! setting, never a branch elsewhere.

mod delivery_rate;
mod error_class;
mod ids;
mod profile;

pub use delivery_rate::{DeliveryRate, DeliveryRates, REPORTS_MIN};
pub use error_class::{ErrorClass, QUEUE_FULL_PAUSE, RetryOverride, THROTTLED_PAUSE};
pub use ids::{IdConversion, RemoteKey};
pub use profile::{
    Addressing, DefaultAlphabet, LINKS_MAX, LinkBinds, LongMessages, Profile, ProfileRefusal,
    RECEIPT_WAIT_MAX_S, REWRITES_MAX, ReceiptSyntax, SenderRewrite, SmppVersion, TLV_OCTETS_MAX, TLVS_MAX,
    TonNpi, ValidityFormat, VendorTlv,
};

use crate::ids::CarrierId;
use crate::numbers::Country;
use serde::{Deserialize, Serialize};

named! {
    /// The health of a carrier, from best to worst. Routing uses it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    pub enum Health {
        /// A sending link is bound and works well.
        Up = "up",
        /// Bound, but with too many rejections or missing receipts: used only if no carrier is up.
        Poor = "poor",
        /// It answers nothing while messages wait for its window.
        Stalled = "stalled",
        /// No sending link is bound.
        #[default]
        Down = "down",
        /// Stopped by too many protocol errors or by the operator. Nothing is sent; the queue is kept.
        Stopped = "stopped",
        /// The operator disabled it.
        Disabled = "disabled",
    }
}

/// What becomes of the messages that wait for a carrier that the operator drains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Draining {
    /// They move to the next carrier of their routes.
    Move,
    /// They stay until the carrier sends again.
    Stay,
}

impl Health {
    /// Whether it can send a part now.
    pub const fn can_send(self) -> bool {
        match self {
            Health::Up | Health::Poor => true,
            Health::Stalled | Health::Down | Health::Stopped | Health::Disabled => false,
        }
    }
}

/// What is known of carriers now.
pub trait CarrierStatus {
    fn health(&self, carrier: CarrierId) -> Health;

    /// Returns how much the carrier delivers in a country, if enough is known.
    fn delivery_rate(&self, carrier: CarrierId, country: Option<Country>) -> Option<DeliveryRate>;
}

/// A function of the carrier's health, where delivery rates do not matter.
impl<F: Fn(CarrierId) -> Health> CarrierStatus for F {
    fn health(&self, carrier: CarrierId) -> Health {
        self(carrier)
    }

    fn delivery_rate(&self, _: CarrierId, _: Option<Country>) -> Option<DeliveryRate> {
        None
    }
}
