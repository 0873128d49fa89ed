//! The judge judged: right guests pass, each wrong guest breaks exactly the rules that its file names,
//! and no rule of the judge can be left out unnoticed. One trial a guest.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod judge;
mod matrix;
mod rules;
mod stores;

use libtest_mimic::{Arguments, Trial};
use tests::guests::{Header, sources};

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for name in sources("wrong") {
        let header = Header::of(&name);
        let title = format!("wrong/{name} breaks {} and no other rule", header.names());
        trials.push(Trial::test(title, move || judge::breaks(&name, &header)));
    }
    for name in sources("odd") {
        let title = format!("odd/{name} passes, however it is written");
        trials.push(Trial::test(title, move || judge::passes(&format!("tests/odd/{name}.wasm"))));
    }
    trials.extend(judge::trials());
    trials.extend(rules::trials());
    trials.extend(stores::trials());
    trials.extend(matrix::trials());
    libtest_mimic::run(&arguments, trials).exit();
}
