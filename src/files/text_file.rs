//! From the bytes of a file to text: compression, encodings, and files that are no text at all.

use super::error::DataError;

/// How the letters of a text file are stored. Nobody has to say so for UTF-8, nor for UTF-16, which shows itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte-order mark.
    Utf8,
    /// UTF-16 in either byte order, as some spreadsheets save "Unicode text".
    Utf16,
    /// Windows-1252, of which the letters of Latin-1 are a part: every byte is a letter, so that nothing shows when it is wrong.
    Windows1252,
}

/// The largest text that a compressed file may become: 2 GiB. A thousand times as much text as bytes is possible.
#[cfg(feature = "gzip")]
const MOST_TEXT: u64 = 1 << 31;

/// What the first bytes of other kinds of files are, what these are called, and what to do about them.
const OTHERS: [(&[u8], &str, &str); 11] = [
    (b"PK\x03\x04", "an Excel workbook or another zip archive", SPREADSHEET),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook", SPREADSHEET),
    (b"$FL2", "an SPSS file", STATISTICS),
    (b"$FL3", "an SPSS file", STATISTICS),
    (b"<stata_dta>", "a Stata file", STATISTICS),
    (b"RDX3\n", "an R workspace", STATISTICS),
    (b"X\n\x00\x00\x00", "an R object (.rds)", STATISTICS),
    (b"%PDF-", "a PDF", "the table has to be exported as CSV"),
    (b"BZh91AY&SY", "compressed with bzip2", "decompress it first: bunzip2"),
    (b"\xfd7zXZ\x00", "compressed with xz", "decompress it first: unxz"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "decompress it first: unzstd"),
];

const SPREADSHEET: &str = "open it in the spreadsheet and save the sheet as CSV (in Excel: \"CSV UTF-8\")";
const STATISTICS: &str = "open it where it was made and export it as CSV";

/// Text in UTF-8 without its byte-order mark (or bytes that claim to be), and what was done to get it.
pub(super) struct Decoded {
    pub bytes: Vec<u8>,
    pub notes: Vec<String>,
}

/// Decompresses and decodes.
pub(super) fn decode(bytes: Vec<u8>, file: &str, encoding: Option<Encoding>) -> Result<Decoded, DataError> {
    let mut notes = Vec::new();
    let bytes = if bytes.starts_with(b"\x1f\x8b") {
        notes.push("it is compressed with gzip".into());
        decompress(&bytes, file)?
    } else {
        bytes
    };
    refuse_others(&bytes, file)?;
    // A column may be called PAR1; a Parquet file begins and ends so.
    if bytes.len() > 8 && bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1") {
        let (what, advice) = ("a Parquet file", "give it a name that ends in .parquet");
        return Err(DataError::OtherFormat { file: file.into(), what, advice });
    }
    if bytes.starts_with(b"\xff\xfe\0\0") || bytes.starts_with(b"\0\0\xfe\xff") {
        return Err(DataError::OtherFormat { file: file.into(), what: "UTF-32 text", advice: "save it as UTF-8" });
    }
    let found = encoding.unwrap_or_else(|| if looks_like_utf16(&bytes) { Encoding::Utf16 } else { Encoding::Utf8 });
    let bytes = match found {
        Encoding::Utf8 => strip_mark(bytes),
        Encoding::Utf16 => {
            notes.push("it is UTF-16".into());
            strip_mark(utf16(&bytes, file)?)
        }
        Encoding::Windows1252 => bytes.iter().map(|&b| windows_1252(b)).collect::<String>().into_bytes(),
    };
    Ok(Decoded { bytes, notes })
}

/// Refuses what begins like a file of another kind.
pub(super) fn refuse_others(bytes: &[u8], file: &str) -> Result<(), DataError> {
    match OTHERS.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
        Some((_, what, advice)) => Err(DataError::OtherFormat { file: file.into(), what, advice }),
        None => Ok(()),
    }
}

/// How many bytes of text a file compressed with gzip holds, counted by unpacking it; `None` for any other file.
///
/// # Errors
/// What the system said, and a file that is damaged.
#[cfg(feature = "gzip")]
pub fn unpacked_bytes(path: &std::path::Path) -> std::io::Result<Option<u64>> {
    use std::io::{BufRead, BufReader, copy, sink};
    let mut file = BufReader::new(std::fs::File::open(path)?);
    if !file.fill_buf()?.starts_with(b"\x1f\x8b") {
        return Ok(None);
    }
    copy(&mut flate2::bufread::MultiGzDecoder::new(file), &mut sink()).map(Some)
}

#[cfg(feature = "gzip")]
fn decompress(bytes: &[u8], file: &str) -> Result<Vec<u8>, DataError> {
    use std::io::Read;
    let mut text = Vec::new();
    let read = flate2::read::MultiGzDecoder::new(bytes).take(MOST_TEXT + 1).read_to_end(&mut text);
    match read {
        Ok(_) if text.len() as u64 > MOST_TEXT => Err(DataError::OtherFormat {
            file: file.into(),
            what: "compressed with gzip and more than 2 GiB of text",
            advice: "decompress it first, if that is right: gunzip",
        }),
        Ok(_) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Err(DataError::OtherFormat {
            file: file.into(),
            what: "compressed with gzip and ends in the middle",
            advice: "copy it again",
        }),
        Err(source) => Err(DataError::Unreadable { file: file.into(), source }),
    }
}

#[cfg(not(feature = "gzip"))]
fn decompress(_: &[u8], file: &str) -> Result<Vec<u8>, DataError> {
    let (what, advice) =
        ("compressed with gzip", "this build cannot read it: gunzip it, or build with --features gzip");
    Err(DataError::OtherFormat { file: file.into(), what, advice })
}

pub(super) fn strip_mark(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    bytes
}

/// Letters of a header looked at: names of columns are mostly ASCII, and every second byte of ASCII in UTF-16 is 0.
const LOOKED_AT: usize = 128;

pub(super) fn looks_like_utf16(bytes: &[u8]) -> bool {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return true;
    }
    let head = &bytes[..bytes.len().min(LOOKED_AT)];
    let zeros = |odd: usize| head.iter().skip(odd).step_by(2).filter(|&&b| b == 0).count();
    head.len() >= 8 && (4 * zeros(0) > head.len() && zeros(1) == 0 || 4 * zeros(1) > head.len() && zeros(0) == 0)
}

fn utf16(bytes: &[u8], file: &str) -> Result<Vec<u8>, DataError> {
    let damaged = |what| DataError::OtherFormat { file: file.into(), what, advice: "save it as UTF-8" };
    if !bytes.len().is_multiple_of(2) {
        return Err(damaged("UTF-16 text that ends in the middle of a letter"));
    }
    let big = bytes.starts_with(b"\xfe\xff") || !bytes.starts_with(b"\xff\xfe") && bytes.first() == Some(&0);
    let unit = |pair: &[u8]| {
        let pair = [pair[0], pair[1]];
        if big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
    };
    let text: Result<String, _> = char::decode_utf16(bytes.chunks_exact(2).map(unit)).collect();
    text.map(String::into_bytes).map_err(|_| damaged("damaged UTF-16 text"))
}

/// The letter of a byte. The five bytes that Windows-1252 leaves open stand for control characters, as browsers take them.
pub(super) fn windows_1252(byte: u8) -> char {
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘',
        '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8], encoding: Option<Encoding>) -> String {
        String::from_utf8(decode(bytes.to_vec(), "f", encoding).map_err(|e| e.to_string()).unwrap().bytes).unwrap()
    }

    fn refused(bytes: &[u8]) -> String {
        decode(bytes.to_vec(), "f.csv", None).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn utf16_shows_itself_by_its_mark_or_by_its_zeros() {
        let units: Vec<u16> = "ID,größe,𝒵\n".encode_utf16().collect();
        let (little, big): (Vec<u8>, Vec<u8>) = (
            units.iter().flat_map(|u| u.to_le_bytes()).collect(),
            units.iter().flat_map(|u| u.to_be_bytes()).collect(),
        );
        for bytes in [[b"\xff\xfe", &little[..]].concat(), [b"\xfe\xff", &big[..]].concat(), little.clone(), big] {
            assert_eq!(text(&bytes, None), "ID,größe,𝒵\n");
        }
        assert!(refused(&[b"\xff\xfe", &little[1..]].concat()).contains("middle of a letter"));
        assert!(refused(b"\xff\xfe\x00\xd8a\0").contains("damaged UTF-16"));
        assert_eq!(text("plain ASCII text".as_bytes(), None), "plain ASCII text");
    }

    #[test]
    fn windows_letters_are_read_when_told_and_never_guessed() {
        let bytes = b"Gr\xf6\xdfe \x80 \x93x\x94";
        assert_eq!(text(bytes, Some(Encoding::Windows1252)), "Größe € “x”");
        assert_eq!(
            decode(bytes.to_vec(), "f", None).map(|d| d.bytes).unwrap(),
            bytes,
            "left to the reader, which names the cell"
        );
    }

    #[test]
    fn other_files_are_called_by_their_names_with_what_to_do() {
        for (magic, what, advice) in OTHERS {
            let message = refused(&[magic, b"rest"].concat());
            assert_eq!(message, format!("f.csv: this is {what}, not CSV; {advice}"));
        }
        assert!(refused(b"PAR1\x15\x04....PAR1").contains("ends in .parquet"));
        assert_eq!(text(b"PAR1,PAR2", None), "PAR1,PAR2");
        assert!(refused(b"\xff\xfe\0\0I\0\0\0").contains("UTF-32"));
    }

    #[cfg(feature = "gzip")]
    #[test]
    fn gzip_is_read_and_half_a_file_is_said_to_be_half() {
        use std::io::Write;
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all("ID,time\n".repeat(100).as_bytes()).unwrap();
        let bytes = out.finish().unwrap();
        let decoded = decode(bytes.clone(), "f", None).map_err(|e| e.to_string()).unwrap();
        assert_eq!(decoded.bytes, "ID,time\n".repeat(100).as_bytes());
        assert_eq!(decoded.notes, ["it is compressed with gzip"]);
        let twice = [&bytes[..], &bytes[..]].concat();
        assert_eq!(text(&twice, None).len(), 1600, "two members, one text");
        assert!(refused(&bytes[..bytes.len() - 12]).contains("ends in the middle"));
        let mut flipped = bytes;
        let last = flipped.len() - 6;
        flipped[last] ^= 1;
        assert!(refused(&flipped).contains("cannot be read"), "the checksum is looked at");
    }
}
