//! A schedule: which events are delivered in which order, and what befalls each delivery.
//!
//! In text form, as `check --schedule` takes it:
//!
//! ```text
//! kept +B A:commit-lost! A B/quotes*3
//! ```
//!
//! One instance is kept for the whole schedule (`fresh`: each delivery has its own); the store holds
//! B already; A is delivered and the reply of its commit is lost, and every call after that fails as
//! well (`!`: sticky); then A comes again; then B with quotes in its texts, three times.

mod parse;

use std::fmt;

pub use parse::ScheduleError;

use super::subject::Subject;
use crate::store::Fault;

/// A sequence of deliveries to one guest on one store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// How long an instance lives.
    pub life: Life,
    /// The events whose marker and alert the store holds from the start.
    pub stored: Vec<Subject>,
    /// The deliveries, in order.
    pub deliveries: Vec<Planned>,
}

/// How long an instance of the guest lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Life {
    /// One delivery: the next has a fresh one.
    Fresh,
    /// The whole schedule, unless the guest traps.
    Kept,
}

/// A delivery of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// What is delivered.
    pub subject: Subject,
    /// What befalls it.
    pub trouble: Trouble,
}

/// What befalls a delivery: nothing, or a fault of the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trouble {
    /// The call that fails, and how; none if all goes well.
    pub fault: Option<Fault>,
    /// Whether every later call of the delivery but `rollback` fails as well.
    pub sticky: bool,
}

impl Trouble {
    /// The eleven kinds of delivery: nothing, or one of five faults, once or sticky.
    pub const KINDS: [Self; 11] = {
        let mut kinds = [Self { fault: None, sticky: false }; 11];
        let mut index = 0;
        while index < Fault::ALL.len() {
            let fault = Some(Fault::ALL[index]);
            kinds[1 + 2 * index] = Self { fault, sticky: false };
            kinds[2 + 2 * index] = Self { fault, sticky: true };
            index += 1;
        }
        kinds
    };
}

/// The name of a fault in a schedule.
fn name(fault: Fault) -> &'static str {
    match fault {
        Fault::Begin => "begin",
        Fault::TryMark => "try-mark",
        Fault::SaveAlert => "save-alert",
        Fault::CommitNotApplied => "commit",
        Fault::CommitReplyLost => "commit-lost",
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.life)?;
        self.stored.iter().try_for_each(|subject| write!(f, " +{subject}"))?;
        for run in self.deliveries.chunk_by(PartialEq::eq) {
            write!(f, " {}", run[0])?;
            if run.len() > 1 {
                write!(f, "*{}", run.len())?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fresh => "fresh",
            Self::Kept => "kept",
        })
    }
}

impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.subject, self.trouble)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault {
            None => Ok(()),
            Some(fault) => write!(f, ":{}{}", name(fault), if self.sticky { "!" } else { "" }),
        }
    }
}
