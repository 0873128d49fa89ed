//! Asks `process-once check` about a component.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

/// The judge, as `make` builds it.
const PROGRAM: &str = "target/release/process-once";

/// What the judge says of a component.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// It keeps every rule.
    Kept,
    /// It breaks these rules.
    Broken(Vec<String>),
    /// Neither: it did not load, or a rule was not reached.
    Unclear(String),
}

pub(super) fn judge(root: &Path, component: &Path) -> Result<Judgement> {
    let program = root.join(PROGRAM);
    let mut check = Command::new(&program);
    check.arg("check").arg(component).args(["--format", "json"]);
    let output = check
        .output()
        .with_context(|| format!("cannot run {}, which `make build` builds", program.display()))?;
    match output.status.code() {
        Some(code @ (0 | 1)) => read(code, &output.stdout),
        _ => Ok(Judgement::Unclear(first_line(&output.stderr))),
    }
}

/// Reads the report that the judge printed before it exited with `code`.
fn read(code: i32, report: &[u8]) -> Result<Judgement> {
    let report: Value = serde_json::from_slice(report).context("cannot read the judge's report")?;
    let broken = rules(&report, "fail")?;
    let unknown = rules(&report, "unknown")?;
    Ok(match (code, broken.is_empty()) {
        (1, false) => Judgement::Broken(broken),
        (0, true) if unknown.is_empty() => Judgement::Kept,
        (1, true) if !unknown.is_empty() => {
            Judgement::Unclear(format!("not reached: {}", unknown.join(", ")))
        }
        _ => Judgement::Unclear(format!("exit code {code} contradicts the report")),
    })
}

/// The rules of which the report says `verdict`.
fn rules(report: &Value, verdict: &str) -> Result<Vec<String>> {
    let rules = report["rules"].as_array().context("the judge's report lists no rules")?;
    let matching = rules.iter().filter(|rule| rule["verdict"] == verdict);
    let name = |rule: &Value| rule["rule"].as_str().map(str::to_owned);
    matching.map(name).collect::<Option<_>>().context("a rule in the judge's report has no name")
}

/// What the judge says first where it cannot start: what is wrong. Causes and advice follow.
fn first_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines().next().unwrap_or("the judge said nothing").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(first: &str, second: &str) -> String {
        format!(
            r#"{{"rules": [{{"rule": "R1", "verdict": "{first}"}}, {{"rule": "R2", "verdict": "{second}"}}]}}"#
        )
    }

    fn judgement(code: i32, first: &str, second: &str) -> Option<Judgement> {
        read(code, report(first, second).as_bytes()).ok()
    }

    #[test]
    fn the_broken_rules_are_named() {
        let broken = Judgement::Broken(vec!["R2".to_owned()]);
        assert_eq!(judgement(1, "unknown", "fail"), Some(broken));
        assert_eq!(judgement(0, "pass", "pass"), Some(Judgement::Kept));
    }

    #[test]
    fn a_rule_that_was_not_reached_is_not_a_broken_one() {
        let unclear = Judgement::Unclear("not reached: R1".to_owned());
        assert_eq!(judgement(1, "unknown", "pass"), Some(unclear));
    }

    #[test]
    fn an_exit_code_that_contradicts_the_report_is_not_believed() {
        for (code, second) in [(0, "fail"), (1, "pass"), (0, "unknown")] {
            assert!(matches!(judgement(code, "pass", second), Some(Judgement::Unclear(_))));
        }
    }

    #[test]
    fn a_report_without_rules_is_an_error() {
        assert!(read(1, b"{}").is_err());
        assert!(read(1, b"").is_err());
    }
}
