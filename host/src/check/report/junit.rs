//! The report for build servers: a test case a rule.

use quick_junit::{NonSuccessKind, Report as Document, TestCase, TestCaseStatus, TestSuite};

use super::sides::{Sides, situation};
use super::{Failing, Identity, Report, Verdict};

impl Report {
    /// The report in JUnit's XML. A rule that was not reached is an error: it is not green.
    ///
    /// # Errors
    /// The document cannot be written.
    pub fn junit(&self, identity: &Identity) -> Result<String, quick_junit::SerializeError> {
        let mut suite = TestSuite::new(&identity.component);
        suite.set_time(self.elapsed);
        for rule in &self.rules {
            let status = match (rule.verdict, &rule.failing) {
                (Verdict::Pass, _) => TestCaseStatus::success(),
                (_, Some(failing)) => {
                    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                    status.set_type(rule.rule.to_string());
                    status.set_message(&failing.violation.what);
                    status.set_description(description(failing));
                    status
                }
                // One schedule was asked for, and this rule is none of its business.
                (_, None) if self.replayed => TestCaseStatus::skipped(),
                (_, None) => {
                    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
                    status.set_type("unknown");
                    status.set_message("nothing has put this rule to the test");
                    status
                }
            };
            let mut case = TestCase::new(format!("{} {}", rule.rule, rule.rule.sentence()), status);
            case.set_classname(&identity.component);
            suite.add_test_case(case);
        }
        let mut document = Document::new("process-once check");
        document.add_test_suite(suite);
        document.to_string()
    }
}

fn description(failing: &Failing) -> String {
    let mut lines = vec![format!("--schedule '{}'", failing.schedule)];
    if let Some(look) = failing.looks.last() {
        lines.push(situation(look));
        lines.extend(
            Sides::of(look)
                .rows()
                .into_iter()
                .map(|(row, differs)| format!("{} {row}", if differs { ">" } else { " " })),
        );
    }
    lines.push(format!("hint: {}", failing.hint()));
    lines.join("\n")
}
