//! Components that no compiler would write: each is a typed fault, and the host goes on.

use process_once::engine::Engine;
use process_once::processor::Processor;
use process_once::store::Memory;
use tests::guests::{event, impatient};

/// The same with WASI imported, and without start-up.
fn wasi_guest(body: &str) -> Vec<u8> {
    wat::parse_str(include_str!("wasi.wat").replace("(;BODY;)", body)).unwrap()
}

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
            "the guest broke the contract, R9: begin was called outside of a delivery",
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

/// A component that componentize-py makes of Python has modules with several memories, and was called
/// damaged.
#[test]
fn a_guest_may_have_several_memories_and_tail_calls() {
    let text = include_str!("hostile.wat").replace(
        "(func $start (;START;))",
        "(memory 1)
         (func $start (i32.store 1 (i32.const 0) (i32.const 7)) (return_call $rest))
         (func $rest (if (i32.ne (i32.load 1 (i32.const 0)) (i32.const 7)) (then unreachable)))",
    );
    let guest = wat::parse_str(text).unwrap();
    let guest = Engine::new(impatient()).unwrap().load_bytes(&guest).unwrap();
    let mut processor = Processor::new(guest, Memory::new()).unwrap();
    let failure = processor.process(&event("e")).unwrap_err();
    assert_eq!(failure.to_string(), "the guest answered unknown, as an unfinished one does");
}

#[test]
fn wasi_gives_nothing_real() {
    let unfinished = "the guest answered unknown, as an unfinished one does";
    let or_trap = |condition: &str| format!("(if (i32.eqz {condition}) (then unreachable))");
    let fixed_clock =
        or_trap("(i32.and (i64.eq (call $now) (call $now)) (i64.gt_s (call $now) (i64.const 0)))");
    // The first number of the stream, which is the same for every instance: SplitMix64 from its seed.
    let fixed_random = or_trap("(i64.eq (call $random) (i64.const 7285733013806530320))");
    let denied_socket = "(call $socket (i32.const 0) (i32.const 64))".to_owned()
        + &or_trap(
            "(i32.and (i32.load8_u (i32.const 64)) (i32.eq (i32.load8_u (i32.const 68)) (i32.const 1)))",
        );
    for (body, expected) in [
        (fixed_clock.as_str(), unfinished),
        (&fixed_random, unfinished),
        (&denied_socket, unfinished),
        ("(call $exit (i32.const 0))", "the guest trapped: wasi:cli/exit exit is denied to guests"),
        (
            "(call $bytes (i64.const 1000000000000) (i32.const 64))",
            "the guest trapped: 1000000000000 random bytes were asked for; at most 65536 are given",
        ),
        (
            "(loop (drop (call $get-stderr)) br 0)",
            "the guest trapped: 1025 handles were asked for; at most 1024 are given",
        ),
    ] {
        let guest = Engine::new(impatient()).unwrap().load_bytes(&wasi_guest(body)).unwrap();
        let mut processor = Processor::new(guest, Memory::new()).unwrap();
        assert_eq!(processor.process(&event("e")).unwrap_err().to_string(), expected, "{body}");
    }
}
