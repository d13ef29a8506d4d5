//! The time of every page of the portal at the server, the bytes of a first visit, and what a person who clicks through the pages
//! costs the send path.

use std::collections::BTreeSet;
use std::time::Duration;

use super::bed::rest;
use super::figures::P99;
use super::gateway::Gateway;
use super::load::{Load, Over};
use super::phases::Stage;
use super::record::run_benchmark;
use super::{failure, stopwatch};
use crate::shell::{self, Failure, Outcome};

const HOME: &str = "/accounts/bench";
const PASSWORD: &str = "correct-horse-battery";
/// A person opens a page this often.
const CLICK: Duration = Duration::from_millis(200);
/// What a visitor may add to the p99 of sending: half a millisecond, or a fifth.
const SLOWER_MS_MAX: f64 = 0.5;
const SLOWER_SHARE_MAX: f64 = 0.2;

/// Fills the record of the closed store. Its first account is that of the benchmark.
pub(super) fn fill(stage: &mut Stage<'_>) -> Outcome {
    let messages = stage.options.count("messages").to_string();
    stage.bed.change_data(|data| run_benchmark(&[&messages, &data.to_string_lossy(), "0", "fill-only"]))
}

/// Deletes the record of the closed store, which is filled again from the store's messages: the audit would find others there.
pub(super) fn remove_record(stage: &mut Stage<'_>) -> Outcome {
    stage.bed.change_data(|data| {
        for entry in std::fs::read_dir(data).map_err(failure)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with("record.db") {
                std::fs::remove_file(entry.path()).map_err(failure)?;
            }
        }
        Ok(())
    })
}

/// Visits every page; then compares sending alone with sending while a person clicks.
pub(super) fn measure(stage: &mut Stage<'_>) -> Outcome {
    let (visits, seconds) = (stage.options.count("visits"), stage.options.count("seconds"));
    let load = |seconds| Load::seconds(Over::http(16), seconds).at(1_000).alone();
    // The pages of a message need messages that the store has.
    stage.bed.load(&load(2), rest)?;
    let visitor = Visitor::sign_in(stage.bed.gateway())?;
    let (all, scripts) = visitor.first_visit()?;
    stage.results.say("first visit", all as f64 / 1_024.0, "KiB");
    stage.results.say("first visit, script", scripts as f64 / 1_024.0, "KiB");
    let (pages, mut slowest) = (visitor.pages()?, 0.0_f64);
    for page in &pages {
        let [p50, p99] = visitor.time(page, visits)?;
        stage.results.say(page, p50, "ms p50");
        stage.results.say(page, p99, "ms p99");
        slowest = slowest.max(p99);
    }
    stage.results.say("slowest page", slowest, "ms p99");
    let alone = stage.bed.load(&load(seconds), rest)?;
    let (mut clicks, mut next) = (0_u64, pages.iter().cycle());
    let beside = stage.bed.load(&load(seconds), |_| {
        next.next().map_or(Ok(()), |page| visitor.get(page).map(drop))?;
        clicks += 1;
        super::pause(CLICK);
        Ok(())
    })?;
    let [p99, p99_beside] = [&alone, &beside].map(|loaded| loaded.all.value(P99));
    stage.add("alone", alone);
    stage.add("visitor", beside);
    stage.results.say("pages visited meanwhile", clicks as f64, "");
    let allowed = SLOWER_MS_MAX.max(p99 * SLOWER_SHARE_MAX);
    stage.results.say("slower by the visitor", (p99_beside - p99) / allowed, "of what is allowed");
    Ok(())
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
        let visitor = Visitor { address: gateway.address.clone(), cookie: String::new() };
        let form = format!("password={PASSWORD}&password_again={PASSWORD}");
        let origin = format!("Origin: http://{}\r\n", visitor.address);
        let answer = visitor.call(&format!("POST {path}"), &origin, &form)?;
        let cookie = answer.head.lines().rev().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("set-cookie")
                .then(|| value.split(';').next().unwrap_or_default().to_owned())
        });
        let cookie = cookie.ok_or_else(|| failure(format!("no session: {}", answer.text())))?;
        Ok(Visitor { cookie, ..visitor })
    }

    fn get(&self, path: &str) -> Result<Answer, Failure> {
        let answer = self.call(&format!("GET {path}"), "", "")?;
        match answer.head.split(' ').nth(1).unwrap_or_default() {
            "200" | "303" => Ok(answer),
            status => Err(failure(format!("GET {path}: {status}"))),
        }
    }

    fn call(&self, what: &str, more: &str, body: &str) -> Result<Answer, Failure> {
        let form = "Content-Type: application/x-www-form-urlencoded";
        let head = format!("Cookie: {}\r\n{form}\r\n{more}", self.cookie);
        let answer = shell::http(&self.address, what, &head, body)?;
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.ok_or_else(|| failure("no response"))?;
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

    /// Opens a page many times. Returns p50 and p99 in milliseconds.
    fn time(&self, page: &str, visits: u64) -> Result<[f64; 2], Failure> {
        let mut times = Vec::new();
        for _ in 0..visits.max(1) {
            let started = stopwatch();
            self.get(page)?;
            times.push(started.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_unstable_by(f64::total_cmp);
        Ok([50, 99].map(|share| times[(times.len() * share / 100).min(times.len() - 1)]))
    }

    /// Returns the bytes of the first page with its style and script, and those of the script.
    fn first_visit(&self) -> Result<(usize, usize), Failure> {
        let page = self.get(HOME)?;
        let text = page.text();
        let assets = text.split("=\"/assets/").skip(1).filter_map(|rest| rest.split('"').next());
        let (mut all, mut scripts) = (page.body.len(), 0);
        for name in assets.collect::<BTreeSet<_>>() {
            let bytes = self.get(&format!("/assets/{name}"))?.body.len();
            all += bytes;
            scripts += if name.ends_with(".js") { bytes } else { 0 };
        }
        Ok((all, scripts))
    }
}

/// Returns a path without its query and with each segment that has digits replaced.
fn kind(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let segment = |segment: &str| segment.bytes().any(|byte| byte.is_ascii_digit());
    path.split('/').map(|part| if segment(part) { "{id}" } else { part }).collect::<Vec<_>>().join("/")
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
