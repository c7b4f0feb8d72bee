//! The sector tree of invented datasets, and what startups of each sector make.
//!
//! Sixteen groups at the top; firms are drawn to groups, startups to the sectors below them.

use once_cell::sync::Lazy;

/// One sector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sector {
    pub(crate) slug: &'static str,
    pub(crate) name: &'static str,
    /// Slug of the sector above; empty at the top.
    pub(crate) parent: &'static str,
    pub(crate) description: &'static str,
    /// Products of the sector's startups, separated by `;`.
    pub(crate) products: &'static str,
    /// Place of its group in [`GROUPS`].
    pub(crate) group: usize,
}

/// A group of sectors: a top of the tree.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) slug: &'static str,
    /// How often startups belong to it.
    pub(crate) weight: u32,
    /// Words for names of its startups.
    pub(crate) words: &'static [&'static str],
    /// Who buys from its startups.
    pub(crate) customers: &'static [&'static str],
}

const fn group(
    slug: &'static str,
    weight: u32,
    words: &'static [&'static str],
    customers: &'static [&'static str],
) -> Group {
    Group { slug, weight, words, customers }
}

/// The tops of the tree.
pub(crate) const GROUPS: [Group; 16] = [
    group(
        "fintech",
        150,
        &["Pay", "Ledger", "Finance", "Credit", "Money", "Treasury", "Financial"],
        &["small businesses", "finance teams", "credit unions", "freelancers", "exporters", "marketplace sellers"],
    ),
    group(
        "enterprise-software",
        150,
        &["Software", "Cloud", "Systems", "Workflow", "Data", "Desk"],
        &["mid-sized companies", "operations teams", "IT departments", "agencies", "public offices", "product teams"],
    ),
    group(
        "health",
        110,
        &["Health", "Care", "Medical", "Clinic", "Diagnostics", "Wellness"],
        &["hospitals", "general practitioners", "home carers", "insurers", "patients with chronic illness", "midwives"],
    ),
    group(
        "artificial-intelligence",
        110,
        &["AI", "Intelligence", "Vision", "Cognition", "Learning"],
        &["call centres", "law firms", "radiologists", "translators", "quality engineers", "research groups"],
    ),
    group(
        "consumer",
        90,
        &["Market", "Shop", "Goods", "Style", "Home", "Brands"],
        &["independent shops", "young families", "second-hand buyers", "pet owners", "design lovers", "local makers"],
    ),
    group(
        "climate",
        75,
        &["Energy", "Solar", "Power", "Carbon", "Grid", "Renewables"],
        &["grid operators", "housing associations", "cement makers", "municipal utilities", "farmers", "fleet owners"],
    ),
    group(
        "life-sciences",
        60,
        &["Therapeutics", "Biosciences", "Pharma", "Genomics", "Biologics", "Medicines"],
        &[
            "research hospitals",
            "drug makers",
            "contract laboratories",
            "patients with rare diseases",
            "oncologists",
            "veterinarians",
        ],
    ),
    group(
        "mobility",
        50,
        &["Mobility", "Motors", "Freight", "Logistics", "Transit", "Aviation"],
        &["hauliers", "city commuters", "port authorities", "bus operators", "couriers", "airlines"],
    ),
    group(
        "industry",
        45,
        &["Robotics", "Industries", "Materials", "Manufacturing", "Automation", "Sensors"],
        &["machine builders", "foundries", "packaging plants", "shipyards", "job shops", "chip makers"],
    ),
    group(
        "media",
        45,
        &["Games", "Media", "Studios", "Interactive", "Music", "Entertainment"],
        &["indie studios", "podcasters", "local newspapers", "music teachers", "sports clubs", "museums"],
    ),
    group(
        "education",
        35,
        &["Learning", "Academy", "School", "Education", "Campus"],
        &["primary schools", "apprentices", "universities", "parents", "language learners", "trade schools"],
    ),
    group(
        "food",
        35,
        &["Foods", "Farms", "Kitchen", "Harvest", "Nutrition", "Agri"],
        &["growers", "canteens", "restaurants", "bakeries", "fish farmers", "grocery chains"],
    ),
    group(
        "security",
        35,
        &["Security", "Shield", "Identity", "Defense", "Trust"],
        &["banks", "hospitals", "software teams", "school districts", "shop owners", "managed-service providers"],
    ),
    group(
        "property",
        30,
        &["Homes", "Estates", "Living", "Construction", "Spaces", "Build"],
        &["landlords", "builders", "tenants", "architects", "co-operatives", "facility managers"],
    ),
    group(
        "web3",
        25,
        &["Protocol", "Chain", "Labs", "Network", "Vault"],
        &["exchanges", "game studios", "asset managers", "developers", "remittance agents", "collectors"],
    ),
    group(
        "deep-tech",
        25,
        &["Space", "Photonics", "Quantum", "Semiconductor", "Sciences", "Fusion"],
        &[
            "satellite operators",
            "national laboratories",
            "telecom carriers",
            "instrument makers",
            "weather services",
            "chip designers",
        ],
    ),
];

/// `slug|name|parent|description|products`, parents before children, the frequent ones of a group first.
const TABLE: &str = "\
fintech|Fintech||Money moved, lent, insured and counted by software|payment rails;lending software
payments|Payments|fintech|Acceptance, transfers and payouts|card terminals that need no contract;instant payouts;checkout software
cross-border-payments|Cross-border Payments|payments|Money across currencies|transfers between forty currencies;invoices settled in local money
point-of-sale|Point of Sale|payments|Tills and terminals|tills that run on any phone;offline card terminals
lending|Lending|fintech|Credit for people and firms|working-capital loans;credit lines against open invoices;scoring from cash flow
invoice-finance|Invoice Finance|lending|Advances on unpaid invoices|advances on unpaid invoices;early payment programmes
insurtech|Insurtech|fintech|Insurance sold and run by software|crop insurance priced by satellite;claims settled in an hour
banking-infrastructure|Banking Infrastructure|fintech|Cores, ledgers and compliance|ledgers as a service;onboarding checks;card issuing
wealth|Wealth and Savings|fintech|Saving and investing|round-up savings;pension tracking;index portfolios
accounting-tech|Accounting|fintech|Books and taxes|bookkeeping that closes itself;VAT filing
enterprise-software|Enterprise Software||Software that organizations buy|planning software;workflow tools
saas|SaaS|enterprise-software|Software by subscription|customer portals;subscription billing;shift planning
developer-tools|Developer Tools|enterprise-software|Tools for people who write software|test runners;build caches;error trackers
observability|Observability|developer-tools|Logs, metrics and traces|traces that explain themselves;log storage on cheap disks
data-infrastructure|Data Infrastructure|enterprise-software|Storing and moving data|streaming pipelines;data catalogues;query engines
hr-tech|HR and Recruiting|enterprise-software|Hiring, paying and keeping people|payroll in thirty countries;interview scheduling;skills maps
sales-tech|Sales and Marketing|enterprise-software|Finding and keeping customers|quote software;lead routing;loyalty programmes
legal-tech|Legal Tech|enterprise-software|Contracts and courts|contract review;filing deadlines;e-discovery
collaboration|Collaboration|enterprise-software|Working together|shared whiteboards;meeting notes that write themselves
procurement|Procurement|enterprise-software|Buying and suppliers|tender software;supplier audits
health|Health||Care and the software around it|care software;diagnostic devices
digital-health|Digital Health|health|Care through software|video consultations;therapy apps;appointment software
telemedicine|Telemedicine|digital-health|Doctors at a distance|night-time paediatric calls;remote dermatology
mental-health|Mental Health|digital-health|Care for the mind|guided therapy;crisis lines
medical-devices|Medical Devices|health|Instruments and implants|wearable ECG patches;smart inhalers;surgical cameras
diagnostics|Diagnostics|health|Finding out what is wrong|breath tests;pocket ultrasound;blood tests at the pharmacy
femtech|Women's Health|health|Health of women|fertility tracking;menopause care
elder-care|Elder Care|health|Care in old age|fall sensors;home visits planned by software
health-insurance|Health Insurance|health|Cover for care|group health plans;claims software
artificial-intelligence|Artificial Intelligence||Machines that learn|models for narrow tasks;speech engines
machine-learning|Machine Learning|artificial-intelligence|Models and what they need|training platforms;forecasting models;labelled data
generative-ai|Generative AI|artificial-intelligence|Text, images and sound from models|drafting assistants;synthetic voices;product photos
language-technology|Language Technology|artificial-intelligence|Speech, text and translation|speech engines for small languages;translation memories
computer-vision|Computer Vision|artificial-intelligence|Machines that see|defect detection;crop monitoring;shelf cameras
ai-agents|AI Agents|generative-ai|Software that acts|back-office agents;support agents that know when to stop
consumer|Consumer and Commerce||What people buy, and where|household goods;shops on phones
e-commerce|E-commerce|consumer|Shops on the net|shop software;returns handling;same-day delivery
marketplaces|Marketplaces|e-commerce|Many sellers, many buyers|a marketplace for used machines;a marketplace for tailors
resale|Resale|marketplaces|Second-hand goods|second-hand furniture;refurbished phones
fashion|Fashion|consumer|Clothes and shoes|made-to-measure shoes;rental wardrobes
beauty|Beauty|consumer|Cosmetics and care|refillable cosmetics;skin care for dry climates
pets|Pets|consumer|Animals at home|vet visits at home;insect-based pet food
travel|Travel|consumer|Going places|night-train bookings;guesthouse software
fitness|Fitness|consumer|Sport and movement|rowing machines;climbing-gym software
climate|Climate||Less carbon in the air|carbon accounting;energy storage
solar|Solar|climate|Power from the sun|balcony panels;solar leases;panel recycling
energy-storage|Energy Storage|climate|Batteries and heat stores|iron-air batteries;sand batteries;second-life battery packs
grid-software|Grid Software|climate|Balancing supply and demand|demand response;virtual power plants
carbon-removal|Carbon Removal|climate|Taking carbon back|enhanced weathering;biochar kilns
carbon-accounting|Carbon Accounting|climate|Counting emissions|emission ledgers;supplier footprints
circular-economy|Circular Economy|climate|Waste as a material|textile recycling;deposit systems
water|Water|climate|Clean water|leak detection;solar desalination
hydrogen|Hydrogen|climate|Hydrogen made and moved|electrolysers;hydrogen storage
life-sciences|Life Sciences||Biology as engineering|drug candidates;laboratory tools
biotech|Biotech|life-sciences|Products from biology|enzyme design;cell lines;fermentation
drug-discovery|Drug Discovery|biotech|New medicines|small molecules for fibrosis;antibody design
gene-therapy|Gene Therapy|biotech|Medicine that edits|gene therapies for the eye;delivery vectors
lab-tools|Lab Tools|life-sciences|What laboratories use|pipetting robots;laboratory notebooks
synthetic-biology|Synthetic Biology|life-sciences|Organisms that produce|spider-silk proteins;dyes grown by bacteria
animal-health|Animal Health|life-sciences|Medicine for animals|vaccines for fish;herd monitoring
mobility|Mobility||People and goods on the move|fleet software;vehicles
logistics|Logistics|mobility|Goods from here to there|freight matching;customs software;cold chains
last-mile|Last-mile Delivery|logistics|To the door|cargo bikes;parcel lockers
electric-vehicles|Electric Vehicles|mobility|Driving on batteries|electric vans;battery swaps for scooters
charging|Charging|electric-vehicles|Plugs for cars|kerbside chargers;depot charging
micromobility|Micromobility|mobility|Small vehicles|shared bicycles;folding scooters
aviation|Aviation|mobility|In the air|hydrogen aircraft;drone corridors
shipping|Shipping|mobility|On the water|wind assistance for freighters;port scheduling
industry|Industry||Things that are made|factory software;machine parts
robotics|Robotics|industry|Machines that move|picking robots;welding robots;cleaning robots
manufacturing-software|Manufacturing Software|industry|Software for factories|production planning;machine monitoring
advanced-materials|Advanced Materials|industry|New stuff|bio-based plastics;graphene coatings
additive-manufacturing|3D Printing|industry|Parts printed|metal printers;printed spare parts
industrial-iot|Industrial IoT|industry|Sensors in plants|vibration sensors;wireless gauges
construction-machinery|Construction Machinery|industry|Machines on sites|electric excavators;rebar robots
media|Media and Games||What people watch, play and read|games;publishing software
games|Games|media|Play|strategy games for phones;puzzle games;game engines
esports|Esports|games|Play as sport|tournament software;coaching for players
audio|Audio|media|Music and speech|podcast hosting;music lessons
creator-economy|Creator Economy|media|Tools for creators|membership software;royalty splits
publishing|Publishing|media|Books and news|newsletters with local news;print on demand
sports|Sports|media|Clubs and fans|club software;ticketing for small leagues
education|Education||Teaching and learning|school software;courses
edtech|Edtech|education|Software for learning|homework helpers;classroom software
language-learning|Language Learning|edtech|New tongues|conversation practice;dictionaries that speak
early-childhood|Early Childhood|education|The first years|kindergarten software;story boxes
workforce-training|Workforce Training|education|Learning at work|welding courses in a headset;care training
food|Food and Agriculture||From the field to the plate|farm software;new foods
agtech|Agtech|food|Farming with tools|irrigation control;weeding robots;soil probes
precision-farming|Precision Farming|agtech|Field by field, plant by plant|yield maps;spraying drones
alternative-protein|Alternative Protein|food|Protein without animals|fermented protein;mycelium fillets
restaurant-tech|Restaurant Tech|food|Software for kitchens|table booking;kitchen screens
grocery|Grocery|food|Shops for food|surplus food boxes;village shops without staff
aquaculture|Aquaculture|food|Farming in water|algae farms;shrimp monitoring
security|Security||Keeping others out|threat detection;access control
cybersecurity|Cybersecurity|security|Safe systems|phishing drills;endpoint protection;secrets management
identity|Identity|cybersecurity|Who is who|passkeys for clinics;age checks
fraud-prevention|Fraud Prevention|security|Catching cheats|payment-fraud models;document checks
defence|Defence|security|Protecting states|mine clearing robots;radio monitoring
property|Property||Buildings, bought and run|rental software;building materials
proptech|Proptech|property|Software for buildings|rent collection;energy audits
construction-tech|Construction Tech|property|Building better|site diaries;timber modules
co-living|Co-living|property|Sharing a roof|student housing;senior flat shares
smart-home|Smart Home|property|Homes that help|heat-pump control;locks without keys
web3|Web3||Ledgers that many share|wallets;smart-contract audits
crypto|Crypto|web3|Coins and custody|custody;stablecoin payouts
decentralized-finance|Decentralized Finance|crypto|Finance on ledgers|on-chain lending;index vaults
digital-assets|Digital Assets|web3|Things as tokens|tokenized bonds;ticket tokens
deep-tech|Deep Tech||Science on its way to a market|instruments;laboratory prototypes
space|Space|deep-tech|Above the air|small launchers;ground stations;debris tracking
earth-observation|Earth Observation|space|Looking down|methane maps;harvest forecasts
quantum|Quantum|deep-tech|Quantum machines|trapped-ion machines;quantum sensors
semiconductors|Semiconductors|deep-tech|Chips|analogue chips;photonic links;chip testing
fusion|Fusion|deep-tech|Power from fusion|superconducting magnets;fusion diagnostics
";

/// All sectors, parents before children.
pub(crate) static SECTORS: Lazy<Vec<Sector>> = Lazy::new(|| {
    let mut sectors: Vec<Sector> = Vec::new();
    for line in TABLE.lines() {
        let mut fields = line.split('|');
        let mut next = || fields.next().unwrap_or("");
        let (slug, name, parent, description, products) = (next(), next(), next(), next(), next());
        let group = match sectors.iter().find(|sector| sector.slug == parent) {
            Some(above) => above.group,
            None => GROUPS.iter().position(|group| group.slug == slug).unwrap_or(0),
        };
        sectors.push(Sector { slug, name, parent, description, products, group });
    }
    sectors
});

/// Places in [`SECTORS`] of each group's sectors, its top first.
pub(crate) static BY_GROUP: Lazy<Vec<Vec<usize>>> = Lazy::new(|| {
    let of = |group| (0..SECTORS.len()).filter(move |sector| SECTORS[*sector].group == group).collect();
    (0..GROUPS.len()).map(of).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_hangs_together() {
        let slugs: Vec<_> = SECTORS.iter().map(|sector| sector.slug).collect();
        assert!((60..=120).contains(&slugs.len()), "{}", slugs.len());
        for (place, sector) in SECTORS.iter().enumerate() {
            assert!(!slugs[..place].contains(&sector.slug), "{} twice", sector.slug);
            let top = GROUPS.iter().any(|group| group.slug == sector.slug);
            assert_eq!(sector.parent.is_empty(), top, "{}", sector.slug);
            assert!(top || slugs[..place].contains(&sector.parent), "{} before its parent", sector.slug);
            assert!(!sector.name.is_empty() && !sector.products.is_empty(), "{}", sector.slug);
        }
        assert_eq!(BY_GROUP.iter().map(Vec::len).sum::<usize>(), SECTORS.len());
        assert!(BY_GROUP.iter().enumerate().all(|(group, places)| SECTORS[places[0]].slug == GROUPS[group].slug));
    }
}
