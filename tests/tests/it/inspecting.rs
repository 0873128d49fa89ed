//! `inspect`, and what every command-line program has.

use tests::guests::component;
use tests::program::Desk;

#[test]
fn a_guest_is_inspected_in_both_forms() {
    let desk = Desk::default();
    let guest = component("process-once.wasm");
    let ran = desk.run(&format!("inspect {}", guest.display()));
    let told = "  imports  process-once:alerts/types@0.1.0
           process-once:alerts/store@0.1.0
  exports  process-once:alerts/processor@0.1.0
  guest    yes
";
    assert!(ran.code == Some(0) && ran.stdout.ends_with(told), "{ran:?}");
    let ran = desk.run(&format!("inspect --format json {}", guest.display()));
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let bytes = std::fs::metadata(guest).unwrap().len();
    assert_eq!((&told["version"], &told["bytes"]), (&1.into(), &bytes.into()));
    assert_eq!((&told["guest"], told["sha256"].as_str().unwrap().len()), (&true.into(), 64));
}

#[test]
fn what_is_no_guest_is_code_2_with_the_reason() {
    let desk = Desk::default();
    desk.write("text", "hello");
    let ran = desk.run("inspect text");
    let told = "  guest    no: it is not WebAssembly; a guest is a compiled component\n";
    assert!(ran.code == Some(2) && ran.stdout.ends_with(told), "{ran:?}");
    let ran = desk.run("inspect missing");
    let told = "process-once: the guest missing cannot be read
  because: No such file or directory (os error 2)
  next: give the path of a component, most often named *.wasm
";
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), told));
}

#[test]
fn help_and_completions_are_there() {
    let desk = Desk::default();
    for (arguments, told) in [
        ("--help", "Exit codes:"),
        ("run --help", "--busy-timeout"),
        ("--version", "process-once 0.1.0"),
        ("completions bash", "complete -F"),
        ("completions fish", "complete -c process-once"),
        ("completions zsh", "#compdef process-once"),
    ] {
        let ran = desk.run(arguments);
        assert!(ran.code == Some(0) && ran.stdout.contains(told), "{arguments}: {ran:?}");
    }
}
