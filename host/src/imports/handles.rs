//! The handles that a guest holds, as the host sees them.

use super::store::ErrorHandle;

/// What stands behind each handle, by the number that the host gave it.
///
/// wasmtime keeps the guest's own table and checks every handle against it, so a number that comes
/// back is one that was given and not yet taken away.
#[derive(Debug)]
pub(super) struct Handles {
    places: Vec<Option<Held>>,
    /// The places that are empty.
    free: Vec<u32>,
    /// How many the guest may hold at once.
    most: usize,
}

/// What stands behind a handle.
#[derive(Debug)]
pub(super) enum Held {
    /// A transaction, by its identity.
    Tx(u64),
    /// An error.
    Error(ErrorHandle),
}

/// The host has no answer for a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum HandleError {
    #[error("the guest holds {0} handles, and may hold no more")]
    TooMany(usize),
    #[error("a handle has nothing of its kind behind it")]
    Unknown,
}

impl Handles {
    pub(super) fn new(most: usize) -> Self {
        Self { places: Vec::new(), free: Vec::new(), most }
    }

    /// How many handles the guest holds.
    pub(super) fn held(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// A number for a new handle.
    ///
    /// # Errors
    /// The guest holds as many as it may.
    pub(super) fn give(&mut self, held: Held) -> Result<u32, HandleError> {
        let too_many = HandleError::TooMany(self.most);
        if self.held() >= self.most {
            return Err(too_many);
        }
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = Some(held);
            return Ok(place);
        }
        let place = u32::try_from(self.places.len()).map_err(|_| too_many)?;
        self.places.push(Some(held));
        Ok(place)
    }

    /// The identity of a transaction.
    ///
    /// # Errors
    /// It is none.
    pub(super) fn tx(&self, place: u32) -> Result<u64, HandleError> {
        match self.places.get(place as usize) {
            Some(Some(Held::Tx(id))) => Ok(*id),
            _ => Err(HandleError::Unknown),
        }
    }

    /// An error.
    ///
    /// # Errors
    /// It is none.
    pub(super) fn error(&self, place: u32) -> Result<&ErrorHandle, HandleError> {
        match self.places.get(place as usize) {
            Some(Some(Held::Error(error))) => Ok(error),
            _ => Err(HandleError::Unknown),
        }
    }

    /// Takes a handle away; gives what stood behind it.
    ///
    /// # Errors
    /// There is nothing behind it.
    pub(super) fn take(&mut self, place: u32) -> Result<Held, HandleError> {
        let held = self.places.get_mut(place as usize).and_then(Option::take);
        let held = held.ok_or(HandleError::Unknown)?;
        self.free.push(place);
        Ok(held)
    }
}
