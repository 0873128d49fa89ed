//! Another process at the same database, for the tests that need one.
//!
//! `contender open DATABASE` opens it as a store; `contender apply DATABASE COUNT` applies the
//! events `0` to `COUNT` and says how many were new.
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
        ["apply", path, count] => {
            let mut store = Sqlite::open(path, SqliteOptions::default()).unwrap();
            let events = 0..count.parse::<u32>().unwrap();
            let new = events.filter(|n| deliver(&mut store, &alert(&n.to_string())).unwrap());
            println!("{}", new.count());
        }
        _ => panic!("contender open DATABASE | apply DATABASE COUNT"),
    }
}
