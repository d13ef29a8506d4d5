//! `hermod alarms`: what needs a person.

use super::desk::Body;
use super::place::{Absent, Place};
use crate::client::escape;
use crate::ending::Ended;
use crate::paint::Paint;
use crate::show;
use clap::Args;
use hyper::Method;
use serde::Deserialize;

const EXAMPLES: &str = "\
Examples:
  hermod alarms
  hermod alarms --carrier acme
  hermod alarms --acknowledge

An alarm is listed once, however often it happens, and is cleared when its cause is gone.
--acknowledge removes those that you have seen; an alarm whose cause is still there comes back.
docs/alarms.md explains each of them.";

/// List what is wrong with carriers, webhooks, certificates and this machine, and what to do about it
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Alarms {
    /// Only those of this carrier
    #[arg(long, value_name = "NAME")]
    carrier: Option<String>,
    /// Somebody has looked at them
    #[arg(long)]
    acknowledge: bool,
    #[command(flatten)]
    place: Place,
}

#[derive(Deserialize)]
struct Raised {
    items: Vec<Alarm>,
}

#[derive(Deserialize)]
struct Alarm {
    kind: String,
    carrier: String,
    about: String,
    detail: String,
    what_to_do: String,
    first_at: String,
    last_at: String,
    count: u64,
}

#[derive(Deserialize)]
struct Acknowledged {
    acknowledged: u64,
}

impl Alarms {
    pub(crate) fn run(self) -> Ended {
        let Alarms { carrier, acknowledge, place } = self;
        place.work(Absent::Refuse, async move |desk| {
            let only = carrier.map(|carrier| format!("?carrier={}", escape(&carrier))).unwrap_or_default();
            let path = format!("/alarms{only}");
            if acknowledge {
                let answer = desk.asked(Method::DELETE, &path, Body::None).await?;
                return desk.tell(
                    &answer,
                    |Acknowledged { acknowledged }: Acknowledged| match acknowledged {
                        0 => "There was no alarm.\n".to_owned(),
                        1 => "One alarm is acknowledged.\n".to_owned(),
                        several => format!("{several} alarms are acknowledged.\n"),
                    },
                );
            }
            desk.tell(&desk.get(&path).await?, |Raised { items }: Raised| {
                if items.is_empty() {
                    return "No alarm: nothing needs a person.\n".to_owned();
                }
                items.iter().map(|alarm| told(alarm, Paint::for_output())).collect::<Vec<_>>().join("\n")
            })
        })
    }
}

fn told(alarm: &Alarm, paint: Paint) -> String {
    let Alarm { kind, carrier, about, detail, what_to_do, first_at, last_at, count } = alarm;
    let about = if about.is_empty() { String::new() } else { format!(" {about}") };
    let when = match count {
        1 if first_at == last_at => format!("at {first_at}"),
        1 => format!("since {first_at}"),
        times => format!("{times} times from {first_at} to {last_at}"),
    };
    let whose = if carrier.is_empty() { String::new() } else { format!("{carrier}: ") };
    let head = show::safe(&format!("{whose}{kind}{about}"));
    format!("{}, {when}\n    {}\n    {what_to_do}\n", paint.red(&head), show::safe(detail))
}
