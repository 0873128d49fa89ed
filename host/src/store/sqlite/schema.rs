//! The tables of the contract: what they are, whether a database has them so, how they are made.

use rusqlite::{Connection, OptionalExtension, Result};

use super::error::{OpenProblem, SchemaDifference};

/// A table as the contract wants it. Each column is a text that is stored byte for byte.
pub(super) struct Table {
    name: &'static str,
    columns: &'static [Column],
    /// Its foreign keys, as [`foreign_keys`] puts them in words.
    references: &'static [&'static str],
    ddl: &'static str,
}

struct Column {
    name: &'static str,
    /// Whether it is the primary key, alone.
    key: bool,
}

const KEY: bool = true;

/// `NOT NULL` also on the keys, because SQLite lets a primary key be NULL; `STRICT`, because it
/// would store a number as a number. `WITHOUT ROWID` saves an index beside each table.
const TABLES: [Table; 3] = [
    Table {
        name: "processed_reading_events",
        columns: &[Column { name: "event_id", key: KEY }],
        references: &[],
        ddl: "CREATE TABLE processed_reading_events (
                event_id TEXT NOT NULL PRIMARY KEY
              ) STRICT, WITHOUT ROWID",
    },
    Table {
        name: "alerts",
        columns: &[
            Column { name: "source_event_id", key: KEY },
            Column { name: "device_id", key: !KEY },
            Column { name: "message", key: !KEY },
        ],
        references: &["source_event_id REFERENCES processed_reading_events(event_id)"],
        ddl: "CREATE TABLE alerts (
                source_event_id TEXT NOT NULL PRIMARY KEY
                  REFERENCES processed_reading_events(event_id),
                device_id TEXT NOT NULL,
                message TEXT NOT NULL
              ) STRICT, WITHOUT ROWID",
    },
    // Not of the contract: it tells this database from every other.
    Table {
        name: "process_once_identity",
        columns: &[Column { name: "database_id", key: KEY }],
        references: &[],
        ddl: "CREATE TABLE process_once_identity (
                database_id TEXT NOT NULL PRIMARY KEY
              ) STRICT, WITHOUT ROWID",
    },
];

/// Whether each table is as it should be, or absent; gives those that are absent.
///
/// # Errors
/// The first difference of a table that has the name and another shape.
pub(super) fn verify(connection: &Connection) -> Result<Vec<&'static Table>, OpenProblem> {
    let mut absent = Vec::new();
    for table in &TABLES {
        match difference(connection, table).map_err(OpenProblem::during("reading its schema"))? {
            Found::Same => {}
            Found::Absent => absent.push(table),
            Found::Other(difference) => return Err(OpenProblem::Schema(difference)),
        }
    }
    Ok(absent)
}

/// Creates the tables.
pub(super) fn create(connection: &Connection, tables: &[&Table]) -> Result<()> {
    tables.iter().try_for_each(|table| connection.execute_batch(table.ddl))
}

/// The database's identity, made now if it has none.
pub(super) fn identity(connection: &Connection) -> Result<String> {
    connection.execute(
        "INSERT INTO process_once_identity (database_id)
         SELECT lower(hex(randomblob(16)))
         WHERE NOT EXISTS (SELECT 1 FROM process_once_identity)",
        [],
    )?;
    let query = "SELECT database_id FROM process_once_identity ORDER BY database_id LIMIT 1";
    connection.query_row(query, [], |row| row.get(0))
}

/// Whether the marker of the event is there.
pub(super) fn is_marked(connection: &Connection, event_id: &str) -> Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM processed_reading_events WHERE event_id = ?1)",
        )?
        .query_row([event_id], |row| row.get(0))
}

/// The version of the database's schema: another number whenever it changes.
pub(super) fn version(connection: &Connection) -> Result<i64> {
    connection.prepare_cached("PRAGMA schema_version")?.query_row([], |row| row.get(0))
}

/// Whether nobody can tell in which order a transaction's rows were inserted: the tables have no
/// row ids, and no trigger sees the rows.
pub(super) fn order_shows_nowhere(connection: &Connection) -> Result<bool> {
    connection
        .prepare_cached(
            "SELECT NOT EXISTS (
               SELECT 1 FROM sqlite_schema
               WHERE type = 'trigger'
                 AND lower(tbl_name) IN ('processed_reading_events', 'alerts'))
             AND 2 = (
               SELECT count(*) FROM pragma_table_list
               WHERE schema = 'main' AND wr
                 AND lower(name) IN ('processed_reading_events', 'alerts'))",
        )?
        .query_row([], |row| row.get(0))
}

enum Found {
    Same,
    Absent,
    Other(SchemaDifference),
}

/// Compares the database's table of that name with what it should be.
///
/// Extra CHECKs, triggers and plain indexes are the owner's business: they can make a delivery
/// fail, but not be answered wrongly.
fn difference(connection: &Connection, table: &Table) -> Result<Found> {
    let kind: Option<String> = connection
        .query_row(
            "SELECT type FROM pragma_table_list
             WHERE schema = 'main' AND name = ?1 COLLATE NOCASE",
            [table.name],
            |row| row.get(0),
        )
        .optional()?;
    let Some(kind) = kind else { return Ok(Found::Absent) };
    if kind != "table" {
        return Ok(other(table, None, "a table", &format!("a {kind}")));
    }
    let columns = columns(connection, table.name)?;
    for wanted in table.columns {
        let found = columns.iter().find(|found| found.name.eq_ignore_ascii_case(wanted.name));
        let found = found.map_or_else(|| "no such column".to_owned(), FoundColumn::words);
        if !wanted.admits(&found) {
            return Ok(other(table, Some(wanted.name), wanted.words(), &found));
        }
    }
    let is_ours = |found: &FoundColumn| {
        table.columns.iter().any(|c| c.name.eq_ignore_ascii_case(&found.name))
    };
    if let Some(extra) = columns.iter().find(|found| !is_ours(found)) {
        return Ok(other(table, Some(&extra.name), "no such column", &extra.words()));
    }
    for (what, wanted, found) in [
        ("key compared", "byte for byte (BINARY)", key_collations(connection, table.name)?),
        ("foreign key", &list(table.references), foreign_keys(connection, table.name)?),
        ("further unique index", "none", unique_indexes(connection, table.name)?),
    ] {
        if !found.eq_ignore_ascii_case(wanted) {
            let (wanted, found) = (format!("{what} {wanted}"), format!("{what} {found}"));
            return Ok(other(table, None, &wanted, &found));
        }
    }
    Ok(Found::Same)
}

fn other(table: &Table, column: Option<&str>, expected: &str, found: &str) -> Found {
    Found::Other(SchemaDifference {
        table: table.name,
        column: column.map(str::to_owned),
        expected: expected.to_owned(),
        found: found.to_owned(),
    })
}

impl Column {
    fn words(&self) -> &'static str {
        if self.key { "TEXT PRIMARY KEY" } else { "TEXT NOT NULL" }
    }

    /// A key may be declared `NOT NULL` or not: NULL is never stored.
    fn admits(&self, found: &str) -> bool {
        found == self.words() || (self.key && found == "TEXT NOT NULL PRIMARY KEY")
    }
}

struct FoundColumn {
    name: String,
    declared: String,
    not_null: bool,
    in_key: bool,
    /// Zero for an ordinary column; others are generated, or hidden.
    hidden: i64,
}

impl FoundColumn {
    fn words(&self) -> String {
        let mut words = self.declared.to_ascii_uppercase();
        if words.is_empty() {
            words.push_str("no type");
        }
        for (holds, text) in [
            (self.not_null, " NOT NULL"),
            (self.in_key, " PRIMARY KEY"),
            (self.hidden != 0, " GENERATED"),
        ] {
            if holds {
                words.push_str(text);
            }
        }
        words
    }
}

fn columns(connection: &Connection, table: &str) -> Result<Vec<FoundColumn>> {
    let query = r#"SELECT name, type, "notnull", pk > 0, hidden FROM pragma_table_xinfo(?1)"#;
    let mut statement = connection.prepare(query)?;
    let rows = statement.query_map([table], |row| {
        Ok(FoundColumn {
            name: row.get(0)?,
            declared: row.get(1)?,
            not_null: row.get(2)?,
            in_key: row.get(3)?,
            hidden: row.get(4)?,
        })
    })?;
    rows.collect()
}

/// How the primary key's columns are compared: under NOCASE two event ids would be one.
fn key_collations(connection: &Connection, table: &str) -> Result<String> {
    let found = texts(
        connection,
        "SELECT part.coll FROM pragma_index_list(?1) AS list
         JOIN pragma_index_xinfo(list.name) AS part
         WHERE list.origin = 'pk' AND part.key = 1",
        table,
    )?;
    Ok(if found == ["BINARY"] { "byte for byte (BINARY)".to_owned() } else { list(&found) })
}

/// The foreign keys in words. What SQLite leaves out as self-evident is left out here as well.
fn foreign_keys(connection: &Connection, table: &str) -> Result<String> {
    let found = texts(
        connection,
        r#"SELECT "from" || ' REFERENCES ' || "table" || '(' || coalesce("to", 'event_id') || ')'
             || CASE on_update WHEN 'NO ACTION' THEN '' ELSE ' ON UPDATE ' || on_update END
             || CASE on_delete WHEN 'NO ACTION' THEN '' ELSE ' ON DELETE ' || on_delete END
           FROM pragma_foreign_key_list(?1) ORDER BY id, seq"#,
        table,
    )?;
    Ok(list(&found))
}

fn unique_indexes(connection: &Connection, table: &str) -> Result<String> {
    let query = r#"SELECT name FROM pragma_index_list(?1)
                   WHERE "unique" AND origin <> 'pk' ORDER BY name"#;
    Ok(list(&texts(connection, query, table)?))
}

fn texts(connection: &Connection, query: &str, table: &str) -> Result<Vec<String>> {
    connection.prepare(query)?.query_map([table], |row| row.get(0))?.collect()
}

fn list(items: &[impl AsRef<str>]) -> String {
    if items.is_empty() {
        return "none".to_owned();
    }
    items.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}
