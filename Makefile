# An index: each target is one line; what is longer lives in guest/xtask.
# Everything below looks for its files in target/, wherever the caller's own builds go.
export CARGO_TARGET_DIR := $(CURDIR)/target
PROGRAM := target/release/process-once

.PHONY: help build guests test-guests run test test-long mutants flaws kill-matrix bench bench-short lint clean

help: ## shows this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile | expand -t 20

build: guests ## builds the program (target/release/process-once) and the guests (target/components)
	cargo build --release -p process-once

guests: ## builds the reference guest
	@cargo run -q -p xtask -- guests

test-guests: ## builds the guests of the tests
	@cargo run -q -p xtask -- test-guests

run: build ## consumes the sample events into target/demo, which is made anew
	@rm -rf target/demo && mkdir -p target/demo
	$(PROGRAM) run --events tests/data/events.jsonl --database target/demo/alerts.db --checkpoint target/demo/checkpoint --trace target/demo/trace
	@echo "left to look at: target/demo/alerts.db (SQLite), target/demo/trace (each event's calls)"

test: build test-guests ## runs all tests
	cargo test --release

test-long: build test-guests ## looks longer for what tells batches from single transactions: 100,000 random streams
	STREAMS=100000 cargo test --release -p tests --test refinement random_streams_in_memory -- --nocapture

mutants: build ## judges each mutant of the reference guest: a rule has to kill it (needs cargo-mutants)
	@cargo run -q -p xtask -- mutants

flaws: test-guests ## breaks the engine of batches in many ways: the refinement tests have to catch each
	@cargo run -q -p xtask -- flaws

kill-matrix: test-guests ## writes tests/guests/README.md anew, from the headers of the wrong guests
	WRITE_KILL_MATRIX=1 cargo test -q --release -p tests --test check -- matrix

bench: build ## measures a run beside bare loops, a call of the guest, and the judge
	cargo bench -q -p process-once --bench run --bench call --bench check

bench-short: build ## shows that the benches run
	cargo bench -q -p process-once --bench run --bench call --bench check -- --short

lint: ## checks formatting, lints and documentation, all without a warning
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps

clean: ## removes everything that was built
	cargo clean
