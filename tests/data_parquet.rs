//! Parquet follows the rules of CSV: the same panels, the same errors, rows instead of lines.
#![cfg(feature = "parquet")]

use counterfair::files::{
    Columns, DataError, ReadOptions, RowConvention, read, read_csv, read_csv_from, write, write_preprocessed,
};
use counterfair::kernel::people::{Labels, PanelBuilder, Person};
use parquet::basic::LogicalType;
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataWriter};
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::path::{Path, PathBuf};

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("counterfair-parquet-{}-{name}.parquet", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_panel_survives_parquet_in_both_conventions() {
    for (levels, actions, ids) in [
        (["low", "mid", "top"], ["go", "stay"], ["007", "a,\"b\"\nc"]),
        (["0", "1", "2"], ["-1", "3"], ["1", "2"]),
        (["0.5", "1.0", "2.0"], ["0.0", "1e-7"], ["1.0", "2.0"]),
    ] {
        let (levels, actions) = (Labels::new(levels), Labels::new(actions));
        let mut builder = PanelBuilder::new(levels.clone(), actions.clone(), 2).unwrap();
        let states = [0.1, -0.0, 1e49, 5e-324, 1.0, 2.5];
        builder.push(Person { id: ids[0], level: 2, states: &states, actions: &[1, 0], rewards: &[0.3, 7.0] }).unwrap();
        builder.push(Person { id: ids[1], level: 0, states: &states[..2], actions: &[], rewards: &[] }).unwrap();
        let panel = builder.finish();
        for rows in [RowConvention::Incoming, RowConvention::Outgoing] {
            let file = Scratch::new("panel");
            write(&file.0, &panel, &Columns::default(), rows).unwrap();
            let (levels, actions) = (Some(levels.clone()), Some(actions.clone()));
            let options = ReadOptions { rows, levels, actions, ..ReadOptions::default() };
            let back = read(&file.0, &options).unwrap();
            assert_eq!(back.panel, panel);
            assert_eq!(back.panel.states()[1].to_bits(), (-0.0f64).to_bits());
            assert_eq!(back.times, [1.0, 2.0, 3.0, 1.0]);
        }
    }
}

#[test]
fn a_csv_preprocessed_into_parquet_keeps_its_rows() {
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/peer/data_linear_N200.csv");
    let input = read_csv(&input, &ReadOptions::default()).unwrap();
    let states: Vec<f64> = (0..2 * input.panel.state_rows()).map(|k| k as f64 / 7.0).collect();
    let file = Scratch::new("preprocessed");
    write_preprocessed(&file.0, &input, &states, input.panel.rewards()).unwrap();
    let back = read(&file.0, &ReadOptions::default()).unwrap().panel;
    assert_eq!((back.states(), back.rewards(), back.ids()), (&states[..], input.panel.rewards(), input.panel.ids()));
    assert_eq!(back.levels(), input.panel.levels());
}

#[test]
fn an_error_names_the_row() {
    let csv = "ID,timestamp,z1,action,reward,state1\na,1,x,go,1,1\na,3,x,go,1,1\n";
    let options = ReadOptions { rows: RowConvention::Outgoing, ..ReadOptions::default() };
    let gap = format!("{csv}a,4,x,go,1,1\n");
    assert!(read_csv_from(gap.as_bytes(), "f", &options).is_err());
    let whole = csv.replace("a,3", "b,3").replace(",1\n", ",1.0\n");
    let input = read_csv_from(whole.as_bytes(), "f", &options).unwrap();
    let file = Scratch::new("row");
    write_preprocessed(&file.0, &input, &[1.0, 2.0], &[1.0, 1.0]).unwrap();
    let known = ReadOptions { actions: Some(Labels::new(["stay"])), ..options };
    let message = read(&file.0, &known).unwrap_err().to_string();
    assert!(message.ends_with(", row 1, column action: \"go\" is not a known action; known are stay"), "{message}");
}

#[test]
fn what_is_not_parquet_is_refused_by_name() {
    let file = Scratch::new("not");
    std::fs::write(&file.0, "ID,timestamp\n").unwrap();
    let error = read(&file.0, &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, DataError::Parquet { .. }), "{error:?}");
    assert!(error.to_string().contains("not.parquet: "), "{error}");
    let absent = read(Path::new("no-such-directory/panel.parquet"), &ReadOptions::default()).unwrap_err();
    assert_eq!(absent.to_string(), "no-such-directory/panel.parquet: no such file");
}

/// Every byte of the footer changed in turn, and files cut short: an error or a panel, never a panic.
#[test]
fn damaged_files_are_errors_and_not_panics() {
    let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).unwrap();
    for id in ["a", "b"] {
        let person = Person { id, level: 1, states: &[0.5, 0.25, 1.5], actions: &[1, 0], rewards: &[0.3, 7.0] };
        builder.push(person).unwrap();
    }
    let file = Scratch::new("damaged");
    write(&file.0, &builder.finish(), &Columns::default(), RowConvention::Incoming).unwrap();
    let whole = std::fs::read(&file.0).unwrap();
    let footer = u32::from_le_bytes(whole[whole.len() - 8..whole.len() - 4].try_into().unwrap()) as usize;
    let mut refused = 0;
    for at in whole.len() - 8 - footer..whole.len() {
        for flip in [0x01, 0x10, 0x80] {
            let mut damaged = whole.clone();
            damaged[at] ^= flip;
            std::fs::write(&file.0, &damaged).unwrap();
            refused += usize::from(read(&file.0, &ReadOptions::default()).is_err());
        }
    }
    assert!(refused > footer / 2, "{refused} of {} damaged footers were refused", 3 * footer);
    for cut in [0, 4, 12, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&file.0, &whole[..cut]).unwrap();
        assert!(read(&file.0, &ReadOptions::default()).is_err(), "cut at {cut}");
    }
}

/// Rows are written in groups of 2¹⁸: those of the second group are there too.
#[test]
fn a_panel_of_several_groups_of_rows_is_whole() {
    let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).unwrap();
    let people = (1 << 17) + 3;
    for i in 0..people {
        let (id, x) = (format!("{i:06}"), i as f64);
        let person =
            Person { id: &id, level: i % 2, states: &[x, x + 0.5], actions: &[(i / 2) % 2], rewards: &[x / 3.0] };
        builder.push(person).unwrap();
    }
    let panel = builder.finish();
    let file = Scratch::new("groups");
    write(&file.0, &panel, &Columns::default(), RowConvention::Incoming).unwrap();
    assert!(read(&file.0, &ReadOptions::default()).unwrap().panel == panel);
}

/// Files of another writer (pyarrow): plain, with dictionaries, in two groups, with narrow numbers, dates and truth values, delta-encoded, with
/// a list beside; and one in which a dictionary of 16 bytes claims to have hundreds of millions of values.
#[test]
fn files_of_other_writers_are_read_and_a_dictionary_that_claims_too_much_is_not() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/seeds/parquet");
    let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names.len(), 7, "{names:?}");
    for name in names {
        let name = name.to_string_lossy().into_owned();
        let file = Scratch::new(&name);
        std::fs::write(&file.0, &std::fs::read(folder.join(&name)).unwrap()[1..]).unwrap();
        let rows = if name.starts_with("incoming") { RowConvention::Incoming } else { RowConvention::Outgoing };
        let found = read(&file.0, &ReadOptions { rows, ..ReadOptions::default() });
        match name.as_str() {
            "damaged_dictionary" => {
                let message = found.unwrap_err().to_string();
                assert!(message.contains("a dictionary claims"), "{message}");
            }
            _ => {
                let panel = found.unwrap_or_else(|error| panic!("{name}: {error}")).panel;
                assert_eq!((panel.people(), panel.decisions()), (2, 4), "{name}");
            }
        }
    }
}

/// The file with another footer: rows that it says it has, and rows and bytes of its one group.
fn claiming(path: &Path, rows: i64, group_rows: i64, group_bytes: i64) {
    let whole = std::fs::read(path).unwrap();
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let found = reader.metadata();
    let about = found.file_metadata();
    let about = FileMetaData::new(
        about.version(),
        rows,
        about.created_by().map(String::from),
        about.key_value_metadata().cloned(),
        about.schema_descr_ptr(),
        about.column_orders().cloned(),
    );
    assert_eq!(found.num_row_groups(), 1);
    let group = found.row_group(0).clone().into_builder();
    let group = group.set_num_rows(group_rows).set_total_byte_size(group_bytes).build().unwrap();
    let footer = u32::from_le_bytes(whole[whole.len() - 8..whole.len() - 4].try_into().unwrap()) as usize;
    let mut changed = whole[..whole.len() - 8 - footer].to_vec();
    let mut written = Vec::new();
    ParquetMetaDataWriter::new(&mut written, &ParquetMetaData::new(about, vec![group])).finish().unwrap();
    if rows != group_rows {
        // The writer adds up the groups. In the footer the file's own number is the first that stands behind the head of a third field, an
        // integer of eight bytes; small numbers take one byte, doubled.
        let byte = |rows: i64| u8::try_from(2 * rows).unwrap();
        let head = [0x16, byte(group_rows)];
        let at = written.windows(2).position(|pair| pair == head).expect("the number of rows");
        written[at + 1] = byte(rows);
    }
    changed.extend(written);
    std::fs::write(path, changed).unwrap();
}

/// Two people with ids that are no numbers, six columns.
fn small(name: &str) -> Scratch {
    let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).unwrap();
    for id in ["a", "b"] {
        let person = Person { id, level: 1, states: &[0.5, 0.25, 1.5], actions: &[1, 0], rewards: &[0.3, 7.0] };
        builder.push(person).unwrap();
    }
    let file = Scratch::new(name);
    write(&file.0, &builder.finish(), &Columns::default(), RowConvention::Incoming).unwrap();
    file
}

#[test]
fn a_file_that_would_not_fit_in_memory_or_contradicts_itself_is_refused_before_it_is_read() {
    let bytes = 1 << 10;
    let too_many = (1 << 29) / 6 + 1;
    for (rows, group_rows, group_bytes, said) in [
        (6, 6, bytes, None),
        (too_many, too_many, bytes, Some("which would take 4.0 GiB")),
        (6, 6, (1 << 33) + 1, Some("in 8589934593 bytes")),
        (7, 6, bytes, Some("its groups say that they have 6 rows in 1024 bytes, the file 7 rows")),
        (6, 5, bytes, Some("its groups say that they have 5 rows in 1024 bytes, the file 6 rows")),
        (-6, -6, bytes, Some("-6 rows")),
    ] {
        let file = small("claims");
        claiming(&file.0, rows, group_rows, group_bytes);
        match (read(&file.0, &ReadOptions::default()), said) {
            (Ok(read), None) => assert_eq!(read.panel.decisions(), 4),
            (Err(error), Some(said)) => assert!(error.to_string().contains(said), "{error}"),
            (found, said) => panic!("{:?}, expected {said:?}", found.map(|read| read.panel.people())),
        }
    }
}

/// Other readers take bytes that are not marked for bytes.
#[test]
fn text_is_marked_as_text() {
    let file = small("text");
    let reader = SerializedFileReader::new(std::fs::File::open(&file.0).unwrap()).unwrap();
    let columns = reader.metadata().file_metadata().schema_descr();
    let kinds: Vec<_> = columns.columns().iter().map(|c| (c.name(), c.logical_type_ref().cloned())).collect();
    assert_eq!(kinds[0], ("ID", Some(LogicalType::String)), "{kinds:?}");
    assert!(kinds[1..].iter().all(|(_, kind)| kind.is_none()), "{kinds:?}");
}
