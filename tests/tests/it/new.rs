//! `new`: what it writes builds, and its README leads from red to green.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::program::{Desk, Ran, program};

/// Where projects are built: they share what they depend on, and a later run finds it built.
fn target_dir() -> PathBuf {
    program().ancestors().nth(2).unwrap().join("projects")
}

/// A README's blocks of a language, in order.
fn blocks<'a>(readme: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("\n```{language}\n");
    readme.split(fence.as_str()).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// Puts another body into the project's one function.
fn write_body(desk: &Desk, body: &str) {
    let path = desk.path("my guest/src/lib.rs");
    let code = fs::read_to_string(&path).unwrap();
    let (before, rest) = code.split_once("store::Error> {\n").unwrap();
    let (_, after) = rest.split_once("\n    }\n").unwrap();
    fs::write(&path, format!("{before}store::Error> {{\n{body}    }}\n{after}")).unwrap();
}

/// Builds the project as its Makefile does, with whatever tool chain is there, and without a warning.
///
/// Its code is newer than whatever was built here before, so that cargo never takes that for it.
fn build(desk: &Desk) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "-q", "-p", "xtask", "--", "build-project"]);
    command.arg(desk.path("my guest")).arg(target_dir()).current_dir(env!("CARGO_MANIFEST_DIR"));
    let built = command.output().unwrap();
    let told = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success() && !told.contains("warning"), "{told}");
}

/// What the check says of each rule that is broken, and its last line.
fn verdict(report: &str) -> String {
    let is_rule = |word: &str| word.strip_prefix('R').is_some_and(|id| id.parse::<u8>().is_ok());
    let told = report.lines().filter(|line| {
        line.split_once(' ').is_some_and(|(first, rest)| is_rule(first) && !rest.starts_with(' '))
            && !line.contains(" times kept ")
    });
    told.chain(report.lines().last()).map(|line| format!("{line}\n")).collect()
}

/// Has the built guest judged, and returns the verdict.
fn check(desk: &Desk, code: i32) -> String {
    let guest = target_dir().join("wasm32-wasip2/release/my_guest.wasm");
    let ran = desk.run(&format!("check {}", guest.display()));
    assert_eq!(ran.code, Some(code), "{ran:?}");
    verdict(&ran.stdout)
}

#[test]
fn a_new_project_builds_and_its_readme_leads_from_red_to_green() {
    let desk = Desk::default();
    assert_eq!(desk.command("new").arg("my guest").status().unwrap().code(), Some(0));
    let readme = fs::read_to_string(desk.path("my guest/README.md")).unwrap();
    let (bodies, told) = (blocks(&readme, "rust"), blocks(&readme, "text"));
    assert_eq!(
        (bodies.len(), told.len()),
        (3, 4),
        "a body a step, and what is said before and after"
    );

    build(&desk);
    let red = check(&desk, 1);
    assert!(red.starts_with("R1 unknown was returned, but begin was never called\n"), "{red}");
    assert_eq!(red, told[0]);

    for (step, body) in bodies.iter().enumerate() {
        write_body(&desk, body);
        build(&desk);
        let code = i32::from(step + 1 < bodies.len());
        assert_eq!(check(&desk, code), told[step + 1], "step {}", step + 1);
    }
}

#[test]
fn the_makefile_builds_then_checks_what_was_built() {
    let desk = Desk::default();
    assert_eq!(desk.run("new a/b-c").code, Some(0));
    let make = |variables: &[&str]| {
        let mut command = Command::new("make");
        command.args(["-s", "check", "CARGO=echo cargo", "PROCESS_ONCE=echo process-once"]);
        command.args(variables).current_dir(desk.path("a/b-c")).env_remove("CARGO_TARGET_DIR");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    for (variables, target) in [(&[][..], "target"), (&["CARGO_TARGET_DIR=/t"], "/t")] {
        let guest = format!("{target}/wasm32-wasip2/release/b_c.wasm");
        assert_eq!(
            make(variables),
            format!(
                "cargo build --release --target wasm32-wasip2\nbuilt {guest}\nprocess-once check {guest}\n"
            )
        );
    }
}

#[test]
fn what_was_written_is_told_with_the_next_commands() {
    let desk = Desk::default();
    fs::create_dir(desk.path("empty")).unwrap();
    for (folder, cd) in [("parents/are made", "'parents/are made'"), ("empty", "empty")] {
        let ran = desk.ran(desk.command("new").arg(folder).spawn().unwrap());
        let name = Path::new(folder).file_name().unwrap().to_str().unwrap().replace(' ', "-");
        let told = format!(
            "{folder}: the package {name}, a guest that is not finished
  .gitignore
  Cargo.toml
  Makefile
  README.md
  src/lib.rs
  wit/README.md
  wit/guest.wit
  wit/processor.wit
  wit/store.wit
  wit/types.wit
next:
  cd {cd}
  make build
  make check   fails, and README.md leads on from there
"
        );
        assert_eq!(ran, Ran { code: Some(0), stdout: told, stderr: String::new() });
    }
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
    for file in fs::read_dir(contract).unwrap() {
        let file = file.unwrap();
        let written = fs::read(desk.path("empty/wit").join(file.file_name())).unwrap();
        assert!(written == fs::read(file.path()).unwrap(), "{file:?} is the very contract");
    }
}

#[test]
fn a_folder_that_cannot_be_used_is_refused_and_left_alone() {
    let desk = Desk::default();
    desk.write("file", "kept");
    fs::create_dir(desk.path("used")).unwrap();
    desk.write("used/.hidden", "");
    std::os::unix::fs::symlink("nowhere", desk.path("dangling")).unwrap();
    let elsewhere = "next: name a folder that does not exist yet, or an empty one\n";
    let see = "next: name another folder, or see to the disk and its permissions\n";
    for (folder, told, next) in [
        ("used", "the folder used is not empty\n", elsewhere),
        (".", "the folder . is not empty\n", elsewhere),
        ("file", "file is not a folder\n", elsewhere),
        ("file/below", "the folder file cannot be made\n  because: File exists", see),
        ("dangling", "the folder dangling cannot be made\n  because: File exists", see),
        ("made/on/the/way/..", "the folder made/on/the/way/.. cannot be made\n", see),
    ] {
        let Ran { code, stdout, stderr } = desk.run(&format!("new {folder}"));
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{folder}: {stderr}");
        assert!(stderr.starts_with(&format!("process-once: {told}")), "{folder}: {stderr}");
        assert!(stderr.ends_with(next), "{folder}: {stderr}");
    }
    let names = |folder| fs::read_dir(desk.path(folder)).unwrap().count();
    assert_eq!((names("."), names("used")), (3, 1), "nothing was made");
    assert_eq!(fs::read(desk.path("file")).unwrap(), b"kept");
}

#[test]
fn a_write_that_fails_names_the_file_and_leaves_nothing() {
    let desk = Desk::default();
    // No file may have more than a block, and the signal that tells of it is ignored: a disk that
    // is full behaves like this.
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" new made/here";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(program()).current_dir(desk.path("."));
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let told = "process-once: made/here/README.md cannot be written\n  because: File too large";
    assert!(output.status.code() == Some(2) && stderr.starts_with(told), "{stderr}");
    assert!(!desk.path("made").exists());
}

#[test]
fn a_name_that_is_no_utf_8_is_written_to_all_the_same() {
    use std::os::unix::ffi::OsStrExt as _;
    let desk = Desk::default();
    let folder = std::ffi::OsStr::from_bytes(b"h\xffi");
    let ran = desk.ran(desk.command("new").arg(folder).spawn().unwrap());
    assert!(ran.code == Some(0) && ran.stdout.contains("the package h-i,"), "{ran:?}");
    let manifest = desk.path(".").join(folder).join("Cargo.toml");
    assert!(fs::read_to_string(manifest).unwrap().contains("name = \"h-i\"\n"));
}
