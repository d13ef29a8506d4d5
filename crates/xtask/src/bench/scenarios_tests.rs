//! Unit tests of `scenarios.rs`.

use super::*;

/// Returns a scenario, which is the first word, with the options of a command line.
fn options(words: &[&str]) -> (&'static Scenario, Options) {
    let scenario = SCENARIOS.iter().find(|scenario| scenario.name == words[0]).expect("a scenario");
    (scenario, Options(scenario.command().get_matches_from(words)))
}

/// Returns the names of the lines of a plan.
fn lines(words: &[&str]) -> Vec<String> {
    let (scenario, options) = options(words);
    let plan = (scenario.plan)(&options).expect("a plan");
    plan.iter().map(|run| format!("{} {}", run.label, run.variant).trim().to_owned()).collect()
}

#[test]
fn every_scenario_has_a_plan_and_its_limits_are_of_columns_and_options_that_it_has() {
    for scenario in SCENARIOS {
        scenario.command().debug_assert();
        let (_, options) = options(&[scenario.name]);
        assert!((scenario.plan)(&options).is_ok_and(|plan| !plan.is_empty()), "{}", scenario.name);
        for limit in scenario.table.limits {
            let (figure, bound) = limit.split_once("= ").expect("a bound");
            assert!(bound.parse::<f64>().is_ok() || options.number(bound) >= 0.0, "{limit}");
            let parts: Vec<&str> =
                figure.trim_end_matches(['<', '>', ' ']).split('|').map(str::trim).collect();
            assert!(parts[1].is_empty() || scenario.table.columns.contains(&parts[2]), "{limit}");
        }
    }
}

#[test]
fn profile_has_a_line_for_each_load_and_a_small_window_at_saturation() {
    let smpp = ["SMPP 2,000", "SMPP saturation", "SMPP saturation, window 10"];
    assert_eq!(lines(&["profile", "--rates", "2000,saturation", "--only", "smpp"]), smpp);
    assert_eq!(lines(&["profile", "--rates", "2000"]), ["SMPP 2,000", "HTTP 2,000"]);
    let in_turn = ["HTTP 5 old", "HTTP 5 new", "HTTP 5 old", "HTTP 5 new"];
    let words = ["profile", "--rates", "5", "--only", "http", "--rounds", "2", "--without-record"];
    assert_eq!(lines(&words), in_turn);
    assert!(["", "0", "-1", "10k", "max"].into_iter().all(|word| offered(word).is_err()));
}

#[test]
fn nodes_take_turns_the_other_way_round_in_every_other_round() {
    let lines = lines(&["nodes", "--rounds", "2", "--over", "http"]);
    let in_turn = "one nodePostgreSQL three nodesPostgreSQL three nodesPostgreSQL one";
    assert!(lines.concat().contains(in_turn), "{lines:?}");
}
