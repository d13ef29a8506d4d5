//! Unit tests of `server.rs`.

use super::*;

#[track_caller]
fn check(url: &str, tls: SslMode) {
    assert_eq!(Server::parse(url).unwrap().config.get_ssl_mode(), tls, "{url}");
}

#[test]
fn server_on_another_machine_needs_tls() {
    check("postgres://hermod:x@db.example/sms", SslMode::Require);
    check("postgres://hermod:x@192.0.2.7/sms", SslMode::Require);
    check("postgres://hermod:x@db.example/sms?sslmode=disable", SslMode::Disable);
    check("postgres://hermod@localhost/sms", SslMode::Disable);
    check("postgres://hermod@127.0.0.1:5433/sms", SslMode::Disable);
    check("postgres://hermod@127.0.0.1/sms?sslmode=require", SslMode::Require);
    check("postgres:///sms?host=/run/postgresql", SslMode::Disable);
    check("postgres://hermod@localhost/sms?hostaddr=192.0.2.7", SslMode::Require);
    check("postgres://hermod@db.example/sms?hostaddr=127.0.0.1", SslMode::Disable);
    check("postgres:///sms?user=hermod&hostaddr=127.0.0.1", SslMode::Disable);
    check("postgres:///sms?user=hermod&hostaddr=192.0.2.7&sslmode=disable", SslMode::Disable);
    check("postgres://db1,db2/sms?hostaddr=127.0.0.1,127.0.0.1", SslMode::Disable);
    check("postgres://db1,db2/sms?hostaddr=127.0.0.1,192.0.2.7", SslMode::Require);
    check("postgres://localhost,db2/sms", SslMode::Require);
}

#[test]
fn address_that_may_end_without_tls_is_rejected() {
    for (url, expect) in [
        ("postgres:///sms?user=hermod&hostaddr=192.0.2.7", "write host=NAME beside hostaddr"),
        ("postgres://hermod@db.example/sms?sslmode=prefer", "sslmode is require or disable"),
        ("postgres://hermod@localhost/sms?sslmode=prefer", "sslmode is require or disable"),
        // The second host would be connected to by its name.
        ("postgres://db1,db2/sms?hostaddr=127.0.0.1", "2 hosts have 1 addresses in hostaddr"),
        ("postgres://db1/sms?hostaddr=127.0.0.1,192.0.2.7", "1 hosts have 2 addresses in hostaddr"),
        // A password that looks like a parameter does not count as one.
        ("postgres://hermod:sslmode=@db.example/sms", "sslmode is require or disable"),
    ] {
        let refused = Server::parse(url).unwrap_err().to_string();
        assert!(refused.contains(expect), "{url}: {refused}");
    }
}

#[test]
fn server_lost_between_confirmation_and_answer_is_noticed_within_the_silence() {
    let config = Server::parse("postgres://hermod@localhost/sms").unwrap().config;
    let asked = config.get_keepalives_idle() + config.get_keepalives_interval().expect("set above");
    assert!(config.get_keepalives() && asked < SILENCE_MAX, "{asked:?}");
    assert_eq!(config.get_tcp_user_timeout(), Some(&SILENCE_MAX));
}

#[test]
fn standby_is_not_used_whatever_the_address_says() {
    let url = "postgres://hermod@localhost/sms?target_session_attrs=any";
    let config = Server::parse(url).unwrap().config;
    assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
}

#[test]
fn each_host_is_tried_with_the_same_settings() {
    let url = "postgres://hermod:x@db1.example:5433,db2.example:5434/sms?keepalives_idle=9&sslmode=require";
    let hosts = Server::parse(url).unwrap().hosts();
    let named = hosts.iter().map(|host| (host.get_hosts().to_vec(), host.get_ports().to_vec()));
    let expected = [("db1.example", 5433), ("db2.example", 5434)];
    assert_eq!(
        named.collect::<Vec<_>>(),
        expected.map(|(name, port)| (vec![Host::Tcp(name.to_owned())], vec![port]))
    );
    // All others are the same: with one host nothing is lost.
    for url in ["postgres://hermod:x@db.example/sms", "postgres:///sms?host=/run/postgresql&user=a&port=6"] {
        let Server { config, .. } = Server::parse(url).unwrap();
        assert_eq!(Server::parse(url).unwrap().hosts(), [config]);
    }
}

#[test]
fn address_is_shown_without_the_password() {
    let server = Server::parse("postgres://hermod:s3cret@db.example/sms").unwrap();
    assert_eq!(format!("{server:?}"), "Server(\"PostgreSQL sms on db.example\")");
}
