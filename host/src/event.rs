//! What is delivered: an alert, and the event that carries it, checked against the limits of the contract.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The longest event id, in bytes of UTF-8.
pub const MAX_ID_BYTES: usize = 1_024;
/// The longest device id, in bytes of UTF-8.
pub const MAX_DEVICE_ID_BYTES: usize = 1_024;
/// The longest message, in bytes of UTF-8.
pub const MAX_MESSAGE_BYTES: usize = 65_536;

/// The effect of an event: what is stored once, together with the event's marker.
///
/// Text is passed and stored byte for byte: no trimming, no normalisation. A clone is cheap: the texts
/// stand in one allocation, which is shared, with alerts that came together as well.
#[derive(Clone)]
pub struct Alert {
    /// The three texts, one behind the other, among those of other alerts.
    texts: Arc<str>,
    /// Where the source event's id starts.
    start: u32,
    /// Where the device id starts.
    device: u32,
    /// Where the message starts.
    message: u32,
    /// Where the message ends.
    end: u32,
}

impl Alert {
    /// An alert that the event with the id `source_event_id` raised about the device `device_id`.
    ///
    /// # Panics
    /// The texts have more than 4 GiB together.
    #[must_use]
    pub fn new(source_event_id: &str, device_id: &str, message: &str) -> Self {
        let mut together = Together::default();
        together.push(source_event_id, device_id, message);
        let texts: Arc<str> = together.texts.into();
        together.places[0].within(&texts)
    }

    /// The id of the event that raised the alert, and the key of its marker.
    #[must_use]
    pub fn source_event_id(&self) -> &str {
        self.text(self.start, self.device)
    }

    /// The device that the alert is about; may be empty.
    #[must_use]
    pub fn device_id(&self) -> &str {
        self.text(self.device, self.message)
    }

    /// What is to be said; may be empty.
    #[must_use]
    pub fn message(&self) -> &str {
        self.text(self.message, self.end)
    }

    /// The source event's id, the device id and the message.
    #[must_use]
    pub fn texts(&self) -> [&str; 3] {
        [self.source_event_id(), self.device_id(), self.message()]
    }

    /// How many bytes the texts have together.
    pub(crate) fn bytes(&self) -> usize {
        (self.end - self.start) as usize
    }

    fn text(&self, start: u32, end: u32) -> &str {
        &self.texts[start as usize..end as usize]
    }
}

impl PartialEq for Alert {
    fn eq(&self, other: &Self) -> bool {
        self.texts() == other.texts()
    }
}

impl Eq for Alert {}

impl Hash for Alert {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.texts().hash(state);
    }
}

impl fmt::Debug for Alert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alert")
            .field("source_event_id", &self.source_event_id())
            .field("device_id", &self.device_id())
            .field("message", &self.message())
            .finish()
    }
}

/// Puts the texts of events that come together into one allocation.
#[derive(Debug, Default)]
pub(crate) struct Together {
    texts: String,
    places: Vec<Place>,
}

/// Where the texts of one alert start, and where they end.
#[derive(Clone, Copy, Debug)]
struct Place([u32; 4]);

impl Together {
    /// Checks the limits of an event, and takes its texts.
    ///
    /// # Errors
    /// As for [`Event::new`].
    pub(crate) fn push_event(
        &mut self,
        source_event_id: &str,
        device_id: &str,
        message: &str,
    ) -> Result<(), InvalidEvent> {
        check_limits([source_event_id, device_id, message])?;
        self.push(source_event_id, device_id, message);
        Ok(())
    }

    /// The events whose texts were taken, in order.
    pub(crate) fn into_events(self) -> impl Iterator<Item = Event> {
        let texts: Arc<str> = self.texts.into();
        self.places.into_iter().map(move |place| Event(place.within(&texts)))
    }

    fn push(&mut self, source_event_id: &str, device_id: &str, message: &str) {
        let Self { texts, places } = self;
        let mut place = [texts.len(); 4];
        for (end, text) in place[1..].iter_mut().zip([source_event_id, device_id, message]) {
            texts.push_str(text);
            *end = texts.len();
        }
        places.push(Place(place.map(|at| u32::try_from(at).expect("at most 4 GiB of texts"))));
    }
}

impl Place {
    fn within(self, texts: &Arc<str>) -> Alert {
        let Self([start, device, message, end]) = self;
        Alert { texts: Arc::clone(texts), start, device, message, end }
    }
}

/// An alert within the limits that every store can keep, ready to be delivered to a guest.
///
/// The limits are the same for every store: the id has 1 to [`MAX_ID_BYTES`] bytes, the device id at
/// most [`MAX_DEVICE_ID_BYTES`], the message at most [`MAX_MESSAGE_BYTES`], and no text holds a NUL
/// character (PostgreSQL's `text` cannot).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event(Alert);

impl Event {
    /// Checks the limits and makes an event of the alert.
    ///
    /// # Errors
    /// The first member that breaks a limit, with what is wrong with it.
    pub fn new(alert: Alert) -> Result<Self, InvalidEvent> {
        check_limits(alert.texts())?;
        Ok(Self(alert))
    }

    /// The event's id: what its marker is keyed by.
    #[must_use]
    pub fn id(&self) -> &str {
        self.0.source_event_id()
    }

    /// The alert that the event asks for.
    #[must_use]
    pub fn alert(&self) -> &Alert {
        &self.0
    }
}

fn check_limits([source_event_id, device_id, message]: [&str; 3]) -> Result<(), InvalidEvent> {
    if source_event_id.is_empty() {
        return Err(InvalidEvent { member: Member::SourceEventId, problem: Problem::Empty });
    }
    for (member, text, limit) in [
        (Member::SourceEventId, source_event_id, MAX_ID_BYTES),
        (Member::DeviceId, device_id, MAX_DEVICE_ID_BYTES),
        (Member::Message, message, MAX_MESSAGE_BYTES),
    ] {
        if text.len() > limit {
            let problem = Problem::TooLong { bytes: text.len(), limit };
            return Err(InvalidEvent { member, problem });
        }
        if text.contains('\0') {
            return Err(InvalidEvent { member, problem: Problem::Nul });
        }
    }
    Ok(())
}

/// Why an alert cannot be delivered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{member} {problem}")]
pub struct InvalidEvent {
    member: Member,
    problem: Problem,
}

/// The member of an event that breaks a limit, by its name in the JSON form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    SourceEventId,
    DeviceId,
    Message,
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SourceEventId => "source_event_id",
            Self::DeviceId => "device_id",
            Self::Message => "message",
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Problem {
    #[error("is empty; an event needs an id")]
    Empty,
    #[error("has {bytes} bytes; at most {limit} are allowed")]
    TooLong { bytes: usize, limit: usize },
    #[error("holds a NUL character, which not every store can keep")]
    Nul,
}
