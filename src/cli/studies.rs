//! The studies that results may be about: those that come with the program, or the user's.

use counterfair::files::{DataError, ReadOptions, read};
use counterfair::report::Section;
use counterfair::reproduction::{Attribute, Origin, StarError, Study};
use std::io;
use std::path::{Path, PathBuf};

/// Why a study cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A file of the user's.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A file that cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file that is not the STAR extract.
    #[error("{path}, as the STAR extract: {source}")]
    Star {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: StarError,
    },
}

/// Studies, and what a report must say about those that are not there.
pub struct Given {
    /// Those that are there.
    pub studies: Vec<Study>,
    /// A section in place of STAR's.
    pub left_out: Option<Section>,
}

/// Where a checkout keeps the STAR extract. It is not part of the program: its licence (GPL-2) is not the program's.
const STAR: &str = "tests/fixtures/star/star_long.csv";

/// The user's study, or the stand-in and Project STAR.
///
/// # Errors
/// [`StudyError`].
pub fn given(data: Option<&Path>, star: Option<&Path>) -> Result<Given, StudyError> {
    if let Some(path) = data {
        return Ok(Given { studies: vec![from_file(path)?], left_out: None });
    }
    let mut studies = vec![Study::stand_in()];
    let Some(path) = star.map(Path::to_path_buf).or_else(checkout) else {
        return Ok(Given { studies, left_out: Some(left_out()) });
    };
    let text = std::fs::read(&path).map_err(|source| StudyError::Read { path: path.clone(), source })?;
    studies.push(Study::star(&text).map_err(|source| StudyError::Star { path, source })?);
    Ok(Given { studies, left_out: None })
}

/// The extract of the checkout in which the program runs: the one cargo runs it from, or the working directory.
fn checkout() -> Option<PathBuf> {
    extract_in(std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).into_iter().chain([PathBuf::new()]))
}

fn extract_in(folders: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    folders.into_iter().map(|folder| folder.join(STAR)).find(|path| path.is_file())
}

fn left_out() -> Section {
    Section {
        label: "table:real_data/star".into(),
        title: "The application, on a public study: left out".into(),
        warning: format!(
            "Project STAR is left out: its file does not come with the program, because its licence (GPL-2) is another. It lies in the source \
             repository as {STAR}; name it with --star."
        ),
        command: "counterfair reproduce --only table:real_data --star star_long.csv".into(),
        ..Section::default()
    }
}

fn from_file(path: &Path) -> Result<Study, StudyError> {
    let read = read(path, &ReadOptions::default())?;
    let (panel, names) = (read.panel, read.layout.state_names());
    let codes = panel.level_codes().to_vec();
    let attribute = Attribute { name: "z1".into(), levels: panel.levels().clone(), codes };
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let description = format!("Read from {}.", path.file_name().unwrap_or_default().to_string_lossy());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(Study::new(&name, Origin::File, &description, &names, vec![attribute], panel))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(given: &Given) -> Vec<&str> {
        given.studies.iter().map(Study::name).collect()
    }

    #[test]
    fn the_extract_is_read_from_the_checkout_or_from_the_file_that_is_named() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let found = extract_in([root.join("src"), root.clone()]).expect("the second folder is the checkout");
        let given = given(None, Some(&found)).expect("the extract");
        assert_eq!((names(&given), given.left_out.is_none()), (vec!["stand-in", "star"], true));
        assert_eq!(extract_in([root.join("src")]), None);
        let absent = super::given(None, Some(Path::new("no-such-file.csv"))).map(|_| ());
        assert!(absent.is_err_and(|e| e.to_string().starts_with("no-such-file.csv: ")));
        let other = super::given(None, Some(&root.join("Cargo.toml"))).map(|_| ());
        assert!(other.is_err_and(|e| e.to_string().contains("as the STAR extract: line 1")));
    }

    #[test]
    fn what_is_left_out_is_said_with_the_option_that_brings_it() {
        let section = left_out();
        assert!(section.warning.contains("Project STAR is left out") && section.warning.contains("--star"));
    }
}
