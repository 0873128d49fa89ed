//! The kill matrix in `tests/guests/README.md`: which wrong guest breaks which rule. What stands in it is
//! what the headers say, and the trials of the guests hold those to be true.

use std::fmt::Write as _;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use process_once::contract::Rule;
use tests::guests::{Header, sources};

use crate::judge::fail;

/// The variable that has the matrix written instead of compared.
const WRITE: &str = "WRITE_KILL_MATRIX";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("the kill matrix is up to date", is_up_to_date),
        Trial::test("each rule has at least two wrong guests", each_rule_is_broken),
    ]
}

fn is_up_to_date() -> Result<(), Failed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests/README.md");
    let matrix = matrix();
    if std::env::var_os(WRITE).is_some() {
        return Ok(std::fs::write(path, matrix)?);
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    if written == matrix {
        return Ok(());
    }
    fail(format!("{} is stale: `make kill-matrix` writes it anew", path.display()))
}

fn each_rule_is_broken() -> Result<(), Failed> {
    let headers: Vec<Header> = sources("wrong").iter().map(|name| Header::of(name)).collect();
    for rule in Rule::ALL {
        let breaks = |header: &&Header| header.expected.iter().any(|(broken, _)| *broken == rule);
        let count = headers.iter().filter(breaks).count();
        if count < 2 {
            return fail(format!("{rule} is broken by {count} guests"));
        }
    }
    Ok(())
}

fn matrix() -> String {
    let (wrong, odd) = (sources("wrong"), sources("odd"));
    let mut text = format!(
        "# Guests that judge the judge\n\n\
         `make kill-matrix` writes this file; a test fails while it is stale.\n\n\
         {} right guests under `odd/` are written in unusual ways, and each passes. {} guests under \
         `wrong/`\nbreak the rules that their files name, in the words that stand there, and no \
         other.\n\nNever start a guest from one under `wrong/`: `process-once new` writes a project to \
         start from.\n\n## Right\n\n",
        odd.len(),
        wrong.len()
    );
    for name in odd {
        let _ = writeln!(text, "- `{name}`: {}", tests::guests::oddity(&name));
    }
    text += "\n## Wrong\n\n| guest |";
    Rule::ALL.iter().for_each(|rule| text += &format!(" {rule} |"));
    text += "\n|---|";
    Rule::ALL.iter().for_each(|_| text += ":-:|");
    for name in &wrong {
        let header = Header::of(name);
        let _ = write!(text, "\n| `{name}` |");
        for rule in Rule::ALL {
            let broken = header.expected.iter().any(|(broken, _)| *broken == rule);
            text += if broken { " x |" } else { " |" };
        }
    }
    text += "\n| **guests** |";
    for rule in Rule::ALL {
        let breaks =
            |name: &&String| Header::of(name).expected.iter().any(|(broken, _)| *broken == rule);
        let _ = write!(text, " {} |", wrong.iter().filter(breaks).count());
    }
    text + "\n"
}
