//! Files as people have them: calendars, separators, encodings, and what is said when one is not whole.

use counterfair::files::CutReason;
use counterfair::files::{
    Columns, DataError, Decimal, Encoding, MissingRepair, Read, ReadOptions, RowConvention, TextFormat, read_csv_from,
};

const HEADER: &str = "ID,timestamp,z1,action,reward,state1\n";

fn read(text: &str, options: &ReadOptions) -> Result<Read, DataError> {
    read_csv_from(text.as_bytes(), "study.csv", options)
}

#[track_caller]
fn message(text: &str, options: &ReadOptions) -> String {
    read(text, options).map(|read| read.panel).unwrap_err().to_string()
}

/// One person with a row at each of these times.
fn at(times: &[&str]) -> String {
    let row = |(t, time): (usize, &&str)| {
        let decision = if t == 0 { ",".to_string() } else { format!("go,{t}") };
        format!("ann,{time},f,{decision},{t}\n")
    };
    HEADER.to_string() + &times.iter().enumerate().map(row).collect::<String>()
}

fn step(text: &str) -> ReadOptions {
    ReadOptions { step: Some(text.parse().unwrap()), ..ReadOptions::default() }
}

#[test]
fn times_may_be_numbers_or_dates_in_equal_steps() {
    let regular: [(&[&str], &str); 7] = [
        (&["0", "6", "12", "18"], ""),
        (&["2024-01-01", "2024-01-08", "2024-01-15"], "7 days"),
        (&["2024-01-31", "2024-02-29", "2024-03-31"], "1 month"),
        (&["2019-07-01", "2020-07-01", "2021-07-01"], "1 year"),
        (&["2024-03-30T23:00Z", "2024-03-31T11:00Z", "2024-03-31T23:00+00:00"], "12 hours"),
        (&["2024/02/28", "2024/02/29", "2024/03/01"], "1 day"),
        (&["2024-01", "2024-02", "2024-03"], "1 month"),
    ];
    for (times, words) in regular {
        let read = read(&at(times), &ReadOptions::default()).unwrap_or_else(|error| panic!("{times:?}: {error}"));
        assert_eq!(read.panel.person(0).states.len(), times.len());
        let notes = read.notes.join("\n");
        assert_eq!(notes.contains(&format!("steps of {words}")), !words.is_empty(), "{times:?}: {notes}");
        // The order of rows is the order of time, not of the file.
        let mut lines: Vec<&str> = times.iter().rev().copied().collect();
        lines.rotate_left(1);
        let text = at(times);
        let (header, rows) = text.split_once('\n').unwrap();
        let backwards: Vec<&str> = rows.lines().rev().collect();
        let shuffled = format!("{header}\n{}\n", backwards.join("\n"));
        assert_eq!(self::read(&shuffled, &ReadOptions::default()).unwrap().panel, read.panel);
    }
}

#[test]
fn a_gap_is_told_in_the_words_of_the_file() {
    let gap = message(&at(&["2024-01-01", "2024-02-01", "2024-04-01"]), &ReadOptions::default());
    let expected = "study.csv, line 4, column timestamp: the person of this row jumps from time 2024-02-01 (line 3) to 2024-04-01; times go up in steps of 1 month";
    assert!(gap.starts_with(expected) && gap.contains("--missing drop-tail") && gap.contains("--step"), "{gap}");
    let twice = message(&at(&["2024-01-01", "2024-01-01"]), &ReadOptions::default());
    assert!(twice.contains("already has time 2024-01-01, on line 2"), "{twice}");
}

#[test]
fn visits_about_a_week_apart_are_told_in_days_with_the_step_to_try() {
    let visits = ["2024-01-01T08:00", "2024-01-08T09:00", "2024-01-13T01:51", "2024-01-20T03:00", "2024-01-27T08:30"];
    let message = message(&at(&visits), &ReadOptions::default());
    assert!(message.contains("steps of about 4.7 days, the smallest there is"), "{message}");
    assert!(message.contains("the typical one is about 7 days: try --step 7d"), "{message}");
    assert!(!message.contains("seconds"), "{message}");
}

#[test]
fn where_decisions_stand_is_read_from_first_rows() {
    let find = ReadOptions { find_rows: true, ..ReadOptions::default() };
    let header = "ID,timestamp,z1,action,reward,state1\n";
    let incoming = read(&format!("{header}a,1,x,,,1\na,2,x,go,5,2\nb,2,y,go,5,2\nb,1,y,,,1\n"), &find).unwrap();
    let outgoing = read(&format!("{header}a,1,x,go,5,1\na,2,x,,,2\nb,2,y,,,2\nb,1,y,go,5,1\n"), &find).unwrap();
    assert_eq!(incoming.panel, outgoing.panel);
    assert!(incoming.notes.is_empty() && outgoing.notes[0].contains("read as outgoing"), "{:?}", outgoing.notes);
    let unclear = message(&format!("{header}a,1,x,go,5,1\na,2,x,go,5,2\nb,1,y,,,1\nb,2,y,go,5,1\n"), &find);
    assert!(unclear.contains("--rows incoming") && unclear.contains("--rows outgoing"), "{unclear}");
}

#[test]
fn a_step_that_is_given_rounds_visits_and_says_by_how_much() {
    let visits = ["2024-01-10", "2024-02-07", "2024-03-15", "2024-04-09"];
    assert!(read(&at(&visits), &ReadOptions::default()).is_err());
    let rounded = read(&at(&visits), &step("1mo")).unwrap();
    assert_eq!(rounded.panel.person(0).states.len(), 4);
    assert!(
        rounded.notes.iter().any(|note| note.contains("% of a step away from whole steps of 1 month")),
        "{:?}",
        rounded.notes
    );
    let missed = message(&at(&["2024-01-10", "2024-02-07", "2024-04-09"]), &step("1mo"));
    assert!(missed.contains("jumps from time 2024-02-07") && missed.contains("steps of 1 month"), "{missed}");
    let crowded = message(&at(&["0", "1", "6"]), &step("6"));
    assert!(crowded.contains("has time 1 here and 0 on line 2: within one step of 6"), "{crowded}");
    assert_eq!(read(&at(&["0", "5.5", "12.5"]), &step("6")).unwrap().panel.person(0).states.len(), 3);
    assert!(message(&at(&["0", "6"]), &step("1mo")).contains("the times are numbers; give the step in their unit"));
    assert!(message(&at(&["2024-01-10", "2024-02-07"]), &step("30")).contains("the times are dates; say 7d, 1mo"));
}

#[test]
fn what_is_no_time_or_another_kind_of_time_is_named() {
    let ambiguous = message(&at(&["03/04/2024", "04/04/2024"]), &ReadOptions::default());
    assert!(
        ambiguous.contains("line 2, column timestamp: \"03/04/2024\" is neither a number nor a date such as"),
        "{ambiguous}"
    );
    let mixed = message(&at(&["2024-01-01", "2"]), &ReadOptions::default());
    assert!(mixed.contains("line 3, column timestamp: \"2\" is a number, unlike the times before it"), "{mixed}");
}

#[test]
fn what_was_cut_is_listed_and_a_gap_is_not_a_missing_cell() {
    let text = format!(
        "{HEADER}b,1,f,,,1\nb,2,f,go,1,2\nb,4,f,go,1,2\nb,5,f,go,1,2\na,1,f,,,1\na,2,f,go,1,\nc,1,f,,,1\nc,2,f,go,NA,1\nc,3,f,go,1,1\nd,1,f,,,1\nd,2,f,go,1,1\n"
    );
    let options = ReadOptions { missing: MissingRepair::DropTail, ..ReadOptions::default() };
    let repairs = read(&text, &options).unwrap().repairs;
    let cell = |column: &str| CutReason::MissingCell { column: column.into() };
    let cuts: Vec<_> = repairs
        .cuts
        .iter()
        .map(|c| (c.id.as_str(), c.rows_kept, c.rows_dropped, c.place.as_str(), c.reason.clone()))
        .collect();
    let gap = CutReason::Gap { from: "2".into(), to: "4".into() };
    assert_eq!(
        cuts,
        [("a", 1, 1, "line 7", cell("state1")), ("b", 2, 2, "line 4", gap), ("c", 1, 2, "line 9", cell("reward"))]
    );
    assert_eq!((repairs.gaps(), repairs.people_cut, repairs.rows_dropped), (1, 3, 5));
    let said: Vec<String> = repairs.cuts.iter().map(ToString::to_string).collect();
    assert_eq!(said[0], "person a: 1 of 2 rows dropped, column state1 is missing on line 7");
    assert_eq!(said[1], "person b: 2 of 4 rows dropped, no row between times 2 and 4 (line 4)");
    // Of two cells that are missing the first is named.
    let both = "ID,timestamp,z1,action,reward,state1,state2\na,1,f,,,1,1\na,2,f,go,1,,\nb,1,f,,,1,1\nb,2,f,go,1,1,1\n";
    assert_eq!(read(both, &options).unwrap().repairs.cuts[0].reason, cell("state1"));
    // A final state is no cut.
    let outgoing = ReadOptions { rows: RowConvention::Outgoing, ..options };
    assert!(read(&format!("{HEADER}a,1,f,go,1,1\na,2,f,,,2\n"), &outgoing).unwrap().repairs.cuts.is_empty());
}

#[test]
fn semicolons_tabs_and_decimal_commas_give_the_panel_of_commas_and_points() {
    let plain = format!("{HEADER}ann,1,f,,,0.5\nann,2,f,go,-1.25,2\nbob,1,m,,,3\n");
    let expected = read(&plain, &ReadOptions::default()).unwrap();
    assert!(expected.notes.is_empty(), "{:?}", expected.notes);
    for (separator, word) in [(';', "semicolons"), ('\t', "tabs")] {
        let other = plain.replace(',', &separator.to_string());
        for (text, comma) in [(other.clone(), false), (other.replace('.', ","), true)] {
            let read = read(&text, &ReadOptions::default()).unwrap();
            assert_eq!(read.panel, expected.panel);
            let notes = read.notes.join("\n");
            assert!(notes.contains(word) && notes.contains("decimal commas") == comma, "{notes}");
        }
    }
    let bar =
        ReadOptions { format: TextFormat { separator: Some(b'|'), ..TextFormat::default() }, ..ReadOptions::default() };
    assert_eq!(read(&plain.replace(',', "|"), &bar).unwrap().panel, expected.panel);
    // Commas in a name are no separators where semicolons are, though they would make more cells.
    let name = "weight, kg, at home, in the morning, before breakfast, by day";
    let named = Columns { states: vec![name.into()], ..Columns::default() };
    let options = ReadOptions { columns: named, ..ReadOptions::default() };
    assert!(read(&plain.replace(',', ";").replace("state1", name), &options).is_ok());
}

#[test]
fn a_decimal_sign_that_could_be_two_is_asked_about() {
    let mixed = format!("{HEADER}a,1,f,,,x\n").replace(',', ";").replace('x', "1,5") + "a;2;f;go;1;1.5\n";
    let asked = message(&mixed, &ReadOptions::default());
    assert!(
        asked.contains("line 3, column state1: \"1.5\", but line 2 has \"1,5\"") && asked.contains("--decimal"),
        "{asked}"
    );
    let said = |decimal| ReadOptions {
        format: TextFormat { decimal: Some(decimal), ..TextFormat::default() },
        ..ReadOptions::default()
    };
    assert!(
        message(&mixed, &said(Decimal::Point))
            .contains("line 2, column state1: \"1,5\" is not a number; if its comma is decimal")
    );
    assert!(read(&mixed.replace("1.5", "1"), &said(Decimal::Comma)).is_ok());
    let quoted = format!("{HEADER}a,1,f,,,\"1,5\"\n");
    assert!(message(&quoted, &ReadOptions::default()).contains("say --decimal comma"));
    assert_eq!(read(&(quoted + "a,2,f,go,1,2\n"), &said(Decimal::Comma)).unwrap().panel.person(0).states, [1.5, 2.0]);
}

#[test]
fn letters_of_other_encodings_are_read_or_the_way_is_said() {
    let text = format!("{HEADER}ann,1,größer,,,1\nann,2,größer,go,1,2\n");
    let expected = read(&text, &ReadOptions::default()).unwrap().panel;
    let latin: Vec<u8> = text.chars().map(|c| u32::from(c) as u8).collect();
    let refused =
        read_csv_from(&latin[..], "study.csv", &ReadOptions::default()).map(|r| r.panel).unwrap_err().to_string();
    assert!(refused.contains("line 2, column z1") && refused.contains("--encoding windows-1252"), "{refused}");
    let said = ReadOptions {
        format: TextFormat { encoding: Some(Encoding::Windows1252), ..TextFormat::default() },
        ..ReadOptions::default()
    };
    assert_eq!(read_csv_from(&latin[..], "study.csv", &said).unwrap().panel, expected);
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let read = read_csv_from(&wide[..], "study.csv", &ReadOptions::default()).unwrap();
    assert_eq!(read.panel, expected);
    assert_eq!(read.notes, ["it is UTF-16"]);
}

#[test]
fn a_file_that_ends_in_the_middle_says_where() {
    let text = format!("{HEADER}ann,1,f,,,1\nann,2,f,go,1,2.25\n");
    for (cut, line) in [("\nann,2,f,go", 3), ("\nann,2,f", 3), ("\nann", 2)] {
        let end = text.find(cut).unwrap() + cut.len();
        let early = message(&text[..end], &ReadOptions::default());
        assert!(early.contains(&format!("line {line}: the file ends in the middle of this row")), "{early}");
    }
    let quote = message(&format!("{HEADER}ann,1,f,,,1\n\"bob,1,f,,,1\nann,2,f,go,1,2\n"), &ReadOptions::default());
    assert!(quote.contains("line 3: the file ends in the middle of this row"), "{quote}");
    // A last row that could be whole is read, and asked about.
    let whole = read(text.trim_end(), &ReadOptions::default()).unwrap();
    assert_eq!(whole.notes, ["its last row, on line 3, has no line end: is it whole?"]);
    // A short row before the end is ragged; a lone quote within a cell opens nothing.
    assert!(
        message(&format!("{HEADER}ann,1\nbob,1,f,,,1\n"), &ReadOptions::default())
            .contains("2 cells, but the header has 6")
    );
    assert!(read(&format!("{HEADER}ann,1,5\" pipe,,,1\nann,2,5\" pipe,go,1,2\n"), &ReadOptions::default()).is_ok());
}

#[test]
fn a_cell_too_large_to_compute_with_is_named() {
    let large = message(&format!("{HEADER}ann,1,f,,,1e300\nann,2,f,go,1,2\n"), &ReadOptions::default());
    assert!(large.starts_with("study.csv, line 2, column state1: \"1e300\" is too large to compute with"), "{large}");
    let reward = message(&format!("{HEADER}ann,1,f,,,1\nann,2,f,go,-1e51,2\n"), &ReadOptions::default());
    assert!(reward.contains("line 3, column reward"), "{reward}");
}

#[test]
fn a_column_named_twice_is_refused_by_name() {
    let text = at(&["1", "2"]);
    let refused = |columns: Columns| message(&text, &ReadOptions { columns, ..ReadOptions::default() });
    let columns =
        |states: &[&str]| Columns { states: states.iter().map(|s| s.to_string()).collect(), ..Columns::default() };
    assert_eq!(refused(columns(&["state1", "state1"])), "column state1 was named twice, as state and as state");
    assert_eq!(refused(columns(&["z1"])), "column z1 was named twice, as attribute and as state");
    assert_eq!(refused(columns(&["action"])), "column action was named twice, as action and as state");
    let both = Columns { level: vec!["z1".into(), "z1".into()], ..Columns::default() };
    assert_eq!(refused(both), "column z1 was named twice, as attribute and as attribute");
}

#[test]
fn nothing_of_a_file_reaches_a_terminal_unseen() {
    for name in ["\u{1b}[2J", "\u{9b}31m", "a\rb", "\u{202e}cod.exe", "x\u{7}"] {
        for text in [
            format!("{HEADER}{name},1,f,,,oops\n"),
            format!("{HEADER}{name},1,f,,,1\n{name},1,f,go,1,1\n"),
            format!("{HEADER}\"{name}\",1,f,,,1\n\"{name}\",4,f,go,1,1\n\"{name}\",5,f,go,1,1\n"),
            format!("ID,timestamp,\"{name}\",action,reward,state1\n"),
            format!("{HEADER}a,1,\"{name}\",,,1\na,2,f,go,1,1\n"),
            format!("{HEADER}a,1,f,,,\"{name}\"\n"),
        ] {
            let message = message(&text, &ReadOptions::default());
            let seen = message.chars().all(|c| !counterfair::files::is_treacherous(c));
            assert!(seen && !message.contains(name), "{message:?}");
        }
    }
}
