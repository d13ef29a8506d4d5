//! A carrier that is down for a while, and one that closes connections.

use crate::esme::within;
use std::io::ErrorKind;

use hermod_simulator::carrier::Script;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::esme::{Esme, PATIENCE};
use crate::helpers::{carrier, ms};

#[tokio::test]
async fn carrier_goes_down_and_returns_on_its_port() {
    let carrier = carrier(Script::new().no_receipts()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    for round in 1..=3 {
        carrier.close_port().await;
        assert_eq!(esme.next().await, "closed: the connection was lost");
        let refused = TcpStream::connect(carrier.addr()).await.expect_err("the port is closed");
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        carrier.reopen_port().await;
        esme = Esme::bound(carrier.addr()).await;
        esme.submit("a").await;
        assert_eq!(esme.next().await, format!("a: {round}"));
    }
    let links = carrier.record().links();
    assert_eq!(links.iter().map(|link| link.number).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(links[..3].iter().all(|link| link.closed.is_some_and(|closed| closed >= link.opened)));
    assert!(links[3].closed.is_none() && links.is_sorted_by_key(|link| link.opened));
}

#[tokio::test]
async fn scripted_outage_ends_after_its_time() {
    let carrier = carrier(Script::new()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    carrier.set_script(Script::new().down(ms(50), ms(1_500)));
    assert_eq!(esme.next().await, "closed: the connection was lost");
    let refused = TcpStream::connect(carrier.addr()).await.expect_err("the port is closed");
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    let returns = async {
        while TcpStream::connect(carrier.addr()).await.is_err() {
            tokio::time::sleep_until(tokio::time::Instant::now() + ms(20)).await;
        }
    };
    within(PATIENCE, returns).await.expect("the carrier returns");
    Esme::bound(carrier.addr()).await;
}

#[tokio::test]
async fn carrier_that_is_down_can_be_stopped() {
    let carrier = carrier(Script::new()).await;
    carrier.close_port().await;
    within(PATIENCE, carrier.stop()).await.expect("it stops");
}

#[tokio::test]
async fn carrier_that_closes_connections_counts_them() {
    let carrier = carrier(Script::new().hang_up()).await;
    for _ in 0..3 {
        let mut stream = TcpStream::connect(carrier.addr()).await.unwrap();
        assert!(!matches!(stream.read(&mut [0; 16]).await, Ok(1..)));
    }
    let record = carrier.record();
    record.wait_until(|record| record.counts().links_closed == 3, PATIENCE).await.unwrap();
    assert_eq!((record.links().len(), record.counts().binds), (3, 0));
    carrier.set_script(Script::new());
    Esme::bound(carrier.addr()).await;
}

#[tokio::test]
async fn links_are_cut_after_a_random_time() {
    let carrier = carrier(Script::new().cut_links_after(ms(50), ms(250))).await;
    let mut links = Vec::new();
    for _ in 0..5 {
        links.push(Esme::bound(carrier.addr()).await);
    }
    for link in &mut links {
        assert_eq!(link.next().await, "closed: the connection was lost");
    }
    let record = carrier.record();
    record.wait_until(|record| record.counts().links_closed == 5, PATIENCE).await.unwrap();
    let lives: Vec<_> =
        record.links().iter().map(|link| link.closed.expect("they are closed") - link.opened).collect();
    assert!(lives.iter().all(|life| *life >= ms(50)), "{lives:?}");
    assert!(lives.iter().any(|life| life.abs_diff(lives[0]) > ms(5)), "{lives:?}");
}
