//! For each rule a trace that breaks it: scripted, and judged by the contract like any other.

use std::fmt::Write as _;

use super::ideal;
use super::report::{Look, rows};
use super::schedule::{Planned, Schedule};
use crate::contract::{Action, ErrorId, History, Model, Returned, Rows, Rule, Violation};
use crate::store::{ErrorClass, StoreError};
use crate::trace::{Answer, Call, CallRecord, CallTrace, Ending, Method};

/// A delivery that goes wrong.
struct Example {
    /// What is delivered, as a schedule of one delivery.
    schedule: &'static str,
    /// Whether the store holds the event before.
    was_stored: bool,
    /// What went before, for the rules that look back.
    history: History,
    /// How many right actions come first.
    right: usize,
    /// What the guest calls then.
    calls: &'static [Wrong],
    end: End,
}

/// A call that is made where it should not be, or as it should not be.
#[derive(Clone, Copy)]
enum Wrong {
    Call(Method),
    /// The call that comes next, with its texts altered.
    Altered,
}

/// How the guest ends.
#[derive(Clone, Copy)]
enum End {
    Return(Returned),
    /// It returns what it should.
    Right,
    /// It returns an error of another delivery.
    OldError,
    /// It returns what it should, and keeps the transaction's handle.
    Leak,
    Trap,
}

fn example(rule: Rule) -> Example {
    use Method::{Commit, Rollback};
    let new = |right, calls, end| Example {
        schedule: "fresh A",
        was_stored: false,
        history: History::Blank,
        right,
        calls,
        end,
    };
    let failing = |schedule, right, calls, end| Example { schedule, ..new(right, calls, end) };
    let again = |history, was_stored, right, calls, end| Example {
        was_stored,
        history,
        ..new(right, calls, end)
    };
    let applied = End::Return(Returned::Applied);
    let already = End::Return(Returned::AlreadyApplied);
    match rule {
        Rule::R1 => new(3, &[], applied),
        Rule::R2 => new(4, &[Wrong::Call(Rollback)], End::Right),
        Rule::R3 => again(History::Blank, true, 2, &[], already),
        Rule::R4 => failing("fresh A:begin", 1, &[], End::Return(Returned::Unknown)),
        Rule::R5 => failing("fresh A:try-mark", 2, &[Wrong::Call(Commit)], End::Right),
        Rule::R6 => failing("fresh A:save-alert", 3, &[Wrong::Call(Commit)], applied),
        Rule::R7 => failing("fresh A:commit-lost", 5, &[], applied),
        Rule::R8 => failing("fresh A:begin", 1, &[], End::OldError),
        Rule::R9 => failing("fresh A:commit", 4, &[Wrong::Call(Commit)], End::Right),
        Rule::R10 => new(1, &[Wrong::Altered], End::Right),
        Rule::R11 => again(History::Applied, true, 3, &[], applied),
        Rule::R12 => again(History::InDoubt, false, 2, &[Wrong::Call(Rollback)], already),
        Rule::R13 => new(4, &[], End::Leak),
        Rule::R14 => new(2, &[], End::Trap),
    }
}

/// The rule, why it is there, and a trace that breaks it, for people.
#[must_use]
pub fn explain(rule: Rule) -> String {
    let mut text = format!("{rule}  {}\n\n", rule.sentence());
    let _ = writeln!(text, "why   {}", rule.intent());
    let _ = writeln!(text, "hint  {}", rule.hint());
    let Some((look, violation, history)) = play(rule) else { return text };
    let before = match history {
        History::Blank => "",
        History::Applied => "; an earlier delivery applied it",
        History::InDoubt => {
            "; the commit of an earlier delivery failed, and nobody knows whether it happened"
        }
    };
    let _ = writeln!(
        text,
        "\nA delivery that breaks it ({}{before}):\n",
        super::report::situation(&look)
    );
    for row in rows(&look, &violation) {
        let _ = writeln!(text, "{row}");
    }
    let _ = writeln!(text, "\nThe judge says: {}", violation.what);
    text
}

/// Plays the example of a rule; none if it could not be, which a test rules out.
fn play(rule: Rule) -> Option<(Look, Violation, History)> {
    let example = example(rule);
    let schedule: Schedule = example.schedule.parse().ok()?;
    let planned = schedule.deliveries.into_iter().next()?;
    let mut script = Script::new(planned, example.was_stored);
    for _ in 0..example.right {
        let Some(Action::Call(method)) = script.model.next() else { break };
        script.call(method, false);
    }
    for wrong in example.calls {
        match (*wrong, script.model.next()) {
            (Wrong::Call(method), _) => script.call(method, false),
            (Wrong::Altered, Some(Action::Call(method))) => script.call(method, true),
            (Wrong::Altered, _) => {}
        }
    }
    let violation = script.end(example.end, example.history)?;
    let should = ideal::trace(&script.planned, example.was_stored, &script.error);
    let Script { planned, was, .. } = script;
    let look = Look { planned, was, should, was_stored: example.was_stored };
    Some((look, violation, example.history))
}

/// A guest that follows a script.
struct Script {
    planned: Planned,
    was_stored: bool,
    error: StoreError,
    model: Model,
    violation: Option<Violation>,
    was: CallTrace,
}

impl Script {
    fn new(planned: Planned, was_stored: bool) -> Self {
        let class = ErrorClass::OutcomeUnknown;
        let fault = planned.trouble.fault;
        let error =
            fault.map_or_else(|| StoreError::new(class, ""), |fault| ideal::error(fault, 0));
        let event_id = planned.subject.event().id().to_owned();
        let was = CallTrace { event_id, calls: Vec::new(), ending: Ending::Outcome("unknown") };
        Self { planned, was_stored, error, model: Model::default(), violation: None, was }
    }

    fn call(&mut self, method: Method, altered: bool) {
        let event = self.planned.subject.event();
        let mut call = Call::of(method, event);
        if let (Call::TryMark(id), true) = (&mut call, altered) {
            *id = id.to_lowercase();
        }
        let answer = match self.model.may_call(method, call.has_texts_of(event)) {
            Ok(()) => {
                let answer =
                    ideal::answer(method, self.planned.trouble, self.was_stored, &self.error);
                let told = match &answer {
                    Answer::Done => Ok(None),
                    Answer::Marked(new) => Ok(Some(*new)),
                    Answer::Failed(_) => Err(ErrorId(0)),
                };
                self.model.answered(method, told, false);
                answer
            }
            Err(violation) => {
                let refused = format!("refused, {violation}");
                self.violation.get_or_insert(violation);
                match method {
                    Method::Rollback => Answer::Done,
                    _ => Answer::Failed(StoreError::new(ErrorClass::Misuse, refused)),
                }
            }
        };
        self.was.calls.push(CallRecord { call, answer });
    }

    /// Ends the delivery and gives the rule that it broke.
    fn end(&mut self, end: End, history: History) -> Option<Violation> {
        let right = match self.model.next() {
            Some(Action::Return(returned)) => returned,
            _ => Returned::Error(ErrorId(0)),
        };
        let (returned, handles) = match end {
            End::Return(returned) => (returned, 0),
            End::Right => (right, 0),
            End::Leak => (right, 1),
            End::OldError => (Returned::Error(ErrorId(1)), 0),
            End::Trap => {
                let what = "the guest trapped: wasm `unreachable` instruction executed";
                self.was.ending = Ending::Fault(what.to_owned());
                return self.model.may_stop(what).err();
            }
        };
        self.was.ending = match returned {
            Returned::Applied => Ending::Outcome("applied"),
            Returned::AlreadyApplied => Ending::Outcome("already-applied"),
            Returned::Unknown => Ending::Outcome("unknown"),
            Returned::Error(ErrorId(0)) => Ending::Error(self.error.clone()),
            Returned::Error(_) => Ending::Error(StoreError::new(ErrorClass::Io, "an old error")),
        };
        let own = self.violation.clone().or_else(|| self.model.may_return(returned).err());
        let sequence = history.may_end(returned, self.was_stored, Rows::PAIR).err();
        sequence.or(own).or_else(|| self.model.may_hold(handles).err())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_breaks_its_rule() {
        for rule in Rule::ALL {
            let (_, violation, _) = play(rule).expect("the example breaks a rule");
            assert_eq!(violation.rule, rule, "{violation}");
        }
    }
}
