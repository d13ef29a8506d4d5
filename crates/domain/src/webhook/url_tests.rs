//! Valid, unusual and hostile webhook URLs, and the result for each.

use super::*;

fn check_result(rules: &AddressRules, text: &str) -> String {
    match rules.check(text) {
        Ok(WebhookUrl { tls, authority, port, target, .. }) => {
            format!("{} {authority} {port} {target}", if tls { "tls" } else { "plain" })
        }
        Err(UrlRefusal::Forbidden { why, .. }) => format!("{why:?}"),
        Err(refusal) => format!("{refusal:?}"),
    }
}

#[track_caller]
fn check_all(rules: &AddressRules, table: &[(&str, &str)]) {
    for (text, expect) in table {
        assert_eq!(check_result(rules, text), *expect, "{text}");
    }
}

fn default_rules() -> AddressRules {
    AddressRules::default()
}

fn allowing_http() -> AddressRules {
    AddressRules { allow_http: true, ..default_rules() }
}

#[test]
fn valid_urls_are_parsed() {
    check_all(
        &default_rules(),
        &[
            ("https://example.com", "tls example.com 443 /"),
            ("https://example.com/", "tls example.com 443 /"),
            ("https://example.com/dlr", "tls example.com 443 /dlr"),
            ("https://example.com?a=b", "tls example.com 443 /?a=b"),
            ("https://example.com/a?b=c&d=%20e", "tls example.com 443 /a?b=c&d=%20e"),
            ("https://example.com:443/a", "tls example.com 443 /a"),
            ("https://example.com:80/a", "tls example.com:80 80 /a"),
            ("https://example.com:8443/a", "tls example.com:8443 8443 /a"),
            ("https://example.com:65535/", "tls example.com:65535 65535 /"),
            ("https://example.com:1024/", "tls example.com:1024 1024 /"),
            ("HTTPS://EXAMPLE.com/CaSe", "tls example.com 443 /CaSe"),
            ("hTtPs://example.com/", "tls example.com 443 /"),
            ("https://a-b.c_d.example/", "tls a-b.c_d.example 443 /"),
            ("https://xn--bcher-kva.example/", "tls xn--bcher-kva.example 443 /"),
            ("https://8.8.8.8/", "tls 8.8.8.8 443 /"),
            ("https://[2606:4700::1111]/", "tls [2606:4700::1111] 443 /"),
            ("https://[2606:4700:0:0::1111]:8443/x", "tls [2606:4700::1111]:8443 8443 /x"),
            ("https://example.com/@user", "tls example.com 443 /@user"),
            ("https://example.com/?to=a@b", "tls example.com 443 /?to=a@b"),
            ("https://example.com//double", "tls example.com 443 //double"),
            ("https://example.com/../up", "tls example.com 443 /../up"),
            ("https://example.com/%2e%2e", "tls example.com 443 /%2e%2e"),
            ("https://intranet/", "tls intranet 443 /"),
            ("https://1e100.net/", "tls 1e100.net 443 /"),
            ("https://0xfeed.example/", "tls 0xfeed.example 443 /"),
            ("https://127.0.0.1.example.com/", "tls 127.0.0.1.example.com 443 /"),
        ],
    );
}

const INVALID_URLS: &[(&str, &str)] = &[
    ("", "Scheme"),
    ("example.com", "Scheme"),
    ("//example.com/", "Scheme"),
    ("https:/example.com/", "Scheme"),
    ("https:example.com", "Scheme"),
    ("ftp://example.com/", "Scheme"),
    ("file:///etc/passwd", "Scheme"),
    ("gopher://example.com/", "Scheme"),
    ("javascript://example.com/", "Scheme"),
    ("httpss://example.com/", "Scheme"),
    (" https://example.com/", "Characters"),
    ("https://example.com/ ", "Characters"),
    ("https://example.com/a b", "Characters"),
    ("https://example.com/\r\nX-Evil: 1", "Characters"),
    ("https://example.com/\t", "Characters"),
    ("https://example.com/\0", "Characters"),
    ("https://exämple.com/", "Characters"),
    ("https://example.com/ä", "Characters"),
    ("https://example。com/", "Characters"),
    ("https://ⓔxample.com/", "Characters"),
    ("https://example.com\\@evil.example/", "Characters"),
    ("https:\\\\example.com\\", "Characters"),
    ("https://example.com/<script>", "Characters"),
    ("https://user@example.com/", "UserInfo"),
    ("https://user:pass@example.com/", "UserInfo"),
    ("https://8.8.8.8@127.0.0.1/", "UserInfo"),
    ("https://@example.com/", "UserInfo"),
    ("https://example.com%40127.0.0.1/", "Host"),
    ("https://example.com/#a", "Fragment"),
    ("https://example.com#@127.0.0.1/", "Fragment"),
    ("https://", "NoHost"),
    ("https:///path", "NoHost"),
    ("https://:443/", "NoHost"),
    ("https://?x", "NoHost"),
    ("https://.", "Host"),
    ("https://example..com/", "Host"),
    ("https://.example.com/", "Host"),
    ("https://example.com./", "Host"),
    ("https://-example.com/", "Host"),
    ("https://example-.com/", "Host"),
    ("https://exam!ple.com/", "Host"),
    ("https://exam*ple.com/", "Host"),
    ("https://example.com,evil.example/", "Host"),
    ("https://%65xample.com/", "Host"),
    ("https://127.0.0.%31/", "Host"),
    ("https://[::1/", "Host"),
    ("https://[]/", "Host"),
    ("https://[example.com]/", "Host"),
    ("https://[::1]x/", "Host"),
    ("https://[::1]8443/", "Host"),
    ("https://::1/", "NoHost"),
    ("https://2606:4700::1111/", "Host"),
    ("https://[fe80::1%25eth0]/", "Host"),
    ("https://[fe80::1%eth0]/", "Host"),
    ("https://[::ffff:1.2.3]/", "Host"),
    ("https://[1:2:3:4:5:6:7:8:9]/", "Host"),
    ("https://example.com:/", "Port"),
    ("https://example.com:0/", "Port"),
    ("https://example.com:00443/", "Port"),
    ("https://example.com:65536/", "Port"),
    ("https://example.com:99999999999/", "Port"),
    ("https://example.com:-1/", "Port"),
    ("https://example.com:+443/", "Port"),
    ("https://example.com:4a/", "Port"),
    ("https://example.com:443:443/", "Port"),
    ("https://example.com:22/", "Port"),
    ("https://example.com:25/", "Port"),
    ("https://example.com:53/", "Port"),
    ("https://example.com:111/", "Port"),
    ("https://example.com:445/", "Port"),
    ("https://example.com:1023/", "Port"),
    ("https://example.com/%", "Encoding"),
    ("https://example.com/%2", "Encoding"),
    ("https://example.com/%zz", "Encoding"),
    ("https://example.com/?%4", "Encoding"),
];

#[test]
fn invalid_urls_are_refused() {
    check_all(&default_rules(), INVALID_URLS);
    let long = format!("https://example.com/{}", "a".repeat(2_048 - 20));
    assert_eq!(long.len(), 2_048);
    assert!(check_result(&default_rules(), &long).starts_with("tls"));
    assert_eq!(check_result(&default_rules(), &format!("{long}a")), "TooLong");
    assert_eq!(check_result(&default_rules(), &format!("https://{}.example/", "a".repeat(64))), "Host");
    assert_eq!(check_result(&default_rules(), &format!("https://{}example/", "a.".repeat(124))), "Host");
}

#[test]
fn non_canonical_addresses_are_refused() {
    for host in [
        "2130706433",
        "0x7f000001",
        "0X7F000001",
        "017700000001",
        "127.1",
        "127.0.1",
        "127.0.0.0x1",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.0.0.01",
        "127.00.0.1",
        "127.0.0.1.",
        "127.0.0.1.1",
        "256.0.0.1",
        "1.2.3.4.5",
        "0",
        "0x",
        "0.0",
        "example.1",
        "example.0x1",
        "example.com.08",
        "4294967296",
        "127.0.0.-1",
    ] {
        assert_eq!(check_result(&default_rules(), &format!("https://{host}/")), "Host", "{host}");
    }
    assert_eq!(check_result(&default_rules(), "https://１２７.0.0.1/"), "Characters");
}

#[test]
fn plain_http_is_refused_unless_allowed() {
    assert_eq!(check_result(&default_rules(), "http://example.com/"), "PlainHttp");
    assert_eq!(check_result(&default_rules(), "HTTP://8.8.8.8/"), "PlainHttp");
    check_all(
        &allowing_http(),
        &[
            ("http://example.com/", "plain example.com 80 /"),
            ("http://example.com:80/", "plain example.com 80 /"),
            ("http://example.com:443/", "plain example.com:443 443 /"),
            ("http://example.com:8080/", "plain example.com:8080 8080 /"),
            ("https://example.com/", "tls example.com 443 /"),
            ("http://127.0.0.1/", "Loopback"),
            ("http://169.254.169.254/latest/meta-data/", "Metadata"),
        ],
    );
}

#[test]
fn every_localhost_name_is_loopback() {
    for host in ["localhost", "LOCALHOST", "a.localhost", "localhost:8443"] {
        assert_eq!(check_result(&default_rules(), &format!("https://{host}/")), "Loopback", "{host}");
    }
    assert_eq!(check_result(&default_rules(), "https://localhost.example/"), "tls localhost.example 443 /");
    let here = AddressRules { allow: vec!["127.0.0.0/8".parse().unwrap()], ..default_rules() };
    assert_eq!(check_result(&here, "https://localhost:8443/"), "tls localhost:8443 8443 /");
}

const V4: &[(&str, &str)] = &[
    ("0.0.0.0", "Unspecified"),
    ("0.1.2.3", "Unspecified"),
    ("1.1.1.1", "free"),
    ("9.255.255.255", "free"),
    ("10.0.0.0", "Private"),
    ("10.255.255.255", "Private"),
    ("11.0.0.0", "free"),
    ("100.63.255.255", "free"),
    ("100.64.0.0", "Shared"),
    ("100.100.100.200", "Shared"),
    ("100.127.255.255", "Shared"),
    ("100.128.0.0", "free"),
    ("126.255.255.255", "free"),
    ("127.0.0.1", "Loopback"),
    ("127.255.255.255", "Loopback"),
    ("128.0.0.0", "free"),
    ("168.63.129.16", "Metadata"),
    ("168.63.129.17", "free"),
    ("169.253.255.255", "free"),
    ("169.254.0.1", "LinkLocal"),
    ("169.254.169.254", "Metadata"),
    ("169.254.170.2", "LinkLocal"),
    ("169.255.0.0", "free"),
    ("172.15.255.255", "free"),
    ("172.16.0.1", "Private"),
    ("172.31.255.255", "Private"),
    ("172.32.0.0", "free"),
    ("191.255.255.255", "free"),
    ("192.0.0.192", "Reserved"),
    ("192.0.1.1", "free"),
    ("192.0.2.1", "Documentation"),
    ("192.88.99.1", "Reserved"),
    ("192.167.255.255", "free"),
    ("192.168.0.1", "Private"),
    ("192.169.0.0", "free"),
    ("198.17.255.255", "free"),
    ("198.18.0.1", "Documentation"),
    ("198.19.255.255", "Documentation"),
    ("198.20.0.0", "free"),
    ("198.51.100.1", "Documentation"),
    ("203.0.113.1", "Documentation"),
    ("203.0.114.1", "free"),
    ("223.255.255.255", "free"),
    ("224.0.0.1", "Multicast"),
    ("239.255.255.255", "Multicast"),
    ("240.0.0.1", "Reserved"),
    ("255.255.255.255", "Reserved"),
];

const V6: &[(&str, &str)] = &[
    ("::", "Unspecified"),
    ("::1", "Loopback"),
    ("::2", "Embedded"),
    ("::7f00:1", "Embedded"),
    ("::127.0.0.1", "Embedded"),
    ("::8.8.8.8", "Embedded"),
    ("::ffff:127.0.0.1", "Embedded"),
    ("::ffff:10.0.0.1", "Embedded"),
    ("::ffff:8.8.8.8", "Embedded"),
    ("::ffff:0:127.0.0.1", "Embedded"),
    ("64:ff9b::127.0.0.1", "Loopback"),
    ("64:ff9b::10.0.0.1", "Private"),
    ("64:ff9b::169.254.169.254", "Metadata"),
    ("64:ff9b::8.8.8.8", "free"),
    ("64:ff9b::1:808:808", "Embedded"),
    ("64:ff9b:1::127.0.0.1", "Embedded"),
    ("64:ff9b:1::8.8.8.8", "Embedded"),
    ("100::1", "Reserved"),
    ("1fff:ffff::1", "Reserved"),
    ("2000::1", "free"),
    ("2001::1", "Embedded"),
    // Server 192.0.2.45, then one that is free, with the client 192.168.1.1.
    ("2001:0:c000:22d:8000:63bf:3f57:fefe", "Embedded"),
    ("2001:0:808:808:8000:63bf:3f57:fefe", "Embedded"),
    // Server and client are free.
    ("2001:0:808:808:8000:63bf:f7f7:f7f7", "free"),
    ("2001:2::1", "Reserved"),
    ("2001:10::1", "Reserved"),
    ("2001:1ff::1", "Reserved"),
    ("2001:200::1", "free"),
    ("2001:db8::1", "Documentation"),
    ("2001:db9::1", "free"),
    ("2002:7f00:1::1", "Embedded"),
    ("2002:a00:1::1", "Embedded"),
    ("2002:a9fe:a9fe::1", "Embedded"),
    ("2002:808:808::1", "free"),
    ("2606:4700::1111", "free"),
    ("3ffe::1", "free"),
    ("3fff::1", "Documentation"),
    ("3fff:fff::1", "Documentation"),
    ("3fff:1000::1", "free"),
    ("4000::1", "Reserved"),
    ("5f00::1", "Reserved"),
    ("fc00::1", "Private"),
    ("fd00:ec2::254", "Private"),
    ("fdff::1", "Private"),
    ("fe00::1", "Reserved"),
    ("fe80::1", "LinkLocal"),
    ("febf::1", "LinkLocal"),
    ("fec0::1", "Private"),
    ("ff02::1", "Multicast"),
    ("ffff::1", "Multicast"),
];

#[test]
fn special_purpose_networks_are_forbidden() {
    for (address, expect) in V4.iter().chain(V6) {
        let address: IpAddr = address.parse().unwrap();
        let reason = forbidden(address).map_or("free".to_owned(), |why| format!("{why:?}"));
        assert_eq!(reason, *expect, "{address}");
        let written = match address {
            IpAddr::V4(_) => format!("https://{address}/"),
            IpAddr::V6(_) => format!("https://[{address}]/"),
        };
        let saved = check_result(&default_rules(), &written);
        assert_eq!(saved.starts_with("tls"), *expect == "free", "{written}: {saved}");
    }
}

#[test]
fn allow_list_permits_exactly_its_networks() {
    let rules = AddressRules {
        allow_http: false,
        allow: vec!["10.1.0.0/16".parse().unwrap(), "fd00::/64".parse().unwrap()],
    };
    check_all(
        &rules,
        &[
            ("https://10.1.2.3/", "tls 10.1.2.3 443 /"),
            ("https://10.2.0.1/", "Private"),
            ("https://[fd00::7]/", "tls [fd00::7] 443 /"),
            ("https://[fd00:0:0:1::7]/", "Private"),
            ("https://[::ffff:10.1.2.3]/", "Embedded"),
            ("https://127.0.0.1/", "Loopback"),
            ("https://8.8.8.8/", "tls 8.8.8.8 443 /"),
        ],
    );
}

#[test]
fn debug_output_has_no_path() {
    let url = default_rules().check("https://example.com/hook?token=s3cret").unwrap();
    assert_eq!(format!("{url:?}"), r#"WebhookUrl { tls: true, authority: "example.com", .. }"#);
}
