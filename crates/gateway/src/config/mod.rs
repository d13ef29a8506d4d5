//! The gateway's settings: typed sections, defaults in `default.toml`, and errors that name file, line and key. No
//! other code reads settings.

mod log_level;
mod sections;
mod source;
mod store_address;
#[cfg(test)]
mod tests;
mod values;

pub use log_level::level_filter;
pub use sections::{
    AlarmsSection, DataSection, HttpSection, HttpsSection, LogFormat, LogSection, MailSection, MailTls,
    MessagesSection, NodeSection, NotifySection, OperationsSection, OperatorSection, PortalSection,
    ProvisionSection, RecordSection, RetentionSection, ShutdownSection, SmppSection, WebhooksSection,
};
pub use source::{FileError, Source};
pub use store_address::StoreAddress;
pub use values::{Bytes, IpNetwork, Period};

use hermod_domain::catalogue::SYSTEM_ID_CHARS_MAX;
use hermod_domain::webhook::url::WebhookUrl;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

/// Enough for a message_payload of 65,535 octets and the other fields.
const PDU_BYTES_MAX: u64 = 70_000;

/// The most retries of a webhook.
const WEBHOOK_RETRIES_MAX: usize = 20;

/// The defaults, with comments.
pub const DEFAULT_TOML: &str = include_str!("default.toml");

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub data: DataSection,
    pub node: NodeSection,
    pub http: HttpSection,
    pub https: HttpsSection,
    pub smpp: SmppSection,
    pub shutdown: ShutdownSection,
    pub operations: OperationsSection,
    pub operator: OperatorSection,
    pub messages: MessagesSection,
    pub webhooks: WebhooksSection,
    pub retention: RetentionSection,
    pub record: RecordSection,
    pub portal: PortalSection,
    pub mail: MailSection,
    pub alarms: AlarmsSection,
    pub log: LogSection,
    pub provision: ProvisionSection,
}

impl Config {
    /// Returns the settings without a file.
    pub fn defaults() -> Config {
        let source = Source { path: "default.toml".into(), text: DEFAULT_TOML.to_owned() };
        source.parse().expect("the embedded defaults are settings: a test reads them")
    }

    pub fn load(path: &Path) -> Result<Config, FileError> {
        let mut config = Config::parse(&Source::read(path)?)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        config.data.folder = folder.join(&config.data.folder);
        let Config { data, provision, https, smpp, operations, operator, webhooks, mail, alarms, .. } =
            &mut config;
        let certificates = [&mut https.certificate, &mut https.key, &mut smpp.certificate, &mut smpp.key];
        let named =
            certificates.into_iter().chain([&mut provision.file, &mut operator.token_file, &mut webhooks.ca]);
        let named = named.chain([&mut mail.ca, &mut mail.password_file, &mut data.pepper_file]);
        let named =
            named.chain([&mut alarms.notify.secret_file, &mut operations.certificate, &mut operations.key]);
        for file in named {
            *file = file.take().map(|file| folder.join(file));
        }
        Ok(config)
    }

    pub fn parse(source: &Source) -> Result<Config, FileError> {
        let config: Config = source.parse_over(DEFAULT_TOML)?;
        match config.check() {
            Ok(()) => Ok(config),
            Err((key, sentence)) => Err(source.blame_key(key, sentence)),
        }
    }

    /// Returns the settings in effect as TOML. They contain no secrets.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("settings that were read can be written")
    }

    /// Returns the first invalid setting, and why.
    fn check(&self) -> Checked {
        let Config {
            data,
            node,
            http,
            https,
            smpp,
            shutdown,
            operations,
            operator,
            messages,
            webhooks,
            retention,
            record,
            portal,
            mail,
            alarms,
            log,
            provision,
        } = self;
        let OperatorSection { token_file: _, from_anywhere } = operator;
        let DataSection { folder, store, pepper_file: _, low_water } = data;
        let MessagesSection { validity, in_doubt_wait } = messages;
        let RecordSection { enabled: _ } = record;
        let PortalSection { enabled: _, url } = portal;
        if let Some(url) = url {
            check_url(url)?;
        }
        let LogSection { format: _, level } = log;
        let ProvisionSection { file: _ } = provision;
        if folder.as_os_str().is_empty() {
            return Err(("data.folder", "is empty; name a folder".to_owned()));
        }
        check_node(node, store)?;
        store.server().map_err(|error| ("data.store", error.to_string()))?;
        within("data.low_water", *low_water, Bytes(16 << 20), Bytes(1 << 40))?;
        check_http(http)?;
        check_https(https)?;
        check_smpp(smpp, https)?;
        check_operations(operations, *from_anywhere)?;
        check_listeners(&[
            ("http.listen", Some(http.listen)),
            ("https.listen", https.listen),
            ("smpp.listen", smpp.wanted_plain()),
            ("smpp.tls_listen", smpp.tls_listen),
            ("operations.listen", operations.listen),
            ("node.listen", node.listen),
        ])?;
        let (none, minutes) = (Period::from_secs(0), Period::from_secs(300));
        within("shutdown.announce", shutdown.announce, none, minutes)?;
        within("shutdown.linger", shutdown.linger, none, minutes)?;
        within("messages.validity", *validity, Period::from_secs(60), Period::from_secs(72 * 3600))?;
        within("messages.in_doubt_wait", *in_doubt_wait, Period::from_secs(0), Period::from_secs(24 * 3600))?;
        check_webhooks(webhooks)?;
        check_retention(retention)?;
        check_mail(mail)?;
        check_notify(&alarms.notify, mail)?;
        level_filter(level).map_err(|sentence| ("log.level", sentence))?;
        Ok(())
    }
}

/// The key of an invalid setting, and why.
type Checked = Result<(), (&'static str, String)>;

/// The most characters of a node's name.
const NODE_NAME_MAX: usize = 40;

fn check_node(node: &NodeSection, store: &StoreAddress) -> Checked {
    let NodeSection { name, listen, address: _ } = node;
    let is_name = |name: &String| {
        let is_plain = |octet: u8| octet.is_ascii_alphanumeric() || b"-_.".contains(&octet);
        !name.is_empty() && name.len() <= NODE_NAME_MAX && name.bytes().all(is_plain)
    };
    match (name, listen) {
        (None, None) => Ok(()),
        _ if *store == StoreAddress::Embedded => {
            Err(("node.listen", "several nodes need a PostgreSQL server: set `store` in [data]".to_owned()))
        }
        (Some(name), Some(_)) if is_name(name) => Ok(()),
        (Some(_), Some(_)) => {
            let sentence = format!("has 1 to {NODE_NAME_MAX} letters, digits, hyphens, dots or underscores");
            Err(("node.name", sentence))
        }
        (None, Some(_)) => Err(("node.name", "is missing; each node needs a name of its own".to_owned())),
        (Some(_), None) => Err(("node.listen", "is missing; the other nodes connect to it".to_owned())),
    }
}

/// Checks that no two listeners need the same port of one address. With port 0 each gets a free one.
fn check_listeners(listeners: &[(&'static str, Option<SocketAddr>)]) -> Checked {
    let mut earlier: Vec<(&'static str, SocketAddr)> = Vec::new();
    for (key, listen) in listeners {
        let Some(address) = listen.filter(|address| address.port() != 0) else { continue };
        if let Some((other, _)) = earlier.iter().find(|(_, known)| collide(*known, address)) {
            let sentence =
                format!("{address} has the port of {other}; each listener needs a port of its own");
            return Err((*key, sentence));
        }
        earlier.push((*key, address));
    }
    Ok(())
}

/// Whether only one of two listeners can be opened. `0.0.0.0` takes the port of every IPv4 address, `[::]` that of every address.
fn collide(one: SocketAddr, other: SocketAddr) -> bool {
    let (one_ip, other_ip) = (one.ip().to_canonical(), other.ip().to_canonical());
    let covers = |wide: IpAddr, ip: IpAddr| {
        wide.is_unspecified() && (wide.is_ipv6() || wide.is_ipv4() == ip.is_ipv4())
    };
    one.port() == other.port() && (one_ip == other_ip || covers(one_ip, other_ip) || covers(other_ip, one_ip))
}

/// Checks the public address of the portal.
fn check_url(url: &str) -> Checked {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let is_valid = rest.is_some_and(|host| {
        !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:[]".contains(&b))
    });
    if is_valid {
        return Ok(());
    }
    Err(("portal.url", "is not an address such as \"https://sms.example.com\", without a path".to_owned()))
}

fn check_http(http: &HttpSection) -> Checked {
    let HttpSection {
        listen,
        allow_plain,
        trusted_proxies,
        proxy_protocol_from,
        max_connections,
        max_connections_per_address,
        max_half_open_per_address,
        max_body_memory,
        failed_sign_ins,
        head_timeout,
        body_timeout,
        idle_timeout,
        drain_timeout,
    } = http;
    let has_proxies = !trusted_proxies.is_empty() || !proxy_protocol_from.is_empty();
    let guarded = listen.ip().to_canonical().is_loopback() || has_proxies;
    if !guarded && !allow_plain {
        let sentence = format!(
            "{listen} can be reached from other machines, and plain HTTP exposes API secrets; listen on 127.0.0.1, use \
             [https], list the proxies that terminate TLS in trusted_proxies or proxy_protocol_from, or set \
             allow_plain = true on a private network"
        );
        return Err(("http.listen", sentence));
    }
    within("http.max_connections", *max_connections, 1, 1_000_000)?;
    within("http.max_connections_per_address", *max_connections_per_address, 1, 1_000_000)?;
    within("http.max_half_open_per_address", *max_half_open_per_address, 1, 1_000_000)?;
    within("http.max_body_memory", *max_body_memory, Bytes(8 << 20), Bytes(1 << 40))?;
    within("http.failed_sign_ins", *failed_sign_ins, 1, 60_000)?;
    let (second, hour) = (Period::from_secs(1), Period::from_secs(3600));
    within("http.head_timeout", *head_timeout, second, hour)?;
    within("http.body_timeout", *body_timeout, second, hour)?;
    within("http.idle_timeout", *idle_timeout, second, hour)?;
    within("http.drain_timeout", *drain_timeout, second, hour)
}

fn check_https(https: &HttpsSection) -> Checked {
    let HttpsSection { listen, certificate, key, handshake_timeout } = https;
    let given = [
        ("https.listen", listen.is_some()),
        ("https.certificate", certificate.is_some()),
        ("https.key", key.is_some()),
    ];
    if given.iter().any(|(_, given)| *given)
        && let Some((missing, _)) = given.iter().find(|(_, given)| !given)
    {
        return Err((missing, "is missing; TLS needs listen, certificate and key".to_owned()));
    }
    within("https.handshake_timeout", *handshake_timeout, Period::from_secs(1), Period::from_secs(3600))
}

/// Without TLS the token of an operator at another machine is readable on the network.
fn check_operations(operations: &OperationsSection, from_anywhere: bool) -> Checked {
    let OperationsSection { listen, certificate, key, allow, account_metrics: _ } = operations;
    let is_used = certificate.is_some() || key.is_some() || !allow.is_empty();
    if is_used && listen.is_none() {
        let sentence = "is missing; certificate, key and allow are those of this listener".to_owned();
        return Err(("operations.listen", sentence));
    }
    match (certificate, key) {
        (Some(_), None) => {
            return Err(("operations.key", "is missing; a certificate needs a key".to_owned()));
        }
        (None, Some(_)) => {
            return Err(("operations.certificate", "is missing; a key needs a certificate".to_owned()));
        }
        (Some(_), Some(_)) => return Ok(()),
        (None, None) => {}
    }
    if !allow.is_empty() && !from_anywhere {
        let sentence = "needs a certificate and a key, because tokens would be sent unencrypted; on a private network set \
                        [operator] from_anywhere = true instead";
        return Err(("operations.allow", sentence.to_owned()));
    }
    Ok(())
}

fn check_smpp(smpp: &SmppSection, https: &HttpsSection) -> Checked {
    let SmppSection { listen: _, allow_plain: _, tls_listen, certificate, key, trusted_proxies: _, .. } =
        smpp;
    match (certificate, key) {
        (Some(_), None) => return Err(("smpp.key", "is missing; a certificate needs a key".to_owned())),
        (None, Some(_)) => {
            return Err(("smpp.certificate", "is missing; a key needs a certificate".to_owned()));
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
    if tls_listen.is_some() && smpp.wanted_tls(https).is_none() {
        let sentence = "needs a certificate and a key, here or in [https]".to_owned();
        return Err(("smpp.tls_listen", sentence));
    }
    let plain = smpp.system_id.bytes().all(|b| b.is_ascii_graphic());
    if !plain || !(1..=SYSTEM_ID_CHARS_MAX).contains(&smpp.system_id.len()) {
        let sentence = format!("must have 1 to {SYSTEM_ID_CHARS_MAX} ASCII characters without spaces");
        return Err(("smpp.system_id", sentence));
    }
    within("smpp.max_sessions", smpp.max_sessions, 1, 1_000_000)?;
    within("smpp.max_sessions_per_address", smpp.max_sessions_per_address, 1, 1_000_000)?;
    within("smpp.max_half_open_per_address", smpp.max_half_open_per_address, 1, 1_000_000)?;
    within("smpp.max_pdu", smpp.max_pdu, Bytes(1024), Bytes(PDU_BYTES_MAX))?;
    within("smpp.bind_attempts", smpp.bind_attempts, 1, 60_000)?;
    within("smpp.bind_attempts_per_system_id", smpp.bind_attempts_per_system_id, 1, 60_000)?;
    for (key, period) in [
        ("smpp.handshake_timeout", smpp.handshake_timeout),
        ("smpp.bind_timeout", smpp.bind_timeout),
        ("smpp.pdu_timeout", smpp.pdu_timeout),
        ("smpp.idle_timeout", smpp.idle_timeout),
        ("smpp.response_timeout", smpp.response_timeout),
        ("smpp.write_timeout", smpp.write_timeout),
        ("smpp.unbind_timeout", smpp.unbind_timeout),
    ] {
        within(key, period, Period::from_secs(1), Period::from_secs(3600))?;
    }
    Ok(())
}

fn check_webhooks(webhooks: &WebhooksSection) -> Checked {
    let WebhooksSection { allow_http: _, allow: _, ca: _, connect_timeout, timeout, retries, max_posts } =
        webhooks;
    let (least, most) = (Period(Duration::from_millis(100)), Period::from_secs(60));
    within("webhooks.connect_timeout", *connect_timeout, least, most)?;
    within("webhooks.timeout", *timeout, least, most)?;
    if retries.len() > WEBHOOK_RETRIES_MAX {
        return Err(("webhooks.retries", format!("must have at most {WEBHOOK_RETRIES_MAX} waits")));
    }
    for wait in retries {
        within("webhooks.retries", *wait, Period(Duration::from_millis(1)), Period::from_secs(7 * 86_400))?;
    }
    within("webhooks.max_posts", *max_posts, 2, 100_000)
}

/// A server needs a sender, and a password needs a user and an encrypted connection.
fn check_mail(mail: &MailSection) -> Checked {
    let MailSection { server, port: _, tls, ca: _, user, password_file, sender } = mail;
    let Some(server) = server else { return Ok(()) };
    let is_host =
        !server.is_empty() && server.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:".contains(&b));
    if !is_host {
        return Err(("mail.server", "is not a host such as \"smtp.example.com\", without a port".to_owned()));
    }
    let sender = sender.as_deref().ok_or(("mail.sender", "is missing; mails need an address".to_owned()))?;
    if !is_mail_address(sender) {
        return Err(("mail.sender", "is not an e-mail address such as \"sms@example.com\"".to_owned()));
    }
    if user.as_deref().is_some_and(|user| user.is_empty() || user.contains(char::is_control)) {
        return Err(("mail.user", "is empty or has control characters".to_owned()));
    }
    if password_file.is_some() && user.is_none() {
        return Err(("mail.user", "is missing; a password needs a user".to_owned()));
    }
    let is_near = ["localhost", "127.0.0.1", "::1"].contains(&server.as_str());
    if user.is_some() && *tls == MailTls::None && !is_near {
        return Err(("mail.tls", "is \"none\", which would send the password unencrypted".to_owned()));
    }
    Ok(())
}

fn is_mail_address(text: &str) -> bool {
    let is_plain = text.bytes().all(|b| b.is_ascii_graphic() && !b"<>()[],;:\\\"".contains(&b));
    is_plain && text.split('@').filter(|part| !part.is_empty()).count() == 2
}

/// The most addresses that alarms are mailed to: each of them is a mail.
const NOTIFIED_MAX: usize = 10;
/// The most words of a command.
const COMMAND_WORDS_MAX: usize = 50;

/// Mail needs a server, and a command the whole path of a program.
fn check_notify(notify: &NotifySection, mail: &MailSection) -> Checked {
    let NotifySection { mail: addresses, webhook, secret_file, command, quiet, least: _ } = notify;
    if !addresses.is_empty() && mail.server.is_none() {
        return Err(("alarms.notify.mail", "needs a mail server: set `server` in [mail]".to_owned()));
    }
    if addresses.len() > NOTIFIED_MAX {
        return Err(("alarms.notify.mail", format!("must have at most {NOTIFIED_MAX} addresses")));
    }
    if let Some(address) = addresses.iter().find(|address| !is_mail_address(address)) {
        return Err(("alarms.notify.mail", format!("\"{address}\" is not an e-mail address")));
    }
    if let Some(Err(refusal)) = webhook.as_deref().map(WebhookUrl::parse) {
        return Err(("alarms.notify.webhook", format!("is not a URL that can be called: {refusal}")));
    }
    if secret_file.is_some() && webhook.is_none() {
        return Err(("alarms.notify.webhook", "is missing; a secret needs a URL".to_owned()));
    }
    if command.first().is_some_and(|program| !program.starts_with('/')) {
        let sentence = "must begin with the whole path of a program, such as [\"/usr/local/bin/page\"]";
        return Err(("alarms.notify.command", sentence.to_owned()));
    }
    if command.len() > COMMAND_WORDS_MAX || command.iter().any(|word| word.contains('\0')) {
        let sentence = format!("must have at most {COMMAND_WORDS_MAX} words, without the character 0");
        return Err(("alarms.notify.command", sentence));
    }
    within("alarms.notify.quiet", *quiet, Period::from_secs(0), Period::from_secs(7 * 86_400))
}

/// A text must be kept longer than any delivery attempt, and a record longer than its text, receipts and undelivered
/// events.
fn check_retention(retention: &RetentionSection) -> Checked {
    let RetentionSection { text, messages, idempotency_keys, inbound, requests } = retention;
    let days = |days: u64| Period::from_secs(days * 86_400);
    within("retention.text", *text, days(7), days(3_650))?;
    within("retention.messages", *messages, days(60), days(3_650))?;
    if messages < text {
        return Err(("retention.messages", format!("{messages} is shorter than text, which is {text}")));
    }
    if let Some(keys) = idempotency_keys {
        within("retention.idempotency_keys", *keys, days(1), days(3_650))?;
        if keys > messages {
            let why = format!("{keys} is longer than messages, which is {messages}");
            return Err(("retention.idempotency_keys", why));
        }
    }
    within("retention.inbound", *inbound, days(30), days(3_650))?;
    within("retention.requests", *requests, days(1), days(3_650))
}

fn within<T: PartialOrd + Display>(key: &'static str, value: T, least: T, most: T) -> Checked {
    if (&least..=&most).contains(&&value) {
        return Ok(());
    }
    Err((key, format!("{value} is not between {least} and {most}")))
}
