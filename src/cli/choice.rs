//! Options that name one of a few things: the names, what each means, and what it stands for.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// The names of an option, each with its help and its value.
pub type Choices<T> = [(&'static str, &'static str, T)];

/// Reads one of the names.
pub fn one_of<T: Copy + Send + Sync + 'static>(choices: &'static Choices<T>) -> impl TypedValueParser<Value = T> {
    let names = choices.iter().map(|(name, help, _)| match *help {
        "" => PossibleValue::new(*name),
        help => PossibleValue::new(*name).help(help),
    });
    PossibleValuesParser::new(names).map(move |given| {
        let chosen = choices.iter().find(|(name, ..)| *name == given);
        chosen.expect("the parser lets no other name through").2
    })
}
