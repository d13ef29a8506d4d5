//! Fixture: the real binary with SMPP plain and over TLS, a carrier behind it, and one
//! SMPP connection.

use crate::gateways::{Served, data_folder, free_address, provision_text};
use crate::https::write_pair;
use crate::store_access::audit_clean;
use hermod_simulator::carrier::{CarrierOptions, CarrierRecord, Script, SimulatedCarrier};
use std::net::SocketAddr;
use std::path::PathBuf;

pub(super) const SYSTEM_ID: &str = "shop";
pub(super) const PASSWORD: &str = "secret12";
pub(super) const SENDER: &str = "Hermod";

pub(super) struct Stage {
    carrier: SimulatedCarrier,
    gateway: Served,
    pub(super) plain: SocketAddr,
    pub(super) secure: SocketAddr,
    folder: tempfile::TempDir,
}

impl Stage {
    pub(super) async fn set() -> Stage {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write_pair(folder.path());
        let carrier = SimulatedCarrier::start(CarrierOptions::new(Script::new())).await.expect("a free port");
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

    /// Returns the path of the gateway's certificate.
    pub(super) fn certificate(&self) -> PathBuf {
        self.folder.path().join("chain.pem")
    }

    /// Returns the carrier's record.
    pub(super) fn carrier(&self) -> CarrierRecord {
        self.carrier.record()
    }

    /// Waits until no part is open and audits the store.
    pub(super) async fn end(self) {
        self.gateway.stop().await;
        self.carrier.stop().await;
        let report = audit_clean(&data_folder(self.folder.path()));
        assert_eq!(report.open_parts, 0, "parts that have not ended");
    }
}
