//! Components that no compiler would write: each is a typed fault, and the host goes on.

use process_once::engine::Engine;
use process_once::processor::Processor;
use process_once::store::Memory;
use tests::guests::{event, impatient};

/// A component of the guest's world: `body` is the core function `process-once`, `start` runs when
/// it is instantiated.
fn guest(start: &str, body: &str) -> Vec<u8> {
    let text = include_str!("hostile.wat").replace("(;START;)", start).replace("(;BODY;)", body);
    wat::parse_str(text).unwrap()
}

#[test]
fn a_hostile_component_is_a_typed_fault() {
    for (start, body, expected) in [
        ("(loop br 0)", "", "the guest ran on after its deadline and was stopped"),
        (
            "(call $begin (i32.const 64))",
            "",
            "the guest broke the rules of handles: the store was called outside of a delivery",
        ),
        (
            "",
            "(drop (memory.grow (i32.const 4096))) unreachable",
            "the guest ran out of memory: wasm trap: wasm `unreachable` instruction executed",
        ),
        (
            "",
            "(call $drop-tx (i32.const 7))",
            "the guest broke the rules of handles: unknown handle index 7",
        ),
        (
            "",
            "(call $begin (i32.const 64))
             (call $drop-tx (i32.load (i32.const 68)))
             (call $rollback (i32.load (i32.const 68)))",
            "the guest broke the rules of handles: unknown handle index 1",
        ),
        (
            "",
            // err(7): an error that nobody handed out
            "(i32.store (i32.const 32) (i32.const 1)) (i32.store (i32.const 36) (i32.const 7))",
            "the guest broke the rules of handles: unknown handle index 7",
        ),
        (
            "",
            // ok(9): an outcome that does not exist
            "(i32.store (i32.const 36) (i32.const 9))",
            "the guest broke the rules of handles: unexpected discriminant: 9",
        ),
        (
            "",
            // The handle is kept and the transaction left open.
            "(call $begin (i32.const 64))",
            "the guest broke the contract, R1: unknown was returned, but try-mark was never called",
        ),
        (
            "",
            "(loop (call $begin (i32.const 64)) br 0)",
            "the guest broke the contract, R9: begin was called a second time",
        ),
    ] {
        let guest = Engine::new(impatient()).unwrap().load_bytes(&guest(start, body)).unwrap();
        let memory = Memory::new();
        let mut processor = Processor::new(guest, memory.clone()).unwrap();
        for _ in 0..2 {
            // The second delivery runs on a fresh instance and says the same.
            let failure = processor.process(&event("e")).unwrap_err();
            assert_eq!(failure.to_string(), expected, "{start}{body}");
        }
        assert_eq!(memory.markers(), [""; 0]);
    }
}
