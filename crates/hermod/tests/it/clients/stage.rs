//! Where clients meet the gateway: the real binary, which speaks SMPP plain and over TLS, a carrier behind it, and one
//! connection to bind to.

use crate::assembly::{Served, data_folder, free_address, provision_text};
use crate::https::write_pair;
use hermod_simulator::carrier::{Carrier, CarrierOptions, Record, Script};
use std::net::SocketAddr;
use std::path::PathBuf;

pub(super) const SYSTEM_ID: &str = "shop";
pub(super) const PASSWORD: &str = "secret12";
pub(super) const SENDER: &str = "Hermod";

pub(super) struct Stage {
    carrier: Carrier,
    gateway: Served,
    pub(super) plain: SocketAddr,
    pub(super) secure: SocketAddr,
    folder: tempfile::TempDir,
}

impl Stage {
    pub(super) async fn set() -> Stage {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write_pair(folder.path());
        let carrier = Carrier::start(CarrierOptions::new(Script::new())).await.expect("a free port");
        let secure = free_address();
        let settings = format!(
            "[smpp]\ntls_listen = \"{secure}\"\ncertificate = \"chain.pem\"\nkey = \"key.pem\"\n\
             [log]\nlevel = \"warn\"\n"
        );
        let connection = format!(
            "[[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\nsystem_id = \"{SYSTEM_ID}\"\n\
             password = \"{PASSWORD}\"\nwindow = 10\n"
        );
        let provision = format!("{}{connection}", provision_text(carrier.addr(), "100"));
        let gateway = Served::start_with(folder.path(), &settings, &provision);
        Stage { carrier, plain: gateway.smpp_address(), gateway, secure, folder }
    }

    /// The certificate that the gateway shows.
    pub(super) fn certificate(&self) -> PathBuf {
        self.folder.path().join("chain.pem")
    }

    /// What the carrier behind the gateway has seen.
    pub(super) fn carrier(&self) -> Record {
        self.carrier.record()
    }

    /// Everything has come to its end, and the books are in order.
    pub(super) async fn end(self) {
        self.gateway.stop().await;
        self.carrier.stop().await;
        let report = hermod_store::Store::audit(&data_folder(self.folder.path())).expect("an audit");
        assert!(report.is_clean(), "the audit found {:#?}", report.violations);
        assert_eq!(report.open_parts, 0, "parts that have not ended");
    }
}
