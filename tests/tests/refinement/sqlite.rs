//! Databases in which somebody may look at the order of rows, and one that refuses an alert.

use std::sync::Arc;

use tests::stores::SqliteLab;

use crate::plan::Plan;
use crate::play::{Ended, play};
use crate::{GUEST, batches, check};

/// Not in the order of their ids.
const EVENTS: [(u8, &str); 8] = [
    (7, "apply"),
    (3, "apply"),
    (5, "apply"),
    (3, "apply"),
    (9, "write"),
    (1, "apply"),
    (8, "apply"),
    (2, "apply"),
];

/// The tables as somebody makes them who thinks nothing of it: with rowids.
const PLAIN_DDL: &str = "
    CREATE TABLE processed_reading_events (event_id TEXT NOT NULL PRIMARY KEY);
    CREATE TABLE alerts (
        source_event_id TEXT NOT NULL PRIMARY KEY REFERENCES processed_reading_events (event_id),
        device_id TEXT NOT NULL, message TEXT NOT NULL);";

/// A table that sees each row as it comes.
const TRIGGERS: &str = "
    CREATE TABLE seen (what TEXT);
    CREATE TRIGGER marker AFTER INSERT ON processed_reading_events
        BEGIN INSERT INTO seen VALUES ('marker ' || new.event_id); END;
    CREATE TRIGGER alert AFTER INSERT ON alerts
        BEGIN INSERT INTO seen VALUES ('alert ' || new.source_event_id); END;";

fn rows(lab: &SqliteLab, query: &str) -> Vec<String> {
    let connection = lab.connection();
    let mut statement = connection.prepare(query).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn new_ids() -> impl Iterator<Item = String> {
    [7, 3, 5, 9, 1, 8, 2].into_iter().map(|id| format!("event-{id:03}"))
}

#[test]
fn in_tables_with_rowids_rows_stand_in_the_order_of_delivery() {
    for size in [1, 3, 8] {
        let lab = Arc::new(SqliteLab::prepared(PLAIN_DDL));
        check(&lab, &Plan::of(&EVENTS, batches(size))).unwrap();
        let ids: Vec<_> = new_ids().collect();
        assert_eq!(rows(&lab, "SELECT source_event_id FROM alerts ORDER BY rowid"), ids);
        let markers = "SELECT event_id FROM processed_reading_events ORDER BY rowid";
        assert_eq!(rows(&lab, markers), ids);
    }
}

#[test]
fn a_trigger_sees_marker_and_alert_of_one_event_after_the_other() {
    for size in [1, 3, 8] {
        let lab = Arc::new(SqliteLab::altered(TRIGGERS));
        check(&lab, &Plan::of(&EVENTS, batches(size))).unwrap();
        let expected: Vec<_> =
            new_ids().flat_map(|id| [format!("marker {id}"), format!("alert {id}")]).collect();
        assert_eq!(rows(&lab, "SELECT what FROM seen ORDER BY rowid"), expected);
    }
}

/// A row that cannot be inserted makes the batch a failed one; then it is met alone, and reported.
#[test]
fn an_alert_that_the_database_refuses_stops_the_run_at_its_event_in_every_position() {
    for size in 1..=4 {
        for position in 0..6 {
            let lab = Arc::new(SqliteLab::altered(&format!(
                "CREATE TRIGGER refuse BEFORE INSERT ON alerts WHEN new.message = 'message {position}'
                    BEGIN SELECT raise(ABORT, 'not this one'); END;"
            )));
            let plan = Plan::of(
                &[
                    (5, "apply"),
                    (4, "apply"),
                    (0, "write"),
                    (1, "apply"),
                    (2, "apply"),
                    (3, "apply"),
                ],
                batches(size),
            );
            let history = play(&lab, &GUEST, &plan);
            assert_eq!(history.ended, Ended::Failed { event: position }, "batches of {size}");
            assert_eq!(history.counts.applied, position as u64);
            assert_eq!(rows(&lab, "SELECT source_event_id FROM alerts").len(), position);
        }
    }
}
