//! What is delivered in a check: events whose texts follow from a short name.
//!
//! `A` is a plain event; `A/quotes`, `17/id-255/message-65535` are events with unlikely texts. The
//! name says everything, so that a schedule in text form can be played again anywhere.

use std::fmt;
use std::sync::Arc;

use crate::event::{
    Alert, Event, InvalidEvent, MAX_DEVICE_ID_BYTES, MAX_ID_BYTES, MAX_MESSAGE_BYTES,
};

/// An event of a check.
#[derive(Clone)]
pub struct Subject(Arc<Inner>);

struct Inner {
    label: String,
    shapes: Vec<Shape>,
    event: Event,
}

/// Something that makes an event's texts unlikely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    /// All three texts are altered in this way.
    Texture(Texture),
    /// The id is the label alone: one byte, where the label is.
    Bare,
    /// The device id is empty.
    EmptyDevice,
    /// The message is empty.
    EmptyMessage,
    /// The id has this many bytes.
    Id(usize),
    /// The device id has this many bytes.
    Device(usize),
    /// The message has this many bytes.
    Message(usize),
}

/// Ways in which a text can be unlikely.
///
/// Each alters the text in a way that careless handling undoes or mistakes for another text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Texture {
    Longer,
    Quotes,
    Backslashes,
    Markup,
    Newline,
    Crlf,
    Tab,
    LeadingBlank,
    TrailingBlank,
    Upper,
    Lower,
    Composed,
    Decomposed,
    Ligature,
    Astral,
    RightToLeft,
    ByteOrderMark,
    Control,
    Replacement,
    Encoded,
    Wide,
    Number,
    Uuid,
}

impl Texture {
    /// Every texture with its name.
    pub(crate) const ALL: [(Self, &str); 23] = [
        (Self::Longer, "longer"),
        (Self::Quotes, "quotes"),
        (Self::Backslashes, "backslashes"),
        (Self::Markup, "markup"),
        (Self::Newline, "newline"),
        (Self::Crlf, "crlf"),
        (Self::Tab, "tab"),
        (Self::LeadingBlank, "leading-blank"),
        (Self::TrailingBlank, "trailing-blank"),
        (Self::Upper, "upper"),
        (Self::Lower, "lower"),
        (Self::Composed, "composed"),
        (Self::Decomposed, "decomposed"),
        (Self::Ligature, "ligature"),
        (Self::Astral, "astral"),
        (Self::RightToLeft, "right-to-left"),
        (Self::ByteOrderMark, "byte-order-mark"),
        (Self::Control, "control"),
        (Self::Replacement, "replacement"),
        (Self::Encoded, "encoded"),
        (Self::Wide, "wide"),
        (Self::Number, "number"),
        (Self::Uuid, "uuid"),
    ];

    fn alter(self, text: &str) -> String {
        match self {
            // The unaltered text is a prefix of it.
            Self::Longer => format!("{text}0"),
            Self::Quotes => format!("\"{text}' `{text}\"\""),
            Self::Backslashes => format!("\\{text}\\n\\u0041 %s %d ${{{text}}}"),
            Self::Markup => format!("<{text}>&amp;</{text}> ');--"),
            Self::Newline => format!("{text}\n\n{text}\n"),
            Self::Crlf => format!("{text}\r\n{text}\r"),
            Self::Tab => format!("\t{text}\t"),
            Self::LeadingBlank => format!("  {text}"),
            Self::TrailingBlank => format!("{text} "),
            Self::Upper => text.to_uppercase(),
            Self::Lower => text.to_lowercase(),
            Self::Composed => format!("{text} \u{e9}\u{c5}\u{ac00}"),
            Self::Decomposed => format!("{text} e\u{301}A\u{30a}\u{1100}\u{1161}"),
            Self::Ligature => format!("{text} \u{fb01}\u{2460}\u{ff21}\u{212b}"),
            Self::Astral => format!("\u{1f4a5}{text}\u{1d518}\u{10fffd}"),
            Self::RightToLeft => format!("\u{202e}{text}\u{200f}\u{5d0}\u{202c}"),
            Self::ByteOrderMark => format!("\u{feff}{text}\u{200b}\u{a0}"),
            Self::Replacement => format!("{text}\u{fffd}\u{200d}\u{fe0f}\u{fffe}\u{b}\u{c}"),
            Self::Encoded => format!("{text}%41+%2F=3D&#65;"),
            // Longer than a small buffer, and no multiple of three bytes.
            Self::Wide => format!("{text}{}", "\u{20ac}".repeat(150)),
            Self::Number => format!("00{}", digits(text, 17)),
            Self::Uuid => format!("{}-00AB-4CDE-8F00-00000000ABCD", digits(text, 8)),
            Self::Control => format!("{text}\u{1}\u{1b}[0m\u{7f}\u{85}\u{2028}"),
        }
    }
}

/// So many digits, which follow from the end of the text.
fn digits(text: &str, count: usize) -> String {
    let all: String = text.bytes().map(|byte| format!("{byte:03}")).collect();
    let start = all.len().saturating_sub(count);
    format!("{:0>count$}", &all[start..])
}

impl Shape {
    /// The shapes that have a name and no number.
    pub(crate) fn named() -> impl Iterator<Item = (Self, &'static str)> {
        let textures =
            Texture::ALL.into_iter().map(|(texture, name)| (Self::Texture(texture), name));
        textures.chain([
            (Self::Bare, "bare"),
            (Self::EmptyDevice, "empty-device"),
            (Self::EmptyMessage, "empty-message"),
        ])
    }

    /// The shape by that name with that number of bytes, if an event may have as many. An id needs
    /// room for what tells it from others.
    pub(crate) fn sized(name: &str, bytes: usize) -> Option<Self> {
        match name {
            "id" if (32..=MAX_ID_BYTES).contains(&bytes) => Some(Self::Id(bytes)),
            "device" if bytes <= MAX_DEVICE_ID_BYTES => Some(Self::Device(bytes)),
            "message" if bytes <= MAX_MESSAGE_BYTES => Some(Self::Message(bytes)),
            _ => None,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(bytes) => write!(f, "id-{bytes}"),
            Self::Device(bytes) => write!(f, "device-{bytes}"),
            Self::Message(bytes) => write!(f, "message-{bytes}"),
            _ => {
                let name = Self::named().find(|(shape, _)| shape == self).map(|(_, name)| name);
                f.write_str(name.unwrap_or_default())
            }
        }
    }
}

impl Subject {
    /// The longest label: an id with a number of bytes has room for it.
    pub(crate) const MAX_LABEL: usize = 16;

    /// A plain event.
    pub(crate) fn plain(label: &str) -> Self {
        Self::shaped(label, Vec::new())
    }

    /// An event with unlikely texts. A label has 1 to [`Subject::MAX_LABEL`] ASCII letters or digits.
    ///
    /// # Panics
    /// If the shapes together break a limit of events. Those that a check makes up do not.
    pub(crate) fn shaped(label: &str, shapes: Vec<Shape>) -> Self {
        Self::new(label, shapes).unwrap_or_else(|problem| unreachable!("{label}: {problem}"))
    }

    /// # Errors
    /// The shapes together break a limit of events.
    pub(crate) fn new(label: &str, shapes: Vec<Shape>) -> Result<Self, InvalidEvent> {
        let event = Event::new(alert(label, &shapes))?;
        Ok(Self(Arc::new(Inner { label: label.to_owned(), shapes, event })))
    }

    pub(crate) fn label(&self) -> &str {
        &self.0.label
    }

    pub(crate) fn shapes(&self) -> &[Shape] {
        &self.0.shapes
    }

    /// The event itself.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.0.event
    }
}

fn alert(label: &str, shapes: &[Shape]) -> Alert {
    let (mut id, mut device) = (format!("Evt-{label}"), format!("Device-{label}"));
    let mut message = format!("Alert of {label}");
    for shape in shapes {
        match *shape {
            Shape::Texture(texture) => {
                for text in [&mut id, &mut device, &mut message] {
                    *text = texture.alter(text);
                }
            }
            Shape::Bare => label.clone_into(&mut id),
            Shape::EmptyDevice => device.clear(),
            Shape::EmptyMessage => message.clear(),
            Shape::Id(bytes) => fit(&mut id, bytes, label),
            Shape::Device(bytes) => fit(&mut device, bytes, label),
            Shape::Message(bytes) => fit(&mut message, bytes, label),
        }
    }
    Alert::new(&id, &device, &message)
}

/// Brings a text to a number of bytes: fills it up so that no two stretches are alike, or starts anew
/// from the label where it is too long.
fn fit(text: &mut String, bytes: usize, label: &str) {
    if text.len() > bytes {
        label.clone_into(text);
        text.truncate(bytes);
    }
    let mut number = 0_usize;
    while text.len() < bytes {
        text.push_str(&format!(".{number}"));
        number += 1;
    }
    // Only what was filled in is cut off, and that is ASCII.
    text.truncate(bytes);
}

impl PartialEq for Subject {
    fn eq(&self, other: &Self) -> bool {
        self.label() == other.label() && self.shapes() == other.shapes()
    }
}

impl Eq for Subject {}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())?;
        self.shapes().iter().try_for_each(|shape| write!(f, "/{shape}"))
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_texture_makes_another_event() {
        let shapes = Shape::named().map(|(shape, _)| shape);
        let mut alerts: HashSet<Alert> = HashSet::from([alert("A", &[])]);
        for shape in shapes {
            assert!(alerts.insert(alert("A", &[shape])), "{shape}");
        }
    }

    #[test]
    fn every_shape_keeps_the_limits_of_an_event_alone_and_beside_others() {
        let lengths = [Shape::Id(1_024), Shape::Device(1_024), Shape::Message(65_536)];
        let long = "0123456789abcdef";
        for (shape, _) in Shape::named() {
            for length in lengths {
                let shaped = Subject::shaped(long, vec![shape, length]);
                assert!(!shaped.event().id().is_empty());
            }
        }
    }

    #[test]
    fn a_length_is_met_to_the_byte() {
        for bytes in [32, 33, 255, 256, 1_023, 1_024] {
            let (shape, before) = (Shape::Id(bytes), Shape::Texture(Texture::Astral));
            assert_eq!(Subject::shaped("A", vec![shape]).event().id().len(), bytes);
            assert_eq!(Subject::shaped("A", vec![before, shape]).event().id().len(), bytes);
        }
        for bytes in [0, 1, 5, 65_535, 65_536] {
            let subject = Subject::shaped("A", vec![Shape::Message(bytes)]);
            assert_eq!(subject.event().alert().message().len(), bytes);
        }
    }

    #[test]
    fn ids_of_a_length_differ_by_their_labels() {
        for bytes in [32, 255, 1_024] {
            let id = |label| Subject::shaped(label, vec![Shape::Id(bytes)]).event().id().to_owned();
            assert_ne!(id("A"), id("B"));
            assert_ne!(id("1"), id("10"));
        }
    }
}
