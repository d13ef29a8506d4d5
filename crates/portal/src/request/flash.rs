//! What the request before a page has done. A redirect names it by a code, so that no address can put words on a page.

use crate::elements::Tone;
use crate::layout::Flash;

/// The codes with their sentences, in the order of the alphabet.
const DONE: &[(&str, &str)] = &[
    ("confirmed", "You can go on: make the change again."),
    ("country-off", "The country is switched off. Messages to it are rejected from now on."),
    ("country-on", "The country is switched on."),
    ("default-sender-saved", "The default sender is saved. It applies to the next message."),
    ("dlr-form-saved", "The form of DLRs is saved. It applies to the next event."),
    ("event-replayed", "The event is posted again."),
    ("events-replayed", "The events are posted again."),
    ("events-retried", "The waiting events are posted now."),
    ("invitation-declined", "The invitation is declined."),
    ("invitation-withdrawn", "The invitation is withdrawn; its link no longer works."),
    ("invited", "The invitation is on its way by mail."),
    ("joined", "You are a member of this account now."),
    ("key-revoked", "The key is revoked. Requests with it are rejected from now on."),
    ("key-saved", "The key is saved."),
    ("keywords-saved", "The opt-out keywords are saved."),
    ("left", "You have left the account."),
    ("link-mailed", "A link to choose a password is on its way by mail."),
    ("list-saved", "The allow-list is saved and in force."),
    ("member-removed", "The person can no longer open this account."),
    ("nothing-replayed", "No event was given up since then, and none waits."),
    ("nothing-retried", "No event waits for a later attempt."),
    ("opt-out-added", "The number is on the list."),
    ("opt-out-known", "The number was on the list before."),
    ("opt-out-lifted", "The opt-out is lifted. Messages to the number are accepted again."),
    ("password-changed", "The password is changed. All other sessions have ended."),
    ("request-made", "The request is with the operator. You read the answer here."),
    ("request-withdrawn", "The request is withdrawn."),
    ("role-changed", "The role is changed. It counts from the next click on."),
    ("second-factor-off", "The second factor is off. The password alone opens your accounts now."),
    ("secret-dropped", "The secret is dropped. Posts are no longer signed with it."),
    (
        "secret-switched",
        "The next secret is the current one. Posts are also signed with the previous one for 24 hours.",
    ),
    ("session-ended", "The session has ended."),
    ("trace-started", "The trace runs. It ends by itself."),
    ("trace-stopped", "The trace has ended. Its lines stay for an hour."),
    ("warnings-saved", "The warnings are saved."),
    ("webhooks-saved", "The URLs are saved. Send a test event to check them."),
];

/// Returns the code in a query string.
pub(crate) fn code(query: &str) -> Option<String> {
    query.split('&').find_map(|pair| pair.strip_prefix("done=")).map(str::to_owned)
}

/// Returns what to show for a code.
pub(crate) fn of(code: &str) -> Option<Flash> {
    let (_, text) = DONE.iter().find(|(known, _)| *known == code)?;
    Some(Flash { tone: Tone::Good, text: (*text).to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_codes_have_words() {
        assert!(code("a=b&done=confirmed").as_deref().and_then(of).is_some());
        assert!(code("done=%3Cscript%3E").as_deref().and_then(of).is_none());
        assert!(DONE.is_sorted_by_key(|(code, _)| *code));
    }
}
