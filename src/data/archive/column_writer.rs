//! Writes the columns of one table; `table_columns` and `own_columns` open them.

use std::io;

use bytemuck::Pod;

use crate::archive::{ArchiveWriter, facet_column};
use crate::derive::sort_order::{Permutation, SortOrder, ranks_of_texts};
use crate::fold::fold;
use crate::vocabulary::Vocabulary;
use crate::{Country, Facet, Table};

/// Writes the columns of one table in its order. The closures passed to its methods take a row's index in the dataset.
pub(crate) struct ColumnWriter<'a, 'w> {
    writer: &'a mut ArchiveWriter<'w>,
    table: Table,
    order: &'a Permutation,
    /// Rank of each row's slug; breaks ties.
    pub slug_ranks: Vec<u32>,
}

impl<'a, 'w> ColumnWriter<'a, 'w> {
    pub(crate) fn begin<'s>(
        writer: &'a mut ArchiveWriter<'w>,
        table: Table,
        order: &'a Permutation,
        slug: impl Fn(usize) -> &'s str,
    ) -> io::Result<Self> {
        let name = table.name();
        let slugs: Vec<&str> = order.old.iter().map(|row| slug(*row as usize)).collect();
        writer.texts(&format!("{name}/slug"), slugs.iter().copied())?;
        let sorted = Permutation::by_text(slugs.len(), |row| slugs[row]);
        writer.section(&format!("{name}/by_slug"), &sorted.old)?;
        writer.section(&format!("{name}/slug_rank"), &sorted.new)?;
        Ok(Self { writer, table, order, slug_ranks: sorted.new })
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> + use<'a> {
        self.order.old.iter().map(|row| *row as usize)
    }

    pub(crate) fn section<T: Pod>(&mut self, name: &str, values: &[T]) -> io::Result<()> {
        self.writer.section(&format!("{}/{name}", self.table.name()), values)
    }

    pub(crate) fn texts<'t>(&mut self, name: &str, texts: impl Iterator<Item = &'t str>) -> io::Result<()> {
        self.writer.texts(&format!("{}/{name}", self.table.name()), texts)
    }

    pub(crate) fn numbers<T: Pod>(&mut self, name: &str, value: impl Fn(usize) -> T) -> io::Result<()> {
        let values: Vec<T> = self.rows().map(value).collect();
        self.section(name, &values)
    }

    /// Writes the sort order by a number, and the distinct numbers. A row's number is the one at its rank.
    pub(crate) fn order<V: Into<i64>>(&mut self, key: &str, value: impl Fn(usize) -> Option<V>) -> io::Result<()> {
        let value = |row: usize| value(row).map(Into::into);
        let mut values: Vec<i64> = self.rows().filter_map(value).collect();
        values.sort_unstable();
        values.dedup();
        self.section(&format!("sort/{key}#"), &values)?;
        self.write_order(key, value)
    }

    fn write_order<V: Ord + Copy>(&mut self, key: &str, value: impl Fn(usize) -> Option<V>) -> io::Result<()> {
        let order = SortOrder::by(&self.slug_ranks, |row| value(self.order.old[row] as usize));
        self.section(&format!("sort/{key}+"), &order.ascending)?;
        self.section(&format!("sort/{key}-"), &order.descending)?;
        self.section(&format!("sort/{key}="), &order.ranks)
    }

    pub(crate) fn name_order<'s>(&mut self, name: impl Fn(usize) -> &'s str) -> io::Result<()> {
        let names: Vec<String> = self.rows().map(|row| fold(name(row))).collect();
        let ranks = ranks_of_texts(&names);
        let new = &self.order.new;
        self.write_order("name", |row| Some(ranks[new[row] as usize]))
    }

    /// Writes a facet with `count` distinct values; `of` passes each value of a row to its second argument.
    pub(crate) fn facet(
        &mut self,
        facet: Facet,
        count: usize,
        of: impl Fn(usize, &mut dyn FnMut(u32)),
    ) -> io::Result<()> {
        let (name, old) = (format!("{}/{facet}", self.table.name()), &self.order.old);
        facet_column::write(self.writer, &name, count, old.len(), |each| {
            for (row, old) in old.iter().enumerate() {
                of(*old as usize, &mut |value| each(value, row as u32));
            }
        })
    }

    pub(crate) fn single_facet(
        &mut self,
        facet: Facet,
        count: usize,
        of: impl Fn(usize) -> Option<u32>,
    ) -> io::Result<()> {
        self.facet(facet, count, |row, each| of(row).into_iter().for_each(each))
    }

    /// Writes a facet in [`Facet::LISTED`]; `of` maps a row to its index in the list of values.
    pub(crate) fn term_facet(
        &mut self,
        facet: Facet,
        (count, value): &(usize, Vec<Option<u32>>),
        of: impl Fn(usize) -> usize,
    ) -> io::Result<()> {
        self.single_facet(facet, *count, |row| value[of(row)])
    }

    pub(crate) fn country_facet(&mut self, country: impl Fn(usize) -> Option<Country>) -> io::Result<()> {
        let index = |row: usize| Some(country(row)?.index() as u32);
        self.single_facet(Facet::Country, Country::all().count(), index)
    }

    pub(crate) fn word_facet<V: Vocabulary>(
        &mut self,
        facet: Facet,
        word: impl Fn(usize) -> Option<V>,
    ) -> io::Result<()> {
        self.single_facet(facet, V::ALL.len(), |row| Some(word(row)?.index() as u32))
    }
}
