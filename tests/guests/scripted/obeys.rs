//! Does what the event's device says: the right thing, or one of the ways to fail.
//!
//! It writes which delivery of its instance this is, so that an instance which should have been thrown
//! away gives itself away.

use std::sync::atomic::{AtomicU32, Ordering};

use process_once_sdk::{Alert, Error, Outcome, store};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

/// How many deliveries this instance has been given.
static DELIVERIES: AtomicU32 = AtomicU32::new(0);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let delivery = DELIVERIES.fetch_add(1, Ordering::Relaxed) + 1;
    match alert.device_id.as_str() {
        "write" => {
            eprintln!("delivery {delivery} of an instance");
            let answer = apply(event_id, alert);
            println!("and behind its commit");
            answer
        }
        "unknown" => Ok(Outcome::Unknown),
        "unknown at the end" => {
            let tx = store::begin()?;
            if tx.try_mark(event_id)? {
                tx.save_alert(alert)?;
            }
            tx.rollback();
            Ok(Outcome::Unknown)
        }
        "trap" => std::process::abort(),
        "trap at the end" => {
            apply(event_id, alert)?;
            std::process::abort()
        }
        "trap if new" => {
            if apply(event_id, alert)? == Outcome::Applied {
                std::process::abort();
            }
            Ok(Outcome::AlreadyApplied)
        }
        "loop" => idle(),
        "loop in a transaction" => {
            let tx = store::begin()?;
            tx.try_mark(event_id)?;
            idle()
        }
        "lie" => {
            let tx = store::begin()?;
            tx.try_mark(event_id)?;
            tx.rollback();
            Ok(Outcome::Applied)
        }
        "alter" => apply(event_id, &Alert { message: String::new(), ..alert.clone() }),
        _ => apply(event_id, alert),
    }
}

fn idle() -> ! {
    loop {
        std::hint::spin_loop();
    }
}
