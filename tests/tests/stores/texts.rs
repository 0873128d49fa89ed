//! Texts are kept byte for byte.

use process_once::event::{Alert, Event, MAX_DEVICE_ID_BYTES, MAX_ID_BYTES, MAX_MESSAGE_BYTES};
use tests::stores::{LONG, Lab, Stored, alert, deliver};

use super::Clause;

pub(crate) fn clauses<L: Lab>() -> Vec<Clause<L>> {
    vec![
        ("texts come back byte for byte", byte_for_byte),
        ("ids that differ in any byte are different events", ids_differ),
        ("the longest texts are kept whole", longest),
    ]
}

/// Texts that a careless store changes: spaces, line ends, control characters, what looks like
/// numbers, quotes and SQL, composed and decomposed letters, noncharacters, planes beyond the
/// first, and the largest code point.
const ODD: [&str; 22] = [
    " ",
    " a ",
    "\t\r\n",
    "\u{1}\u{1f}\u{7f}\u{85}",
    "0",
    "007",
    "1e3",
    "NULL",
    "it's \"quoted\" `here`",
    "'); DROP TABLE alerts; --",
    "?1 :name @x $y %s {}",
    "\\u0041\\",
    "\u{e9}",
    "e\u{301}",
    "\u{feff}mark",
    "\u{200b}\u{202e}",
    "\u{fffd}",
    "\u{fffe}",
    "\u{ffff}",
    "\u{1f469}\u{200d}\u{1f680}",
    "\u{1ffff}",
    "\u{10ffff}",
];

fn byte_for_byte<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    let mut alerts: Vec<_> = ODD.iter().map(|odd| alert(odd)).collect();
    for (n, odd) in ODD.iter().enumerate() {
        alerts.push(Alert::new(&format!("event {n}"), odd, ODD[ODD.len() - 1 - n]));
    }
    alerts.push(Alert::new("empty texts", "", ""));
    for alert in &alerts {
        assert_eq!(deliver(&mut store, alert), Ok(true), "{alert:?}");
    }
    assert_eq!(lab.stored(), Stored::pairs(&alerts));
}

fn ids_differ<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    let ids = [
        "a", "A", "a ", " a", "a\n", "aa", "1", "01", "1.0", "+1", "\u{e9}", "e\u{301}", "\u{df}",
        "ss", "SS", "\u{131}", "i", "I", "\u{130}", "\u{fffd}", "\u{fffe}", "\u{ffff}", "\u{212a}",
        "k", "K",
    ];
    for id in ids {
        assert_eq!(deliver(&mut store, &alert(id)), Ok(true), "{id:?}");
    }
    for id in ids {
        assert_eq!(deliver(&mut store, &alert(id)), Ok(false), "{id:?}");
    }
}

fn longest<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    let device_id = "\u{e9}".repeat(MAX_DEVICE_ID_BYTES / 2);
    let message = "\u{1f680}".repeat(MAX_MESSAGE_BYTES / 4);
    let longest = Alert::new(&"i".repeat(MAX_ID_BYTES), &device_id, &message);
    assert!(Event::new(longest.clone()).is_ok());
    // Another id that differs in its very last byte only.
    let id = format!("{}j", "i".repeat(MAX_ID_BYTES - 1));
    let sibling = Alert::new(&id, &device_id, &message);
    let alerts = [longest, sibling];
    for alert in &alerts {
        assert_eq!(deliver(&mut store, alert), Ok(true));
    }
    for alert in &alerts {
        assert_eq!(deliver(&mut store, alert), Ok(false));
    }
    assert_eq!(lab.stored(), Stored::pairs(&alerts));
}
