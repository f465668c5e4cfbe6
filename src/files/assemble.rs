//! From rows in file order to trajectories in time order.

use super::error::{DataError, excerpt, listing};
use super::row_convention::{in_words as rows_in_words, of_first_rows};
use super::table::{Row, Source, Table};
use super::times::{Pace, Step, StepLength, Times, in_months, proposal, rounded};
use super::{Cut, CutReason, Layout, MissingRepair, Read, ReadOptions, Repairs, RowConvention};
use crate::kernel::people::{Labels, PanelBuilder, Person};

/// What is kept of a person's rows in time order: the first `states` rows, and of those the decisions of
/// `decision_rows()`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Extent {
    states: usize,
    decisions: usize,
}

/// Sorts, checks and, on request, cuts each trajectory; then builds the panel.
pub(super) fn assemble(table: Table, options: &ReadOptions) -> Result<Read, DataError> {
    if table.rows.is_empty() {
        return Err(DataError::NoRows { file: table.source.file });
    }
    if !options.find_rows {
        return assemble_part(table, options, None);
    }
    let (order, starts) = by_person_and_time(&table);
    let firsts = starts.windows(2).map(|pair| &table.rows[order[pair[0]]]);
    let looked = firsts.map(|row| ((table.source.line)(row.line), row.action().is_some() || row.reward().is_some()));
    let rows = of_first_rows(looked, &table.source.file)?;
    drop((order, starts));
    let mut read = assemble_part(table, &ReadOptions { rows, ..options.clone() }, None)?;
    read.notes.extend(rows_in_words(rows).map(String::from));
    Ok(read)
}

/// The pace of the people of a table.
pub(super) fn pace_of(table: &Table, options: &ReadOptions) -> Pace {
    let (order, starts) = by_person_and_time(table);
    Pace::of(&sorted_times(table, &order, &starts), table.times.unwrap_or(Times::Numbers), options.step)
}

/// [`assemble`] for some people of a larger file, whose steps are those of `pace`: the labels are all that the table knows, and it is no
/// error that nobody is left or decides. Without a pace the people are everybody.
pub(super) fn assemble_part(mut table: Table, options: &ReadOptions, pace: Option<Pace>) -> Result<Read, DataError> {
    let file = table.source.file.clone();
    let known = |names: &[String]| if names.is_empty() { Labels::numbered(1) } else { Labels::new(names) };
    let given = |asked: &Option<Labels>, names: &[String]| asked.clone().or_else(|| pace.map(|_| known(names)));
    let (expected_levels, expected_actions) =
        (given(&options.levels, &table.levels.names), given(&options.actions, &table.actions.names));
    let (order, starts) = by_person_and_time(&table);
    let groups = || starts.windows(2).map(|pair| &order[pair[0]..pair[1]]);
    let clock = Clock::new(&table, &order, &starts, options, pace)?;
    let check = Check { table: &table, options, clock };
    let ends = groups().map(|rows| check.trajectory(rows)).collect::<Result<Vec<_>, _>>()?;
    let extents: Vec<Extent> = ends.iter().map(|end| end.extent).collect();

    let mut repairs = Repairs::default();
    for i in by_id(&table.ids) {
        let rows = &order[starts[i]..starts[i + 1]];
        let End { extent, cut } = &ends[i];
        let whole = Extent { states: rows.len(), decisions: check.decisions_of(rows) };
        repairs.rows_dropped += rows.len() - extent.states;
        repairs.people_dropped += usize::from(extent.states == 0);
        repairs.people_cut += usize::from(extent.states > 0 && *extent != whole);
        if let Some((row, reason)) = cut.as_ref().filter(|_| *extent != whole) {
            repairs.cuts.push(Cut {
                id: excerpt(&table.ids[i]),
                rows_kept: extent.states,
                rows_dropped: rows.len() - extent.states,
                place: (table.source.line)(table.rows[*row].line).to_string(),
                reason: reason.clone(),
            });
        }
    }
    if repairs.people_dropped == table.ids.len() && pace.is_none() {
        return Err(DataError::NothingLeft { file, people: table.ids.len() });
    }

    let (levels, level_code) = check.levels(groups().zip(&extents), expected_levels.as_ref())?;
    let (actions, action_code) = check.actions(groups().zip(&extents), expected_actions.as_ref())?;
    let p = table.source.roles.states.len();
    let wrong = |source| DataError::Panel { file: file.clone(), source };
    let mut builder = PanelBuilder::new(levels, actions, p).map_err(wrong)?;
    let mut places = vec![Layout::DROPPED; table.rows.len()];
    let mut times = Vec::with_capacity(table.rows.len() - repairs.rows_dropped);
    let (mut states, mut codes, mut rewards) = (Vec::new(), Vec::new(), Vec::new());
    for i in by_id(&table.ids) {
        let (rows, extent) = (&order[starts[i]..starts[i + 1]], extents[i]);
        if extent.states == 0 {
            continue;
        }
        states.clear();
        codes.clear();
        rewards.clear();
        for &r in &rows[..extent.states] {
            states.extend_from_slice(&table.states[r * p..(r + 1) * p]);
            places[r] = times.len();
            times.push(check.clock.at(r));
        }
        for row in check.decision_rows(rows, extent) {
            codes.extend(row.action().map(|a| action_code[a as usize]));
            rewards.extend(row.reward());
        }
        let level = level_code[table.rows[rows[0]].level as usize];
        let person = Person { id: &table.ids[i], level, states: &states, actions: &codes, rewards: &rewards };
        builder.push(person).map_err(wrong)?;
    }
    let notes = check.clock.notes.clone();
    let kept = std::mem::replace(&mut table.kept, super::table::Kept::empty());
    let layout = Layout { source: table.source, columns: options.columns.clone(), rows: options.rows, kept, places };
    Ok(Read { panel: builder.finish(), repairs, times, notes, layout })
}

/// People in the order of their ids, whatever the order of rows: by value where all are numbers, otherwise as text.
fn by_id(ids: &[String]) -> Vec<usize> {
    let numbers: Option<Vec<f64>> = ids.iter().map(|id| id_number(id)).collect();
    let mut people: Vec<usize> = (0..ids.len()).collect();
    people.sort_by(|&a, &b| {
        let by_value = numbers.as_ref().map_or(std::cmp::Ordering::Equal, |x| x[a].total_cmp(&x[b]));
        by_value.then_with(|| ids[a].cmp(&ids[b]))
    });
    people
}

/// The number that an id spells.
pub(super) fn id_number(id: &str) -> Option<f64> {
    id.parse().ok().filter(|x: &f64| x.is_finite())
}

/// The rows of each person in order of time: person i has `order[starts[i]..starts[i + 1]]`.
fn by_person_and_time(table: &Table) -> (Vec<usize>, Vec<usize>) {
    let mut starts = vec![0; table.ids.len() + 1];
    for row in &table.rows {
        starts[row.person + 1] += 1;
    }
    for i in 0..table.ids.len() {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut order = vec![0; table.rows.len()];
    for (r, row) in table.rows.iter().enumerate() {
        order[next[row.person]] = r;
        next[row.person] += 1;
    }
    for pair in starts.windows(2) {
        // Stable, so that of two rows at one time the later line is the one reported.
        order[pair[0]..pair[1]].sort_by(|&a, &b| compare(table.rows[a].time, table.rows[b].time));
    }
    (order, starts)
}

/// The times of each person, sorted.
fn sorted_times(table: &Table, order: &[usize], starts: &[usize]) -> Vec<Vec<f64>> {
    starts.windows(2).map(|pair| order[pair[0]..pair[1]].iter().map(|&r| table.rows[r].time).collect()).collect()
}

/// Times are finite, so they compare; −0 and 0 are one time.
fn compare(a: f64, b: f64) -> std::cmp::Ordering {
    a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal)
}

/// When each row of the table was, on a scale with equal steps.
struct Clock {
    /// As the file has it: how it is told.
    times: Times,
    /// The time of each row of the table on the scale: as in the file, in months, or in whole steps.
    at: Vec<f64>,
    step: Step,
    /// Whether the scale is in months.
    monthly: bool,
    asked: Option<StepLength>,
    notes: Vec<String>,
}

impl Clock {
    fn new(
        table: &Table,
        order: &[usize],
        starts: &[usize],
        options: &ReadOptions,
        pace: Option<Pace>,
    ) -> Result<Self, DataError> {
        let times = table.times.unwrap_or(Times::Numbers);
        let mut sorted = sorted_times(table, order, starts);
        let pace = pace.unwrap_or_else(|| Pace::of(&sorted, times, options.step));
        let (mut notes, mut monthly) = (Vec::new(), false);
        let asked = options.step;
        if let Some(step) = asked {
            let (fits, kind, advice) = match times {
                Times::Numbers => {
                    (matches!(step, StepLength::Number(_)), "numbers", "give the step in their unit, as a number")
                }
                Times::Dates => (!matches!(step, StepLength::Number(_)), "dates", "say 7d, 1mo, 1y or 12h"),
            };
            if !fits {
                let file = table.source.file.clone();
                return Err(DataError::StepUnit { file, step: step.to_string().into(), times: kind, advice });
            }
            sorted.iter_mut().for_each(|person| *person = rounded(person, step).0);
            if pace.away > 1e-9 {
                notes.push(format!(
                    "its times are up to {:.0} % of a step away from whole steps of {step}",
                    100.0 * pace.away
                ));
            }
        } else if pace.months.is_some()
            && let Some(months) = in_months(&sorted)
        {
            (sorted, monthly) = (months, true);
        }
        let step = match asked {
            Some(_) => Step::one(),
            None => pace.months.unwrap_or(pace.step),
        };
        let mut at = vec![0.0; table.rows.len()];
        for (&row, time) in order.iter().zip(sorted.into_iter().flatten()) {
            at[row] = time;
        }
        let clock = Self { times, at, step, monthly, asked, notes };
        Ok(clock.with_note())
    }

    /// Dates are told with the step that was found in them.
    fn with_note(mut self) -> Self {
        if self.times == Times::Dates && self.asked.is_none() && self.step.length.is_finite() {
            self.notes.push(format!("its times are dates, in steps of {}", self.step_in_words()));
        }
        self
    }

    fn at(&self, row: usize) -> f64 {
        self.at[row]
    }

    fn step_in_words(&self) -> String {
        let found = match self.times {
            // 0.3 − 0.1 is 0.19999999999999998: nobody wrote that.
            Times::Numbers => {
                StepLength::Number(format!("{:.9e}", self.step.length).parse().unwrap_or(self.step.length))
            }
            Times::Dates if self.monthly => StepLength::Months(self.step.length as u32),
            Times::Dates => StepLength::Seconds(self.step.length),
        };
        self.asked.unwrap_or(found).to_string()
    }
}

/// How far a trajectory counts, and if it is cut the row before which, and why.
struct End {
    extent: Extent,
    cut: Option<(usize, CutReason)>,
}

struct Check<'a> {
    table: &'a Table,
    options: &'a ReadOptions,
    clock: Clock,
}

impl Check<'_> {
    /// How much of a person's trajectory counts, or what is wrong with it.
    fn trajectory(&self, rows: &[usize]) -> Result<End, DataError> {
        let source = &self.table.source;
        for pair in rows.windows(2) {
            let (a, b) = (self.row(pair[0]), self.row(pair[1]));
            if compare(self.clock.at(pair[0]), self.clock.at(pair[1])).is_eq() {
                let (at, first, id) = (source.place(b.line, source.roles.time), (source.line)(a.line), self.id(b));
                let (value, other) = (self.time(b), self.time(a));
                return Err(if value == other {
                    DataError::DuplicateTime { at, id, value, first }
                } else {
                    DataError::SameStep { at, id, value, other, first, step: self.clock.step_in_words().into() }
                });
            }
        }
        let end = self.end(rows)?;
        let extent = end.extent;
        let first = self.row(rows[0]);
        if let Some(row) = rows[..extent.states].iter().map(|&r| self.row(r)).find(|row| row.level != first.level) {
            let name = |row: &Row| excerpt(&self.table.levels.names[row.level as usize]);
            return Err(DataError::LevelChanges {
                at: source.place_named(row.line, &self.options.columns.level_name()),
                id: self.id(row),
                value: name(row),
                other: name(first),
                first: (source.line)(first.line),
            });
        }
        Ok(end)
    }

    /// Walks through time until the end, or the first thing that is missing.
    fn end(&self, rows: &[usize]) -> Result<End, DataError> {
        let cut = self.options.missing == MissingRepair::DropTail;
        let header = &self.table.source.header;
        for (t, (&r, row)) in rows.iter().map(|r| (r, self.row(*r))).enumerate() {
            let before = |column: usize| {
                let reason = CutReason::MissingCell { column: excerpt(&header[column]) };
                Ok(End { extent: Extent { states: t, decisions: self.decisions_before(t) }, cut: Some((r, reason)) })
            };
            if t > 0 && self.clock.step.is_gap(self.clock.at(rows[t - 1]), self.clock.at(r)) {
                if !cut {
                    return Err(self.gap(self.row(rows[t - 1]), row));
                }
                let reason = CutReason::Gap { from: self.time(self.row(rows[t - 1])), to: self.time(row) };
                let extent = Extent { states: t, decisions: self.decisions_before(t) };
                return Ok(End { extent, cut: Some((r, reason)) });
            }
            if let Some(column) = row.missing() {
                return before(column);
            }
            let roles = &self.table.source.roles;
            let undecided = if row.action().is_none() { roles.action } else { roles.reward };
            let decided = row.action().is_some() && row.reward().is_some();
            let blank = row.action().is_none() && row.reward().is_none();
            match self.options.rows {
                RowConvention::Incoming if t == 0 && !blank => return Err(self.on_first_row(row)),
                RowConvention::Incoming if t == 0 || decided => {}
                RowConvention::Incoming if cut => return before(undecided),
                RowConvention::Incoming => return Err(self.undecided(row)),
                RowConvention::Outgoing if decided => {}
                RowConvention::Outgoing if cut || (blank && t + 1 == rows.len()) => {
                    let reason = CutReason::MissingCell { column: excerpt(&header[undecided]) };
                    return Ok(End { extent: Extent { states: t + 1, decisions: t }, cut: Some((r, reason)) });
                }
                RowConvention::Outgoing if blank => {
                    let at = self.table.source.place(row.line, self.table.source.roles.action);
                    return Err(DataError::BlankBeforeEnd {
                        at,
                        id: self.id(row),
                        next: self.time(self.row(rows[t + 1])),
                    });
                }
                RowConvention::Outgoing => return Err(self.undecided(row)),
            }
        }
        Ok(End { extent: Extent { states: rows.len(), decisions: self.decisions_before(rows.len()) }, cut: None })
    }

    /// The decisions on the first t rows when none is blank that should not be.
    fn decisions_before(&self, t: usize) -> usize {
        match self.options.rows {
            RowConvention::Incoming => t.saturating_sub(1),
            RowConvention::Outgoing => t,
        }
    }

    /// The decisions of a whole trajectory: its last row may be a final state.
    fn decisions_of(&self, rows: &[usize]) -> usize {
        let last = rows.last().map(|&r| self.row(r));
        let final_state = last.is_some_and(|row| row.action().is_none() && row.reward().is_none());
        let outgoing = self.options.rows == RowConvention::Outgoing;
        self.decisions_before(rows.len()) - usize::from(outgoing && final_state)
    }

    /// The rows on which the decisions of a trajectory stand.
    fn decision_rows<'r>(&'r self, rows: &'r [usize], extent: Extent) -> impl Iterator<Item = &'r Row> {
        let skip = usize::from(self.options.rows == RowConvention::Incoming);
        rows.iter().skip(skip).take(extent.decisions).map(|&r| self.row(r))
    }

    /// The levels of the panel, and the code of each level of the table among them.
    fn levels<'g>(
        &self,
        people: impl Iterator<Item = (&'g [usize], &'g Extent)>,
        expected: Option<&Labels>,
    ) -> Result<(Labels, Vec<u32>), DataError> {
        let first = people.filter(|(_, extent)| extent.states > 0).map(|(rows, _)| self.row(rows[0]));
        let found = first.map(|row| (row.level, row.line));
        translate(&self.table.levels.names, found, expected).map_err(|unknown| {
            let at = self.table.source.place_named(unknown.line, &self.options.columns.level_name());
            DataError::UnknownLevel { at, value: unknown.value, known: unknown.known }
        })
    }

    /// The actions of the panel, and the code of each action of the table among them.
    fn actions<'g>(
        &self,
        people: impl Iterator<Item = (&'g [usize], &'g Extent)>,
        expected: Option<&Labels>,
    ) -> Result<(Labels, Vec<u32>), DataError> {
        let Source { file, header, roles, .. } = &self.table.source;
        let rows = people.flat_map(|(rows, extent)| self.decision_rows(rows, *extent));
        let found = rows.filter_map(|row| Some((row.action()?, row.line)));
        let (labels, codes) =
            translate(&self.table.actions.names, found, expected).map_err(|Unknown { line, value, known }| {
                let at = self.table.source.place(line, roles.action);
                DataError::UnknownAction { at, value, known }
            })?;
        if labels.is_empty() {
            return Err(DataError::NoDecisions { file: file.clone(), column: header[roles.action].clone() });
        }
        Ok((labels, codes))
    }

    fn row(&self, r: usize) -> &Row {
        &self.table.rows[r]
    }

    /// The time of a row, as the file might have written it.
    fn time(&self, row: &Row) -> String {
        self.clock.times.show(row.time)
    }

    fn id(&self, row: &Row) -> String {
        excerpt(&self.table.ids[row.person])
    }

    fn action_name(&self, row: &Row) -> Option<String> {
        row.action().map(|a| excerpt(&self.table.actions.names[a as usize]))
    }

    /// What steps typically are, where fewer than half of them are the common step: visits that are not exactly regular.
    fn usual_step(&self) -> Option<String> {
        let (order, starts) = by_person_and_time(self.table);
        let people = sorted_times(self.table, &order, &starts);
        let mut steps: Vec<f64> =
            people.iter().flat_map(|times| times.windows(2).map(|pair| pair[1] - pair[0])).collect();
        steps.sort_unstable_by(f64::total_cmp);
        let usual = *steps.get(steps.len() / 2)?;
        let regular = steps.iter().filter(|&&step| !self.clock.step.is_gap(0.0, step)).count();
        let irregular = self.clock.asked.is_none() && !self.clock.monthly && 2 * regular < steps.len();
        irregular.then(|| format!(", the smallest there is; {}", proposal(usual, self.clock.times)))
    }

    fn gap(&self, before: &Row, after: &Row) -> DataError {
        let source = &self.table.source;
        DataError::TimeGap {
            at: source.place(after.line, source.roles.time),
            id: self.id(after),
            value: self.time(after),
            previous: self.time(before),
            before: (source.line)(before.line),
            step: (self.clock.step_in_words() + &self.usual_step().unwrap_or_default()).into(),
        }
    }

    fn on_first_row(&self, row: &Row) -> DataError {
        let source = &self.table.source;
        let (column, value) = match self.action_name(row) {
            Some(action) => (source.roles.action, action),
            None => (source.roles.reward, row.reward().unwrap_or(f64::NAN).to_string()),
        };
        DataError::DecisionOnFirstRow { at: source.place(row.line, column), id: self.id(row), value }
    }

    /// An action without a reward, a reward without an action, or neither.
    fn undecided(&self, row: &Row) -> DataError {
        let source = &self.table.source;
        match (self.action_name(row), row.reward()) {
            (Some(value), _) => {
                DataError::ActionWithoutReward { at: source.place(row.line, source.roles.reward), value }
            }
            (None, Some(value)) => {
                DataError::RewardWithoutAction { at: source.place(row.line, source.roles.action), value }
            }
            (None, None) => {
                DataError::MissingCell { at: source.place(row.line, source.roles.action), value: String::new() }
            }
        }
    }
}

/// A name that is not among those expected.
struct Unknown {
    line: u64,
    value: String,
    known: String,
}

/// The labels of the codes found, or the expected ones, and the code of each name among them.
fn translate(
    names: &[String],
    found: impl Iterator<Item = (u32, u64)>,
    expected: Option<&Labels>,
) -> Result<(Labels, Vec<u32>), Unknown> {
    let mut lines: Vec<Option<u64>> = vec![None; names.len()];
    for (code, line) in found {
        lines[code as usize] = Some(lines[code as usize].map_or(line, |first| first.min(line)));
    }
    let used = || names.iter().zip(&lines).filter(|(_, line)| line.is_some()).map(|(name, _)| name.as_str());
    let labels = expected.cloned().unwrap_or_else(|| Labels::new(used()));
    let mut codes = vec![0; names.len()];
    let mut unknown: Option<Unknown> = None;
    for ((name, line), code) in names.iter().zip(&lines).zip(&mut codes) {
        match (labels.code(name), *line) {
            (Some(found), _) => *code = found as u32,
            (None, Some(line)) if unknown.as_ref().is_none_or(|first| line < first.line) => {
                unknown = Some(Unknown { line, value: excerpt(name), known: listing(labels.names()) });
            }
            (None, _) => {}
        }
    }
    unknown.map_or(Ok((labels, codes)), Err)
}
