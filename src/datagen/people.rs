//! People of firms and startups; their file is written as their organizations are drawn.

use std::io;
use std::path::Path;

use crate::data::import;
use crate::data::import::csv_writer::TableWriter;
use crate::data::{FirmKind, OrganizationKind};
use crate::datagen::GenConfig;
use crate::datagen::firms::Firm;
use crate::datagen::geography::{PLACES, draw_place};
use crate::datagen::naming::{Given, person_name};
use crate::datagen::random::{Random, RandomStream};
use crate::datagen::share::Share;

const FIRM_TITLES: [&str; 14] = [
    "Partner",
    "General Partner",
    "Managing Partner",
    "Principal",
    "Associate",
    "Founding Partner",
    "Analyst",
    "Venture Partner",
    "Investment Director",
    "Head of Platform",
    "Operating Partner",
    "Chief of Staff",
    "Scout",
    "Entrepreneur in Residence",
];

const STARTUP_TITLES: [&str; 14] = [
    "Founder",
    "Co-founder & CEO",
    "Co-founder & CTO",
    "CEO",
    "CTO",
    "COO",
    "Founder, CEO",
    "Chief Product Officer",
    "Head of Engineering",
    "VP Sales",
    "CFO",
    "Chief Scientific Officer",
    "Head of \"People & Places\"",
    "Co-founder",
];

/// Weight of organization `row` when people are shared out; a few have many.
fn weight(seed: u64, kind: OrganizationKind, row: u32) -> u64 {
    let side = if kind == OrganizationKind::Firm { 0 } else { 1 << 40 };
    let random = &mut Random::of(seed, RandomStream::PeopleCount, side + u64::from(row));
    [0, 0, 2, 3, 5, 9][random.weighted(&[25, 10, 30, 20, 12, 3])]
}

/// The file of people.
pub(crate) struct People {
    table: TableWriter,
    given: Given,
    count: u64,
    firm_share: Share,
    startup_share: Share,
}

impl People {
    /// Creates `people.csv` and shares the plan's people among firms and startups, two and a half times as many to a
    /// firm as to a startup.
    pub(crate) fn create(plan: &GenConfig, folder: &Path) -> io::Result<Self> {
        let table = TableWriter::create(folder, "people.csv", import::PERSON_COLUMNS)?;
        let sum = |kind, rows: u32| (0..rows).map(|row| weight(plan.seed, kind, row)).sum::<u64>();
        let of_firms = sum(OrganizationKind::Firm, plan.firms);
        let of_startups = sum(OrganizationKind::Startup, plan.startups);
        let mut both = Share::of(plan.people, of_firms * 5 + of_startups * 2);
        let (firms, startups) = (both.next(of_firms * 5), both.next(of_startups * 2));
        Ok(Self {
            table,
            given: Given::default(),
            count: 0,
            firm_share: Share::of(firms, of_firms),
            startup_share: Share::of(startups, of_startups),
        })
    }

    /// Writes the people of a firm. An angel is the first of its own people.
    pub(crate) fn of_firm(&mut self, plan: &GenConfig, row: u32, firm: &Firm, name: &str) -> io::Result<()> {
        let count = self.firm_share.next(weight(plan.seed, OrganizationKind::Firm, row));
        for nth in 0..count {
            let own = (nth == 0 && firm.kind == FirmKind::Angel).then_some(name);
            self.write(plan.seed, OrganizationKind::Firm, &firm.slug, firm.place, own)?;
        }
        Ok(())
    }

    /// Writes the people of a startup.
    pub(crate) fn of_startup(&mut self, plan: &GenConfig, row: u32, slug: &str, place: usize) -> io::Result<()> {
        let count = self.startup_share.next(weight(plan.seed, OrganizationKind::Startup, row));
        for _ in 0..count {
            self.write(plan.seed, OrganizationKind::Startup, slug, place, None)?;
        }
        Ok(())
    }

    fn write(
        &mut self,
        seed: u64,
        kind: OrganizationKind,
        organization: &str,
        place: usize,
        own: Option<&str>,
    ) -> io::Result<()> {
        let random = &mut Random::of(seed, RandomStream::Person, self.count);
        self.count += 1;
        let home = if random.chance(720) { place } else { draw_place(random) };
        let mut attempt = 0;
        let mut own = own;
        let (slug, name) = loop {
            let name = own.take().map_or_else(|| person_name(random, PLACES[home].culture, attempt), str::to_owned);
            if let Some(slug) = self.given.claim(&name) {
                break (slug, name);
            }
            attempt += 1;
        };
        let titles = if kind == OrganizationKind::Firm { &FIRM_TITLES } else { &STARTUP_TITLES };
        let title = match random.below(100) {
            0..7 => "",
            _ if attempt == 0 && kind == OrganizationKind::Firm && organization == slug => "Angel Investor",
            _ => titles[random.early(titles.len())],
        };
        let country = if random.chance(790) { PLACES[home].code } else { "" };
        let kind = kind.to_string();
        self.table.row(&[slug.as_str(), &name, title, &kind, organization, country])
    }

    /// Writes out what is still in memory.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.table.finish()
    }
}
