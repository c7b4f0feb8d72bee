//! Descriptions of firms and startups.

use crate::data::{FirmKind, Stage};
use crate::datagen::firms::Firm;
use crate::datagen::geography::{PLACES, REGIONS};
use crate::datagen::naming::person_name;
use crate::datagen::random::Random;
use crate::datagen::sectors::{GROUPS, SECTORS, Sector};
use crate::datagen::words::capital;

fn stage_phrase(firm: &Firm) -> &'static str {
    match firm.stage_list().as_slice() {
        [Stage::PreSeed] => "at the very beginning",
        [Stage::Grant] => "with grants",
        [Stage::Debt] => "with venture debt",
        [Stage::PreSeed | Stage::Seed, .., Stage::Grant] => "with first cheques and grants",
        [Stage::PreSeed | Stage::Seed, .., Stage::PreSeed | Stage::Seed] | [Stage::Seed] => "from the first cheque",
        [Stage::PreSeed | Stage::Seed, ..] => "from seed on",
        [Stage::SeriesA, ..] => "from their first customers to scale",
        _ => "once they grow fast",
    }
}

fn topic(firm: &Firm) -> String {
    if firm.is_generalist() {
        return "all sectors".to_owned();
    }
    let names: Vec<_> = firm.groups.iter().map(|group| group_name(usize::from(*group))).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

fn group_name(group: usize) -> String {
    let slug = GROUPS[group].slug;
    let name = SECTORS.iter().find(|sector| sector.slug == slug).map_or(slug, |sector| sector.name);
    if name == "Artificial Intelligence" || name == "Web3" { name.to_owned() } else { name.to_lowercase() }
}

/// Two or three sentences about a firm.
pub(crate) fn firm_description(random: &mut Random, firm: &Firm, name: &str, city: &str) -> String {
    let place = &PLACES[firm.place];
    let region = REGIONS[place.region];
    let (stage, topic) = (stage_phrase(firm), topic(firm));
    let from = if city.is_empty() { region } else { city };
    let founder = person_name(random, place.culture, 0);
    let n = random.between(3, 40);
    let who = random.pick(&[
        "founders",
        "engineers",
        "scientists",
        "teams",
        "second-time founders",
        "outsiders",
        "companies",
    ]);
    let first = match firm.kind {
        FirmKind::Angel => format!("Invests own money in {who}, {stage}, mostly in {topic}."),
        FirmKind::AngelNetwork => format!("{name} brings {} angels together, who back {who} {stage}.", n * 9),
        FirmKind::Accelerator => format!("A {n}-week programme for {who} in {topic}, run twice a year in {from}."),
        FirmKind::Corporate => {
            format!("The investment arm of a family of industrial companies; it backs {who} in {topic}.")
        }
        FirmKind::Bank => format!("{name} lends to {who} {stage} and joins later rounds in {topic}."),
        FirmKind::University => format!("Turns research into companies: {topic}, {stage}."),
        FirmKind::Government => format!("A public body that supports {who} in {region} {stage}."),
        FirmKind::Crowdfunding => format!("{} investors on one platform, from fifty dollars on.", n * 1_300),
        _ => match random.below(6) {
            0 => format!("{name} backs {who} {stage}, in {topic}."),
            1 => format!("We invest in {topic} across {region}, {stage}."),
            2 => format!("{name} is a partnership of {n} people who back {who} in {topic}."),
            3 => format!("From {from}, {name} invests in {topic} {stage}."),
            4 => format!("An investor in {topic}, founded by {founder} and friends."),
            _ => format!("Patient money for {who} in {topic}."),
        },
    };
    let second = match random.below(12) {
        0 => format!(
            " Their motto: \"{}\".",
            random.pick(&[
                "slow is smooth",
                "first call, first cheque",
                "ask the customer",
                "no board theatre",
                "say no within a week"
            ])
        ),
        1 => format!(" {n} companies so far, {} exits.", n / 4),
        2 => format!(
            " The team is spread over {}, {} and {from}.",
            PLACES[random.below(20) as usize].draw_city(random),
            PLACES[20 + random.below(20) as usize].draw_city(random)
        ),
        3 => format!(
            "\n\nWhat we look for:\n- {}\n- {}",
            random.pick(&["a problem you know by heart", "paying customers, however few", "a team that ships"]),
            random.pick(&["patience", "honest numbers", "a reason why now"])
        ),
        4 => format!(" Cheques are written within {n} days, \"or we tell you why not\"."),
        5 => " Notes, \"open office hours\", and a podcast: see the website.".to_owned(),
        _ => String::new(),
    };
    first + &second
}

/// One to three sentences about a startup.
pub(crate) fn startup_description(random: &mut Random, name: &str, sector: &Sector, city: &str) -> String {
    let products: Vec<&str> = sector.products.split(';').collect();
    let product = random.pick(&products);
    let customers = random.pick(GROUPS[sector.group].customers);
    let n = random.between(2, 60);
    let verb = random.pick(&["builds", "makes", "sells", "offers", "develops", "runs"]);
    let first = match random.below(9) {
        0 => format!("{name} {verb} {product} for {customers}."),
        1 => format!("{} for {customers}.", capital(product)),
        2 => format!("We help {customers} with {product}."),
        3 => format!("{name} is how {customers} get {product}."),
        4 if !city.is_empty() => format!("{} from {city}, made for {customers}.", capital(product)),
        5 => format!("{name} ({}) {verb} {product}, used by {customers} in {n} countries.", sector.name),
        6 => format!(
            "The {} platform for {customers}: {product}.",
            random.pick(&["simplest", "missing", "open", "fair", "first"])
        ),
        7 => format!(
            "Less paper, more {}: {product} for {customers}.",
            random.pick(&["time", "sleep", "margin", "trust", "daylight"])
        ),
        _ => format!("{name} {verb} {product}."),
    };
    let second = match random.below(16) {
        0 => format!(
            " Customers call it \"the {} they were missing\".",
            random.pick(&["tool", "colleague", "shortcut", "safety net"])
        ),
        1 => format!(
            " Founded by {} former {}.",
            random.between(2, 4),
            random.pick(&["nurses", "physicists", "teachers", "game designers", "sailors", "bank clerks", "farmers"])
        ),
        2 => format!("\nUsed by {} {customers}.", n * 37),
        3 => " Simple, fair & open: \"pay for what you use, nothing else\".".to_owned(),
        4 => format!(
            "\n\nThe team of {n} works from {} and from home.",
            if city.is_empty() { "everywhere" } else { city }
        ),
        5 => " Now with <b>offline mode</b> & an open API.".to_owned(),
        6 => format!(
            " Backed by {} pilot customers, it saves them {n} % of {}.",
            random.between(2, 12),
            random.pick(&["their energy", "paperwork", "waiting time", "returns", "waste"])
        ),
        _ => String::new(),
    };
    first + &second
}
