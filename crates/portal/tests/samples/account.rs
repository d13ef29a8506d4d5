//! Samples of billing, limits, team, audit log and profile.

use super::{DAY, HOSTILE, HOUR, MINUTE, NOW, ago, fresh, html, shell};
use hermod_domain::catalogue::Role;
use hermod_domain::time::Timestamp;
use hermod_operator::user::team::OpenInvitation;
use hermod_portal::Time;
use hermod_portal::elements::{Chip, Fact, Notice, Tone};
use hermod_portal::forms::{Field, Select};
use hermod_portal::layout::NavEntry;
use hermod_portal::pages::audit::{AuditPage, AuditedChange, ChangedField};
use hermod_portal::pages::billing::{
    BillingPage, BillingRow, Funds, Month, StatementPage, StatementRow, Warnings,
};
use hermod_portal::pages::limits::{ConnectionLimitsCard, ControlRow, LimitsPage, RejectedRow};
use hermod_portal::pages::profile::{
    AccountRow, ProfilePage, RecoveryCodesPage, SecondFactorSetupPage, SessionRow,
};
use hermod_portal::pages::team::{Invite, MemberRow, NewLink, TeamPage};
use hermod_portal::svg::Svg;

pub(crate) fn all() -> Vec<(&'static str, String)> {
    let team = team();
    let profile = profile();
    vec![
        ("billing", html(&billing())),
        ("statement", html(&statement())),
        ("team", html(&TeamPage { link: None, ..team.clone() })),
        ("team-invited", html(&team)),
        ("audit", html(&audit())),
        ("limits", html(&limits())),
        ("profile", html(&profile)),
        (
            "profile-no-factor",
            html(&ProfilePage {
                second_factor_since: None,
                new_password: Field::invalid("", "Use at least 12 characters."),
                ..profile
            }),
        ),
        ("second-factor-setup", html(&setup())),
        ("recovery-codes", html(&codes())),
    ]
}

fn billing() -> BillingPage {
    let row = |days: i64, kind: &str, note: &str, reference: Option<&str>, amount: &str| BillingRow {
        at: ago(days * DAY),
        kind: kind.to_owned(),
        note: note.to_owned(),
        reference: reference.map(str::to_owned),
        message: (kind == "Refund").then(|| "15526526976000004".to_owned()),
        amount: amount.to_owned(),
        is_credit: amount.starts_with('+'),
    };
    let month = |path: &str, label: &str, messages: &str, spend: &str| Month {
        path: path.to_owned(),
        label: label.to_owned(),
        messages: messages.to_owned(),
        spend: spend.to_owned(),
    };
    BillingPage {
        shell: shell(NavEntry::Billing),
        funds: Funds {
            currency: "EUR".to_owned(),
            available: "1,204.518".to_owned(),
            balance: "1,204.518".to_owned(),
            credit_limit: "0.00".to_owned(),
            credit_used: "0.00".to_owned(),
            minimum: Some("10.00".to_owned()),
            terms: "prepaid".to_owned(),
            runway: Some("About 9 days at the rate of the last week".to_owned()),
        },
        warnings: Some(Warnings {
            warn_at: Field::new("200"),
            urgent_at: Field::invalid("250", "Must be below the first warning, 200."),
        }),
        ledger: vec![
            row(1, "Refund", "", None, "+0.075"),
            row(3, "Top-up", "Bank transfer", Some("bank-2026-11-14-3"), "+2,000.00"),
            row(17, "Rolled-up costs", "Messages of 1 Oct, deleted after 30 days", None, "−148.205"),
            row(20, "Adjustment", "Goodwill for the outage of 27 Oct", None, "+25.00"),
        ],
        next: None,
        months: vec![
            month("2026-11", "November 2026", "148,204", "11,012.40"),
            month("2026-10", "October 2026", "264,811", "19,560.91"),
            month("2026-09", "September 2026", "251,006", "18,730.05"),
        ],
    }
}

fn statement() -> StatementPage {
    let row = |day: &str, kind: &str, note: &str, amount: &str| StatementRow {
        day: day.to_owned(),
        kind: kind.to_owned(),
        note: note.to_owned(),
        amount: amount.to_owned(),
    };
    StatementPage {
        shell: shell(NavEntry::Billing),
        month: "November 2026".to_owned(),
        currency: "EUR".to_owned(),
        opening: "210.118".to_owned(),
        lines: vec![
            row("1 Nov", "Charges", "4,204 messages", "−312.400"),
            row("2 Nov", "Charges", "3,980 messages", "−298.100"),
            row("3 Nov", "Top-up", "Bank transfer, bank-2026-11-03-1", "+2,000.000"),
            row("3 Nov", "Charges", "9,118 messages", "−395.175"),
        ],
        closing: "1,204.443".to_owned(),
        is_cut_off: true,
        csv: "/accounts/lindgren/billing/statements/2026-11.csv".to_owned(),
    }
}

fn team() -> TeamPage {
    let roles = |role: &str| {
        Select::new(
            [("owner", "Owner"), ("developer", "Developer"), ("billing", "Billing"), ("viewer", "Viewer")],
            role,
        )
    };
    let member =
        |id: &str, email: &str, role: &str, has_second_factor, seen: Option<i64>, is_you: bool| MemberRow {
            id: id.to_owned(),
            email: email.to_owned(),
            role: role.to_owned(),
            roles: (!is_you).then(|| roles(role)),
            has_second_factor,
            last_seen: seen.map(ago),
            is_you,
            can_remove: !is_you,
            can_get_link: !is_you,
        };
    TeamPage {
        shell: shell(NavEntry::Team),
        members: vec![
            member("1", "jana.petersen@lindgren.example", "owner", true, Some(0), true),
            member("2", "tomasz.nowak@lindgren.example", "developer", true, Some(3 * HOUR), false),
            member("3", "buchhaltung@lindgren.example", "billing", false, Some(9 * DAY), false),
        ],
        invitations: vec![OpenInvitation {
            id: "8".to_owned(),
            email: "ingrid@lindgren.example".to_owned(),
            role: Role::Viewer,
            invited_by: "jana.petersen@lindgren.example".to_owned(),
            expires_at: Some(Timestamp::from_millis(NOW + 3 * DAY)),
            has_expired: false,
        }],
        invite: Some(Invite { email: Field::default(), role: roles("viewer"), sends_mail: false }),
        link: Some(NewLink {
            email: "ingrid@lindgren.example".to_owned(),
            url: "https://sms.example/links/q7hd9m2kx4w8t5n6vbycjd".to_owned(),
            expires: Time(NOW + 3 * DAY),
        }),
    }
}

fn audit() -> AuditPage {
    let change = |field: &str, before: Option<&str>, after: Option<&str>| ChangedField {
        field: field.to_owned(),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
    };
    let row = |minutes: i64, who: &str, from: &str, action: &str, changes| AuditedChange {
        at: ago(minutes * MINUTE),
        who: who.to_owned(),
        from: from.to_owned(),
        action: action.to_owned(),
        changes,
    };
    let jana = "jana.petersen@lindgren.example";
    AuditPage {
        shell: shell(NavEntry::Audit),
        who: Field::default(),
        action: Select::new(
            [("", "Any"), ("key", "API keys"), ("webhook", "Webhooks"), ("user", "Team")],
            "",
        ),
        since: Field::default(),
        is_filtered: false,
        rows: vec![
            row(
                3,
                jana,
                "portal, 203.0.113.9",
                "Changed the allow-list of key lk_live_7Q2M",
                vec![change("allow_list", Some("203.0.113.0/24"), Some("203.0.113.0/24, 2001:db8:40::/48"))],
            ),
            row(60, jana, "portal, 203.0.113.9", "Staged a webhook secret", Vec::new()),
            row(
                95,
                "tomasz.nowak@lindgren.example",
                "portal, 198.51.100.4",
                "Changed the webhooks",
                vec![
                    change(
                        "dlr_webhook",
                        Some("https://old.example/dlr"),
                        Some("https://lindgren.example/hooks/dlr"),
                    ),
                    change("dlr_form", Some("short"), Some("full")),
                ],
            ),
            row(
                1_500,
                "operator (anna)",
                "operator API, 10.0.0.4",
                "Accepted request country Norway",
                vec![change("countries", None, Some("NO"))],
            ),
            row(
                1_800,
                jana,
                "portal, 203.0.113.9",
                "Created key lk_live_9XK1",
                vec![change("label", None, Some(HOSTILE))],
            ),
        ],
        next: Some("?before=414".to_owned()),
    }
}

fn profile() -> ProfilePage {
    let session = |id: &str, device: &str, address: &str, hours: i64, is_current| SessionRow {
        id: id.to_owned(),
        device: device.to_owned(),
        address: address.to_owned(),
        since: ago(hours * HOUR),
        last_seen: ago(if is_current { 0 } else { hours * 20 * MINUTE }),
        is_current,
    };
    let account = |name: &str, role: &str, leave: Option<&str>| AccountRow {
        name: name.to_owned(),
        role: role.to_owned(),
        leave: leave.map(str::to_owned),
    };
    let mut shell = shell(NavEntry::Home);
    shell.current = None;
    ProfilePage {
        shell,
        password: Field::default(),
        code: Field::default(),
        new_password: Field::default(),
        new_password_again: Field::default(),
        second_factor_since: Some(ago(200 * DAY)),
        codes_left: 8,
        sessions: vec![
            session("a", "Firefox on Linux", "203.0.113.9", 2, true),
            session("b", "Safari on iPhone", "198.51.100.4", 70, false),
        ],
        accounts: vec![
            account("lindgren", "owner", None),
            account("lindgren-test", "developer", Some("/profile/accounts/lindgren-test/leave")),
        ],
    }
}

fn setup() -> SecondFactorSetupPage {
    let mut squares = String::new();
    for (x, y) in (0..29).flat_map(|x| (0..29).map(move |y| (x, y))) {
        let corner = |a: i32, b: i32| {
            a < 7
                && b < 7
                && !((1..6).contains(&a)
                    && (1..6).contains(&b)
                    && !((2..5).contains(&a) && (2..5).contains(&b)))
        };
        if corner(x, y)
            || corner(28 - x, y)
            || corner(x, 28 - y)
            || (x > 7 && y > 7 && (x * 7 + y * 13 + x * y) % 3 == 0)
        {
            squares.push_str(&format!("M{x} {y}h1v1h-1z"));
        }
    }
    SecondFactorSetupPage {
        shell: profile().shell,
        uri: "otpauth://totp/Hermod:jana.petersen@lindgren.example?secret=JBSWY3DPEHPK3PXP&issuer=Hermod"
            .to_owned(),
        secret: "JBSW Y3DP EHPK 3PXP".to_owned(),
        qr: Svg::from_own_markup(format!(
            r#"<svg viewBox="0 0 29 29" role="img" aria-label="QR code of the address below"><path d="{squares}"/></svg>"#
        )),
        code: Field::default(),
    }
}

fn codes() -> RecoveryCodesPage {
    let codes = [
        "7q2m-x9w4",
        "k3d8-t5n6",
        "vbyc-jdfg",
        "psu2-ea2r",
        "7hq9-mz4k",
        "8w3x-5n6t",
        "a2r7-hq9m",
        "z4k8-w3x5",
    ];
    RecoveryCodesPage { shell: profile().shell, codes: codes.map(str::to_owned).to_vec() }
}

fn limits() -> LimitsPage {
    let connection = |name: &str, limited: &str, smpp: Option<&str>| ConnectionLimitsCard {
        name: name.to_owned(),
        rate: "10".to_owned(),
        accepted: "4,812".to_owned(),
        busiest: "331".to_owned(),
        limited: limited.to_owned(),
        is_limited: limited != "0",
        smpp: smpp.map(str::to_owned),
    };
    let control = |name: &str, limit: &str, state: Chip, used: &str, opens: &str| ControlRow {
        name: name.to_owned(),
        limit: limit.to_owned(),
        state,
        used: used.to_owned(),
        opens: opens.to_owned(),
    };
    LimitsPage {
        shell: shell(NavEntry::Limits),
        notices: vec![Notice::new(
            Tone::Bad,
            "5,000 messages in a day is used up: messages are rejected until it opens at 00:00 UTC.",
        )],
        facts: vec![
            Fact::new("Identity", "Verified"),
            Fact::new("Tier", "Standard"),
            Fact::new("SMPP throughput", "100 parts a second over all binds"),
            Fact::new("Messages today", "5,000"),
            Fact::new("Spend today", "371.20 EUR"),
        ],
        connections: Some(vec![
            connection("shop-http", "17", None),
            connection("shop-smpp", "0", Some("window 10, at most 10 binds")),
        ]),
        controls: vec![
            control(
                "lindgren-day",
                "5,000 messages in a day",
                Chip::new(Tone::Bad, "Used up"),
                "5,000 today",
                "at 00:00 UTC",
            ),
            control(
                "one-recipient",
                "20 messages in 1 h 0 min to one number",
                Chip::new(Tone::Good, "Enforced"),
                "counted for each",
                "within 1 h 0 min",
            ),
        ],
        rejected: vec![RejectedRow {
            code: "RATE_LIMITED".to_owned(),
            count: "17".to_owned(),
            last: Some(ago(9 * MINUTE)),
            what_to_do: "Wait for the seconds in Retry-After, or request a higher rate.".to_owned(),
        }],
        request: Some("/accounts/lindgren/requests".to_owned()),
        freshness: fresh(),
    }
}
