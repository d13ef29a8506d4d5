//! Tests of parsing values: invalid ones are rejected with their line, valid ones are exported in canonical form.

use crate::setup::file_entries::WantedSetup;
use crate::setup::tests::{source, wanted};

#[test]
fn invalid_value_is_rejected_with_its_line() {
    let carrier =
        "name = \"acme\"\naddress = \"h:1\"\nsystem_id = \"s\"\npassword = \"p\"\nwindow = 1\nrate = 1\n";
    let good = format!("[[carrier]]\n{carrier}");
    assert!(WantedSetup::parse(&source(&good)).is_ok());
    for (from, to, expect) in [
        (
            "\"acme\"",
            "\"a b\"",
            "2: carrier 1.name: a name has 1 to 64 letters, digits and - _ . (not \"a b\")",
        ),
        (
            "\"h:1\"",
            "\"h\"",
            "3: carrier 1.address: an address is host:port, such as smsc.example:2775 (not \"h\")",
        ),
        (
            "\"h:1\"",
            "\"h:0\"",
            "3: carrier 1.address: an address is host:port, such as smsc.example:2775 (not \"h:0\")",
        ),
        ("\"p\"", "\"ninechars\"", "5: carrier 1.password: a password has 0 to 8 ASCII characters"),
        ("window = 1", "window = 0", "6: carrier 1.window: a window is between 1 and 10000, not 0"),
        ("rate = 1", "rate = 0", "7: carrier 1.rate: a rate per second is between 1 and 1000000, not 0"),
        (
            "rate = 1",
            "rate = 1\nresponse_timeout = \"1ms\"",
            "8: carrier 1.response_timeout: 1ms is not between 100ms and 10m",
        ),
    ] {
        let error = WantedSetup::parse(&source(&good.replace(from, to))).unwrap_err();
        assert_eq!(error.to_string(), format!("seed.toml:{expect}"));
    }
}

#[test]
fn invalid_amounts_prefixes_and_secrets_are_rejected_with_the_expected_form() {
    for (text, expect) in [
        ("[[price]]\nprefix = \"\"\nper_part = 1", "2: price 1.prefix: write \"*\" for every number"),
        (
            "[[price]]\nprefix = \"+49\"\nper_part = 1",
            "2: price 1.prefix: \"+49\": a prefix consists of digits only, without a +",
        ),
        (
            "[[price]]\nprefix = \"1\"\nper_part = 0.05",
            "3: price 1.per_part: invalid type: floating point `0.05`, expected an amount in quotes, such as \"0.035\"",
        ),
        ("[[price]]\nprefix = \"1\"\nper_part = \"-1\"", "3: price 1.per_part: -1 is negative"),
        (
            "[[key]]\nkey = \"a:b\"\nsecret = \"0123456789abcdefghijklmnop\"\nconnection = \"c\"",
            "2: key 1.key: a key has 1 to 64 letters, digits and - _ . (not \"a:b\")",
        ),
        (
            "[[key]]\nkey = \"k\"\nsecret = \"25-characters-are-too-few\"\nconnection = \"c\"",
            "3: key 1.secret: a secret has 26 to 128 random ASCII characters without spaces; leave it out and one is \
             generated",
        ),
        (
            "[[price]]\nmcc = \"26\"\nper_part = 1",
            "2: price 1.mcc: \"26\": an MCC has three digits, as in 262",
        ),
        (
            "[[price]]\nprefix = \"1\"\nper_part = 1\nfrom = 2026-01-31T12:00:00",
            "4: price 1.from: \"2026-01-31T12:00:00\" is not a day such as 2026-01-31 (it begins at midnight UTC) or a \
             time such as 2026-01-31T12:00:00Z",
        ),
        (
            "[[key]]\nkey = \"k\"\nconnection = \"c\"\nallow = [\"here\"]",
            "4: key 1.allow: \"here\" is not an address such as 192.0.2.7 or a network such as 192.0.2.0/24",
        ),
        (
            "[[account]]\nname = \"a\"\ncurrency = \"EUR\"\ncountries = [\"Germany\"]",
            "4: account 1.countries: countries are \"*\" or a list of two-letter codes such as [\"DE\", \"FR\"]",
        ),
        (
            "[[number]]\nnumber = \"Shop\"\naccount = \"a\"",
            "2: number 1.number: \"Shop\" is alphanumeric and cannot receive messages; use a number",
        ),
        (
            "[[number]]\nnumber = \"80808\"\naccount = \"a\"\nkeyword = \"two words\"",
            "4: number 1.keyword: a keyword has 1 to 20 letters and digits (not \"two words\")",
        ),
        (
            "[[control]]\nname = \"x\"\nper_range = { most = 1, per = \"1ms\" }",
            "3: control 1.per_range.per: 1ms is not between 1s and 31d",
        ),
    ] {
        let error = WantedSetup::parse(&source(text)).unwrap_err();
        assert_eq!(error.to_string(), format!("seed.toml:{expect}"), "{text}");
    }
}

#[test]
fn dates_networks_and_periods_are_exported_in_canonical_form() {
    let text = "[[price]]\nmcc = 262\nper_part = 1\nfrom = 2026-01-31\n\
                [[price]]\nmcc = \"262\"\nper_part = 2\nfrom = 2026-01-31T13:00:00+01:00\n\
                [[price]]\nmcc = \"262\"\nper_part = 3\nfrom = \"2026-02-01\"\n\
                [[key]]\nkey = \"k\"\nconnection = \"c\"\nexpires_at = 2027-12-31\n\
                allow = [\"192.0.2.7\", \"192.0.2.7/24\", \"2001:db8::1/32\"]\n\
                [[control]]\nname = \"x\"\nper_recipient = { most = 3, per = \"600s\" }\n";
    let shown = wanted(text).to_toml();
    for line in [
        "from = \"2026-01-31\"",
        "from = \"2026-01-31T12:00:00Z\"",
        "from = \"2026-02-01\"",
        "expires_at = \"2027-12-31\"",
        "allow = [\"192.0.2.7\", \"192.0.2.0/24\", \"2001:db8::/32\"]",
        "per = \"10m\"",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line} is not in\n{shown}");
    }
}
