//! Unit tests of `alarms.rs`.

use super::*;
use std::collections::BTreeSet;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

#[test]
fn repeated_alarm_is_counted_once_per_subject() {
    let alarms = Alarms::default();
    alarms.raise(AlarmKind::UnknownStatus, "acme", "0x400", "first", at(1));
    alarms.raise(AlarmKind::UnknownStatus, "acme", "0x400", "again", at(5));
    alarms.raise(AlarmKind::UnknownStatus, "acme", "0x401", "other", at(6));
    alarms.raise(AlarmKind::CarrierDown, "beta", "", "gone", at(7));
    let actual: Vec<_> = alarms
        .list()
        .into_iter()
        .map(|alarm| format!("{} {} {} {}", alarm.carrier, alarm.kind.as_str(), alarm.about, alarm.count))
        .collect();
    assert_eq!(
        actual,
        ["acme unknown-status 0x400 2", "acme unknown-status 0x401 1", "beta carrier-down  1"]
    );
    let first = &alarms.list()[0];
    assert_eq!((first.first_at, first.last_at, first.detail.as_str()), (at(1), at(5), "again"));

    alarms.clear(AlarmKind::UnknownStatus, "beta");
    assert_eq!(alarms.list().len(), 3);
    alarms.clear(AlarmKind::UnknownStatus, "acme");
    assert_eq!(alarms.list().len(), 1);
    assert_eq!(alarms.acknowledge(Some("acme")), 0);
    assert_eq!(alarms.acknowledge(None), 1);
}

#[test]
fn replace_raises_new_causes_and_clears_old_ones() {
    let alarms = Alarms::default();
    let actual = || -> Vec<String> {
        let listed = alarms.list().into_iter();
        listed.map(|alarm| format!("{} {} x{}", alarm.about, alarm.detail, alarm.count)).collect()
    };
    let causes = |names: &[&str]| -> Vec<(String, String)> {
        names.iter().map(|name| ((*name).to_owned(), format!("{name} fails"))).collect()
    };
    alarms.raise(AlarmKind::DiskLow, "", "", "low", at(1));
    alarms.replace(AlarmKind::WebhookFailing, "", &causes(&["a/dlr", "b/dlr"]), at(2));
    alarms.replace(AlarmKind::WebhookFailing, "", &causes(&["a/dlr", "b/dlr"]), at(3));
    assert_eq!(actual(), [" low x1", "a/dlr a/dlr fails x1", "b/dlr b/dlr fails x1"]);
    let listed = alarms.list();
    assert_eq!((listed[1].first_at, listed[1].last_at), (at(2), at(3)));
    alarms.replace(AlarmKind::WebhookFailing, "", &causes(&["b/dlr", "c/dlr"]), at(4));
    assert_eq!(actual(), [" low x1", "b/dlr b/dlr fails x1", "c/dlr c/dlr fails x1"]);

    let many: Vec<String> = (0..ALARMS_OF_A_KIND_MAX + 7).map(|number| format!("{number:03}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    alarms.replace(AlarmKind::WebhookFailing, "", &causes(&many), at(5));
    let listed = alarms.list();
    assert_eq!(listed.len(), ALARMS_OF_A_KIND_MAX + 2);
    let others = listed.iter().find(|alarm| alarm.about == OTHERS).unwrap();
    assert_eq!(others.detail, "7 more; the first of them: 050 fails");
    alarms.replace(AlarmKind::WebhookFailing, "", &[], at(6));
    assert_eq!(actual(), [" low x1"]);
}

#[test]
fn number_of_alarms_and_their_details_are_bounded() {
    let alarms = Alarms::default();
    for number in 0..2 * ALARMS_MAX {
        let (carrier, long) = (format!("carrier {}", number % 40), "x".repeat(10_000));
        alarms.raise(AlarmKind::UnknownStatus, &carrier, &number.to_string(), &long, at(1));
    }
    assert_eq!(alarms.list().len(), ALARMS_MAX);
    assert!(alarms.list().iter().all(|alarm| alarm.detail.len() <= DETAIL_CHARS_MAX));
}

#[test]
fn many_alarms_of_one_carrier_are_merged() {
    let alarms = Alarms::default();
    for number in 0..10 * ALARMS_OF_A_KIND_MAX {
        alarms.raise(AlarmKind::UnknownStat, "acme", &format!("WORD{number}"), "", at(1));
    }
    alarms.raise(AlarmKind::UnknownStat, "beta", "ODD", "", at(1));
    alarms.raise(AlarmKind::CarrierDown, "acme", "", "", at(1));
    let listed = alarms.list();
    assert_eq!(listed.len(), ALARMS_OF_A_KIND_MAX + 3);
    let others = listed.iter().find(|alarm| alarm.about == OTHERS).unwrap();
    assert_eq!(others.count, 9 * u64::try_from(ALARMS_OF_A_KIND_MAX).unwrap());
}

#[test]
fn every_kind_has_a_name_of_its_own_and_advice_in_a_sentence() {
    let names: BTreeSet<&str> = AlarmKind::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(names.len(), AlarmKind::ALL.len());
    for kind in AlarmKind::ALL {
        let advice = kind.advice();
        assert!(advice.ends_with('.') && !advice.contains("  "), "{}: {advice}", kind.as_str());
    }
}

#[test]
fn severity_orders_alarms_and_decides_how_they_are_logged() {
    assert!(Severity::Notice < Severity::Warning && Severity::Warning < Severity::Critical);
    for (kind, severity, level) in [
        (AlarmKind::CarrierDown, Severity::Critical, Level::ERROR),
        (AlarmKind::DiskLow, Severity::Critical, Level::ERROR),
        (AlarmKind::QueueAge, Severity::Warning, Level::WARN),
        // The demo has a failing webhook and must not begin with an error.
        (AlarmKind::WebhookFailing, Severity::Warning, Level::WARN),
        (AlarmKind::ReviewsOpen, Severity::Notice, Level::INFO),
        (AlarmKind::CreditLow, Severity::Notice, Level::INFO),
    ] {
        assert_eq!((kind.severity(), kind.severity().log_level()), (severity, level), "{}", kind.as_str());
    }
}

#[test]
fn alarms_about_customers_name_the_account() {
    let alarms = Alarms::default();
    alarms.raise(AlarmKind::WebhookFailing, "", "shop/dlr", "", at(1));
    alarms.raise(AlarmKind::OutOfCredit, "", "bank", "", at(1));
    alarms.raise(AlarmKind::UnknownStatus, "acme", "0x400", "", at(1));
    alarms.raise(AlarmKind::WebhookFailing, "", OTHERS, "", at(1));
    let accounts: Vec<String> = alarms.list().iter().map(|alarm| alarm.account().to_owned()).collect();
    assert_eq!(accounts, ["", "shop", "bank", ""]);
}

#[test]
fn metric_counts_alarms_by_carrier_and_account_with_bounded_labels() {
    let alarms = Alarms::default();
    let shown = |kind: AlarmKind, carrier: &str, account: &str| {
        alarms.raised.lock().shown.get(&(kind, carrier.to_owned(), account.to_owned())).copied()
    };
    assert_eq!(shown(AlarmKind::UnknownStatus, "", ""), Some(0), "from the start");
    alarms.raise(AlarmKind::UnknownStatus, "acme", "0x400", "", at(1));
    alarms.raise(AlarmKind::UnknownStatus, "acme", "0x401", "", at(1));
    alarms.raise(AlarmKind::OutOfCredit, "", "shop", "", at(1));
    assert_eq!(shown(AlarmKind::UnknownStatus, "acme", ""), Some(2));
    assert_eq!(shown(AlarmKind::OutOfCredit, "", "shop"), Some(1));
    alarms.clear(AlarmKind::UnknownStatus, "acme");
    assert_eq!(shown(AlarmKind::UnknownStatus, "acme", ""), Some(0));
    assert_eq!(alarms.acknowledge(None), 1);
    assert_eq!(shown(AlarmKind::OutOfCredit, "", "shop"), Some(0));

    for number in 0..2 * SERIES_MAX {
        let account = format!("account-{number}");
        alarms.raise(AlarmKind::OutOfCredit, "", &account, "", at(1));
        alarms.clear_kinds(&[AlarmKind::OutOfCredit]);
    }
    assert_eq!(alarms.raised.lock().shown.len(), SERIES_MAX);
    alarms.raise(AlarmKind::OutOfCredit, "", "one-more", "", at(1));
    assert_eq!(
        (shown(AlarmKind::OutOfCredit, "", ""), shown(AlarmKind::OutOfCredit, "", "one-more")),
        (Some(1), None)
    );
    alarms.clear(AlarmKind::OutOfCredit, "");
    assert_eq!(shown(AlarmKind::OutOfCredit, "", ""), Some(0));
}
