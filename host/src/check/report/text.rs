//! The report for people.

use std::fmt::{self, Write as _};

use anstyle::AnsiColor;

use super::sides::{Sides, situation};
use super::{Failing, Identity, Report, RuleReport, Verdict};
use crate::contract::Rule;
use crate::numbers::grouped;
use crate::trace::Ending;

/// How many deliveries of a schedule are shown one by one; of a longer one only the last.
const SHOWN: usize = 4;
/// The longest schedule in text form that is shown, in bytes.
const LONGEST: usize = 400;

impl Report {
    /// The report for people; `colour` is for terminals.
    #[must_use]
    pub fn text(&self, identity: &Identity, colour: bool) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut text, identity, colour);
        text
    }

    fn write(&self, f: &mut String, identity: &Identity, colour: bool) -> fmt::Result {
        writeln!(f, "{}", identity.component)?;
        let bytes = grouped(identity.bytes as u64);
        writeln!(f, "sha256 {}, {bytes} bytes, judged on {}\n", identity.sha256, identity.store)?;
        self.rules.iter().try_for_each(|rule| write_rule(f, rule, colour))?;
        for (rule, failing) in self.broken() {
            writeln!(f)?;
            write_failing(f, rule, failing, colour)?;
        }
        writeln!(f)?;
        self.write_covered(f)?;
        let verdict = self.verdict();
        let name = paint(verdict, verdict.name(), colour);
        writeln!(f, "{name}: {}", self.conclusion())
    }

    fn write_covered(&self, f: &mut String) -> fmt::Result {
        let (schedules, texts, walked) = (self.schedules, self.texts, self.walked);
        if self.replayed {
            return writeln!(f, "one schedule was played");
        }
        // Each is listed twice, for the two lives of an instance.
        let counted = |number: usize| grouped(number as u64 / 2);
        writeln!(
            f,
            "{} of {} schedules, each with fresh instances and with one that is kept",
            counted(schedules.played),
            counted(schedules.all)
        )?;
        writeln!(
            f,
            "{} of {} schedules over unlikely texts, likewise",
            counted(texts.played),
            counted(texts.all)
        )?;
        if walked.deliveries > 0 {
            writeln!(
                f,
                "a random walk of {} deliveries to one instance, seed {}",
                grouped(walked.deliveries as u64),
                self.seed
            )?;
        }
        let grown = walked.memory_at_last.saturating_sub(walked.memory_at_first);
        if grown > 0 {
            writeln!(
                f,
                "note: memory grew by {} KiB over the walk, to {} KiB; the budget is 128 MiB",
                grouped((grown >> 10) as u64),
                grouped((walked.memory_at_last >> 10) as u64)
            )?;
        }
        if schedules.played < schedules.all && !self.out_of_time {
            writeln!(
                f,
                "note: schedules were left out in which the guest would use up its budget again"
            )?;
        }
        if self.out_of_time {
            writeln!(f, "note: the time for the check was over; what was not broken is unknown")?;
        }
        Ok(())
    }

    /// The verdict on the whole contract in a sentence.
    fn conclusion(&self) -> String {
        let names = |verdict| {
            let rules = self.rules.iter().filter(|rule| rule.verdict == verdict);
            rules.map(|rule| rule.rule.to_string()).collect::<Vec<_>>().join(", ")
        };
        match self.verdict() {
            Verdict::Pass if self.replayed => {
                "this schedule breaks no rule; a whole check says more".to_owned()
            }
            Verdict::Pass => "the guest keeps the contract".to_owned(),
            Verdict::Fail => {
                let unknown = match self.count(Verdict::Unknown) {
                    0 => String::new(),
                    _ if self.replayed => String::new(),
                    _ => format!(
                        "; unknown, since not reached or left out: {}",
                        names(Verdict::Unknown)
                    ),
                };
                format!("the guest breaks {}{unknown}", names(Verdict::Fail))
            }
            Verdict::Unknown => {
                format!(
                    "no rule was seen broken, but not all could be decided: {}",
                    names(Verdict::Unknown)
                )
            }
        }
    }
}

fn write_rule(f: &mut String, report: &RuleReport, colour: bool) -> fmt::Result {
    let RuleReport { rule, verdict, exercised, broken, .. } = report;
    let name = paint(*verdict, &format!("{:<7}", verdict.name()), colour);
    let times = match verdict {
        Verdict::Fail => format!("{:>8} times broken", grouped(*broken)),
        _ => format!("{:>8} times kept  ", grouped(*exercised)),
    };
    writeln!(f, "{rule:<4} {name} {times}  {}", rule.sentence())
}

fn write_failing(f: &mut String, rule: Rule, failing: &Failing, colour: bool) -> fmt::Result {
    let Failing { violation, schedule, looks } = failing;
    writeln!(f, "{} {}", paint(Verdict::Fail, &rule.to_string(), colour), violation.what)?;
    writeln!(f, "  rule      {}", rule.sentence())?;
    writeln!(f, "  why       {}", rule.intent())?;
    writeln!(f, "  hint      {}", failing.hint())?;
    let text = schedule.to_string();
    if text.len() <= LONGEST {
        writeln!(f, "  shortest  --schedule '{text}'")?;
    } else {
        let deliveries = grouped(looks.len() as u64);
        writeln!(f, "  shortest  {deliveries} deliveries; --format json has the schedule")?;
    }
    let hidden = if looks.len() > SHOWN { looks.len() - 1 } else { 0 };
    if hidden > 0 {
        writeln!(f, "\n  {} deliveries that lead there, not shown", grouped(hidden as u64))?;
    }
    for (index, look) in looks.iter().enumerate().skip(hidden) {
        let sides = Sides::of(look);
        let is_last = index + 1 == looks.len();
        let as_it_should = if sides.are_alike() && !is_last { ": as it should be" } else { "" };
        let place = format!("delivery {} of {}", index + 1, looks.len());
        writeln!(f, "\n  {place}: {}{as_it_should}", situation(look))?;
        if sides.are_alike() && !is_last {
            continue;
        }
        for (row, differs) in sides.rows() {
            let mark = if differs { paint(Verdict::Fail, ">", colour) } else { " ".to_owned() };
            writeln!(f, "  {mark} {row}")?;
        }
        if sides.are_alike() {
            writeln!(f, "  {} {}", paint(Verdict::Fail, ">", colour), violation.what)?;
        }
    }
    Ok(())
}

impl Failing {
    /// What to look at first.
    pub(crate) fn hint(&self) -> &'static str {
        let unfinished = |look: &super::Look| look.was.ending == Ending::Outcome("unknown");
        if self.looks.len() == 1 && self.looks.iter().all(unfinished) {
            "unknown is what an unfinished guest answers: write the way of a new event first, which \
             is begin, try-mark, save-alert, commit, and then return applied"
        } else {
            self.violation.rule.hint()
        }
    }
}

/// The text in the colour of a verdict, where there is colour.
fn paint(verdict: Verdict, text: &str, colour: bool) -> String {
    if !colour {
        return text.to_owned();
    }
    let style = match verdict {
        Verdict::Pass => AnsiColor::Green.on_default(),
        Verdict::Fail => AnsiColor::Red.on_default().bold(),
        Verdict::Unknown => AnsiColor::Yellow.on_default(),
    };
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::{Verdict, paint};

    /// A plain style's reset is nothing, and the terminal stayed red after a check.
    #[test]
    fn colour_ends_where_the_text_does() {
        for verdict in [Verdict::Pass, Verdict::Fail, Verdict::Unknown] {
            assert!(paint(verdict, "text", true).ends_with("text\u{1b}[0m"));
            assert_eq!(paint(verdict, "text", false), "text");
        }
    }
}
