//! Right, and odd: where the transaction stands is a type, and one generic function makes every call.
#![no_std]

use core::marker::PhantomData;

use process_once_sdk::{Alert, Error, Outcome, Tx, store};

process_once_sdk::export!(process_once);

struct Begun;
struct Marked;
struct Saved;
struct Committed;

struct Transaction<State>(Tx, PhantomData<State>);

impl<State> Transaction<State> {
    /// Makes a call; where it fails, the transaction ends here.
    fn advance<T, Next>(
        self,
        call: impl FnOnce(&Tx) -> Result<T, Error>,
    ) -> Result<(T, Transaction<Next>), Error> {
        match call(&self.0) {
            Ok(answer) => Ok((answer, Transaction(self.0, PhantomData))),
            Err(error) => {
                self.undo();
                Err(error)
            }
        }
    }

    fn undo(self) {
        self.0.rollback();
    }
}

impl Transaction<Begun> {
    fn mark(self, event_id: &str) -> Result<(bool, Transaction<Marked>), Error> {
        self.advance(|tx| tx.try_mark(event_id))
    }
}

impl Transaction<Marked> {
    fn save(self, alert: &Alert) -> Result<((), Transaction<Saved>), Error> {
        self.advance(|tx| tx.save_alert(alert))
    }
}

impl Transaction<Saved> {
    fn commit(self) -> Result<((), Transaction<Committed>), Error> {
        self.advance(Tx::commit)
    }
}

fn process_once(_: &str, alert: &Alert) -> Result<Outcome, Error> {
    let begun = Transaction::<Begun>(store::begin()?, PhantomData);
    let (new, marked) = begun.mark(&alert.source_event_id)?;
    if !new {
        marked.undo();
        return Ok(Outcome::AlreadyApplied);
    }
    let ((), saved) = marked.save(alert)?;
    let ((), _committed) = saved.commit()?;
    Ok(Outcome::Applied)
}
