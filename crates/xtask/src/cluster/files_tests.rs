//! Unit tests of `files.rs`.

use super::*;

fn files() -> Files {
    let ports =
        Ports { https: 1443, smpp: 1775, node_http: 1080, node_smpp: 1776, node_listen: 1777, carrier: 1778 };
    Files { folder: "/tmp/cluster".into(), ports }
}

#[test]
fn shipped_haproxy_settings_are_used_on_the_loopback() {
    let adapted = files().haproxy_settings(&read_shipped("deploy/haproxy/haproxy.cfg").unwrap()).unwrap();
    for line in [
        "bind 127.0.0.1:1443 ssl crt /tmp/cluster/haproxy.pem alpn h2,http/1.1",
        "bind 127.0.0.1:1775",
        "source 127.0.0.10",
        "server c 127.0.0.3:1080",
        "server c 127.0.0.3:1776",
    ] {
        assert!(adapted.lines().any(|actual| actual.trim() == line), "{line}\n{adapted}");
    }
    assert!(!adapted.contains("10.0.0."), "{adapted}");
    assert!(!adapted.contains("8080"), "{adapted}");
}

#[test]
fn shipped_node_settings_are_used_on_the_loopback() {
    let shipped = read_shipped("deploy/hermod.toml").unwrap();
    let adapted = files().node_settings(&shipped, 1, 1432).unwrap();
    let settings: toml::Table = adapted.parse().unwrap();
    assert_eq!(settings["node"]["listen"].as_str(), Some("127.0.0.2:1777"));
    assert_eq!(settings["http"]["proxy_protocol_from"][0].as_str(), Some("127.0.0.10"));
    assert_eq!(settings["data"]["folder"].as_str(), Some("/tmp/cluster/b/data"));
    let store = settings["data"]["store"].as_str().unwrap();
    let expect = "postgres://hermod:loopback-only@127.0.0.1:1432,127.0.0.2:1432/sms?sslmode=require&\
                      target_session_attrs=read-write&sslrootcert=/tmp/cluster/postgresql-ca.pem";
    assert_eq!(store, expect);
}

#[test]
fn replaced_text_that_is_gone_is_named() {
    let gone = adapt("listen = 1", &[("listen", "speak".to_owned()), ("port", String::new())]);
    assert_eq!(gone.unwrap_err().to_string(), "a file in deploy/ has no `port` any more");
}
