//! Mutants of the reference guest: each is built to WebAssembly and judged by `process-once check`, and has
//! to be killed by a rule, or the judge has a gap.
//!
//! cargo-mutants is asked only what it would change. It runs tests of the machine's own build, and the
//! reference guest has none: what it does is seen through the component, in a host.

mod judge;
mod listed;
mod ours;
mod tree;

pub(crate) use tree::copy_workspace;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::toolchain::Toolchain;
use judge::Judgement;
use tree::{Built, Tree};

/// What is mutated, below the workspace's folder.
const SOURCE: &str = "guest/src/lib.rs";

/// A guest with one mistake.
struct Mutant {
    /// Where the mistake is, and what it is.
    name: String,
    /// The whole source with it.
    source: String,
}

/// What became of a mutant.
enum Fate {
    Judged(Judgement),
    DidNotCompile(String),
}

/// Judges every mutant. Fails unless there are some, and each that compiles is killed by a rule.
pub(crate) fn judge_all(root: &Path) -> Result<()> {
    let path = root.join(SOURCE);
    let source =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let listed = listed::list(root, &source)?;
    let ours = ours::of(&source)?;
    println!("{} mutants of {SOURCE}", listed.len() + ours.len());

    let tree = Tree::copy(root, Toolchain::find()?)?;
    ensure_that_the_original_is_right(root, &tree, &source)?;
    let mut fates = Vec::new();
    for (by, mutants) in [("cargo-mutants", listed), ("our own", ours)] {
        println!("\n{by}:");
        for mutant in mutants {
            let fate = fate(root, &tree, &mutant.source).context(mutant.name.clone())?;
            println!("  {}", fate.told_of(&mutant.name));
            fates.push(fate);
        }
    }
    println!("\n{}", summary(&fates)?);
    Ok(())
}

/// Without this, a judge that fails everything would kill every mutant.
fn ensure_that_the_original_is_right(root: &Path, tree: &Tree, source: &str) -> Result<()> {
    match fate(root, tree, source)? {
        Fate::Judged(Judgement::Kept) => Ok(()),
        Fate::Judged(Judgement::Broken(rules)) => {
            bail!("{SOURCE} itself breaks {}", rules.join(", "))
        }
        Fate::Judged(Judgement::Unclear(why)) => bail!("{SOURCE} itself cannot be judged: {why}"),
        Fate::DidNotCompile(why) => bail!("{SOURCE} itself does not compile: {why}"),
    }
}

fn fate(root: &Path, tree: &Tree, source: &str) -> Result<Fate> {
    Ok(match tree.build(source)? {
        Built::Component(component) => Fate::Judged(judge::judge(root, &component)?),
        Built::DidNotCompile(why) => Fate::DidNotCompile(why),
    })
}

impl Fate {
    fn told_of(&self, name: &str) -> String {
        let (fate, why) = match self {
            Self::Judged(Judgement::Kept) => ("SURVIVED".to_owned(), None),
            Self::Judged(Judgement::Broken(rules)) => {
                (format!("killed by {}", rules.join(", ")), None)
            }
            Self::Judged(Judgement::Unclear(why)) => ("KILLED BY NO RULE".to_owned(), Some(why)),
            Self::DidNotCompile(why) => ("did not compile".to_owned(), Some(why)),
        };
        let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
        format!("{fate:<24} {name}{why}")
    }
}

/// The sentence that everything comes to; an error if the judge has a gap.
fn summary(fates: &[Fate]) -> Result<String> {
    let viable = fates.iter().filter(|fate| matches!(fate, Fate::Judged(_))).count();
    let killed =
        fates.iter().filter(|fate| matches!(fate, Fate::Judged(Judgement::Broken(_)))).count();
    ensure!(viable > 0, "none of {} mutants compiled, so nothing was judged", fates.len());
    ensure!(killed == viable, "only {killed} of {viable} viable mutants were killed by a rule");
    let unviable = fates.len() - viable;
    Ok(format!(
        "{killed} of {viable} viable mutants killed, each by a rule; {unviable} did not compile"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn killed() -> Fate {
        Fate::Judged(Judgement::Broken(vec!["R1".to_owned()]))
    }

    fn unviable() -> Fate {
        Fate::DidNotCompile("error[E0277]".to_owned())
    }

    #[test]
    fn mutants_that_do_not_compile_are_counted_apart() {
        let said = summary(&[killed(), unviable(), killed()]).ok();
        let expected = "2 of 2 viable mutants killed, each by a rule; 1 did not compile";
        assert_eq!(said.as_deref(), Some(expected));
    }

    #[test]
    fn one_that_survives_is_an_error() {
        assert!(summary(&[killed(), Fate::Judged(Judgement::Kept)]).is_err());
    }

    #[test]
    fn one_that_no_rule_killed_is_an_error() {
        let unclear = Fate::Judged(Judgement::Unclear("R3 was not reached".to_owned()));
        assert!(summary(&[killed(), unclear]).is_err());
    }

    #[test]
    fn nothing_to_judge_is_an_error() {
        assert!(summary(&[]).is_err());
        assert!(summary(&[unviable()]).is_err());
    }
}
