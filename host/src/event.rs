//! What is delivered: an alert, and the event that carries it, checked against the limits of the contract.

use std::fmt;

/// The longest event id, in bytes of UTF-8.
pub const MAX_ID_BYTES: usize = 1_024;
/// The longest device id, in bytes of UTF-8.
pub const MAX_DEVICE_ID_BYTES: usize = 1_024;
/// The longest message, in bytes of UTF-8.
pub const MAX_MESSAGE_BYTES: usize = 65_536;

/// The effect of an event: what is stored once, together with the event's marker.
///
/// Text is passed and stored byte for byte: no trimming, no normalisation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Alert {
    /// The id of the event that raised the alert, and the key of its marker.
    pub source_event_id: String,
    /// The device that the alert is about; may be empty.
    pub device_id: String,
    /// What is to be said; may be empty.
    pub message: String,
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
        if alert.source_event_id.is_empty() {
            return Err(InvalidEvent { member: Member::SourceEventId, problem: Problem::Empty });
        }
        for (member, text, limit) in [
            (Member::SourceEventId, &alert.source_event_id, MAX_ID_BYTES),
            (Member::DeviceId, &alert.device_id, MAX_DEVICE_ID_BYTES),
            (Member::Message, &alert.message, MAX_MESSAGE_BYTES),
        ] {
            if text.len() > limit {
                let problem = Problem::TooLong { bytes: text.len(), limit };
                return Err(InvalidEvent { member, problem });
            }
            if text.contains('\0') {
                return Err(InvalidEvent { member, problem: Problem::Nul });
            }
        }
        Ok(Self(alert))
    }

    /// The event's id: what its marker is keyed by.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0.source_event_id
    }

    /// The alert that the event asks for.
    #[must_use]
    pub fn alert(&self) -> &Alert {
        &self.0
    }
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
