//! The comparison asks servers that are there already: a PostgreSQL of the test's own, by its URL
//! and through ODBC. Where one of them is not installed the test says so and passes.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use serde_json::Value;

use crate::Shell;
use crate::postgres::Cluster;

const DRIVER: &str = "PostgreSQL Unicode";

impl Cluster {
    /// Commits so far: reported by servers a moment late.
    fn commits(&self) -> u64 {
        let statement = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'";
        self.ask(statement).parse().unwrap()
    }

    /// From now on each value that is put is another by a bit.
    fn lie(&self) {
        for statement in [
            "CREATE FUNCTION lie() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             NEW.v := set_bit(NEW.v, 0, 1 - get_bit(NEW.v, 0)); RETURN NEW; END $$",
            "CREATE FUNCTION spoil() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN \
             EXECUTE 'CREATE TRIGGER lie BEFORE INSERT OR UPDATE ON tavola_compared \
             FOR EACH ROW EXECUTE FUNCTION lie()'; END $$",
            "CREATE EVENT TRIGGER spoil ON ddl_command_end WHEN TAG IN ('CREATE TABLE') \
             EXECUTE FUNCTION spoil()",
        ] {
            self.ask(statement);
        }
    }
}

/// A run; `None`: a peer of it is not here.
fn compare(args: &[&str]) -> Option<Value> {
    let shell = Shell::new();
    let mut command = shell.command(&["compare", "--quick", "--repeat", "1", "--json"]);
    let out = shell.dir.path().join("out");
    command.args(args).arg("--out").arg(&out);
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    for peer in results["peers"].as_array().unwrap() {
        if let Some(why) = peer["skipped"].as_str() {
            println!("not tried: {}: {why}", peer["name"]);
            return None;
        }
    }
    Some(results)
}

/// Each of these phases has a figure of right answers, which says whose it is not.
#[track_caller]
fn has_figures(results: &Value, peer: &str, phases: &[&str]) {
    let rows = results["rows"].as_array().unwrap();
    for phase in phases {
        let row = rows
            .iter()
            .find(|row| row["peer"] == peer && row["phase"] == *phase)
            .unwrap_or_else(|| panic!("{peer} has no {phase}: {results}"));
        assert!(row["median"].as_f64().unwrap() > 0.0, "{row}");
        assert_eq!(row["verified"], true, "{row}");
        let note = row["note"].as_str().unwrap();
        assert!(note.contains("was there already"), "{row}");
    }
}

#[track_caller]
fn has_only_wrong_answers(results: &Value) {
    assert_eq!(results["rows"].as_array().unwrap().len(), 0, "{results}");
    let left = results["left_out"].as_array().unwrap();
    let wrong = |row: &&Value| row["why"].as_str().unwrap().contains("wrong answer");
    assert!(left.iter().any(|row| wrong(&row)), "{results}");
}

/// Few of them: each is written and read by a commit of its own, and nobody knows how fast.
fn companies(folder: &Path) -> String {
    let lines = (0..40).map(|number| format!("x\tx\tcompany {number}\tx\t{number}000\n"));
    let path = folder.join("companies");
    fs::write(&path, lines.collect::<String>()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_postgresql_is_asked_by_its_url_and_left_as_it_was() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let url = cluster.url();
    let (before, tables) = (cluster.commits(), "SELECT count(*) FROM pg_tables");
    let tables_before = cluster.ask(tables);
    let companies = companies(cluster.path());
    let args = [
        "--only",
        "ad",
        "--company-file",
        &companies,
        "--peers",
        "postgres-tcp",
        "--postgres",
        &url,
    ];
    let Some(results) = compare(&args) else {
        return;
    };
    has_figures(
        &results,
        "postgres-tcp",
        &["write_all", "read_all", "pairs"],
    );
    has_figures(
        &results,
        "postgres-tcp",
        &["open_read_100", "open_read_1000"],
    );
    let version = results["peers"][0]["version"].as_str().unwrap();
    assert!(version.contains("libpq"), "{version}");
    assert!(
        cluster.commits() > before + 1_000,
        "it was this one that was asked"
    );
    assert_eq!(cluster.ask(tables), tables_before);
    cluster.lie();
    let args = ["--only", "d", "--peers", "postgres-tcp", "--postgres", &url];
    has_only_wrong_answers(&compare(&args).unwrap());
}

#[test]
fn a_postgresql_is_asked_by_its_url_from_php() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let url = cluster.url();
    let args = [
        "--only",
        "c",
        "--peers",
        "postgres-php-tcp",
        "--postgres",
        &url,
    ];
    let Some(results) = compare(&args) else {
        return;
    };
    has_figures(&results, "postgres-php-tcp", &["write", "read"]);
    assert_eq!(
        cluster.ask("SELECT to_regclass('tavola_compared') IS NULL"),
        "t"
    );
}

#[test]
fn a_server_of_sql_is_asked_through_odbc_and_left_as_it_was() {
    let drivers = fs::read_to_string("/etc/odbcinst.ini").unwrap_or_default();
    if !drivers.contains(DRIVER) {
        println!("not tried: the manager of drivers knows no '{DRIVER}'");
        return;
    }
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let to = format!(
        "Driver={{{DRIVER}}};Server=127.0.0.1;Port={};Database=postgres;Uid=postgres",
        cluster.port
    );
    let before = cluster.commits();
    let args = ["--only", "d", "--peers", "sql-odbc", "--odbc", &to];
    let Some(results) = compare(&args) else {
        return;
    };
    has_figures(&results, "sql-odbc", &["pairs"]);
    let version = results["peers"][0]["version"].as_str().unwrap();
    assert!(version.starts_with("PostgreSQL "), "{version}");
    assert!(
        cluster.commits() > before + 100,
        "it was this one that was asked"
    );
    assert_eq!(
        cluster.ask("SELECT to_regclass('tavola_compared') IS NULL"),
        "t"
    );
    cluster.lie();
    has_only_wrong_answers(&compare(&args).unwrap());
}

#[test]
fn a_missing_server_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://x@{}/x", listener.local_addr().unwrap());
    drop(listener);
    let args = ["--only", "d", "--peers", "postgres-tcp", "--postgres", &url];
    let Some(results) = compare(&args) else {
        return;
    };
    let why = results["left_out"][0]["why"].as_str().unwrap();
    assert!(why.starts_with("PostgreSQL: connection to server"), "{why}");
}
