//! Mutants of our own: cargo-mutants knows Rust, but not what goes wrong with a transaction, and makes two
//! of the whole guest.
//!
//! The rules read the source as text, line by line. None may make a guest that does the same as the
//! original: nothing could kill it.

use anyhow::{Result, ensure};

use super::{Mutant, SOURCE};

/// What stands in the source, and what is put in its place, wherever it stands.
const REPLACEMENTS: [(&str, &[&str]); 8] = [
    ("Outcome::Applied", &["Outcome::AlreadyApplied", "Outcome::Unknown"]),
    ("Outcome::AlreadyApplied", &["Outcome::Applied", "Outcome::Unknown"]),
    // An error: returned without a rollback, ignored, or a trap.
    (".map_err(undo)", &[""]),
    (".map_err(undo)?", &[".unwrap_or_default()", ".unwrap()"]),
    // A transaction: a trap without one, an answer without one, a handle that is never dropped.
    (
        "store::begin()?;",
        &[
            "store::begin().unwrap();",
            "core::mem::ManuallyDrop::new(store::begin()?);",
            "match store::begin() { Ok(tx) => tx, Err(_) => return Ok(Outcome::Unknown) };",
        ],
    ),
    // Undone although it is done.
    ("tx.commit().map_err(undo)?;", &["tx.commit().map_err(undo)?; tx.rollback();"]),
    ("(event_id)", &["(event_id.trim())", "(&alert.device_id)"]),
    ("(alert)", &["(&Alert { message: alert.device_id.clone(), ..alert.clone() })"]),
];

/// All of them. A rule that fits nowhere is an error, so that none is lost when the source changes.
pub(super) fn of(source: &str) -> Result<Vec<Mutant>> {
    let lines: Vec<&str> = source.lines().collect();
    let mut mutants = Vec::new();
    for (from, replacements) in REPLACEMENTS {
        let found = replaced(&lines, from, replacements);
        ensure!(!found.is_empty(), "`{from}`, which is to be replaced, is not in {SOURCE}");
        mutants.extend(found);
    }
    for (what, found) in
        [("delete", deleted(&lines)), ("do twice", doubled(&lines)), ("swap", swapped(&lines))]
    {
        ensure!(!found.is_empty(), "there are no statements to {what} in {SOURCE}");
        mutants.extend(found);
    }
    Ok(mutants)
}

fn replaced(lines: &[&str], from: &str, replacements: &[&str]) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !is_comment(line)) {
        for (column, _) in line.match_indices(from) {
            for to in replacements {
                let (before, after) = (&line[..column], &line[column + from.len()..]);
                let what = match *to {
                    "" => format!("delete {from}"),
                    to => format!("replace {from} with {to}"),
                };
                let place = (index, column);
                mutants.push(mutant(lines, place, &what, &[&format!("{before}{to}{after}")], 1));
            }
        }
    }
    mutants
}

fn deleted(lines: &[&str]) -> Vec<Mutant> {
    let delete = |(index, line): (usize, &&str)| {
        mutant(lines, (index, indent(line)), &format!("delete {}", line.trim()), &[], 1)
    };
    lines.iter().enumerate().filter(|(_, line)| is_statement(line)).map(delete).collect()
}

/// A `return` is left out: twice is once.
fn doubled(lines: &[&str]) -> Vec<Mutant> {
    let twice = |line: &str| is_statement(line) && !line.trim_start().starts_with("return");
    let double = |(index, line): (usize, &&str)| {
        let what = format!("do twice {}", line.trim());
        mutant(lines, (index, indent(line)), &what, &[line, line], 1)
    };
    lines.iter().enumerate().filter(|(_, line)| twice(line)).map(double).collect()
}

fn swapped(lines: &[&str]) -> Vec<Mutant> {
    let swap = |(index, pair): (usize, &[&str])| {
        let (first, second) = (pair[0], pair[1]);
        let what = format!("swap {} and {}", first.trim(), second.trim());
        mutant(lines, (index, indent(first)), &what, &[second, first], 2)
    };
    let pairs = lines.windows(2).enumerate();
    pairs.filter(|(_, pair)| pair.iter().all(|line| is_statement(line))).map(swap).collect()
}

/// The source with some lines in place of `count` of its own.
fn mutant(
    lines: &[&str],
    (index, column): (usize, usize),
    what: &str,
    new: &[&str],
    count: usize,
) -> Mutant {
    let all = [&lines[..index], new, &lines[index + count..]].concat();
    let name = format!("{SOURCE}:{}:{}: {what}", index + 1, column + 1);
    Mutant { name, source: all.join("\n") + "\n" }
}

/// Whether a line is a whole statement that calls something or returns; what is not indented is in no
/// function.
fn is_statement(line: &str) -> bool {
    indent(line) > 0 && !is_comment(line) && line.ends_with(';') && line.contains('(')
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [&str; 6] =
        ["export!(f);", "fn f() {", "    // g(1);", "    g(1);", "    return h(g(1));", "}"];

    /// The names without the file, and the lines that are not as they were.
    fn told(mutants: &[Mutant]) -> Vec<(String, Vec<String>)> {
        let told = |mutant: &Mutant| {
            let name = mutant.name.strip_prefix(SOURCE).unwrap_or_default().to_owned();
            (name, mutant.source.lines().skip(3).map(str::to_owned).collect())
        };
        mutants.iter().map(told).collect()
    }

    fn mutation(name: &str, lines: &[&str]) -> (String, Vec<String>) {
        (name.to_owned(), lines.iter().map(|&line| line.to_owned()).collect())
    }

    #[test]
    fn each_place_is_replaced_by_itself_and_comments_are_left_alone() {
        let expected = [
            mutation(":4:6: replace (1) with (2)", &["    g(2);", "    return h(g(1));", "}"]),
            mutation(":5:15: replace (1) with (2)", &["    g(1);", "    return h(g(2));", "}"]),
        ];
        assert_eq!(told(&replaced(&LINES, "(1)", &["(2)"])), expected);
    }

    #[test]
    fn only_statements_of_a_function_are_deleted() {
        let expected = [
            mutation(":4:5: delete g(1);", &["    return h(g(1));", "}"]),
            mutation(":5:5: delete return h(g(1));", &["    g(1);", "}"]),
        ];
        assert_eq!(told(&deleted(&LINES)), expected);
    }

    #[test]
    fn a_return_is_not_done_twice() {
        let lines = ["    g(1);", "    g(1);", "    return h(g(1));", "}"];
        assert_eq!(told(&doubled(&LINES)), [mutation(":4:5: do twice g(1);", &lines)]);
    }

    #[test]
    fn neighbours_are_swapped() {
        let lines = ["    return h(g(1));", "    g(1);", "}"];
        let name = ":4:5: swap g(1); and return h(g(1));";
        assert_eq!(told(&swapped(&LINES)), [mutation(name, &lines)]);
    }

    #[test]
    fn every_rule_fits_the_reference_guest() {
        let source = include_str!("../../../src/lib.rs");
        let mutants = of(source).unwrap_or_default();
        assert!(!mutants.is_empty());
        assert!(mutants.iter().all(|mutant| mutant.source != source));
    }

    #[test]
    fn a_rule_that_fits_nowhere_is_an_error() {
        assert!(of("fn f() {}\n").is_err());
    }
}
