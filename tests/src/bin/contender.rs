//! Another process at the same database, for the tests that need one.
//!
//! `contender open DATABASE` opens it as a store; `contender apply DATABASE COUNT` applies the
//! events `0` to `COUNT` and says how many were new, or stops at the first that fails.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use process_once::store::{Sqlite, SqliteOptions};
use tests::stores::{alert, chain, deliver};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match *arguments {
        ["open", path] => match Sqlite::open(path, SqliteOptions::default()) {
            Ok(_) => println!("opened"),
            Err(error) => println!("{}", chain(&error)),
        },
        ["apply", path, count] => apply(path, count.parse().unwrap()),
        _ => panic!("contender open DATABASE | apply DATABASE COUNT"),
    }
}

fn apply(path: &str, count: u32) {
    let mut store = Sqlite::open(path, SqliteOptions::default()).unwrap();
    let mut new = 0;
    for n in 0..count {
        match deliver(&mut store, &alert(&n.to_string())) {
            Ok(is_new) => new += u32::from(is_new),
            Err(error) => {
                println!("{n}: {}, {:?}\n{}", error.class(), error.code(), chain(&error));
                return;
            }
        }
    }
    println!("{new} new");
}
