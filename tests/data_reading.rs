//! What a well-formed file means: rows in any order, both conventions, names and numbers, repairs.

use counterfair::files::{Columns, MissingRepair, Read, ReadOptions, Repairs, RowConvention, read_csv, read_csv_from};
use counterfair::kernel::people::{Labels, Panel};
use std::path::Path;

const HEADER: &str = "ID,timestamp,z1,action,reward,state1\n";

fn options(rows: RowConvention) -> ReadOptions {
    ReadOptions { rows, ..ReadOptions::default() }
}

fn read(rows: &str, options: &ReadOptions) -> Read {
    read_csv_from(format!("{HEADER}{rows}").as_bytes(), "panel.csv", options).unwrap()
}

/// Everything about a person in one line.
fn person(panel: &Panel, i: usize) -> String {
    let person = panel.person(i);
    let actions: Vec<&str> = person.actions.iter().map(|&a| panel.action_names().name(a as usize)).collect();
    let level = panel.levels().name(person.level as usize);
    format!("{} {level}: {:?} {actions:?} {:?}", person.id, person.states, person.rewards)
}

#[test]
fn incoming_rows_hold_the_decision_that_led_to_the_state() {
    let panel = read("a,1,x,,,1\na,2,x,stay,0.5,2\na,3,x,go,0.25,4\n", &options(RowConvention::Incoming)).panel;
    assert_eq!(person(&panel, 0), r#"a x: [1.0, 2.0, 4.0] ["stay", "go"] [0.5, 0.25]"#);
}

#[test]
fn outgoing_rows_hold_the_decision_made_in_the_state() {
    let panel =
        read("a,1,x,stay,0.5,1\na,2,x,go,0.25,2\nb,7,x,go,3,5\nb,8,x,,,6\n", &options(RowConvention::Outgoing)).panel;
    assert_eq!(person(&panel, 0), r#"a x: [1.0, 2.0] ["stay", "go"] [0.5, 0.25]"#);
    assert_eq!(person(&panel, 1), r#"b x: [5.0, 6.0] ["go"] [3.0]"#);
    assert_eq!(panel.transitions(), 2);
}

#[test]
fn a_person_may_have_one_state_and_no_decision() {
    for rows in [RowConvention::Incoming, RowConvention::Outgoing] {
        let others =
            if rows == RowConvention::Incoming { "b,1,y,,,5\nb,2,y,go,1,6\n" } else { "b,1,y,go,1,5\nb,2,y,,,6\n" };
        let panel = read(&format!("a,3,x,,,1\n{others}"), &options(rows)).panel;
        assert_eq!(person(&panel, 0), "a x: [1.0] [] []");
        assert_eq!(person(&panel, 1), r#"b y: [5.0, 6.0] ["go"] [1.0]"#);
    }
}

#[test]
fn time_sorts_the_rows_and_ids_the_people() {
    let read = read(
        "b,10,y,go,3,12\na,2,x,go,1,2\nb,9,y,stay,2,11\na,1,x,,,1\nb,8,y,,,10\n",
        &options(RowConvention::Incoming),
    );
    assert_eq!(person(&read.panel, 0), r#"a x: [1.0, 2.0] ["go"] [1.0]"#);
    assert_eq!(person(&read.panel, 1), r#"b y: [10.0, 11.0, 12.0] ["stay", "go"] [2.0, 3.0]"#);
    assert_eq!(read.times, [1.0, 2.0, 8.0, 9.0, 10.0]);
    assert!(read.repairs.is_none());
}

#[test]
fn ids_that_are_numbers_are_in_the_order_of_their_values() {
    let ids = |file: &str| read(file, &options(RowConvention::Outgoing)).panel.ids().to_vec();
    assert_eq!(ids("10,1,x,go,1,1\n9,1,x,go,1,1\n"), ["9", "10"]);
    assert_eq!(ids("10,1,x,go,1,1\n9,1,x,go,1,1\nx9,1,x,go,1,1\n"), ["10", "9", "x9"]);
}

#[test]
fn spellings_of_one_number_are_one_level_and_one_action() {
    let panel =
        read("a,1,1.0,,,1\na,2,1,0,5,1\nb,1,01,,,1\nb,2,1,0.0,5,1\nb,3,1,10,5,1\n", &options(RowConvention::Incoming));
    assert_eq!(panel.panel.levels().names(), ["1.0"]);
    assert_eq!(panel.panel.action_names().names(), ["0", "10"]);
    assert_eq!(panel.panel.actions(), [0, 0, 1]);
}

#[test]
fn ids_are_text_and_cells_may_be_padded_or_quoted() {
    let panel = read(
        " 007 , 1 ,\" x\",NA,nan, 1e0 \n\"007\",2,x,\"go, then\",-.5,+2\n7,1,x,,,3\n",
        &options(RowConvention::Incoming),
    );
    assert_eq!(person(&panel.panel, 0), r#"007 x: [1.0, 2.0] ["go, then"] [-0.5]"#);
    assert_eq!(panel.panel.ids(), ["007", "7"]);
}

#[test]
fn columns_are_found_by_name_and_states_come_in_the_order_asked_for() {
    let columns = Columns {
        id: "who".into(),
        time: "when".into(),
        level: vec!["sex".into()],
        action: "did".into(),
        reward: "got".into(),
        states: vec!["math".into(), "read".into()],
    };
    let file = "got,note,read,who,math,when,did,sex\n,?,1,a,2,0.5,,f\n3,!,4,a,5,0.75,go,f\n";
    let options = ReadOptions { columns, ..ReadOptions::default() };
    let panel = read_csv_from(file.as_bytes(), "f", &options).unwrap().panel;
    assert_eq!(person(&panel, 0), r#"a f: [2.0, 1.0, 5.0, 4.0] ["go"] [3.0]"#);
}

#[test]
fn several_attributes_make_one_level_per_combination_that_occurs() {
    let columns = Columns { level: vec!["z1".into(), "z2".into()], ..Columns::default() };
    let file = "ID,timestamp,z1,z2,action,reward,state1\n\
                a,1,male,10,,,1\nb,1,female,10,,,1\nc,1,male,2,,,1\nc,2,male,2.0,go,1,1\n";
    let panel = read_csv_from(file.as_bytes(), "f", &ReadOptions { columns, ..ReadOptions::default() }).unwrap().panel;
    assert_eq!(panel.levels().names(), ["female×10", "male×2", "male×10"]);
    assert_eq!(panel.level_codes(), [2, 0, 1]);
}

#[test]
fn expected_labels_fix_the_codes() {
    let expected = ReadOptions {
        levels: Some(Labels::new(["u", "x", "y"])),
        actions: Some(Labels::new(["0", "1", "2"])),
        ..ReadOptions::default()
    };
    let panel = read("a,1,x,,,1\na,2,x,2.0,1,1\n", &expected).panel;
    assert_eq!((panel.level_codes(), panel.actions()), (&[1][..], &[2][..]));
    assert_eq!(panel.levels().len(), 3);
}

#[test]
fn dropping_the_tail_of_incoming_rows_ends_before_the_missing_cell() {
    let options = ReadOptions { missing: MissingRepair::DropTail, ..ReadOptions::default() };
    // a is whole; b lacks a state, c a reward, d a level, e its first state, f a whole row.
    let read = read(
        "a,1,x,,,1\na,2,x,go,1,2\n\
         b,1,x,,,1\nb,2,x,go,1,NA\nb,3,x,rare,1,3\n\
         c,3,x,go,1,3\nc,2,x,go,,2\nc,1,x,,,1\n\
         d,1,x,,,1\nd,2,x,go,1,2\nd,3,,go,1,3\n\
         e,1,lost,,,\ne,2,lost,go,1,2\n\
         f,1,x,,,1\nf,3,x,go,1,2\n",
        &options,
    );
    assert_eq!(read.panel.ids(), ["a", "b", "c", "d", "f"]);
    assert_eq!(read.panel.iter().map(|p| p.states.len()).collect::<Vec<_>>(), [2, 1, 1, 2, 1]);
    assert_eq!(counts(&read.repairs), (1, 4, 2 + 2 + 1 + 2 + 1));
    // What only occurred in dropped rows is not a level or action of the panel.
    assert_eq!((read.panel.levels().len(), read.panel.action_names().len()), (1, 1));
}

#[test]
fn dropping_the_tail_of_outgoing_rows_keeps_the_state_before_the_missing_decision() {
    let options =
        ReadOptions { missing: MissingRepair::DropTail, rows: RowConvention::Outgoing, ..ReadOptions::default() };
    let read = read(
        "a,1,x,go,1,1\na,2,x,,,2\n\
         b,1,x,go,1,1\nb,2,x,go,,2\nb,3,x,go,1,3\n\
         c,1,x,go,1,1\nc,2,x,go,1,\n\
         d,1,x,go,1,1\nd,2,x,go,NaN,2\n",
        &options,
    );
    let shapes: Vec<_> = read.panel.iter().map(|p| (p.states.len(), p.actions.len())).collect();
    assert_eq!(shapes, [(2, 1), (2, 1), (1, 1), (2, 1)]);
    assert_eq!(counts(&read.repairs), (0, 3, 2));
}

#[test]
fn a_repair_does_not_excuse_what_is_wrong_rather_than_missing() {
    let options = ReadOptions { missing: MissingRepair::DropTail, ..ReadOptions::default() };
    for rows in ["a,1,x,,,one\n", "a,,x,,,1\n", ",1,x,,,1\n", "a,1,x,,,1\na,1,x,go,1,1\n", "a,1,x,,,1\na,2,y,go,1,1\n"]
    {
        assert!(read_csv_from(format!("{HEADER}{rows}").as_bytes(), "f", &options).is_err(), "{rows:?}");
    }
}

#[test]
fn the_reference_file_has_two_hundred_people_with_ten_decisions_each() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/peer/data_linear_N200.csv");
    let panel = read_csv(&path, &ReadOptions::default()).unwrap().panel;
    assert_eq!((panel.people(), panel.decisions(), panel.transitions(), panel.horizon()), (200, 2000, 2000, 10));
    assert_eq!(
        (panel.levels().names(), panel.action_names().names()),
        (&["0.0".into(), "1.0".into()][..], &["0.0".into(), "1.0".into()][..])
    );
    assert_eq!(panel.person(0).states[..2], [2.4494547413051793, 2.1948478096842683]);
    assert_eq!(panel.person(0).rewards[0], 2.6393456895662153);
}

/// People dropped, people cut, rows dropped.
fn counts(repairs: &Repairs) -> (usize, usize, usize) {
    (repairs.people_dropped, repairs.people_cut, repairs.rows_dropped)
}
