//! Each thing that can be wrong with a file is an error that names file, line, column and value.

use counterfair::files::MAX_LABELS;
use counterfair::files::{
    Columns, DataError, MissingRepair, ReadOptions, RowConvention, read, read_csv, read_csv_from,
};
use counterfair::kernel::people::Labels;
use std::path::Path;

const HEADER: &str = "ID,timestamp,z1,action,reward,state1\n";

fn incoming() -> ReadOptions {
    ReadOptions::default()
}

fn outgoing() -> ReadOptions {
    ReadOptions { rows: RowConvention::Outgoing, ..ReadOptions::default() }
}

/// The error that the rows give below the usual header, which is line 1.
fn error(rows: &str, options: &ReadOptions) -> DataError {
    error_of(format!("{HEADER}{rows}").as_bytes(), options)
}

fn error_of(file: &[u8], options: &ReadOptions) -> DataError {
    read_csv_from(file, "panel.csv", options).expect_err("the file is wrong on purpose")
}

/// Checks variant and message at once.
macro_rules! assert_error {
    ($error:expr, $variant:pat, $message:expr) => {
        let error = $error;
        assert!(matches!(error, $variant), "{error:?}");
        assert_eq!(error.to_string(), $message);
    };
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let path = Path::new("no-such-directory/panel.csv");
    assert_error!(
        read_csv(path, &incoming()).unwrap_err(),
        DataError::NoSuchFile { .. },
        "no-such-directory/panel.csv: no such file"
    );
}

#[test]
fn a_directory_is_not_a_file() {
    let error = read_csv(Path::new("src"), &incoming()).unwrap_err();
    assert!(matches!(error, DataError::Unreadable { .. }), "{error:?}");
    assert!(error.to_string().starts_with("src: cannot be read: "), "{error}");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_how_to_get_it() {
    use counterfair::files::write;
    let message = "panel.Parquet: this build reads CSV only; rebuild with --features parquet";
    assert_error!(read(Path::new("panel.Parquet"), &incoming()).unwrap_err(), DataError::CsvOnly { .. }, message);
    let panel = read_csv_from(format!("{HEADER}a,1,x,,,1\na,2,x,go,1,1\n").as_bytes(), "f", &incoming()).unwrap().panel;
    let refused = write(Path::new("panel.Parquet"), &panel, &Columns::default(), RowConvention::Incoming);
    assert_error!(refused.unwrap_err(), DataError::CsvOnly { .. }, message);
}

#[test]
fn any_other_name_is_read_as_csv() {
    let error = read(Path::new("no-such-directory/panel.txt"), &incoming()).unwrap_err();
    assert!(matches!(error, DataError::NoSuchFile { .. }), "{error:?}");
}

#[test]
fn an_empty_file_has_no_header_and_a_bare_header_no_row() {
    assert_error!(error_of(b"", &incoming()), DataError::Empty { .. }, "panel.csv: the file is empty");
    assert_error!(error_of(b"\n\r\n", &incoming()), DataError::Empty { .. }, "panel.csv: the file is empty");
    assert_error!(error("", &incoming()), DataError::NoRows { .. }, "panel.csv: there is a header but no row");
}

#[test]
fn an_absent_column_is_named_beside_those_there_are() {
    let options = ReadOptions { columns: Columns { reward: "math".into(), ..Columns::default() }, ..incoming() };
    assert_error!(
        error("a,1,x,,,1\n", &options),
        DataError::Columns { .. },
        "panel.csv, line 1: there is no column math (perhaps --reward reward); the columns are ID, timestamp, z1, action, reward, state1"
    );
}

#[test]
fn a_header_without_states_or_with_a_repeated_column_is_refused() {
    assert_error!(
        error_of(b"ID,timestamp,z1,action,reward\n", &incoming()),
        DataError::Columns { .. },
        "panel.csv, line 1: no state columns were named (--states) and none is called state1, state2, …; \
         the columns are ID, timestamp, z1, action, reward"
    );
    assert_error!(
        error_of(b"ID,timestamp,z1,action,reward,state1,ID\n", &incoming()),
        DataError::Columns { .. },
        "panel.csv, line 1: the header has column ID twice; the columns are ID, timestamp, z1, action, reward, state1, ID"
    );
}

#[test]
fn a_ragged_row_is_counted() {
    assert_error!(
        error("a,1,x,,,1\na,2,x,go,1\n", &incoming()),
        DataError::Ragged { .. },
        "panel.csv, line 3: 5 cells, but the header has 6"
    );
    assert_error!(
        error("a,1,x,,,1,7\n", &incoming()),
        DataError::Ragged { .. },
        "panel.csv, line 2: 7 cells, but the header has 6"
    );
}

#[test]
fn bytes_that_are_not_text_have_a_place() {
    const WINDOWS: &str = "; a file from Windows or an older program is often --encoding windows-1252";
    let mut file = HEADER.as_bytes().to_vec();
    file.extend_from_slice(b"a,1,x,,,1\nb,1,m\xfcnner,,,1\n");
    assert_error!(
        error_of(&file, &incoming()),
        DataError::NotText { .. },
        format!("panel.csv, line 3, column z1: the cell is not valid UTF-8{WINDOWS}")
    );
    assert_error!(
        error_of(b"ID,time\xff\n", &incoming()),
        DataError::NotText { .. },
        format!("panel.csv, line 1, column 2: the cell is not valid UTF-8{WINDOWS}")
    );
}

#[test]
fn a_missing_cell_is_named_in_every_column_and_spelling() {
    for (row, column, value) in [
        (",1,x,,,1", "ID", ""),
        ("a,NA,x,,,1", "timestamp", "NA"),
        ("a,1, nan ,,,1", "z1", "nan"),
        ("a,1,x,,,NaN", "state1", "NaN"),
    ] {
        assert_error!(
            error(&format!("b,1,x,,,1\n{row}\n"), &incoming()),
            DataError::MissingCell { .. },
            format!("panel.csv, line 3, column {column}: the cell is missing (found {value:?})")
        );
    }
    assert_error!(
        error("a,1,x,,,1\na,2,x,,,1\n", &incoming()),
        DataError::MissingCell { .. },
        "panel.csv, line 3, column action: the cell is missing (found \"\")"
    );
}

#[test]
fn text_and_infinity_are_not_numbers() {
    for (row, column, value) in [("a,1,x,go,1;5,1", "reward", "1;5"), ("a,1,x,,,N/A", "state1", "N/A")] {
        assert_error!(
            error(&format!("{row}\n"), &incoming()),
            DataError::NotANumber { .. },
            format!("panel.csv, line 2, column {column}: {value:?} is not a number")
        );
    }
    assert_error!(
        error("a,noon,x,,,1\n", &incoming()),
        DataError::NotATime { .. },
        "panel.csv, line 2, column timestamp: \"noon\" is neither a number nor a date such as 2026-11-18 or 2026-11-18T09:30 (year first)"
    );
    for value in ["inf", "-Infinity", "1e999"] {
        assert_error!(
            error(&format!("a,1,x,,,{value}\n"), &incoming()),
            DataError::NotFinite { .. },
            format!("panel.csv, line 2, column state1: {value:?} is not a finite number")
        );
    }
}

#[test]
fn two_rows_of_one_person_at_one_time_are_both_named() {
    assert_error!(
        error("a,2.0,x,go,1,1\nb,2,x,,,1\na,1,x,,,1\na,2,x,go,1,1\n", &incoming()),
        DataError::DuplicateTime { .. },
        "panel.csv, line 5, column timestamp: the person of this row already has time 2, on line 2"
    );
}

#[test]
fn a_gap_in_time_names_both_sides() {
    const ADVICE: &str = ". --missing drop-tail ends people at a gap; --step says how far visits are apart when they are not exactly regular";
    assert_error!(
        error("a,4,x,go,1,1\na,1,x,,,1\na,2,x,go,1,1\n", &incoming()),
        DataError::TimeGap { .. },
        format!(
            "panel.csv, line 2, column timestamp: the person of this row jumps from time 2 (line 4) to 4; times go up in steps of 1{ADVICE}"
        )
    );
    assert_error!(
        error("a,0,x,,,1\na,0.5,x,go,1,1\na,1.5,x,go,1,1\n", &incoming()),
        DataError::TimeGap { .. },
        format!(
            "panel.csv, line 4, column timestamp: the person of this row jumps from time 0.5 (line 3) to 1.5; times go up in steps of 0.5{ADVICE}"
        )
    );
}

#[test]
fn a_step_between_decimal_fractions_is_said_as_it_would_be_written() {
    let found = error("a,0.1,x,,,1\na,0.3,x,go,1,1\na,0.6,x,go,1,1\n", &incoming()).to_string();
    assert!(found.contains("times go up in steps of 0.2. "), "{found}");
}

#[test]
fn a_level_that_changes_within_a_person_names_both_values() {
    assert_error!(
        error("a,2,y,go,1,1\na,1,x,,,1\n", &incoming()),
        DataError::LevelChanges { .. },
        "panel.csv, line 2, column z1: the person of this row is in group \"y\" here and in \"x\" on line 3. A person has one group: make a column that \
         holds each person's first, say, and name it with --z"
    );
}

#[test]
fn a_change_in_one_of_several_attributes_is_a_change() {
    let columns = Columns { level: vec!["z1".into(), "z2".into()], ..Columns::default() };
    let file = "ID,timestamp,z1,z2,action,reward,state1\na,1,f,free,,,1\na,2,f,paid,go,1,1\n";
    assert_error!(
        error_of(file.as_bytes(), &ReadOptions { columns, ..incoming() }),
        DataError::LevelChanges { .. },
        "panel.csv, line 3, column z1×z2: the person of this row is in group \"f×paid\" here and in \"f×free\" on line 2. A person has one group: make \
         a column that holds each person's first, say, and name it with --z"
    );
}

#[test]
fn an_attribute_may_not_contain_what_separates_attributes() {
    let columns = Columns { level: vec!["z1".into(), "z2".into()], ..Columns::default() };
    let file = "ID,timestamp,z1,z2,action,reward,state1\na,1,f,p×q,,,1\n";
    assert_error!(
        error_of(file.as_bytes(), &ReadOptions { columns, ..incoming() }),
        DataError::SeparatorInLevel { .. },
        "panel.csv, line 2, column z2: \"p×q\" contains ×, which separates the attributes of a combined group"
    );
}

#[test]
fn levels_and_actions_that_a_policy_does_not_know_are_errors() {
    let options =
        ReadOptions { levels: Some(Labels::new(["x", "y"])), actions: Some(Labels::new(["0", "1"])), ..incoming() };
    assert_error!(
        error("a,1,x,,,1\na,2,x,1.0,0,1\nb,1,w,,,1\nc,1,v,,,1\nd,1,w,,,1\n", &options),
        DataError::UnknownLevel { .. },
        "panel.csv, line 4, column z1: \"w\" is not a known group; known are x, y"
    );
    assert_error!(
        error("a,1,x,,,1\na,2,x,1.0,0,1\na,3,x,2.0,0,1\n", &options),
        DataError::UnknownAction { .. },
        "panel.csv, line 4, column action: \"2.0\" is not a known action; known are 0, 1"
    );
}

#[test]
fn a_continuous_column_is_not_a_column_of_names() {
    let people = |count: usize| (0..count).map(|k| format!("{k},1,{k}.5,,,1\n")).collect::<String>();
    let decision = format!("0,2,0.5,go,1,1\n{}", people(MAX_LABELS));
    assert!(read_csv_from(format!("{HEADER}{decision}").as_bytes(), "f", &incoming()).is_ok());
    assert_error!(
        error(&people(MAX_LABELS + 1), &incoming()),
        DataError::TooManyLabels { .. },
        "panel.csv, line 258, column z1: \"256.5\" is distinct value number 257 of a column of names, more than 256: \
         is the column continuous?"
    );
}

#[test]
fn an_action_needs_a_reward_and_a_reward_an_action() {
    for options in [incoming(), outgoing()] {
        let first = if options.rows == RowConvention::Incoming { "a,1,x,,,1" } else { "a,1,x,go,1,1" };
        assert_error!(
            error(&format!("{first}\na,2,x,go,NA,1\n"), &options),
            DataError::ActionWithoutReward { .. },
            "panel.csv, line 3, column reward: the reward is missing beside action \"go\""
        );
        assert_error!(
            error(&format!("{first}\na,2,x,,0.25,1\n"), &options),
            DataError::RewardWithoutAction { .. },
            "panel.csv, line 3, column action: the action is missing beside reward 0.25"
        );
    }
}

#[test]
fn with_incoming_rows_nothing_leads_to_the_first_state() {
    assert_error!(
        error("a,2,x,go,1,1\na,1,x,go,1,1\n", &incoming()),
        DataError::DecisionOnFirstRow { .. },
        "panel.csv, line 3, column action: \"go\" on the first row of a person; with incoming rows nothing leads to the first state (where a row holds what followed its state: --rows outgoing)"
    );
    assert_error!(
        error("a,1,x,,0.5,1\n", &incoming()),
        DataError::DecisionOnFirstRow { .. },
        "panel.csv, line 2, column reward: \"0.5\" on the first row of a person; with incoming rows nothing leads to the first state (where a row holds what followed its state: --rows outgoing)"
    );
}

#[test]
fn with_outgoing_rows_only_the_last_may_be_blank() {
    assert_error!(
        error("a,1,x,go,1,1\na,3,x,go,1,1\na,2,x,,,1\n", &outgoing()),
        DataError::BlankBeforeEnd { .. },
        "panel.csv, line 4, column action: the cell is blank, but the person of this row goes on at time 3; \
         with outgoing rows only the last may be blank"
    );
}

#[test]
fn a_file_in_which_nobody_decides_has_no_actions() {
    assert_error!(
        error("a,1,x,,,1\nb,1,x,,,1\n", &incoming()),
        DataError::NoDecisions { .. },
        "panel.csv: column action is blank on every row that counts, so there is no decision to learn from"
    );
    let known = ReadOptions { actions: Some(Labels::numbered(2)), ..incoming() };
    let panel = read_csv_from(format!("{HEADER}a,1,x,,,1\n").as_bytes(), "f", &known).unwrap().panel;
    assert_eq!((panel.people(), panel.decisions(), panel.action_names().len()), (1, 0, 2));
}

#[test]
fn a_repair_that_leaves_nothing_is_an_error() {
    let options = ReadOptions { missing: MissingRepair::DropTail, ..incoming() };
    assert_error!(
        error("a,1,x,,,\na,2,x,go,1,1\n", &options),
        DataError::NothingLeft { .. },
        "panel.csv: nothing is left of 1 people: the first row of each has a missing cell"
    );
}

#[test]
fn lines_are_those_of_the_file_whatever_ends_or_fills_them() {
    let bad = "b,1,x,,,oops";
    for (file, line) in [
        (format!("{HEADER}a,1,x,,,1\n{bad}\n"), 3),
        (format!("{HEADER}a,1,x,,,1\n{bad}\n").replace('\n', "\r\n"), 3),
        (format!("\u{feff}{HEADER}\n\n\"a\nb\",1,x,,,1\n\n{bad}"), 7),
        (format!("\r\n{HEADER}\r\n\"a\r\nb\",1,x,,,1\r\n\r\n{bad}"), 7),
    ] {
        let message = error_of(file.as_bytes(), &incoming()).to_string();
        assert_eq!(message, format!("panel.csv, line {line}, column state1: \"oops\" is not a number"), "{file:?}");
    }
}

#[test]
fn a_message_does_not_repeat_a_huge_cell() {
    let huge = "é".repeat(1_000_000);
    let message = error(&format!("a,1,x,,,{huge}\n"), &incoming()).to_string();
    assert!(message.chars().count() < 200 && message.contains("a text of ") && !message.contains("ééé"), "{message}");
    let message = error(&format!("{huge},1\n"), &incoming()).to_string();
    assert!(message.chars().count() < 200, "{message}");
    let header: String = (0..100_000).map(|k| format!("column{k},")).collect();
    assert!(error_of(header.as_bytes(), &incoming()).to_string().len() < 1000);
}
