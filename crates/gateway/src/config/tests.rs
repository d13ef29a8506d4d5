//! Tests of valid and invalid settings.

use super::*;

#[track_caller]
fn check(text: &str, expect: &str) {
    let source = Source { path: "hermod.toml".into(), text: text.to_owned() };
    let actual = match Config::parse(&source) {
        Ok(_) => "fine".to_owned(),
        Err(error) => error.to_string(),
    };
    assert_eq!(actual, expect, "{text}");
}

#[test]
fn retention_periods_have_bounds_and_order() {
    let refused = |lines: &str| {
        let source = Source { path: "hermod.toml".into(), text: format!("[retention]\n{lines}\n") };
        Config::parse(&source).map(|config| config.retention).map_err(|error| error.to_string())
    };
    for (lines, why) in [
        ("text = \"6d\"", "6d is not between 7d and 3650d"),
        ("messages = \"59d\"", "59d is not between 60d and 3650d"),
        ("text = \"70d\"\nmessages = \"69d\"", "69d is shorter than text, which is 70d"),
        ("idempotency_keys = \"23h\"", "23h is not between 1d and 3650d"),
        ("idempotency_keys = \"401d\"", "401d is longer than messages, which is 400d"),
        ("inbound = \"29d\"", "29d is not between 30d and 3650d"),
        ("requests = \"23h\"", "23h is not between 1d and 3650d"),
        ("inbound = \"for ever\"", "a time is a whole number and a unit"),
    ] {
        let actual = refused(lines).unwrap_err();
        assert!(actual.contains(why), "{lines}: {actual}");
    }
    let kept = refused("text = \"60d\"\nmessages = \"60d\"\nidempotency_keys = \"60d\"").unwrap();
    assert_eq!(kept.idempotency_keys, Some(kept.messages));
    assert_eq!(
        (kept.text, kept.messages, kept.inbound),
        (kept.messages, Period::from_secs(60 * 86_400), Period::from_secs(30 * 86_400))
    );
}

#[test]
fn empty_file_means_the_defaults() {
    let empty = Source { path: "hermod.toml".into(), text: String::new() };
    assert_eq!(Config::parse(&empty), Ok(Config::defaults()));
}

#[test]
fn every_default_setting_has_a_comment() {
    let lines: Vec<&str> = DEFAULT_TOML.lines().collect();
    for (place, line) in lines.iter().enumerate().filter(|(_, line)| line.contains(" = ")) {
        let setting = line.trim_start_matches("# ");
        if setting.split(" = ").next().is_some_and(|key| !key.contains(' ')) {
            assert!(lines[place - 1].starts_with("# "), "no explanation above {line:?}");
        }
    }
}

/// Each section of `docs/configuration.md` has exactly the settings of the defaults, in their order, with their values.
#[test]
fn every_setting_is_documented_with_its_default() {
    let mut expect = Vec::new();
    for line in DEFAULT_TOML.lines() {
        let (setting, is_set) = match line.strip_prefix("# ") {
            Some(commented) => (commented, false),
            None => (line, true),
        };
        match setting.split_once(" = ") {
            Some((key, value)) if !key.contains(' ') => {
                let default = if is_set { format!("`{value}`") } else { "none".to_owned() };
                expect.push(format!("| `{key}` | {default} |"));
            }
            _ if line.starts_with('[') => expect.push(format!("## {line}")),
            _ => {}
        }
    }
    let documented = include_str!("../../../../docs/configuration.md").lines();
    let documented = documented.take_while(|line| *line != "## Signals").filter_map(|line| {
        let row = || {
            line.starts_with("| `").then(|| line.splitn(4, '|').take(3).collect::<Vec<_>>().join("|") + "|")
        };
        if line.starts_with("## ") { Some(line.to_owned()) } else { row() }
    });
    assert_eq!(documented.collect::<Vec<_>>(), expect);
}

#[test]
fn file_overrides_the_defaults() {
    let text = "[http]\nlisten = \"[::1]:0\"\n[messages]\nvalidity = \"2h\"\n";
    let config = Config::parse(&Source { path: "hermod.toml".into(), text: text.to_owned() }).unwrap();
    assert_eq!(config.http.listen.to_string(), "[::1]:0");
    assert_eq!(config.messages.validity, Period::from_secs(7200));
    assert_eq!(config.http.idle_timeout, Period::from_secs(75));
}

#[test]
fn effective_settings_parse_again() {
    let config = Config::defaults();
    let source = Source { path: "effective.toml".into(), text: config.to_toml() };
    assert_eq!(Config::parse(&source), Ok(config));
}

#[test]
fn alarms_are_sent_to_addresses_that_can_be_reached() {
    let mail = "[mail]\nserver = \"smtp.example.com\"\nsender = \"sms@example.com\"\n";
    check(&format!("{mail}[alarms.notify]\nmail = [\"ops@example.com\"]\nleast = \"critical\""), "fine");
    // The operator's own address may be in any network.
    check(
        "[alarms.notify]\nwebhook = \"http://10.0.0.7:9000/hermod\"\nsecret_file = \"alarms.secret\"",
        "fine",
    );
    check("[alarms]\nnotify = { command = [\"/usr/local/bin/page\", \"--now\"], quiet = \"0s\" }", "fine");
    check(
        "[alarms.notify]\nmail = [\"ops@example.com\"]",
        "hermod.toml:2: alarms.notify.mail: needs a mail server: set `server` in [mail]",
    );
    check(
        &format!("{mail}[alarms.notify]\nmail = [\"ops\"]"),
        "hermod.toml:5: alarms.notify.mail: \"ops\" is not an e-mail address",
    );
    check(
        "[alarms.notify]\nwebhook = \"ops.example.com\"",
        "hermod.toml:2: alarms.notify.webhook: is not a URL that can be called: it must begin with https:// (or http://, where \
         that is allowed)",
    );
    check(
        "[alarms.notify]\nsecret_file = \"alarms.secret\"",
        "hermod.toml: alarms.notify.webhook: is missing; a secret needs a URL",
    );
    check(
        "[alarms.notify]\ncommand = [\"page\"]",
        "hermod.toml:2: alarms.notify.command: must begin with the whole path of a program, such as [\"/usr/local/bin/page\"]",
    );
    check(
        "[alarms.notify]\nquiet = \"8d\"",
        "hermod.toml:2: alarms.notify.quiet: 8d is not between 0ms and 7d",
    );
}

#[test]
fn plain_http_from_other_machines_must_be_allowed() {
    check("[http]\nlisten = \"127.0.0.2:80\"", "fine");
    check("[http]\nlisten = \"[::ffff:127.0.0.1]:80\"", "fine");
    check("[http]\nallow_plain = true\nlisten = \"0.0.0.0:80\"", "fine");
    check(
        "[http]\n# for everyone\nlisten = \"0.0.0.0:80\"",
        "hermod.toml:3: http.listen: 0.0.0.0:80 can be reached from other machines, and plain HTTP exposes API secrets; \
         listen on 127.0.0.1, use [https], list the proxies that terminate TLS in trusted_proxies or \
         proxy_protocol_from, or set allow_plain = true on a private network",
    );
    check("[http]\ntrusted_proxies = [\"10.0.0.0/8\", \"::1\"]\nlisten = \"0.0.0.0:80\"", "fine");
    check("[http]\nproxy_protocol_from = [\"10.0.0.10\"]\nlisten = \"0.0.0.0:80\"", "fine");
    check(
        "[http]\ntrusted_proxies = [\"10.0.0.0/33\"]",
        "hermod.toml:2: http.trusted_proxies: \"10.0.0.0/33\": a network is an address, or one with the length of its \
         prefix: \"192.0.2.7\", \"10.0.0.0/8\" or \"2001:db8::/32\"",
    );
}

#[test]
fn https_needs_listen_certificate_and_key() {
    let (listen, certificate, key) =
        ("listen = \"0.0.0.0:8443\"\n", "certificate = \"chain.pem\"\n", "key = \"key.pem\"\n");
    check(&format!("[https]\n{listen}{certificate}{key}"), "fine");
    let missing = |key| format!("hermod.toml: {key}: is missing; TLS needs listen, certificate and key");
    check(&format!("[https]\n{listen}{certificate}"), &missing("https.key"));
    check(&format!("[https]\n{listen}"), &missing("https.certificate"));
    check(&format!("[https]\n{certificate}{key}"), &missing("https.listen"));
    check(
        "[https]\nhandshake_timeout = \"2h\"",
        "hermod.toml:2: https.handshake_timeout: 2h is not between 1s and 1h",
    );
}

#[test]
fn listeners_need_ports_of_their_own() {
    let refused = |key: &str, line: usize, listen: &str, other: &str| {
        format!(
            "hermod.toml:{line}: {key}: {listen} has the port of {other}; each listener needs a port of its own"
        )
    };
    check(
        "[http]\nlisten = \"127.0.0.1:9000\"\n[smpp]\nlisten = \"127.0.0.1:9000\"",
        &refused("smpp.listen", 4, "127.0.0.1:9000", "http.listen"),
    );
    check(
        "[operations]\nlisten = \"0.0.0.0:2775\"",
        &refused("operations.listen", 2, "0.0.0.0:2775", "smpp.listen"),
    );
    check(
        "[operations]\nlisten = \"[::]:8080\"",
        &refused("operations.listen", 2, "[::]:8080", "http.listen"),
    );
    check("[operations]\nlisten = \"127.0.0.2:8080\"", "fine");
    check("[operations]\nlisten = \"[::1]:8080\"", "fine");
    check("[http]\nlisten = \"127.0.0.1:0\"\n[smpp]\nlisten = \"127.0.0.1:0\"", "fine");
    // The plain listener is off, so its port is free.
    check("[smpp]\nallow_plain = false\n[operations]\nlisten = \"127.0.0.1:2775\"", "fine");
}

#[test]
fn other_machines_may_use_the_operator_api_with_tls_or_if_anybody_may() {
    let listen = "[operations]\nlisten = \"0.0.0.0:9090\"\n";
    let (pair, allow) = ("certificate = \"a.pem\"\nkey = \"a.key\"\n", "allow = [\"10.0.0.0/8\"]\n");
    check(&format!("{listen}{pair}"), "fine");
    check(&format!("{listen}{pair}{allow}"), "fine");
    check(&format!("{listen}{allow}[operator]\nfrom_anywhere = true"), "fine");
    check(
        &format!("{listen}{allow}"),
        "hermod.toml:3: operations.allow: needs a certificate and a key, because tokens would be sent unencrypted; on a private \
         network set [operator] from_anywhere = true instead",
    );
    check(
        &format!("{listen}certificate = \"a.pem\""),
        "hermod.toml: operations.key: is missing; a certificate needs a key",
    );
    check(
        &format!("[operations]\n{pair}"),
        "hermod.toml: operations.listen: is missing; certificate, key and allow are those of this listener",
    );
}

#[test]
fn value_out_of_bounds_is_rejected_with_the_bounds() {
    check("[messages]\nvalidity = \"73h\"", "hermod.toml:2: messages.validity: 73h is not between 1m and 3d");
    check("[messages]\nvalidity = \"72h\"", "fine");
    check(
        "[http]\n\nmax_connections = 0",
        "hermod.toml:3: http.max_connections: 0 is not between 1 and 1000000",
    );
    check("[http]\nidle_timeout = \"0s\"", "hermod.toml:2: http.idle_timeout: 0ms is not between 1s and 1h");
    check(
        "data.low_water = \"1MiB\"",
        "hermod.toml:1: data.low_water: 1MiB is not between 16MiB and 1024GiB",
    );
    check("[data]\nfolder = \"\"", "hermod.toml:2: data.folder: is empty; name a folder");
    check(
        "[log]\nlevel = \"loud\"",
        "hermod.toml:2: log.level: invalid level \"loud\": use error, warn, info, debug or trace, or name a module as in \
         \"info,hermod_gateway=debug\"",
    );
}

#[test]
fn unknown_key_or_value_is_rejected_with_its_line() {
    check(
        "[http]\nlisen = \"127.0.0.1:80\"",
        "hermod.toml:2: http.lisen: unknown field `lisen`, expected one of `listen`, `allow_plain`, \
         `trusted_proxies`, `proxy_protocol_from`, `max_connections`, `max_connections_per_address`, \
         `max_half_open_per_address`, `max_body_memory`, `failed_sign_ins`, \
         `head_timeout`, `body_timeout`, `idle_timeout`, `drain_timeout`",
    );
    check(
        "[htpp]\n",
        "hermod.toml:1: htpp: unknown field `htpp`, expected one of `data`, `node`, `http`, `https`, `smpp`, `shutdown`, `operations`, `operator`, `messages`, \
         `webhooks`, `retention`, `record`, `portal`, `mail`, `alarms`, `log`, `provision`",
    );
    check(
        "[http]\nidle_timeout = 75",
        "hermod.toml:2: http.idle_timeout: integer `75` has no unit: a time is a whole number and a unit: \"500ms\", \
         \"15s\", \"10m\", \"72h\" or \"30d\"",
    );
    check(
        "[http]\nidle_timeout = \"75 s\"",
        "hermod.toml:2: http.idle_timeout: \"75 s\": a time is a whole number and a unit: \"500ms\", \"15s\", \"10m\", \
         \"72h\" or \"30d\"",
    );
    check("[http]\nlisten = \"here\"", "hermod.toml:2: http.listen: invalid socket address syntax");
    check(
        "[log]\nformat = \"xml\"",
        "hermod.toml:2: log.format: unknown variant `xml`, expected `human` or `json`",
    );
    check("http = 1", "hermod.toml:1: http: invalid type: integer `1`, expected struct HttpSection");
}

#[test]
fn invalid_toml_is_rejected_with_its_line() {
    let source = Source { path: "hermod.toml".into(), text: "[http]\nlisten = 127.0.0.1:80\n".to_owned() };
    let error = Config::parse(&source).unwrap_err();
    assert_eq!(error.line, Some(2), "{error}");
}

#[test]
fn missing_file_is_named() {
    let error = Config::load(Path::new("no/such/hermod.toml")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no/such/hermod.toml: cannot be read: No such file or directory (os error 2)"
    );
}

#[test]
fn relative_paths_start_at_the_folder_of_the_settings_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hermod.toml");
    let text = "[provision]\nfile = \"seed.toml\"\n[data]\nfolder = \"/var/lib/hermod\"\n\
                [https]\nlisten = \"[::1]:0\"\ncertificate = \"chain.pem\"\nkey = \"/etc/key.pem\"\n";
    std::fs::write(&path, text).unwrap();
    let config = Config::load(&path).unwrap();
    assert_eq!(config.provision.file, Some(folder.path().join("seed.toml")));
    assert_eq!(config.data.folder, Path::new("/var/lib/hermod"));
    let (_, files) = config.https.wanted().unwrap();
    assert_eq!(files.certificate, folder.path().join("chain.pem"));
    assert_eq!(files.key, Path::new("/etc/key.pem"));
}

#[test]
fn smpp_tls_needs_its_own_certificate_or_that_of_https() {
    check("[smpp]\nallow_plain = false", "fine");
    check(
        "[smpp]\ntls_listen = \"0.0.0.0:2776\"",
        "hermod.toml:2: smpp.tls_listen: needs a certificate and a key, here or in [https]",
    );
    check("[smpp]\ntls_listen = \"0.0.0.0:2776\"\ncertificate = \"c.pem\"\nkey = \"k.pem\"", "fine");
    let https = "[https]\nlisten = \"0.0.0.0:8443\"\ncertificate = \"chain.pem\"\nkey = \"key.pem\"\n";
    check(&format!("{https}[smpp]\ntls_listen = \"0.0.0.0:2776\""), "fine");
    check("[smpp]\ncertificate = \"c.pem\"", "hermod.toml: smpp.key: is missing; a certificate needs a key");
    check("[smpp]\nkey = \"k.pem\"", "hermod.toml: smpp.certificate: is missing; a key needs a certificate");
    check(
        "[smpp]\nsystem_id = \"sixteen-and-more\"",
        "hermod.toml:2: smpp.system_id: must have 1 to 15 ASCII characters without spaces",
    );
    check("[smpp]\nmax_pdu = \"70000B\"", "fine");
    check(
        "[smpp]\nmax_pdu = \"70001B\"",
        "hermod.toml:2: smpp.max_pdu: 70001B is not between 1KiB and 70000B",
    );
    check("[smpp]\nidle_timeout = \"0s\"", "hermod.toml:2: smpp.idle_timeout: 0ms is not between 1s and 1h");
}

#[test]
fn webhook_settings_have_bounds() {
    check("[webhooks]\nallow_http = true\nallow = [\"10.1.2.0/24\", \"::1\"]\nretries = []", "fine");
    check(
        "[webhooks]\ntimeout = \"61s\"",
        "hermod.toml:2: webhooks.timeout: 61s is not between 100ms and 1m",
    );
    check(
        "[webhooks]\nconnect_timeout = \"0s\"",
        "hermod.toml:2: webhooks.connect_timeout: 0ms is not between 100ms and 1m",
    );
    check(
        "[webhooks]\nretries = [\"1s\", \"8d\"]",
        "hermod.toml:2: webhooks.retries: 8d is not between 1ms and 7d",
    );
    let many = vec!["\"1s\""; 21].join(", ");
    check(
        &format!("[webhooks]\nretries = [{many}]"),
        "hermod.toml:2: webhooks.retries: must have at most 20 waits",
    );
    check("[webhooks]\nmax_posts = 1", "hermod.toml:2: webhooks.max_posts: 1 is not between 2 and 100000");
}

#[test]
fn unquoted_word_is_rejected_with_a_hint() {
    check(
        "[http]\nallow_plain = no\n",
        "hermod.toml:2: http.allow_plain: invalid value `no`: write true or false, without quotes",
    );
    check(
        "[log]\nlevel = \"info\"\nformat = human # for people\n",
        "hermod.toml:3: log.format: invalid value `human`: put text in quotes, as in \"human\"",
    );
    check(
        "[data]\nfolder = /var/lib/hermod\n",
        "hermod.toml:2: data.folder: invalid value `/var/lib/hermod`: put text in quotes, as in \"/var/lib/hermod\"",
    );
}
