//! Comma-separated values, the one way that they are written here.

/// A line of fields. Quoted where a reader needs it (RFC 4180); a text that a spreadsheet would take for a formula gets an apostrophe
/// before it, a number never.
pub(super) fn line<S: AsRef<str>>(fields: impl IntoIterator<Item = S>) -> String {
    let fields: Vec<String> = fields.into_iter().map(|field| quoted(&harmless(field.as_ref()))).collect();
    fields.join(",") + "\n"
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

fn harmless(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    if formula { format!("'{text}") } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_back_and_formulas_are_text() {
        let fields = ["plain", "a,b", "say \"no\"", "two\nlines", "\r", "", "-1.5e-3", "+2", "−3", "inf"];
        let text = line(fields) + &line(["=1+1", "@SUM(A1)", "+x", "-x", "\tx", "a=b", "1,=2", "", "", ""]);
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let rows: Vec<Vec<String>> =
            reader.records().map(|row| row.expect("our own lines").iter().map(String::from).collect()).collect();
        let mut expected = fields.map(String::from);
        expected[4] = "'\r".into();
        assert_eq!(rows[0], expected);
        assert_eq!(rows[1], ["'=1+1", "'@SUM(A1)", "'+x", "'-x", "'\tx", "a=b", "1,=2", "", "", ""]);
    }
}
