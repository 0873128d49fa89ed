//! The report for machines.

use serde_json::{Value, json};

use super::{Failing, Identity, Look, Report, RuleReport, Verdict};
use crate::trace::CallTrace;

/// The version of the JSON form.
const VERSION: u32 = 1;

impl Report {
    /// The report as one JSON object; `host/README.md` describes it.
    #[must_use]
    pub fn json(&self, identity: &Identity) -> Value {
        json!({
            "version": VERSION,
            "program": env!("CARGO_PKG_VERSION"),
            "component": identity.component,
            "sha256": identity.sha256,
            "bytes": identity.bytes,
            "store": identity.store,
            "verdict": word(self.verdict()),
            "rules": self.rules.iter().map(rule).collect::<Vec<_>>(),
            "schedules": { "played": self.schedules.played, "all": self.schedules.all },
            "texts": { "played": self.texts.played, "all": self.texts.all },
            "walk": {
                "seed": self.seed,
                "deliveries": self.walked.deliveries,
                "memory_at_first": self.walked.memory_at_first,
                "memory_at_last": self.walked.memory_at_last,
            },
            "deliveries": self.deliveries,
            "out_of_time": self.out_of_time,
            "memory_bytes": self.memory_bytes,
            "traces": self.traces,
            "seconds": self.elapsed.as_secs_f64(),
        })
    }
}

fn rule(report: &RuleReport) -> Value {
    json!({
        "rule": report.rule.to_string(),
        "sentence": report.rule.sentence(),
        "verdict": word(report.verdict),
        "kept": report.exercised,
        "broken": report.broken,
        "failure": report.failing.as_ref().map(failure),
    })
}

fn failure(failing: &Failing) -> Value {
    json!({
        "what": failing.violation.what,
        "hint": failing.hint(),
        "schedule": failing.schedule.to_string(),
        "last_delivery": failing.looks.last().map(delivery),
    })
}

fn delivery(look: &Look) -> Value {
    let lines =
        |trace: &CallTrace| trace.to_string().lines().map(str::to_owned).collect::<Vec<_>>();
    json!({
        "delivery": look.planned.to_string(),
        "was_stored": look.was_stored,
        "as_it_was": lines(&look.was),
        "as_it_should_be": lines(&look.should),
    })
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "fail",
        Verdict::Unknown => "unknown",
    }
}
