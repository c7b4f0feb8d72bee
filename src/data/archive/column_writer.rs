//! What writes the columns of one table; `table_columns` and `own_columns` open them.

use std::io;
use std::sync::{Arc, OnceLock};

use bytemuck::Pod;

use crate::archive::facet_column;
use crate::archive::writer::Sections;
use crate::derive::record::reference;
use crate::derive::sort_order::{Permutation, SortOrder, ranks_of_texts};
use crate::fold::fold;
use crate::import::Dataset;
use crate::vocabulary::Vocabulary;
use crate::{Country, Facet, Metric, Table};

/// Computes some sections. Several tasks run at once; their sections are written in the order of the tasks.
pub(crate) type SectionTask<'a> = Box<dyn FnOnce(&mut Sections) -> io::Result<()> + Send + 'a>;

/// The order of a table and that of its slugs, which decides between equal values.
struct TableOrder<'a> {
    dataset: &'a Dataset,
    table: Table,
    rows: &'a Permutation,
    /// Computed by the first task that needs it.
    by_slug: OnceLock<Permutation>,
}

impl<'a> TableOrder<'a> {
    fn old_rows(&self) -> impl Iterator<Item = usize> + use<'a> {
        self.rows.old.iter().map(|row| *row as usize)
    }

    fn slugs(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let (dataset, table) = (self.dataset, self.table);
        self.rows.old.iter().map(move |row| reference(dataset, table, *row).slug)
    }

    fn by_slug(&self) -> &Permutation {
        self.by_slug.get_or_init(|| {
            let slugs: Vec<&str> = self.slugs().collect();
            Permutation::by_text(slugs.len(), |row| slugs[row])
        })
    }
}

/// Collects the tasks that write the columns of one table. The closures passed to its methods take a row's index in the
/// dataset.
pub(crate) struct ColumnWriter<'t, 'a> {
    tasks: &'t mut Vec<SectionTask<'a>>,
    order: Arc<TableOrder<'a>>,
}

impl<'t, 'a> ColumnWriter<'t, 'a> {
    pub(crate) fn begin(
        tasks: &'t mut Vec<SectionTask<'a>>,
        dataset: &'a Dataset,
        table: Table,
        rows: &'a Permutation,
    ) -> Self {
        let order = Arc::new(TableOrder { dataset, table, rows, by_slug: OnceLock::new() });
        let mut columns = Self { tasks, order: order.clone() };
        columns.texts("slug", order.slugs());
        columns.add(move |out| {
            let (name, sorted) = (table.name(), order.by_slug());
            out.add(&format!("{name}/by_slug"), &sorted.old);
            out.add(&format!("{name}/slug_rank"), &sorted.new);
        });
        columns
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> + use<'a> {
        self.order.old_rows()
    }

    fn add(&mut self, task: impl FnOnce(&mut Sections) + Send + 'a) {
        self.tasks.push(Box::new(|out| {
            task(out);
            Ok(())
        }));
    }

    fn name_of(&self, column: &str) -> String {
        format!("{}/{column}", self.order.table.name())
    }

    pub(crate) fn section<T: Pod>(&mut self, name: &str, values: impl FnOnce() -> Vec<T> + Send + 'a) {
        let name = self.name_of(name);
        self.add(move |out| out.add(&name, &values()));
    }

    pub(crate) fn texts<T: AsRef<[u8]>>(&mut self, name: &str, texts: impl Iterator<Item = T> + Send + 'a) {
        let name = self.name_of(name);
        self.add(move |out| out.add_texts(&name, texts));
    }

    pub(crate) fn numbers<T: Pod>(&mut self, name: &str, value: impl Fn(usize) -> T + Send + 'a) {
        let rows = self.rows();
        self.section(name, move || rows.map(value).collect());
    }

    /// Writes the sort order by a number, and the distinct numbers. A row's number is the one at its rank.
    pub(crate) fn order<V: Into<i64>>(&mut self, key: &str, value: impl Fn(usize) -> Option<V> + Send + 'a) {
        let (order, name) = (self.order.clone(), self.name_of(&format!("sort/{key}")));
        self.add(move |out| {
            let value = |row: usize| value(row).map(Into::into);
            let mut values: Vec<i64> = order.old_rows().filter_map(value).collect();
            values.sort_unstable();
            values.dedup();
            out.add(&format!("{name}#"), &values);
            add_order(out, &name, &order, value);
        });
    }

    pub(crate) fn name_order(&mut self, name_of_row: impl Fn(usize) -> &'a str + Send + 'a) {
        let (order, name) = (self.order.clone(), self.name_of("sort/name"));
        self.add(move |out| {
            let names: Vec<String> = order.old_rows().map(|row| fold(name_of_row(row))).collect();
            let ranks = ranks_of_texts(&names);
            drop(names);
            add_order(out, &name, &order, |row| Some(ranks[order.rows.new[row] as usize]));
        });
    }

    /// Writes the leaderboard of a metric: the rows that have a value, best first, and their values.
    pub(crate) fn leaderboard(&mut self, metric: Metric, value: impl Fn(usize) -> Option<i32> + Send + 'a) {
        let (order, name) = (self.order.clone(), self.name_of(&format!("leaderboard/{metric}")));
        self.add(move |out| {
            let ranked = (0..).zip(order.old_rows()).filter_map(|(row, old)| Some((value(old)?, row)));
            let mut leaderboard: Vec<(i32, u32)> = ranked.collect();
            let sign = if metric == Metric::GhostingRate { 1 } else { -1 };
            let slug_rank = |row: u32| order.by_slug().new[row as usize];
            leaderboard.sort_unstable_by_key(|(value, row)| (sign * i64::from(*value), slug_rank(*row)));
            let (values, rows): (Vec<i32>, Vec<u32>) = leaderboard.into_iter().unzip();
            out.add(&name, &rows);
            out.add(&format!("{name}="), &values);
        });
    }

    /// Writes a facet with `count` distinct values; `of` passes each value of a row to its second argument.
    pub(crate) fn facet(&mut self, facet: Facet, count: usize, of: impl Fn(usize, &mut dyn FnMut(u32)) + Send + 'a) {
        let (name, old) = (self.name_of(facet.name()), &self.order.rows.old);
        self.tasks.push(Box::new(move |out| {
            facet_column::write(out, &name, count, old.len(), |each| {
                for (row, old) in old.iter().enumerate() {
                    of(*old as usize, &mut |value| each(value, row as u32));
                }
            })
        }));
    }

    pub(crate) fn single_facet(&mut self, facet: Facet, count: usize, of: impl Fn(usize) -> Option<u32> + Send + 'a) {
        self.facet(facet, count, move |row, each| of(row).into_iter().for_each(each));
    }

    /// Writes a facet in [`Facet::LISTED`]; `of` maps a row to its index in the list of values.
    pub(crate) fn term_facet(
        &mut self,
        facet: Facet,
        (count, value): &'a (usize, Vec<Option<u32>>),
        of: impl Fn(usize) -> usize + Send + 'a,
    ) {
        self.single_facet(facet, *count, move |row| value[of(row)]);
    }

    pub(crate) fn country_facet(&mut self, country: impl Fn(usize) -> Option<Country> + Send + 'a) {
        let index = move |row: usize| Some(country(row)?.index() as u32);
        self.single_facet(Facet::Country, Country::all().count(), index);
    }

    pub(crate) fn word_facet<V: Vocabulary>(&mut self, facet: Facet, word: impl Fn(usize) -> Option<V> + Send + 'a) {
        self.single_facet(facet, V::ALL.len(), move |row| Some(word(row)?.index() as u32));
    }
}

fn add_order<V: Ord + Copy>(
    out: &mut Sections,
    name: &str,
    order: &TableOrder<'_>,
    value: impl Fn(usize) -> Option<V>,
) {
    let sorted = SortOrder::by(&order.by_slug().new, |row| value(order.rows.old[row] as usize));
    out.add(&format!("{name}+"), &sorted.ascending);
    out.add(&format!("{name}-"), &sorted.descending);
    out.add(&format!("{name}="), &sorted.ranks);
}
