//! What is a guest, and what is told of anything else.

use std::error::Error;

use process_once::engine::{Engine, Inspection, Limits};
use tests::guests::{REFERENCE, component};
use tests::stores::chain;

/// The reference's bytes with each version of its interface replaced by one of the same length.
fn of_version(version: &str) -> Vec<u8> {
    let mut bytes = std::fs::read(component(REFERENCE)).unwrap();
    let found: Vec<usize> =
        (0..bytes.len() - 6).filter(|&at| &bytes[at..at + 6] == b"@0.1.0").collect();
    assert!(found.len() >= 3, "the reference names its interfaces with their version");
    for at in found {
        bytes[at + 1..at + 6].copy_from_slice(version.as_bytes());
    }
    bytes
}

fn wat(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

/// Loads the bytes; "a guest", or why they are none.
fn verdict(bytes: &[u8]) -> String {
    let engine = Engine::new(Limits::default()).unwrap();
    match engine.load_bytes(bytes) {
        Ok(_) => "a guest".to_owned(),
        Err(reason) => reason.to_string(),
    }
}

#[test]
fn what_is_no_guest_is_told_why() {
    let processor = "process-once:alerts/processor@0.1.0";
    for (bytes, expected) in [
        (of_version("0.1.0"), "a guest"),
        (of_version("0.1.7"), "a guest"),
        (
            of_version("0.2.0"),
            "it was built for process-once:alerts/processor 0.2.0; this host speaks 0.1.0 \
             (any 0.1.x)",
        ),
        (b"hello".to_vec(), "it is not WebAssembly; a guest is a compiled component"),
        (vec![], "it is not WebAssembly; a guest is a compiled component"),
        (
            wat("(module)"),
            "it is a core module, not a component; build it for wasm32-wasip2, or make a \
             component of it with `wasm-tools component new`",
        ),
        (
            std::fs::read(component(REFERENCE)).unwrap()[..5_000].to_vec(),
            "it is damaged, or needs a feature of WebAssembly that guests are not given",
        ),
        (wat("(component)"), "it does not export process-once:alerts/processor@0.1.0"),
        (
            wat(&format!(
                r#"(component
                    (import "wasi:http/types@0.2.0" (instance))
                    (instance $empty) (export "{processor}" (instance $empty)))"#
            )),
            "it imports wasi:http/types@0.2.0, which no guest is given",
        ),
        (
            wat(&format!(
                r#"(component (instance $empty) (export "{processor}" (instance $empty)))"#
            )),
            "its interface has the right name and another shape; build it against wit/",
        ),
    ] {
        assert_eq!(verdict(&bytes), expected);
    }
}

#[test]
fn what_cannot_be_read_is_told_by_its_path() {
    let engine = Engine::new(Limits::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.wasm");
    let text = folder.path().join("text.wasm");
    std::fs::write(&text, "hello").unwrap();
    for (path, expected) in [
        (folder.path(), "FOLDER is a folder; a guest is a file, most often named *.wasm"),
        (
            &missing,
            "the guest FOLDER/missing.wasm cannot be read\nNo such file or directory (os error 2)",
        ),
        (
            &text,
            "FOLDER/text.wasm is not a guest: it is not WebAssembly; a guest is a compiled \
             component",
        ),
    ] {
        let error = engine.load(path).unwrap_err();
        let error: &dyn Error = &error;
        let told = chain(error).replace(folder.path().to_str().unwrap(), "FOLDER");
        assert_eq!(told, expected);
    }
}

#[test]
fn the_reference_is_small_and_imports_the_store_and_nothing_else() {
    let engine = Engine::new(Limits::default()).unwrap();
    let found = Inspection::of_file(&engine, &component(REFERENCE)).unwrap();
    assert!(found.bytes <= 20 * 1024, "{} bytes", found.bytes);
    assert_eq!(
        found.imports,
        ["process-once:alerts/types@0.1.0", "process-once:alerts/store@0.1.0"]
    );
    assert_eq!(found.exports, ["process-once:alerts/processor@0.1.0"]);
    assert!(found.verdict.is_ok());
}
