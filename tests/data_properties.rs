//! Any panel survives a file, in both conventions and any order of rows; no file makes the reader panic.

use counterfair::files::LARGEST;
use counterfair::files::{Columns, MissingRepair, ReadOptions, RowConvention, read_csv_from, write_csv_to};
use counterfair::kernel::people::{Labels, Panel, PanelBuilder, Person};
use proptest::prelude::*;

/// Any number that a file may hold, subnormal and negative zero included.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("within what can be computed with", |x| x.abs() <= LARGEST),
        (-1000i32..1000).prop_map(|n| f64::from(n) / 8.0),
        Just(-0.0),
    ]
}

/// A name that is neither blank nor padded, with all that CSV must quote.
fn name() -> impl Strategy<Value = String> {
    let text = prop::string::string_regex("[a-z0-9,;\"'\r\n ×é.]{1,6}").unwrap();
    text.prop_map(|name| format!("<{name}>"))
}

/// Up to 4 levels and actions, 3 coordinates and 6 people; horizons differ, final states may be missing unless asked for.
fn panel(final_states: bool) -> impl Strategy<Value = Panel> {
    let names = || prop::collection::vec(name(), 1..5);
    (names(), names(), 1usize..4).prop_flat_map(move |(levels, actions, p)| {
        let (levels, actions) = (Labels::new(levels), Labels::new(actions));
        let codes = (0..levels.len() as u32, 0..actions.len() as u32);
        let decision = (codes.1, number());
        let person = (codes.0, prop::collection::vec(decision, 0..5), any::<bool>()).prop_flat_map(
            move |(level, decisions, known)| {
                let rows = decisions.len() + usize::from(final_states || known || decisions.is_empty());
                (Just(level), Just(decisions), prop::collection::vec(number(), rows * p))
            },
        );
        (Just(levels), Just(actions), prop::collection::btree_map(name(), person, 1..6)).prop_map(
            move |(levels, actions, people)| {
                let mut builder = PanelBuilder::new(levels, actions, p).unwrap();
                for (id, (level, decisions, states)) in &people {
                    let (actions, rewards): (Vec<u32>, Vec<f64>) = decisions.iter().copied().unzip();
                    let person = Person { id, level: *level, states, actions: &actions, rewards: &rewards };
                    builder.push(person).unwrap();
                }
                builder.finish()
            },
        )
    })
}

/// Equality by bits: `==` does not tell −0 from 0.
fn assert_same(a: &Panel, b: &Panel) {
    assert_eq!(a, b);
    let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(a.states()), bits(b.states()));
    assert_eq!(bits(a.rewards()), bits(b.rewards()));
}

/// The same people, each with the same history; `read` has them in the order of their ids.
fn assert_same_people(panel: &Panel, read: &Panel) {
    let position = |id: &String| read.ids().iter().position(|other| other == id).unwrap();
    let back: Vec<usize> = panel.ids().iter().map(position).collect();
    assert_same(panel, &read.select(&back));
}

/// Options that expect the labels of a panel, some of which may not occur in it.
fn options_for(panel: &Panel, rows: RowConvention) -> ReadOptions {
    let (levels, actions) = (Some(panel.levels().clone()), Some(panel.action_names().clone()));
    ReadOptions { rows, levels, actions, ..ReadOptions::default() }
}

fn csv_of(panel: &Panel, rows: RowConvention) -> Vec<u8> {
    let mut file = Vec::new();
    write_csv_to(&mut file, "panel.csv", panel, &Columns::default(), rows).unwrap();
    file
}

/// The same file with its rows permuted by sorting them on pseudo-random keys.
fn shuffled(file: &[u8], seed: u64) -> Vec<u8> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(file);
    let mut rows: Vec<csv::ByteRecord> = reader.byte_records().map(Result::unwrap).collect();
    let key = |k: usize| (k as u64 + 1).wrapping_mul(seed | 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17);
    let mut order: Vec<usize> = (1..rows.len()).collect();
    order.sort_by_key(|&k| key(k));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_byte_record(&rows[0]).unwrap();
    for k in order {
        writer.write_byte_record(&std::mem::take(&mut rows[k])).unwrap();
    }
    writer.into_inner().unwrap()
}

proptest! {
    #[test]
    fn any_panel_survives_outgoing_rows(panel in panel(false)) {
        let rows = RowConvention::Outgoing;
        let read = read_csv_from(&csv_of(&panel, rows)[..], "f", &options_for(&panel, rows)).unwrap();
        assert_same_people(&panel, &read.panel);
    }

    #[test]
    fn any_panel_with_final_states_survives_incoming_rows(panel in panel(true)) {
        let rows = RowConvention::Incoming;
        let read = read_csv_from(&csv_of(&panel, rows)[..], "f", &options_for(&panel, rows)).unwrap();
        assert_same_people(&panel, &read.panel);
    }

    #[test]
    fn the_order_of_rows_changes_nothing(panel in panel(true), seed in any::<u64>()) {
        for rows in [RowConvention::Incoming, RowConvention::Outgoing] {
            let (file, options) = (csv_of(&panel, rows), options_for(&panel, rows));
            let read = |file: &[u8]| read_csv_from(file, "f", &options).unwrap().panel;
            assert_same(&read(&file), &read(&shuffled(&file, seed)));
        }
    }

    #[test]
    fn a_blank_cell_is_refused_or_cut_and_the_rest_is_untouched(
        panel in panel(true), rows in outgoing_or_incoming(), row in any::<prop::sample::Index>(), column in 2usize..6,
    ) {
        let file = csv_of(&panel, rows);
        let mut records: Vec<csv::StringRecord> = csv::Reader::from_reader(&file[..]).records().map(Result::unwrap).collect();
        let hit = row.index(records.len());
        let victim = records[hit][0].to_string();
        let was_blank = records[hit][column].is_empty();
        records[hit] = records[hit].iter().enumerate().map(|(j, cell)| if j == column { "NA" } else { cell }).collect();
        let mut writer = csv::Writer::from_writer(Vec::new());
        let mut header: Vec<String> = ["ID", "timestamp", "z1", "action", "reward"].map(String::from).to_vec();
        header.extend((1..=panel.state_dim()).map(|j| format!("state{j}")));
        writer.write_record(&header).unwrap();
        records.iter().for_each(|record| writer.write_record(record).unwrap());
        let file = writer.into_inner().unwrap();

        let refuse = options_for(&panel, rows);
        let repair = ReadOptions { missing: MissingRepair::DropTail, ..refuse.clone() };
        prop_assert_eq!(read_csv_from(&file[..], "f", &refuse).is_ok(), was_blank);
        let Ok(read) = read_csv_from(&file[..], "f", &repair) else {
            // Only when the one person there was is gone.
            prop_assert!(panel.people() == 1 && !was_blank);
            return Ok(());
        };
        prop_assert_eq!(read.repairs.is_none(), was_blank);
        prop_assert_eq!(read.panel.state_rows() + read.repairs.rows_dropped, panel.state_rows());
        for person in panel.iter() {
            let now = read.panel.iter().find(|now| now.id == person.id);
            if person.id == victim {
                let states = now.map_or(&[][..], |now| now.states);
                prop_assert!(person.states.starts_with(states));
            } else {
                prop_assert_eq!(now, Some(person));
            }
        }
    }
}

fn outgoing_or_incoming() -> impl Strategy<Value = RowConvention> {
    prop_oneof![Just(RowConvention::Incoming), Just(RowConvention::Outgoing)]
}

/// One act of sabotage on a file.
#[derive(Debug, Clone)]
enum Sabotage {
    Flip(prop::sample::Index, u8),
    Truncate(prop::sample::Index),
    RepeatLine(prop::sample::Index),
    DropLine(prop::sample::Index),
    Insert(prop::sample::Index, Vec<u8>),
    Inflate(prop::sample::Index, u8, usize),
}

fn sabotage() -> impl Strategy<Value = Sabotage> {
    let at = any::<prop::sample::Index>;
    let token = prop::sample::select(vec![
        "\"",
        ",",
        "\n",
        "\r",
        "\r\n",
        "NaN",
        "inf",
        "-",
        "e308",
        "1e309",
        "\u{feff}",
        "×",
        "\0",
        "\"\"",
        ",,,,,,",
        "9007199254740993",
    ]);
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, bits)| Sabotage::Flip(at, bits)),
        at().prop_map(Sabotage::Truncate),
        at().prop_map(Sabotage::RepeatLine),
        at().prop_map(Sabotage::DropLine),
        (at(), token).prop_map(|(at, token)| Sabotage::Insert(at, token.as_bytes().to_vec())),
        (at(), any::<u8>(), 1usize..100_000).prop_map(|(at, byte, count)| Sabotage::Inflate(at, byte, count)),
    ]
}

fn apply(file: &mut Vec<u8>, sabotage: &Sabotage) {
    if file.is_empty() {
        return;
    }
    let lines = |file: &[u8]| file.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    match sabotage {
        Sabotage::Flip(at, bits) => {
            let at = at.index(file.len());
            file[at] ^= bits;
        }
        Sabotage::Truncate(at) => file.truncate(at.index(file.len())),
        Sabotage::RepeatLine(at) => {
            let mut lines = lines(file);
            let line = lines[at.index(lines.len())].clone();
            lines.push(line);
            *file = lines.concat();
        }
        Sabotage::DropLine(at) => {
            let mut lines = lines(file);
            lines.remove(at.index(lines.len()));
            *file = lines.concat();
        }
        Sabotage::Insert(at, bytes) => {
            let at = at.index(file.len());
            file.splice(at..at, bytes.iter().copied());
        }
        Sabotage::Inflate(at, byte, count) => {
            let at = at.index(file.len());
            file.splice(at..at, std::iter::repeat_n(*byte, *count));
        }
    }
}

/// Reads with every option there is; whatever is accepted must be a panel that can be written and read again.
fn read_in_every_way(file: &[u8]) {
    let product = Columns { level: vec!["z1".into(), "action".into()], ..Columns::default() };
    for rows in [RowConvention::Incoming, RowConvention::Outgoing] {
        for missing in [MissingRepair::Refuse, MissingRepair::DropTail] {
            for columns in [Columns::default(), product.clone()] {
                let options = ReadOptions { rows, missing, columns, ..ReadOptions::default() };
                match read_csv_from(file, "mutant.csv", &options) {
                    Ok(read) => {
                        assert!(read.panel.states().iter().chain(read.panel.rewards()).all(|x| x.is_finite()));
                        assert_eq!(read.times.len(), read.panel.state_rows());
                        let again = csv_of(&read.panel, rows);
                        let options = ReadOptions { rows, ..ReadOptions::default() };
                        assert_same(&read.panel, &read_csv_from(&again[..], "again", &options).unwrap().panel);
                    }
                    Err(error) => {
                        let message = error.to_string();
                        assert!(message.starts_with("mutant.csv") && message.chars().count() < 5000, "{message}");
                    }
                }
            }
        }
    }
}

const FILE: &str = "ID,timestamp,z1,action,reward,state1,state2\n\
    ann,1,f,,,0.5,1\nann,2,f,go,1.5,-0.25,2\nann,3,f,stay,NA,1e-3,3\n\
    \"bob, jr\",2,m,go,2,0.125,4\n\"bob, jr\",1,m,,,7,5\r\n\
    cy,0,f,,,1,1\ncy,1,f,0,1,2,2\ncy,2,f,0.0,1,3,3\n";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_sabotaged_file_is_a_panel_or_an_error(acts in prop::collection::vec(sabotage(), 0..6)) {
        let mut file = FILE.as_bytes().to_vec();
        acts.iter().for_each(|act| apply(&mut file, act));
        read_in_every_way(&file);
    }

    #[test]
    fn any_bytes_are_a_panel_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_in_every_way(&bytes);
        let mut file = b"ID,timestamp,z1,action,reward,state1\n".to_vec();
        file.extend(bytes);
        read_in_every_way(&file);
    }

    #[test]
    fn any_rows_of_plausible_cells_are_a_panel_or_an_error(
        rows in prop::collection::vec(prop::collection::vec("|NA|a|b|0|1|1.0|2|3|-1|0\\.5", 6), 0..8),
    ) {
        let mut file = String::from("ID,timestamp,z1,action,reward,state1\n");
        rows.iter().for_each(|row| file += &(row.join(",") + "\n"));
        read_in_every_way(file.as_bytes());
    }
}

#[test]
fn a_header_of_a_hundred_thousand_states_is_read_in_proportion() {
    let states: String = (1..=100_000).map(|j| format!(",state{j}")).collect();
    let row = ",1".repeat(100_000);
    let file = format!("ID,timestamp,z1,action,reward{states}\na,1,x,,{row}\na,2,x,go,1{row}\n");
    let panel = read_csv_from(file.as_bytes(), "wide.csv", &ReadOptions::default()).unwrap().panel;
    assert_eq!((panel.state_dim(), panel.state_rows()), (100_000, 2));
}
