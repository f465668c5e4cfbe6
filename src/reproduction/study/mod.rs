//! Studies: people with several sensitive attributes, looked at one attribute at a time.

mod stand_in;
mod star;

pub use star::StarError;

use crate::kernel::numeric::Fingerprint;
use crate::kernel::people::{Labels, Panel, PanelBuilder, Person};

/// One sensitive attribute of everybody in a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// Its levels.
    pub levels: Labels,
    /// The level of each person, in the panel's order.
    pub codes: Vec<u32>,
}

/// Where a study's numbers come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Drawn from a documented model: nothing in it is about real people.
    Simulated,
    /// A public study.
    Public,
    /// A file of the user's.
    File,
}

/// A panel with the attributes of its people.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    name: String,
    origin: Origin,
    description: String,
    attributes: Vec<Attribute>,
    state_names: Vec<String>,
    /// The people; the level each has here is not used.
    panel: Panel,
}

impl Study {
    /// A study of the people of `panel`.
    ///
    /// # Panics
    /// If an attribute does not have one code a person.
    pub fn new(
        name: &str,
        origin: Origin,
        description: &str,
        state_names: &[&str],
        attributes: Vec<Attribute>,
        panel: Panel,
    ) -> Self {
        for attribute in &attributes {
            assert_eq!(attribute.codes.len(), panel.people(), "one code of {} a person", attribute.name);
        }
        let state_names = state_names.iter().map(|s| s.to_string()).collect();
        Self { name: name.into(), origin, description: description.into(), attributes, state_names, panel }
    }

    /// The name by which cells know the study.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its numbers come from.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Whether its numbers were drawn and not observed.
    pub fn is_simulated(&self) -> bool {
        self.origin == Origin::Simulated
    }

    /// What a reader should know before looking at a number.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The names of the attributes, in order.
    pub fn attributes(&self) -> impl Iterator<Item = &str> {
        self.attributes.iter().map(|a| a.name.as_str())
    }

    /// An attribute by its name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|a| a.name == name)
    }

    /// The names of the state coordinates.
    pub fn state_names(&self) -> &[String] {
        &self.state_names
    }

    /// N.
    pub fn people(&self) -> usize {
        self.panel.people()
    }

    /// Σ Tᵢ.
    pub fn decisions(&self) -> usize {
        self.panel.decisions()
    }

    /// The actions, by name.
    pub fn action_names(&self) -> &Labels {
        self.panel.action_names()
    }

    /// The panel whose sensitive level is this attribute; `None` when there is no such attribute.
    pub fn panel(&self, attribute: &str) -> Option<Panel> {
        let attribute = self.attribute(attribute)?;
        let shape =
            PanelBuilder::new(attribute.levels.clone(), self.panel.action_names().clone(), self.panel.state_dim());
        let mut builder = shape.expect("a study has actions and states, and its attributes have levels");
        for (person, &level) in self.panel.iter().zip(&attribute.codes) {
            builder.push(Person { level, ..person }).expect("a person of an existing panel at a level that exists");
        }
        Some(builder.finish())
    }

    /// A number that changes with any of the data, and with the names by which they are shown.
    pub fn fingerprint(&self) -> String {
        let names =
            |sum: Fingerprint, labels: &Labels| labels.names().iter().fold(sum, |sum, name| sum.with_text(name));
        let mut sum = names(Fingerprint::EMPTY, self.panel.action_names());
        for attribute in &self.attributes {
            sum = names(sum.with_text(&attribute.name), &attribute.levels);
            sum = attribute.codes.iter().fold(sum, |sum, code| sum.with(&code.to_le_bytes()));
        }
        for person in self.panel.iter() {
            sum = sum.with_text(person.id);
            sum = person.states.iter().chain(person.rewards).fold(sum, |sum, x| sum.with(&x.to_bits().to_le_bytes()));
            sum = person.actions.iter().fold(sum, |sum, a| sum.with(&a.to_le_bytes()));
        }
        sum.text()
    }
}
