//! Long Parquet files in and out.
//!
//! Cells go through the same text as those of a CSV, so that both formats obey the same rules: a null is a blank, and a
//! whole or real number becomes the text that reads back as that number.

use super::assemble::assemble;
use super::csv_reader::unreadable;
use super::error::{DataError, Line};
use super::quiet::quietly;
use super::sheet::{Cell, Sheet};
use super::table::{Decimals, Source, Table};
use super::{Columns, Panel, Read, ReadOptions, Readers, RowConvention, written};
use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::column::page::Page;
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::record::Field;
use ::parquet::schema::types::Type;
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

/// Rows per row group: enough to compress well, few enough to hold one column of a group in memory.
const GROUP: usize = 1 << 18;

/// Reads a long Parquet file with the rules of [`read_csv`](super::read_csv); ids, times, levels and actions may be text or
/// numbers.
///
/// # Errors
/// [`DataError`], which names file, row, column and value.
pub fn read_parquet(path: &Path, options: &ReadOptions) -> Result<Read, DataError> {
    let file = path.display().to_string();
    let opened = std::fs::File::open(path).map_err(|source| unreadable(file.clone(), source))?;
    // The Parquet library panics on some damaged files; to whoever brought the file that is one more way not to be valid.
    let read = quietly(AssertUnwindSafe(|| read_opened(&file, opened, options)));
    read.unwrap_or_else(|_| Err(damaged(&file)))
}

fn read_opened(file: &str, opened: std::fs::File, options: &ReadOptions) -> Result<Read, DataError> {
    let (reader, mut table) = opened_table(file, opened, options, Some(MOST_CELLS))?;
    let mut cells = vec![String::new(); table.source.header.len()];
    for (row, number) in reader.into_iter().zip(1..) {
        push(file, &mut table, &mut cells, row, number)?;
    }
    assemble(table, options)
}

/// A file whose figures about itself agree, and an empty table with its columns.
fn opened_table(
    file: &str,
    opened: std::fs::File,
    options: &ReadOptions,
    most_cells: Option<i128>,
) -> Result<(SerializedFileReader<std::fs::File>, Table), DataError> {
    let wrong = |error: ParquetError| DataError::Parquet { file: file.into(), reason: error.to_string() };
    let reader = SerializedFileReader::new(opened).map_err(wrong)?;
    let metadata = reader.metadata().file_metadata();
    let header: Vec<String> = metadata.schema().get_fields().iter().map(|field| field.name().to_string()).collect();
    check_size(file, metadata.num_rows(), header.len(), most_cells.unwrap_or(i128::MAX))?;
    let groups = reader.metadata().row_groups();
    let (rows, bytes) = groups.iter().fold((0i128, 0i128), |(rows, bytes), group| {
        (rows + i128::from(group.num_rows()), bytes + i128::from(group.total_byte_size()))
    });
    let damaged = groups.iter().any(|group| group.num_rows() < 0 || group.total_byte_size() < 0);
    if damaged || rows != i128::from(metadata.num_rows()) || most_cells.is_some() && bytes > MOST_BYTES {
        let reason = format!(
            "its groups say that they have {rows} rows in {bytes} bytes, the file {} rows; at most {MOST_BYTES} bytes are read",
            metadata.num_rows()
        );
        return Err(DataError::Parquet { file: file.into(), reason });
    }
    check_dictionaries(file, &reader)?;
    let table = Table::new(
        Source::new(file, header.into_iter(), options, Line::Row)?,
        options.missing,
        Decimals::new(options.format.decimal, false),
    );
    Ok((reader, table))
}

/// Adds a row to a table; `cells` is working space.
fn push(
    file: &str,
    table: &mut Table,
    cells: &mut [String],
    row: Result<::parquet::record::Row, ParquetError>,
    number: u64,
) -> Result<(), DataError> {
    let row = row.map_err(|error| DataError::Parquet { file: file.into(), reason: error.to_string() })?;
    for (cell, (_, field)) in cells.iter_mut().zip(row.get_column_iter()) {
        *cell = text(field);
    }
    table.push(number, |j| &cells[j])
}

/// The rows of a file, some at a time.
pub(super) struct Rows {
    file: String,
    rows: ::parquet::record::reader::RowIter<'static>,
    /// An empty table, until it is handed out.
    table: Option<Table>,
    cells: Vec<String>,
    read: u64,
    /// Bytes of a table at which to stop.
    chunk: usize,
}

impl Rows {
    /// Opens a file; about `chunk` bytes are taken at a time.
    pub fn open(path: &Path, options: &ReadOptions, chunk: usize) -> Result<Self, DataError> {
        let file = path.display().to_string();
        let opened = std::fs::File::open(path).map_err(|source| unreadable(file.clone(), source))?;
        let opened = quietly(AssertUnwindSafe(|| opened_table(&file, opened, options, None)));
        let (reader, table) = opened.unwrap_or_else(|_| Err(damaged(&file)))?;
        let cells = vec![String::new(); table.source.header.len()];
        Ok(Self { rows: reader.into_iter(), table: Some(table), cells, read: 0, chunk, file })
    }

    /// The next rows, and whether there are more.
    pub fn fill(&mut self, table: &mut Option<Table>, keep: bool) -> Result<bool, DataError> {
        if table.is_none() {
            *table = self.table.take().map(|empty| if keep { empty } else { empty.without_kept() });
        }
        let Some(table) = table else { return Ok(false) };
        let before = table.bytes();
        let Self { rows, cells, read, chunk, file, .. } = self;
        let filled = quietly(AssertUnwindSafe(|| {
            while table.bytes() < before + *chunk {
                let Some(row) = rows.next() else { return Ok(false) };
                *read += 1;
                push(file, table, cells, row, *read)?;
            }
            Ok(true)
        }));
        filled.unwrap_or_else(|_| Err(damaged(file)))
    }
}

fn damaged(file: &str) -> DataError {
    DataError::Parquet { file: file.into(), reason: "it is damaged: it contradicts itself".into() }
}

/// Cells that a file may have: as numbers they take 4 GiB. A few bytes of Parquet can stand for any number of them.
const MOST_CELLS: i128 = 1 << 29;

/// Bytes that a file may become when it is decompressed.
const MOST_BYTES: i128 = 1 << 33;

fn check_size(file: &str, rows: i64, columns: usize, most: i128) -> Result<(), DataError> {
    let cells = i128::from(rows) * columns as i128;
    if (0..=most).contains(&cells) {
        return Ok(());
    }
    let gibibytes = 8.0 * cells as f64 / (1u64 << 30) as f64;
    let reason = format!("it says that it has {rows} rows of {columns} columns, which would take {gibibytes:.1} GiB");
    Err(DataError::Parquet { file: file.into(), reason })
}

/// Makes sure that no dictionary claims more values than it has bytes: the Parquet library makes room for what is claimed.
fn check_dictionaries(file: &str, reader: &SerializedFileReader<std::fs::File>) -> Result<(), DataError> {
    let wrong = |error: ParquetError| DataError::Parquet { file: file.into(), reason: error.to_string() };
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(wrong)?;
        for column in 0..group.num_columns() {
            for page in group.get_column_page_reader(column).map_err(wrong)? {
                if let Page::DictionaryPage { buf, num_values, .. } = page.map_err(wrong)?
                    && num_values as usize > buf.len()
                {
                    let reason = format!("a dictionary claims {num_values} values in {} bytes", buf.len());
                    return Err(DataError::Parquet { file: file.into(), reason });
                }
            }
        }
    }
    Ok(())
}

/// The text of a value; a real number keeps its point (`1.0`), as in the CSV that the same table would give.
fn text(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Bytes(bytes) => String::from_utf8_lossy(bytes.data()).into_owned(),
        Field::Float(x) => format!("{x:?}"),
        Field::Double(x) => format!("{x:?}"),
        other => other.to_string(),
    }
}

/// Writes a panel as Parquet, otherwise as [`write_csv`](super::write_csv).
///
/// # Errors
/// As [`write_csv`](super::write_csv).
pub fn write_parquet(path: &Path, panel: &Panel, columns: &Columns, rows: RowConvention) -> Result<(), DataError> {
    let file = path.display().to_string();
    write_sheet(path, Readers::AsUsual, &file, &Sheet::of_panel(&file, panel, columns, rows)?)
}

/// Writes a file back as Parquet, otherwise as [`write_preprocessed_csv`](super::write_preprocessed_csv).
///
/// # Errors
/// As [`write_preprocessed_csv`](super::write_preprocessed_csv).
pub fn write_preprocessed_parquet(path: &Path, read: &Read, states: &[f64], rewards: &[f64]) -> Result<(), DataError> {
    let file = path.display().to_string();
    write_sheet(path, Readers::OwnerAlone, &file, &Sheet::of_read(&file, read, states, rewards)?)
}

fn write_sheet(path: &Path, readers: Readers, file: &str, sheet: &Sheet<'_>) -> Result<(), DataError> {
    // The Parquet writer wants to own what it writes to, so the compressed file is made in memory.
    let bytes = encode(sheet).map_err(|error| DataError::Parquet { file: file.into(), reason: error.to_string() })?;
    Ok(written(path, readers, |out| out.write_all(&bytes))?)
}

fn encode(sheet: &Sheet<'_>) -> Result<Vec<u8>, ParquetError> {
    let kinds: Vec<Kind> = (0..sheet.names.len()).map(|column| Kind::of(sheet, column)).collect();
    let fields = sheet.names.iter().zip(&kinds).map(|(name, kind)| kind.field(name)).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("panel").with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    for start in (0..sheet.rows).step_by(GROUP) {
        let rows = start..(start + GROUP).min(sheet.rows);
        let mut group = writer.next_row_group()?;
        let mut column = 0;
        while let Some(mut out) = group.next_column()? {
            kinds[column].write(sheet, column, rows.clone(), &mut out)?;
            out.close()?;
            column += 1;
        }
        group.close()?;
    }
    writer.into_inner()
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Whole,
    Real,
    Text,
}

impl Kind {
    /// The narrowest type from which every cell reads back letter by letter: ids such as `007` stay text.
    fn of(sheet: &Sheet<'_>, column: usize) -> Self {
        let fits = |kind: Kind| (0..sheet.rows).all(|row| kind.fits((sheet.cell)(row, column)));
        [Self::Whole, Self::Real].into_iter().find(|&kind| fits(kind)).unwrap_or(Self::Text)
    }

    fn fits(self, cell: Cell<'_>) -> bool {
        match (cell, self) {
            (Cell::Blank, _) | (_, Self::Text) | (Cell::Whole(_), Self::Whole) | (Cell::Number(_), Self::Real) => true,
            (Cell::Text(text), Self::Whole) => text.parse::<i64>().is_ok_and(|n| n.to_string() == text),
            (Cell::Text(text), Self::Real) => text.parse::<f64>().is_ok_and(|x| format!("{x:?}") == text),
            (Cell::Whole(_) | Cell::Number(_), _) => false,
        }
    }

    fn field(self, name: &str) -> Result<Arc<Type>, ParquetError> {
        let (physical, logical) = match self {
            Self::Whole => (Physical::INT64, None),
            Self::Real => (Physical::DOUBLE, None),
            Self::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        Ok(Arc::new(field.with_repetition(Repetition::OPTIONAL).build()?))
    }

    fn write(
        self,
        sheet: &Sheet<'_>,
        column: usize,
        rows: Range<usize>,
        out: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        let cells = || rows.clone().map(|row| (sheet.cell)(row, column));
        // Definition level 1 is a value, 0 a null; only values are passed on.
        let defined: Vec<i16> = cells().map(|cell| i16::from(cell != Cell::Blank)).collect();
        match self {
            Self::Whole => {
                let whole = |cell| match cell {
                    Cell::Whole(n) => i64::try_from(n).ok(),
                    Cell::Text(text) => text.parse().ok(),
                    _ => None,
                };
                let values: Vec<i64> = cells().filter_map(whole).collect();
                out.typed::<Int64Type>().write_batch(&values, Some(&defined), None)?;
            }
            Self::Real => {
                let real = |cell| match cell {
                    Cell::Number(x) => Some(x),
                    Cell::Text(text) => text.parse().ok(),
                    _ => None,
                };
                let values: Vec<f64> = cells().filter_map(real).collect();
                out.typed::<DoubleType>().write_batch(&values, Some(&defined), None)?;
            }
            Self::Text => {
                let text = |cell| match cell {
                    Cell::Blank => None,
                    Cell::Text(text) => Some(ByteArray::from(text)),
                    Cell::Whole(n) => Some(ByteArray::from(n.to_string().as_str())),
                    Cell::Number(x) => Some(ByteArray::from(format!("{x:?}").as_str())),
                };
                let values: Vec<ByteArray> = cells().filter_map(text).collect();
                out.typed::<ByteArrayType>().write_batch(&values, Some(&defined), None)?;
            }
        }
        Ok(())
    }
}
