//! What is written reads back, and a preprocessed file keeps the rows and columns of its input.

use counterfair::files::write_preprocessed_csv;
use counterfair::files::{
    Columns, DataError, MissingRepair, Read, ReadOptions, RowConvention, read_csv, read_csv_from, write, write_csv,
    write_csv_to, write_preprocessed,
};
use counterfair::kernel::people::{Labels, Panel, PanelBuilder, Person};
use std::path::{Path, PathBuf};

/// A file name of its own for each test; the file is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("counterfair-writing-{}-{name}.csv", std::process::id())))
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.0).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn read(file: &str, options: &ReadOptions) -> Read {
    read_csv_from(file.as_bytes(), "panel.csv", options).unwrap()
}

/// Three levels, two state coordinates, unequal horizons; the last person lacks a final state.
fn panel() -> Panel {
    let mut builder = PanelBuilder::new(Labels::new(["low", "mid", "top"]), Labels::new(["go", "stay"]), 2).unwrap();
    let states = [0.1, -0.0, 1e300, 5e-324, 1.0, 2.5];
    builder.push(Person { id: "a,b", level: 2, states: &states, actions: &[1, 0], rewards: &[0.3, -1e-7] }).unwrap();
    builder.push(Person { id: "c", level: 0, states: &states[..2], actions: &[0], rewards: &[7.0] }).unwrap();
    builder.finish()
}

#[test]
fn a_panel_is_written_person_after_person_with_the_shortest_numbers() {
    let file = Scratch::new("panel");
    write(&file.0, &panel(), &Columns::default(), RowConvention::Outgoing).unwrap();
    let expected = "ID,timestamp,z1,action,reward,state1,state2\n\
                    \"a,b\",1,top,stay,0.3,0.1,-0.0\n\
                    \"a,b\",2,top,go,-1e-7,1e300,5e-324\n\
                    \"a,b\",3,top,,,1.0,2.5\n\
                    c,1,low,go,7.0,0.1,-0.0\n";
    assert_eq!(file.text(), expected);
}

#[test]
fn incoming_rows_need_every_final_state() {
    let file = Scratch::new("final");
    let error = write_csv(&file.0, &panel(), &Columns::default(), RowConvention::Incoming).unwrap_err();
    assert!(matches!(&error, DataError::NoFinalState { id, .. } if id == "c"), "{error:?}");
    assert!(!file.0.exists());
    write_csv(&file.0, &panel().select(&[0]), &Columns::default(), RowConvention::Incoming).unwrap();
    assert!(file.text().contains("\"a,b\",1,top,,,0.1,-0.0\n\"a,b\",2,top,stay,0.3,1e300,5e-324\n"), "{}", file.text());
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let path = Path::new("no-such-directory/out.csv");
    let error = write_csv(path, &panel(), &Columns::default(), RowConvention::Outgoing).unwrap_err();
    assert!(matches!(error, DataError::Write(_)), "{error:?}");
    assert!(error.to_string().starts_with("no-such-directory/out.csv: cannot be written: "), "{error}");
}

#[test]
fn combined_levels_go_back_into_their_columns() {
    let columns = Columns { level: vec!["sex".into(), "lunch".into()], ..Columns::default() };
    let file = "ID,timestamp,sex,lunch,action,reward,state1\n\
                a,1,f,free,,,1.0\na,2,f,free,go,2.0,3.0\nb,1,m,paid,,,1.0\n";
    let options = ReadOptions { columns: columns.clone(), ..ReadOptions::default() };
    let mut out = Vec::new();
    write_csv_to(&mut out, "out", &read(file, &options).panel, &columns, RowConvention::Incoming).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), file);
    let error = write_csv_to(&mut Vec::new(), "out.csv", &panel(), &columns, RowConvention::Outgoing).unwrap_err();
    assert_eq!(error.to_string(), "out.csv, column sex×lunch: \"low\" would not read back as written");
}

#[test]
fn names_that_would_read_back_as_others_are_refused() {
    let one = |id: &str, level: &str, action: &str| {
        let mut builder = PanelBuilder::new(Labels::new([level]), Labels::new([action]), 1).unwrap();
        builder.push(Person { id, level: 0, states: &[1.0], actions: &[0], rewards: &[1.0] }).unwrap();
        write_csv_to(&mut Vec::new(), "out.csv", &builder.finish(), &Columns::default(), RowConvention::Outgoing)
    };
    assert!(one("a", "x", "go").is_ok());
    for (id, level, action, message) in [
        ("", "x", "go", "out.csv, column ID: \"\" would not read back as written"),
        ("a", "nan", "go", "out.csv, column z1: \"nan\" would not read back as written"),
        ("a", "x", "go ", "out.csv, column action: \"go \" would not read back as written"),
    ] {
        assert_eq!(one(id, level, action).unwrap_err().to_string(), message);
    }
}

#[test]
fn columns_must_fit_the_panel_and_differ() {
    let write =
        |columns: &Columns| write_csv_to(&mut Vec::new(), "out.csv", &panel(), columns, RowConvention::Outgoing);
    let few = Columns { states: vec!["x".into()], ..Columns::default() };
    assert_eq!(write(&few).unwrap_err().to_string(), "out.csv: 1 state columns do not fit a panel that needs 2");
    let twice = Columns { states: vec!["x".into(), "reward".into()], ..Columns::default() };
    assert!(matches!(write(&twice).unwrap_err(), DataError::RepeatedColumn { column, .. } if column == "reward"));
}

#[test]
fn a_preprocessed_file_keeps_rows_columns_and_spellings() {
    let file = "site,ID,timestamp,state2,z1,reward,action,state1,note\n\
                s1,b,2.0,0.2,1.0,5,1.0,0.1,\"late, but there\"\n\
                s2,a,1,0.4,0,,,0.3,\n\
                s1,b,1.0,0.6,1,NA,,0.5,x\n";
    let read = read(file, &ReadOptions::default());
    assert_eq!(read.panel.states(), [0.3, 0.4, 0.5, 0.6, 0.1, 0.2]);
    // Two levels and two coordinates: four new states for a's one row and each of b's two.
    let states: Vec<f64> = (0..12).map(f64::from).collect();
    let out = Scratch::new("preprocessed");
    write_preprocessed(&out.0, &read, &states, &[0.25]).unwrap();
    let expected = "site,ID,timestamp,state1,state2,state3,state4,z1,reward,action,note\n\
                    s1,b,2.0,8.0,9.0,10.0,11.0,1.0,0.25,1.0,\"late, but there\"\n\
                    s2,a,1,0.0,1.0,2.0,3.0,0,,,\n\
                    s1,b,1.0,4.0,5.0,6.0,7.0,1,,,x\n";
    assert_eq!(out.text(), expected);
}

#[test]
fn rows_and_decisions_that_a_repair_dropped_are_not_written() {
    let file = "ID,timestamp,z1,action,reward,state1\n\
                a,1,x,go,1,1\na,2,x,go,,2\na,3,x,go,3,3\nb,1,x,stay,4,4\nc,1,x,stay,4,\n";
    let options =
        ReadOptions { missing: MissingRepair::DropTail, rows: RowConvention::Outgoing, ..ReadOptions::default() };
    let read = read(file, &options);
    let out = Scratch::new("dropped");
    write_preprocessed_csv(&out.0, &read, &[1.5, 2.5, 4.5], &[10.0, 40.0]).unwrap();
    let expected = "ID,timestamp,z1,action,reward,state1\na,1,x,go,10.0,1.5\na,2,x,,,2.5\nb,1,x,stay,40.0,4.5\n";
    assert_eq!(out.text(), expected);
}

#[test]
fn a_column_named_like_a_new_state_gives_way_unless_it_is_in_use() {
    let file = "ID,timestamp,z1,action,reward,state1,state2,state3\na,1,x,go,1,1,2,3\nb,1,y,go,1,4,5,6\n";
    let columns = Columns { states: vec!["state1".into()], ..Columns::default() };
    let options = ReadOptions { columns: columns.clone(), rows: RowConvention::Outgoing, ..ReadOptions::default() };
    let out = Scratch::new("way");
    write_preprocessed_csv(&out.0, &read(file, &options), &[0.5, 1.5, 2.5, 3.5], &[1.0, 1.0]).unwrap();
    let expected =
        "ID,timestamp,z1,action,reward,state1,state2,state3\na,1,x,go,1.0,0.5,1.5,3\nb,1,y,go,1.0,2.5,3.5,6\n";
    assert_eq!(out.text(), expected);

    let columns = Columns { reward: "state2".into(), ..columns };
    let read = read(file, &ReadOptions { columns, ..options });
    let error = write_preprocessed_csv(Path::new("out.csv"), &read, &[0.5, 1.5, 2.5, 3.5], &[1.0, 1.0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "out.csv: column state2 is kept from the input, and a counterfactual state needs the same name"
    );
}

#[test]
fn arrays_that_do_not_fit_or_are_not_finite_are_refused() {
    let file = "ID,timestamp,z1,action,reward,state1\na,1,x,,,1\na,2,x,go,1,1\nb,1,x,,,1\nb,2,x,go,1,1\n";
    let read = read(file, &ReadOptions::default());
    let write = |states: &[f64], rewards: &[f64]| {
        write_preprocessed_csv(Path::new("out.csv"), &read, states, rewards).unwrap_err().to_string()
    };
    assert_eq!(write(&[1.0; 5], &[1.0; 2]), "out.csv: 5 state numbers do not fit a panel that needs 4");
    assert_eq!(write(&[], &[1.0; 2]), "out.csv: 0 state numbers do not fit a panel that needs 4");
    assert_eq!(write(&[1.0; 4], &[1.0; 3]), "out.csv: 3 rewards do not fit a panel that needs 2");
    let states = [1.0, 1.0, 1.0, 1.0, 1.0, f64::INFINITY, 1.0, 1.0];
    assert_eq!(
        write(&states, &[1.0; 2]),
        "out.csv, column state2: inf, in the row of a person, is not a finite number"
    );
    assert_eq!(
        write(&[1.0; 4], &[1.0, f64::NAN]),
        "out.csv, column reward: NaN, in the row of a person, is not a finite number"
    );
}

#[test]
fn the_reference_output_is_reproduced_cell_by_cell_from_its_own_numbers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/peer");
    let input = read_csv(&folder.join("data_linear_N200.csv"), &ReadOptions::default()).unwrap();
    for name in ["pre_linear_N200_lm_single.csv", "pre_linear_N200_lm_sensitive.csv"] {
        let theirs = read_csv(&folder.join(name), &ReadOptions::default()).unwrap().panel;
        let out = Scratch::new(name);
        write_preprocessed_csv(&out.0, &input, theirs.states(), theirs.rewards()).unwrap();
        let expected = std::fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(out.text().lines().count(), expected.lines().count());
        for (ours, theirs) in out.text().lines().zip(expected.lines()) {
            // Python pads an exponent to two digits: 1e-05 for our 1e-5.
            assert_eq!(ours, theirs.replace("e-0", "e-"));
        }
    }
}

#[test]
fn times_with_decimal_commas_are_written_with_points_and_a_name_in_gz_is_compressed() {
    let text = "ID;timestamp;z1;action;reward;state1\na;0,5;x;;;1,5\na;1,0;x;go;2,5;3\n";
    let input = read_csv_from(text.as_bytes(), "in.csv", &ReadOptions::default()).unwrap();
    let plain = Scratch::new("commas");
    write_preprocessed(&plain.0, &input, &[7.0, 8.5], &[0.25]).unwrap();
    assert_eq!(plain.text(), "ID,timestamp,z1,action,reward,state1\na,0.5,x,,,7.0\na,1.0,x,go,0.25,8.5\n");
    #[cfg(feature = "gzip")]
    {
        let packed = plain.0.with_extension("csv.gz");
        write_preprocessed(&packed, &input, &[7.0, 8.5], &[0.25]).unwrap();
        let bytes = std::fs::read(&packed).unwrap();
        assert!(bytes.starts_with(b"\x1f\x8b"));
        let [one, other] = [&plain.0, &packed].map(|path| read_csv(path, &ReadOptions::default()).unwrap().panel);
        std::fs::remove_file(&packed).unwrap();
        assert_eq!(one, other);
    }
}
