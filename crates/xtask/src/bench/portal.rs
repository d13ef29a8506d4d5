//! `cargo xtask bench portal`: the time of every page at the server with many recorded messages, the bytes of a first visit, and
//! what a person who clicks through the pages costs the send path.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use clap::Args;

use super::Programs;
use super::bed::Bed;
use super::gateway::{Gateway, Setup};
use super::load::{Length, Load, Over};
use super::{Judged, failure, missed, ms, stopwatch};
use crate::shell::{self, Failure, Outcome};

const HOME: &str = "/accounts/bench";
const PASSWORD: &str = "correct-horse-battery";
/// The longest time of a page, for 99 of 100 visits.
const PAGE_US_MAX: u64 = 20_000;
const FIRST_VISIT_BYTES_MAX: usize = 120 * 1024;
const SCRIPT_BYTES_MAX: usize = 40 * 1024;
/// The offered load of the send path, far below saturation.
const RATE: u64 = 1_000;
/// A person opens a page this often.
const CLICK: Duration = Duration::from_millis(200);
/// How much slower sending may become: a fifth, or half a millisecond.
const SLOWER_MS_MAX: f64 = 0.5;

#[derive(Args)]
pub(crate) struct PortalOptions {
    /// Recorded messages, over 30 days in 500 accounts
    #[arg(long, default_value_t = 10_000_000)]
    messages: u64,
    /// Visits of each page
    #[arg(long, default_value_t = 300)]
    visits: usize,
    /// Seconds of each load
    #[arg(long, default_value_t = 20)]
    seconds: u64,
}

pub(super) fn run(programs: &Programs, options: &PortalOptions) -> Judged {
    let mut bed = Bed::start(programs, Setup::default())?;
    bed.change_data(|data| fill(data, options.messages))?;
    let load = |seconds| Load {
        over: Over::Http { connections: 16, flags: &[] },
        rate: Some(RATE),
        length: Length::Seconds(seconds),
    };
    // The pages of a message need messages that the store has.
    bed.load(&load(2))?;
    let visitor = Visitor::sign_in(bed.gateway())?;
    let mut missed = visitor.measure_first_visit()?;
    let pages = visitor.pages()?;
    for page in &pages {
        missed.extend(visitor.measure(page, options.visits)?);
    }
    missed.extend(measure_sending(&mut bed, &load(options.seconds), &visitor, &pages)?);
    // The audit would find messages in the record that the store does not have.
    bed.change_data(remove_record)?;
    bed.end()?;
    Ok(missed)
}

/// Fills the record of a closed store. Its first account is that of the benchmark.
fn fill(data: &Path, messages: u64) -> Outcome {
    let (messages, data) = (messages.to_string(), data.to_string_lossy());
    let example = ["run", "--profile", "dist", "--package", "hermod-store", "--example", "record_bench"];
    let words = ["--", &messages, &*data, "0", "fill-only"];
    shell::run(shell::command("cargo", &[&example[..], &words].concat()))
}

/// Deletes the record of a closed store; it is filled again from the store's messages.
fn remove_record(data: &Path) -> Outcome {
    for entry in std::fs::read_dir(data).map_err(failure)? {
        let path = entry.map_err(failure)?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("record.db")) {
            std::fs::remove_file(path).map_err(failure)?;
        }
    }
    Ok(())
}

/// Compares sending alone with sending while a person clicks.
fn measure_sending(bed: &mut Bed<'_>, load: &Load, visitor: &Visitor, pages: &[String]) -> Judged {
    let alone = bed.load(load)?;
    let (mut clicks, mut next) = (0_u64, pages.iter().cycle());
    let beside = bed.load_while(load, |_| {
        next.next().map_or(Ok(()), |page| visitor.get(page).map(|_| ()))?;
        clicks += 1;
        super::pause(CLICK);
        Ok(())
    })?;
    for (what, loaded) in [("alone", &alone), ("with a visitor", &beside)] {
        let [p50, p99, p999] = loaded.report().response;
        println!("sending {what:<16} {RATE}/s: p50 {p50:.2} ms, p99 {p99:.2} ms, p99.9 {p999:.2} ms");
    }
    println!("visited meanwhile        {clicks} pages");
    let (alone, beside) = (alone.report().response[1], beside.report().response[1]);
    Ok(missed(beside > (alone + SLOWER_MS_MAX).max(alone * 1.2), || {
        format!("p99 of sending is {beside:.2} ms with a visitor and {alone:.2} ms alone")
    }))
}

/// A signed-in person.
struct Visitor {
    address: String,
    cookie: String,
}

/// A response.
struct Answer {
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn status(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Visitor {
    /// Invites a user, accepts the invitation and keeps the session.
    fn sign_in(gateway: &Gateway) -> Result<Visitor, Failure> {
        let link =
            gateway.hermod(&["user", "invite", "bench@example.com", "--account", "bench", "--json"])?;
        let link: serde_json::Value = serde_json::from_str(&link).map_err(failure)?;
        let path =
            link["link"].as_str().and_then(|link| link.find("/links/").map(|at| link[at..].to_owned()));
        let path = path.ok_or_else(|| failure(format!("no link in {link}")))?;
        let visitor = Visitor { address: gateway.address().to_owned(), cookie: String::new() };
        let form = format!("password={PASSWORD}&password_again={PASSWORD}");
        let origin = format!("Origin: http://{}\r\n", visitor.address);
        let answer = visitor.call("POST", &path, &origin, &form)?;
        let cookie = answer.head.lines().rev().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("set-cookie")
                .then(|| value.split(';').next().unwrap_or_default().to_owned())
        });
        let cookie = cookie.ok_or_else(|| failure(format!("no session: {}", answer.text())))?;
        Ok(Visitor { cookie, ..visitor })
    }

    fn get(&self, path: &str) -> Result<Answer, Failure> {
        let answer = self.call("GET", path, "", "")?;
        match answer.status() {
            "200" | "303" => Ok(answer),
            status => Err(failure(format!("GET {path}: {status}"))),
        }
    }

    fn call(&self, method: &str, path: &str, more: &str, body: &str) -> Result<Answer, Failure> {
        let mut stream = TcpStream::connect(&self.address).map_err(failure)?;
        stream.set_nodelay(true).map_err(failure)?;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nCookie: {}\r\n{more}\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            self.cookie,
            body.len()
        );
        stream.write_all(request.as_bytes()).map_err(failure)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).map_err(failure)?;
        let end =
            answer.windows(4).position(|four| four == b"\r\n\r\n").ok_or_else(|| failure("no response"))?;
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        Ok(Answer { head, body: answer[end + 4..].to_vec() })
    }

    /// Returns the pages that home leads to, one of each kind that they lead to, and searches.
    fn pages(&self) -> Result<Vec<String>, Failure> {
        let mut kinds = BTreeSet::new();
        let mut pages = Vec::new();
        let mut waiting = vec![HOME.to_owned()];
        while let Some(path) = waiting.pop() {
            if !kinds.insert(kind(&path)) {
                continue;
            }
            let text = self.get(&path)?.text();
            let links = text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
            // A file is not a page: that of all messages takes seconds.
            let links = links.filter(|link| link.starts_with(HOME) && !link.contains(".csv"));
            waiting.extend(links.map(|link| link.replace("&amp;", "&")));
            pages.push(path);
        }
        for search in ["?to=%2B49151*", "?state=undeliverable", "?country=FR&since=7d", "?from=S1a"] {
            pages.push(format!("{HOME}/messages{search}"));
        }
        pages.push(format!("{HOME}/find?q=nothing-like-that"));
        Ok(pages)
    }

    /// Opens a page many times.
    fn measure(&self, page: &str, visits: usize) -> Judged {
        let mut times = Vec::with_capacity(visits);
        for _ in 0..visits.max(1) {
            let started = stopwatch();
            self.get(page)?;
            times.push(u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX));
        }
        times.sort_unstable();
        let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
        let (p50, p99) = (at(50), at(99));
        println!("{page:<55} p50 {:>7.2} ms, p99 {:>7.2} ms", ms(p50), ms(p99));
        let most = ms(PAGE_US_MAX);
        Ok(missed(p99 > PAGE_US_MAX, || format!("{page} takes {:.1} ms, more than {most} ms", ms(p99))))
    }

    /// Counts the bytes of the first page with its style and script.
    fn measure_first_visit(&self) -> Judged {
        let page = self.get(HOME)?;
        let text = page.text();
        let assets = text.split("=\"/assets/").skip(1).filter_map(|rest| rest.split('"').next());
        let (mut all, mut scripts) = (page.body.len(), 0);
        for name in assets.collect::<BTreeSet<_>>() {
            let bytes = self.get(&format!("/assets/{name}"))?.body.len();
            all += bytes;
            scripts += if name.ends_with(".js") { bytes } else { 0 };
        }
        println!("first visit              {all} bytes, {scripts} of them script");
        let most = FIRST_VISIT_BYTES_MAX;
        let mut found = missed(all > most, || format!("a first visit has {all} bytes, more than {most}"));
        let most = SCRIPT_BYTES_MAX;
        found.extend(missed(scripts > most, || format!("the script has {scripts} bytes, more than {most}")));
        Ok(found)
    }
}

/// Returns a path without its query and with each segment that has digits replaced.
fn kind(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let segments = path
        .split('/')
        .map(|segment| if segment.bytes().any(|byte| byte.is_ascii_digit()) { "{id}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_two_messages_are_of_one_kind() {
        assert_eq!(kind("/accounts/bench/messages/15520?x=1"), "/accounts/bench/messages/{id}");
        assert_eq!(kind("/accounts/bench/audit#top"), "/accounts/bench/audit");
    }
}
