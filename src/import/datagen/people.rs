//! People of firms and startups. Their file is written while the organizations are drawn.

use std::io;
use std::path::Path;

use crate::datagen::geography::{HOMES, draw_home};
use crate::datagen::naming::{NAME_LISTS, UsedNames, person_name};
use crate::datagen::random::{Random, RandomStream, Share};
use crate::datagen::{GenConfig, REGISTER};
use data::OrganizationKind;
use data::import::csv_writer::TableWriter;
use data::import::identifiers::RecordIdentifier;
use data::import::rows;
use data::vocabulary::Vocabulary;

/// Weight of organization `row` when people are divided among organizations. A few have many people.
fn weight(seed: u64, kind: OrganizationKind, row: u32) -> u64 {
    let side = if kind == OrganizationKind::Firm { 0 } else { 1 << 40 };
    let random = &mut Random::new(seed, RandomStream::PeopleCount, side + u64::from(row));
    [0, 0, 2, 3, 5, 9][random.weighted(&[25, 10, 30, 20, 12, 3])]
}

/// One in this many records is in the invented register.
const REGISTERED: u64 = 5;

pub(crate) struct People {
    seed: u64,
    table: TableWriter,
    /// Identifiers of firms, startups and people. They are written here because all of these records pass through.
    identifiers: TableWriter,
    used_names: UsedNames,
    count: u64,
    /// By the index of the kind.
    shares: [Share; 2],
}

impl People {
    /// Creates the files and divides the people among firms and startups: a firm gets 2.5 times as many as a startup.
    pub(crate) fn create(config: &GenConfig, folder: &Path) -> io::Result<Self> {
        let table = TableWriter::create::<rows::DatasetPerson>(folder)?;
        let sum = |kind, rows: u32| (0..rows).map(|row| weight(config.seed, kind, row)).sum::<u64>();
        let of_firms = sum(OrganizationKind::Firm, config.firms);
        let of_startups = sum(OrganizationKind::Startup, config.startups);
        let mut both = Share::new(config.people, of_firms * 5 + of_startups * 2);
        let shares = [(of_firms, 5), (of_startups, 2)].map(|(sum, times)| Share::new(both.next(sum * times), sum));
        let identifiers = TableWriter::create::<RecordIdentifier>(folder)?;
        Ok(Self { seed: config.seed, table, identifiers, used_names: UsedNames::default(), count: 0, shares })
    }

    /// Writes the number of a record in the invented register, if it has one.
    fn register(&mut self, kind: &str, row: u64, slug: &str) -> io::Result<()> {
        if !row.is_multiple_of(REGISTERED) {
            return Ok(());
        }
        let number = format!("{}{row}", &kind[..1]);
        self.identifiers.row(&[kind, slug, REGISTER, &number])
    }

    /// Writes the people of an organization. The first person of an angel firm has its name, `own`.
    pub(crate) fn of_organization(
        &mut self,
        kind: OrganizationKind,
        row: u32,
        slug: &str,
        home: usize,
        own: Option<&str>,
    ) -> io::Result<()> {
        self.register(kind.name(), u64::from(row), slug)?;
        for nth in 0..self.shares[kind.index()].next(weight(self.seed, kind, row)) {
            self.write(kind, slug, home, own.filter(|_| nth == 0))?;
        }
        Ok(())
    }

    fn write(&mut self, kind: OrganizationKind, employer: &str, home: usize, mut own: Option<&str>) -> io::Result<()> {
        let random = &mut Random::new(self.seed, RandomStream::Person, self.count);
        self.count += 1;
        let home = if random.chance(720) { home } else { draw_home(random) };
        let mut attempt = 0;
        let (slug, name) = loop {
            let name = own.take().map_or_else(|| person_name(random, HOMES[home].culture, attempt), str::to_owned);
            if let Some(slug) = self.used_names.claim(&name) {
                break (slug, name);
            }
            attempt += 1;
        };
        let titles = &NAME_LISTS[if kind == OrganizationKind::Firm { "firm title" } else { "startup title" }];
        let title = match random.below(100) {
            0..7 => "",
            _ if attempt == 0 && kind == OrganizationKind::Firm && employer == slug => "Angel Investor",
            _ => titles[random.early(titles.len())],
        };
        let country = if random.chance(790) { HOMES[home].code } else { "" };
        self.register("person", self.count, &slug)?;
        self.table.row(&[slug.as_str(), &name, title, kind.name(), employer, country])
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        self.identifiers.finish()?;
        self.table.finish()
    }
}
