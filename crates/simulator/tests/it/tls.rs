//! A carrier with TLS links: the scripts work as without TLS.

use std::sync::Arc;

use hermod_simulator::carrier::{CarrierOptions, FirstId, Script, ServerTls, SimulatedCarrier};
use hermod_smpp::BindType;
use hermod_smpp::session::BindRequest;
use rcgen::{CertificateParams, KeyPair};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::esme::Esme;
use crate::helpers::ms;

struct Secured {
    carrier: SimulatedCarrier,
    certificate: CertificateDer<'static>,
}

async fn secured(script: Script) -> Secured {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("a certificate");
    let tls =
        ServerTls::from_pem(certificate.pem().as_bytes(), key.serialize_pem().as_bytes()).expect("a pair");
    let options = CarrierOptions { tls: Some(tls), first_id: FirstId::At(1), ..CarrierOptions::new(script) };
    let carrier = SimulatedCarrier::start(options).await.expect("a free port");
    Secured { carrier, certificate: certificate.der().clone() }
}

impl Secured {
    async fn bound(&self) -> Esme {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).expect("it is a certificate");
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has them")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(self.carrier.addr()).await.expect("the carrier listens");
        let name = ServerName::try_from("localhost").expect("a name");
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.expect("a handshake");
        let request = BindRequest::new(BindType::Transceiver, b"hermod", b"secret");
        let mut esme = Esme::over(Box::new(stream), &request);
        assert_eq!(esme.next().await, "bound");
        esme
    }
}

#[tokio::test]
async fn many_messages_pass_over_tls_in_both_directions() {
    let secured = secured(Script::new()).await;
    let mut esme = secured.bound().await;
    for number in 0..500 {
        esme.submit(&format!("message {number}")).await;
    }
    let told = esme.next_many(1000).await;
    assert_eq!(told.iter().filter(|told| told.starts_with("receipt")).count(), 500);
    esme.unbind().await;
    assert_eq!(esme.next().await, "closed: we unbound");
}

#[tokio::test]
async fn tls_links_are_cut_and_stalled_as_scripted() {
    let secured = secured(Script::new().no_receipts().stall_after(1, ms(500)).cut_before_response(2)).await;
    let mut esme = secured.bound().await;
    let start = Instant::now();
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 1");
    esme.submit("b").await;
    assert_eq!(esme.next().await, "b: 2");
    assert!(start.elapsed() >= ms(500), "{:?}", start.elapsed());
    esme.submit("c").await;
    assert_eq!(esme.next_many(2).await, ["lost c", "closed: the connection was lost"]);
}

#[tokio::test]
async fn plain_client_on_a_tls_port_gets_no_smpp_response() {
    let secured = secured(Script::new()).await;
    let mut plain = Esme::connect(secured.carrier.addr(), BindType::Transceiver).await;
    assert!(plain.next().await.starts_with("closed: "));
    assert_eq!(secured.carrier.record().counts().binds, 0);
    secured.bound().await;
}

#[test]
fn invalid_certificate_is_rejected() {
    let refused = ServerTls::from_pem(b"nothing", b"nothing").expect_err("that is no PEM");
    assert!(refused.to_string().starts_with("certificate or key cannot be used: "), "{refused}");
}
