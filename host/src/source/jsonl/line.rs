//! One line: a JSON object with the three members of an event.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::event::InvalidEvent;

/// The longest line, in bytes, its line end not counted.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// What is wrong with a line that should hold an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// The line is longer than [`MAX_LINE_BYTES`].
    #[error("is longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// The bytes are not text.
    #[error("is not UTF-8")]
    NotUtf8,
    /// The text is not JSON; says why.
    #[error("is not JSON: {0}")]
    NotJson(String),
    /// The JSON is no object; says what it is.
    #[error("is {0}, not a JSON object")]
    NotAnObject(&'static str),
    /// A member that an event needs is missing.
    #[error("member {0:?} is missing")]
    Missing(&'static str),
    /// A member that an event needs stands in the object more than once.
    #[error("member {0:?} is given twice")]
    Twice(&'static str),
    /// A member that an event needs is no string.
    #[error("member {member:?} is {kind}, not a string")]
    NotText {
        /// The member's name.
        member: &'static str,
        /// What kind of value it has, with its article.
        kind: &'static str,
    },
    /// The event is outside the limits of the contract.
    #[error(transparent)]
    Invalid(#[from] InvalidEvent),
    /// More text stands behind an event that was delivered as the whole of its line.
    #[error("goes on behind the event that was delivered from it")]
    GoesOn,
}

/// What is wrong with a line, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    /// The column in characters, from 1, where one character is to blame.
    pub(super) column: Option<u64>,
    /// What is wrong.
    pub(super) problem: LineProblem,
}

impl From<LineProblem> for Flaw {
    fn from(problem: LineProblem) -> Self {
        Self { column: None, problem }
    }
}

/// The source event's id, the device id and the message.
pub(super) type Texts<'a> = [Cow<'a, str>; 3];

/// The texts of a line's event, or `None` of a blank one. The limits of an event are not checked.
pub(super) fn parse(line: &[u8]) -> Result<Option<Texts<'_>>, Flaw> {
    let text = std::str::from_utf8(line).map_err(|error| Flaw {
        column: Some(column(line, error.valid_up_to())),
        problem: LineProblem::NotUtf8,
    })?;
    if text.bytes().all(|byte| byte.is_ascii_whitespace()) {
        return Ok(None);
    }
    let members: Members<'_> = serde_json::from_str(text).map_err(|error| flaw(text, &error))?;
    if let Some(member) = members.twice {
        return Err(LineProblem::Twice(member).into());
    }
    Ok(Some([
        members.source_event_id.text("source_event_id")?,
        members.device_id.text("device_id")?,
        members.message.text("message")?,
    ]))
}

/// Why the parser refused the text: it is either no JSON, or JSON of another kind.
fn flaw(text: &str, error: &serde_json::Error) -> Flaw {
    let start = text.trim_ascii_start();
    let kind = match start.as_bytes().first() {
        Some(b'[') => Some("an array"),
        Some(b'"') => Some("a string"),
        Some(b't' | b'f') => Some("a boolean"),
        Some(b'n') => Some("null"),
        Some(b'-' | b'0'..=b'9') => Some("a number"),
        _ => None,
    };
    let Some(kind) = kind else { return syntax(text, error) };
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => LineProblem::NotAnObject(kind).into(),
        Err(error) => syntax(text, &error),
    }
}

fn syntax(text: &str, error: &serde_json::Error) -> Flaw {
    // The parser counts lines within what it was given, which is one line here, and ends its
    // message with that place.
    let (line, column_bytes) = (error.line(), error.column());
    let message = error.to_string();
    let place = format!(" at line {line} column {column_bytes}");
    let why = message.strip_suffix(&place).unwrap_or(&message).to_owned();
    Flaw {
        column: Some(column(text.as_bytes(), column_bytes.saturating_sub(1))),
        problem: LineProblem::NotJson(why),
    }
}

/// The column, in characters from 1, of the character at `index`.
fn column(line: &[u8], index: usize) -> u64 {
    let before = &line[..index.min(line.len())];
    let characters = before.iter().filter(|byte| !is_continuation(**byte)).count();
    // The index may stand within a character, whose first byte is then before it.
    let within = line.get(index).is_some_and(|byte| is_continuation(*byte));
    (characters + usize::from(!within)) as u64
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// The members of an event as they stand in the object.
#[derive(Default)]
struct Members<'a> {
    source_event_id: Value<'a>,
    device_id: Value<'a>,
    message: Value<'a>,
    /// The first member that came again.
    twice: Option<&'static str>,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Name {
    SourceEventId,
    DeviceId,
    Message,
    #[serde(other)]
    Other,
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Members::default();
        while let Some(name) = map.next_key()? {
            let (name, value) = match name {
                Name::SourceEventId => ("source_event_id", &mut members.source_event_id),
                Name::DeviceId => ("device_id", &mut members.device_id),
                Name::Message => ("message", &mut members.message),
                Name::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if !matches!(value, Value::Missing) {
                members.twice.get_or_insert(name);
            }
            *value = map.next_value()?;
        }
        Ok(members)
    }
}

/// The value of a member.
#[derive(Default)]
enum Value<'a> {
    #[default]
    Missing,
    /// Borrowed from the line, unless something in it is escaped.
    Text(Cow<'a, str>),
    /// Something else; says what kind, with its article.
    Other(&'static str),
}

impl<'a> Value<'a> {
    fn text(self, member: &'static str) -> Result<Cow<'a, str>, LineProblem> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Other(kind) => Err(LineProblem::NotText { member, kind }),
            Self::Missing => Err(LineProblem::Missing(member)),
        }
    }
}

impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Other("null"))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value<'de>, E> {
        Ok(Value::Other("a boolean"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Value<'de>, E> {
        Ok(Value::Other("a number"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value<'de>, E> {
        Ok(Value::Other("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value<'de>, E> {
        Ok(Value::Other("a number"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value<'de>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Other("an array"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Other("an object"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::event::{Alert, Event};

    fn line(id: &str, device: &str, message: &str) -> Vec<u8> {
        format!(r#"{{"source_event_id":"{id}","device_id":"{device}","message":"{message}"}}"#)
            .into_bytes()
    }

    /// The event of a line, its limits checked.
    fn event(line: &[u8]) -> Result<Option<Event>, Flaw> {
        let Some([id, device, message]) = parse(line)? else { return Ok(None) };
        let event = Event::new(Alert::new(&id, &device, &message));
        Ok(Some(event.map_err(LineProblem::from)?))
    }

    /// Parses `line` and compares the flaw as `column: problem`.
    #[track_caller]
    fn check(line: impl AsRef<[u8]>, expected: &str) {
        let Flaw { column, problem } = event(line.as_ref()).unwrap_err();
        let shown = match column {
            Some(column) => format!("{column}: {problem}"),
            None => problem.to_string(),
        };
        assert_eq!(shown, expected, "{}", String::from_utf8_lossy(line.as_ref()));
    }

    #[track_caller]
    fn check_event(line: impl AsRef<[u8]>, id: &str, device: &str, message: &str) {
        let event = event(line.as_ref()).unwrap().unwrap();
        assert_eq!(event.alert().texts(), [id, device, message]);
    }

    #[test]
    fn an_event_is_read_byte_for_byte() {
        check_event(line("a", "b", "c"), "a", "b", "c");
        check_event(line(" a ", "", ""), " a ", "", "");
        check_event(line("a", "b", r#"\"x\" \\ \n \ud83d\ude00 é"#), "a", "b", "\"x\" \\ \n 😀 é");
        // The same letter composed and decomposed stays as it came.
        check_event(line("\u{e9}", "e\u{301}", ""), "\u{e9}", "e\u{301}", "");
    }

    #[test]
    fn members_come_in_any_order_among_others_that_are_not_read() {
        check_event(
            r#" {"at":[1,{"message":2}],"message":"m","x":"\ud800","device_id":"d",
                "x":null,"source_event_id":"i"} "#
                .replace('\n', ""),
            "i",
            "d",
            "m",
        );
        check_event(r#"{"s\u006furce_event_id":"i","device_id":"d","message":"m"}"#, "i", "d", "m");
        // Nesting that is not read costs no stack.
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        check_event(
            format!(r#"{{"x":{deep},"source_event_id":"i","device_id":"d","message":"m"}}"#),
            "i",
            "d",
            "m",
        );
    }

    #[test]
    fn blank_lines_hold_no_event() {
        for blank in ["", " ", "\t \r", "\r"] {
            assert_eq!(parse(blank.as_bytes()), Ok(None), "{blank:?}");
        }
    }

    #[test]
    fn text_that_is_not_json_is_refused_with_its_column() {
        check("hello", "1: is not JSON: expected value");
        check("{'a':1}", "2: is not JSON: key must be a string");
        check(r#"{"source_event_id":"a""#, "22: is not JSON: EOF while parsing an object");
        check(r#"{"é":"é",}"#, "10: is not JSON: trailing comma");
        check([&line("a", "b", "c")[..], b" {}"].concat(), "55: is not JSON: trailing characters");
        check([&line("a", "b", "c")[..], b"\0"].concat(), "54: is not JSON: trailing characters");
        check("[1,", "3: is not JSON: EOF while parsing a value");
        check("nul", "3: is not JSON: EOF while parsing a value");
        check("\u{a0}", "1: is not JSON: expected value");
    }

    #[test]
    fn text_that_is_not_unicode_is_refused_with_its_column() {
        check(b"{\"\xc3\xa9\xff", "4: is not UTF-8");
        check(line("a", "b", r"\ud800"), "57: is not JSON: unexpected end of hex escape");
        check(line("a", "b", r"\udc00"), "56: is not JSON: lone leading surrogate in hex escape");
        check(b"\xff\xfe{\0}\0", "1: is not UTF-8");
        check(
            line("a\u{1}", "b", "c"),
            "22: is not JSON: control character (\\u0000-\\u001F) found while parsing a string",
        );
    }

    #[test]
    fn json_that_is_not_an_object_is_refused() {
        check("[]", "is an array, not a JSON object");
        check(r#" ["a","b","c"] "#, "is an array, not a JSON object");
        check(r#""text""#, "is a string, not a JSON object");
        check("17", "is a number, not a JSON object");
        check("-0.5", "is a number, not a JSON object");
        check("true", "is a boolean, not a JSON object");
        check("null", "is null, not a JSON object");
    }

    #[test]
    fn each_member_is_required_once_and_as_a_string() {
        check("{}", r#"member "source_event_id" is missing"#);
        check(r#"{"source_event_id":"a"}"#, r#"member "device_id" is missing"#);
        check(r#"{"source_event_id":"a","device_id":"b"}"#, r#"member "message" is missing"#);
        check(
            r#"{"source_event_id":"a","device_id":"b","message":"c","Message":"c","device_id":"b"}"#,
            r#"member "device_id" is given twice"#,
        );
        for (value, kind) in [
            ("null", "null"),
            ("false", "a boolean"),
            ("7", "a number"),
            ("-7", "a number"),
            ("7.5", "a number"),
            ("[\"a\"]", "an array"),
            (r#"{"message":"c"}"#, "an object"),
        ] {
            check(
                format!(r#"{{"source_event_id":"a","device_id":"b","message":{value}}}"#),
                &format!(r#"member "message" is {kind}, not a string"#),
            );
        }
    }

    #[test]
    fn an_event_outside_the_limits_is_refused() {
        check(line("", "b", "c"), "source_event_id is empty; an event needs an id");
        check(
            line(&"a".repeat(1_025), "b", "c"),
            "source_event_id has 1025 bytes; at most 1024 are allowed",
        );
        check(
            line("a", "b", r"\u0000"),
            "message holds a NUL character, which not every store can keep",
        );
    }
}
