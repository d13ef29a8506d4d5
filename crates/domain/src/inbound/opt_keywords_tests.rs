//! Unit tests of `opt_keywords.rs`.

use super::*;

#[test]
fn only_a_whole_message_is_an_opt_keyword() {
    let own = ["Basta".to_owned(), "no more!".to_owned(), "СТОП".to_owned()];
    let stop = [
        "STOP",
        "stop",
        " Stop. ",
        "stop!!!",
        "\"STOP\"",
        "S.T.O.P",
        "STOPALL",
        "stop all",
        "Stop   All!",
        "UNSUBSCRIBE",
        "cancel",
        "End",
        "QUIT\n",
        "revoke",
        "OPTOUT",
        "opt out",
        "OPT-OUT",
        "Remove",
        "arret",
        "basta",
        "BASTA?",
        "No more",
        "стоп",
    ];
    for text in stop {
        assert_eq!(opt_keyword(text, &own), Some(OptKeyword::Stop), "{text:?}");
    }
    for text in ["START", "start.", " Unstop "] {
        assert_eq!(opt_keyword(text, &own), Some(OptKeyword::Start), "{text:?}");
    }
    let long = format!("stop{}", "x".repeat(5_000));
    for text in
        ["", "...", "stop it", "please stop", "stop by on Monday", "restart", "stopp", "the end", &long]
    {
        assert_eq!(opt_keyword(text, &own), None, "{text:?}");
    }
    assert_eq!(opt_keyword("basta", &[]), None);
    assert_eq!(
        opt_keyword(&format!("{}stop{}", ".".repeat(500), " ".repeat(500)), &[]),
        Some(OptKeyword::Stop)
    );
}

#[test]
fn own_opt_out_keyword_is_neither_empty_nor_an_opt_in_keyword() {
    for word in ["BASTA", "no more", "停止", "stop"] {
        assert!(is_opt_out_keyword(word), "{word}");
    }
    for word in ["", "!?", "start", "UNSTOP.", &"x".repeat(41)] {
        assert!(!is_opt_out_keyword(word), "{word}");
    }
}
