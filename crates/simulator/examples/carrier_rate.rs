//! How fast the carrier is by itself: one link that submits through a window for a few seconds and takes the
//! receipts that come meanwhile.
//! `cargo run --release -p hermod-simulator --example carrier_rate -- ADDRESS [SECONDS] [WINDOW]`; start the carrier
//! with `hermod-sim carrier` beside it.

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use bytes::Buf;
use hermod_smpp::session::{BindRequest, ClientConfig};
use hermod_smpp::{
    Address, BindType, CommandId, DeliverSmResp, Hidden, Moment, Pdu, Session, SessionEvent, SubmitSm,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// What came back.
#[derive(Default)]
struct Seen {
    submitted: u64,
    answers: u64,
    receipts: u64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().ok_or("which address?")?;
    let seconds: u64 = arguments.next().as_deref().unwrap_or("5").parse()?;
    let window_max: u32 = arguments.next().as_deref().unwrap_or("500").parse()?;

    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut config = ClientConfig::standard();
    config.limits.window_max = window_max;
    config.limits.peer_window_max = 10_000;
    config.limits.read_chunk_bytes = 64 * 1024;
    let request = BindRequest::new(BindType::Transceiver, b"rate", b"secret");
    let mut session = Session::client(config, &request, Moment(0))?;
    let (start, run) = (Instant::now(), Duration::from_secs(seconds));
    let mut seen = Seen::default();
    loop {
        let now = Moment(u64::try_from(start.elapsed().as_millis())?);
        while let Some(event) = session.next_event(now) {
            settle(&mut session, event, now, &mut seen)?;
        }
        while start.elapsed() < run && session.window_free() > 0 {
            submit(&mut session, now, &mut seen)?;
        }
        if start.elapsed() >= run && seen.answers == seen.submitted {
            break;
        }
        while session.output().has_remaining() {
            stream.write_buf(session.output()).await?;
        }
        stream.read_buf(session.read_buffer()).await?;
        session.on_input(now);
    }
    let per_second = |count: u64| count as f64 / start.elapsed().as_secs_f64();
    let Seen { submitted, answers, receipts } = seen;
    writeln!(
        std::io::stdout(),
        "{submitted} submits, {answers} answers ({:.0}/s), {receipts} receipts ({:.0}/s), window {window_max}",
        per_second(answers),
        per_second(receipts)
    )?;
    Ok(())
}

fn settle(
    session: &mut Session<()>,
    event: SessionEvent<()>,
    now: Moment,
    seen: &mut Seen,
) -> Result<(), Box<dyn Error>> {
    match event {
        SessionEvent::Bound { .. } => {}
        SessionEvent::Response { frame, .. } if frame.header.status.is_ok() => seen.answers += 1,
        SessionEvent::Request(frame) if frame.header.command == CommandId::DELIVER_SM => {
            seen.receipts += 1;
            session.respond(frame.header, &Pdu::DeliverSmResp(DeliverSmResp::default()), now)?;
        }
        other => return Err(format!("unexpected: {other:?}").into()),
    }
    Ok(())
}

fn submit(session: &mut Session<()>, now: Moment, seen: &mut Seen) -> Result<(), Box<dyn Error>> {
    let text = format!("Load test message {:010}", seen.submitted);
    let destination = format!("{}", 4_915_100_000_000 + seen.submitted);
    let submit_sm = SubmitSm {
        source: Address::alphanumeric(b"Hermod"),
        destination: Address::international(destination.as_bytes()),
        registered_delivery: 1,
        short_message: Hidden(text.as_bytes()),
        ..SubmitSm::default()
    };
    session.request(&Pdu::SubmitSm(submit_sm), (), now)?;
    seen.submitted += 1;
    Ok(())
}
