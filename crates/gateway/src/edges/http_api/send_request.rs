//! Parses the JSON body of `POST /sms` strictly (no duplicate keys, valid UTF-8, nothing after the end) into a
//! submission. Unknown fields are ignored, but must be valid JSON without duplicate keys too. A known name in another
//! spelling is rejected: ignoring a misspelt idempotency key could charge a message twice.

use hermod_domain::phone::{Msisdn, PhoneRefusal};
use hermod_domain::refusal::Refusal;
use hermod_domain::sender::{Sender, SenderRefusal};
use hermod_domain::submission::{IdempotencyKey, KEY_BYTES_MAX, Submission};
use hermod_domain::text::MessageText;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

pub(super) const KEY_TOO_LONG: &str = "it must have at most 255 bytes";

/// The fields of a request, borrowed from the body where they have no escapes.
#[derive(Debug, Default)]
pub(super) struct SendRequest<'a> {
    to: Option<Given<'a>>,
    from: Option<Given<'a>>,
    text: Option<Given<'a>>,
    idempotency_key: Option<Given<'a>>,
}

enum Given<'a> {
    Null,
    Text(Cow<'a, str>),
    /// A number, a boolean, an array or an object.
    NotText,
}

/// Prints no message text and no phone number.
impl fmt::Debug for Given<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Given::Null => f.write_str("Null"),
            Given::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Given::NotText => f.write_str("NotText"),
        }
    }
}

impl<'a> SendRequest<'a> {
    pub(super) fn parse(body: &'a [u8]) -> Result<SendRequest<'a>, Refusal> {
        let text = str::from_utf8(body).map_err(|_| Refusal::InvalidJson("it is not UTF-8".into()))?;
        // Checked here, because the parser's error would quote the value, however long.
        if !text.trim_ascii_start().starts_with('{') {
            return Err(Refusal::InvalidJson("it does not begin with {".into()));
        }
        serde_json::from_str(text).map_err(|error| Refusal::InvalidJson(error.to_string().into()))
    }

    /// Returns `None` also for null and the empty string.
    pub(super) fn idempotency_key(&self) -> Result<Option<&str>, Refusal> {
        text_of(self.idempotency_key.as_ref(), || not_a_string("idempotency_key"))
    }

    pub(super) fn recipient(&self) -> Result<Msisdn, Refusal> {
        let to = text_of(self.to.as_ref(), || PhoneRefusal::NotText.into())?;
        Ok(Msisdn::parse(to.ok_or(Refusal::MissingField("to"))?)?)
    }

    pub(super) fn submission(&self, key: Option<IdempotencyKey>) -> Result<Submission, Refusal> {
        let to = self.recipient()?;
        let from = text_of(self.from.as_ref(), || SenderRefusal::NotText.into())?;
        let from = from.map(Sender::parse).transpose()?;
        let text = text_of(self.text.as_ref(), || not_a_string("text"))?;
        let text = MessageText::parse(text.ok_or(Refusal::MissingField("text"))?)?;
        // The field is checked even if the header takes precedence.
        if self.idempotency_key()?.is_some_and(|key| key.len() > KEY_BYTES_MAX) {
            return Err(Refusal::InvalidField { field: "idempotency_key", rule: KEY_TOO_LONG });
        }
        Ok(Submission { key, ..Submission::plain(to, from, text) })
    }
}

/// Treats absent, null and empty alike.
fn text_of<'a>(
    given: Option<&'a Given<'_>>,
    refusal: impl FnOnce() -> Refusal,
) -> Result<Option<&'a str>, Refusal> {
    match given {
        None | Some(Given::Null) => Ok(None),
        Some(Given::Text(text)) => Ok(Some(text.as_ref()).filter(|text| !text.is_empty())),
        Some(Given::NotText) => Err(refusal()),
    }
}

fn not_a_string(field: &str) -> Refusal {
    Refusal::InvalidJson(format!("`{field}` must be a string").into())
}

impl<'de: 'a, 'a> Deserialize<'de> for SendRequest<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SendRequest<'a>, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = SendRequest<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SendRequest<'de>, A::Error> {
        let mut request = SendRequest::default();
        let mut unknown = HashSet::new();
        while let Some(Key(key)) = map.next_key()? {
            let field = match key.as_ref() {
                "to" => &mut request.to,
                "from" => &mut request.from,
                "text" => &mut request.text,
                "idempotency_key" => &mut request.idempotency_key,
                _ => {
                    if let Some(meant) = misspelt(&key) {
                        return Err(A::Error::custom(format_args!(
                            "a field is spelt almost like `{meant}`; write it exactly `{meant}`"
                        )));
                    }
                    see(&mut unknown, key)?;
                    map.next_value::<Ignored>()?;
                    continue;
                }
            };
            if field.is_some() {
                return Err(given_twice());
            }
            *field = Some(map.next_value()?);
        }
        Ok(request)
    }
}

const NAMES: [&str; 4] = ["to", "from", "text", "idempotency_key"];

/// Returns the known name that differs from an unknown one only in case, hyphens or underscores.
fn misspelt(name: &str) -> Option<&'static str> {
    let letters = |name: &'static str| name.bytes().filter(|byte| *byte != b'_');
    let given =
        || name.bytes().filter(|byte| !matches!(byte, b'-' | b'_')).map(|byte| byte.to_ascii_lowercase());
    NAMES.into_iter().find(|known| given().eq(letters(known)))
}

fn see<'de, E: Error>(seen: &mut HashSet<Cow<'de, str>>, key: Cow<'de, str>) -> Result<(), E> {
    if seen.insert(key) { Ok(()) } else { Err(given_twice()) }
}

fn given_twice<E: Error>() -> E {
    E::custom("a key is given twice")
}

struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Key<'a>, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }
            fn visit_str<E: Error>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Given<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Given<'a>, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

/// The value of an unknown field, parsed because duplicate keys and invalid strings inside it are errors too.
struct Ignored;

impl<'de> Deserialize<'de> for Ignored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ignored, D::Error> {
        deserializer.deserialize_any(AnyValue).map(|_| Ignored)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Given<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Given<'de>, E> {
        Ok(Given::Null)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Given<'de>, E> {
        Ok(Given::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Given<'de>, E> {
        Ok(Given::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Given<'de>, E> {
        Ok(Given::NotText)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Given<'de>, E> {
        Ok(Given::NotText)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Given<'de>, E> {
        Ok(Given::NotText)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Given<'de>, E> {
        Ok(Given::NotText)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Given<'de>, A::Error> {
        while seq.next_element::<Ignored>()?.is_some() {}
        Ok(Given::NotText)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Given<'de>, A::Error> {
        let mut seen = HashSet::new();
        while let Some(Key(key)) = map.next_key()? {
            see(&mut seen, key)?;
            map.next_value::<Ignored>()?;
        }
        Ok(Given::NotText)
    }
}

#[cfg(test)]
#[path = "send_request_tests.rs"]
mod tests;
