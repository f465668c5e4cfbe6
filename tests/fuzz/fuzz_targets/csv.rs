//! Any bytes are a panel or an error; a panel that was accepted is finite and survives being written.
#![no_main]

use counterfair::files::{Columns, MissingRepair, ReadOptions, RowConvention, read_csv_from, write_csv_to};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    // The first byte chooses among the options, so that the fuzzer explores them too.
    let Some((choice, file)) = input.split_first() else { return };
    let rows = if choice & 1 == 0 { RowConvention::Incoming } else { RowConvention::Outgoing };
    let missing = if choice & 2 == 0 { MissingRepair::Refuse } else { MissingRepair::DropTail };
    let several = Columns { level: vec!["z1".into(), "action".into()], ..Columns::default() };
    let columns = if choice & 4 == 0 { Columns::default() } else { several };
    let Ok(read) = read_csv_from(file, "fuzz.csv", &ReadOptions { columns, rows, missing, ..ReadOptions::default() })
    else {
        return;
    };
    assert!(read.panel.states().iter().chain(read.panel.rewards()).all(|x| x.is_finite()));
    let mut again = Vec::new();
    write_csv_to(&mut again, "again.csv", &read.panel, &Columns::default(), rows)
        .expect("what was read can be written");
    let options = ReadOptions { rows, ..ReadOptions::default() };
    let back = read_csv_from(&again[..], "again.csv", &options).expect("what was written can be read");
    assert_eq!(read.panel, back.panel);
});
