//! Right, and odd: it writes several lines to stdout and to stderr between its calls.

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    write("begin", alert);
    let tx = store::begin()?;
    let undo = |error: Error| {
        write(&error.message(), alert);
        tx.rollback();
        error
    };
    write("try-mark", alert);
    if !tx.try_mark(event_id).map_err(undo)? {
        tx.rollback();
        return Ok(Outcome::AlreadyApplied);
    }
    write("save-alert", alert);
    tx.save_alert(alert).map_err(undo)?;
    write("commit", alert);
    tx.commit().map_err(undo)?;
    Ok(Outcome::Applied)
}

fn write(what: &str, alert: &Alert) {
    println!("{what}: {}", alert.device_id);
    eprintln!("{what}: {:?}", alert.source_event_id);
}
