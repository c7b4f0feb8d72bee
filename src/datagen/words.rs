//! Invented words: syllables put together by sound, and compounds of plain English words.
//!
//! Most distinct words of real company names occur once. So do these: two or three syllables give millions.

use crate::datagen::culture::Sound;
use crate::datagen::random::Random;

struct Syllables {
    onsets: &'static [&'static str],
    vowels: &'static [&'static str],
    codas: &'static [&'static str],
    ends: &'static [&'static str],
}

const NEUTRAL: Syllables = Syllables {
    onsets: &[
        "b", "br", "c", "cl", "cr", "d", "dr", "f", "fl", "g", "gl", "h", "j", "k", "l", "m", "n", "p", "pl", "qu",
        "r", "s", "sk", "sl", "sp", "st", "t", "tr", "v", "w", "z",
    ],
    vowels: &["a", "e", "i", "o", "u", "a", "e", "o", "ai", "ea", "io", "y"],
    codas: &["", "", "", "l", "n", "r", "s", "x", "m", "nd", "rk", "lt", "v"],
    ends: &[
        "o", "a", "io", "ia", "ly", "ify", "ex", "iq", "ora", "ium", "el", "on", "is", "en", "ari", "eo", "ity", "era",
        "ent", "ix", "um", "ado", "etta", "ist",
    ],
};

const ROMANCE: Syllables = Syllables {
    onsets: &["al", "b", "c", "ch", "d", "f", "g", "gu", "l", "ll", "m", "n", "p", "qu", "r", "s", "t", "tr", "v", "z"],
    vowels: &["a", "e", "i", "o", "u", "ia", "é", "a", "o"],
    codas: &["", "", "", "n", "r", "l", "s", "nt"],
    ends: &[
        "ara", "ela", "ino", "ora", "anza", "eira", "ette", "ano", "ero", "illa", "ión", "elle", "osa", "ada", "ívia",
    ],
};

const GERMANIC: Syllables = Syllables {
    onsets: &[
        "b", "br", "d", "f", "fj", "g", "gr", "h", "k", "kl", "kn", "l", "m", "n", "r", "s", "schl", "sk", "st", "str",
        "t", "v", "w", "z",
    ],
    vowels: &["a", "e", "i", "o", "u", "ä", "ö", "ü", "ei", "au", "å"],
    codas: &["", "l", "n", "r", "rn", "ld", "nd", "rk", "sk", "m"],
    ends: &["berg", "ik", "mark", "heim", "er", "ing", "en", "wald", "ung", "dal", "vik", "lund", "feld", "haven"],
};

const SLAVIC: Syllables = Syllables {
    onsets: &[
        "b", "br", "ch", "d", "dr", "g", "gr", "k", "kr", "l", "m", "ml", "n", "p", "r", "s", "sl", "st", "sv", "t",
        "v", "vl", "z", "zh",
    ],
    vowels: &["a", "e", "i", "o", "u", "ya", "y"],
    codas: &["", "", "l", "r", "k", "n", "v", "st"],
    ends: &["ova", "ik", "ina", "itsa", "ensk", "ava", "ek", "ograd", "anka", "ovo", "ishte", "ets"],
};

const EASTERN: Syllables = Syllables {
    onsets: &[
        "b", "ch", "d", "f", "g", "h", "hw", "j", "k", "l", "m", "n", "p", "r", "s", "sh", "t", "ts", "w", "x", "y",
        "z",
    ],
    vowels: &["a", "e", "i", "o", "u", "ai", "ao", "ei", "ia", "ou"],
    codas: &["", "", "", "n", "ng"],
    ends: &["ko", "ra", "shi", "yuan", "mi", "hai", "do", "sei", "won", "lin", "ta", "nuri", "mori", "gen"],
};

const SOUTHERN: Syllables = Syllables {
    onsets: &[
        "b", "bh", "d", "dh", "f", "g", "h", "j", "k", "kh", "l", "m", "mb", "n", "nd", "p", "r", "s", "sh", "t", "v",
        "w", "y", "z",
    ],
    vowels: &["a", "e", "i", "o", "u", "aa", "ai"],
    codas: &["", "", "", "n", "r", "l", "m", "sh"],
    ends: &["ara", "iya", "ani", "ari", "ant", "endo", "ika", "oya", "uma", "asha", "iri", "ata", "een", "u"],
};

/// What no invented word may hold.
const UNWANTED: [&str; 30] = [
    "anal", "anus", "arse", "bitch", "cock", "coon", "crap", "cum", "cunt", "dick", "dild", "fag", "fuck", "gook",
    "homo", "kike", "kkk", "nazi", "nigg", "nigr", "paki", "penis", "piss", "porn", "rape", "shit", "slut", "spic",
    "tit", "whor",
];

/// Well-known names that a compound or syllables could hit; see also the test against published data.
const TAKEN: [&str; 103] = [
    "accel",
    "adobe",
    "airbnb",
    "albion",
    "amadeus",
    "apple",
    "arm",
    "asana",
    "atlas",
    "atomico",
    "balderton",
    "basecamp",
    "benchmark",
    "bessemer",
    "blackrock",
    "blackstone",
    "bluebird",
    "bluestone",
    "bolt",
    "brex",
    "brightcove",
    "brookstone",
    "canaan",
    "canva",
    "cerberus",
    "chalkboard",
    "cisco",
    "citrix",
    "clearbank",
    "cleargate",
    "coatue",
    "creandum",
    "dealroom",
    "deliveroo",
    "drift",
    "dropbox",
    "earlybird",
    "eqt",
    "figma",
    "firefly",
    "flagship",
    "flintworks",
    "foglight",
    "freshworks",
    "glovo",
    "gojek",
    "grab",
    "greylock",
    "harborview",
    "hazelcast",
    "honeywell",
    "hopin",
    "ironclad",
    "ironwood",
    "klarna",
    "lakestar",
    "lightspeed",
    "lightstone",
    "lime",
    "limecraft",
    "lyft",
    "mantara",
    "mayfield",
    "meta",
    "miro",
    "monzo",
    "nestle",
    "northgate",
    "northstar",
    "notion",
    "nubank",
    "oaktree",
    "oakwood",
    "opera",
    "oracle",
    "palantir",
    "papertrail",
    "paytm",
    "peppermint",
    "pinewood",
    "plaid",
    "plumgrid",
    "raisin",
    "rappi",
    "ravenflow",
    "redpoint",
    "redstone",
    "revolut",
    "ripple",
    "riverwood",
    "saltstack",
    "sequoia",
    "shopify",
    "silverlake",
    "slack",
    "sparkpost",
    "steelcloud",
    "stormpath",
    "stripe",
    "tealium",
    "tesla",
    "tidemark",
    "tideway",
];

const FIRST: &str = "amber ash aspen bay birch bramble brass brook cedar chalk cinder clay clover cobalt copper crane \
    dapple dawn delta drift dune dusk elder ember fable fathom fawn fen fern ferry fig finch fir flax flint foam fog \
    frost gable garnet gingham glade glen gorse granite gull harrow hawk hazel heath heron hollow honey ink ivory \
    jasper juniper kelp kestrel kettle kite lantern larch lark ledger lichen lime linden loam lumen lupin mallow maple \
    marble marl marsh meadow mica mill mint mist moor moss mulberry nettle nimble oak oat ochre olive onyx opal otter \
    paper parsley pebble pepper petal pewter pine plover plum poplar poppy quarry quartz quill rain raven reed robin \
    rook rowan russet rye saffron sage salt sand sable shale shingle slate sorrel sparrow spruce starling steel storm \
    swallow sycamore tallow teal thicket thimble thistle thorn thyme tide timber topaz tundra umber vale velvet violet \
    walnut wax wheat whistle willow wren yarrow zinc";

const LAST: &str = "anchor arbor arc barn bay beacon bell berry bloom board boat bough brook burn cairn cast cliff cloud \
    cog comb course cove craft creek crest dale deck dell dock drum fall fare field firth fjord flow fold ford forge \
    frame garden gate glass grid grove gust hall harbor hatch haven hearth helm hill hive hold house keel kiln knoll \
    knot lamp land lane latch ladder leaf light line link lock loft loom mark mast mead mesh mill mint moor nest notch \
    orchard path peak perch pier pilot plank pond port post quay rail reach reef rill rise root row rudder sail scape \
    shed shore sluice span spindle spire spring spur stack stead step stile stone stream sundial thread tiller tower \
    trail trellis vale vane vault wall ward watch way weave weir well wharf wheel whistle wick wind wing wood works yard";

fn list(text: &'static str) -> Vec<&'static str> {
    text.split_whitespace().collect()
}

static FIRST_WORDS: once_cell::sync::Lazy<Vec<&'static str>> = once_cell::sync::Lazy::new(|| list(FIRST));
static LAST_WORDS: once_cell::sync::Lazy<Vec<&'static str>> = once_cell::sync::Lazy::new(|| list(LAST));

/// `text` with its first letter in capitals.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// True where `word` (in small letters) may stand in a name.
pub(crate) fn is_fit(word: &str) -> bool {
    let plain = crate::data::fold::fold(word);
    !UNWANTED.iter().any(|unwanted| plain.contains(unwanted))
        && TAKEN.binary_search(&plain.as_str()).is_err()
        && plain != "facets"
}

/// A word that nobody has used, with `extra` syllables more than it needs.
pub(crate) fn coined(random: &mut Random, sound: Sound, extra: usize) -> String {
    let syllables = match sound {
        Sound::Neutral => &NEUTRAL,
        Sound::Romance => &ROMANCE,
        Sound::Germanic => &GERMANIC,
        Sound::Slavic => &SLAVIC,
        Sound::Eastern => &EASTERN,
        Sound::Southern => &SOUTHERN,
    };
    loop {
        let count = 1 + extra + usize::from(random.chance(430)) + usize::from(random.chance(20));
        let mut word = String::new();
        for place in 0..count {
            // Clusters of consonants stand at the beginning only, so that longer words can still be spoken.
            let onset = loop {
                let onset = random.pick(syllables.onsets);
                if place == 0 || onset.len() == 1 {
                    break onset;
                }
            };
            word.push_str(onset);
            word.push_str(random.pick(syllables.vowels));
            if place + 1 == count || random.chance(250) {
                word.push_str(random.pick(syllables.codas));
            }
        }
        if word.ends_with(['a', 'e', 'i', 'o', 'u', 'y', 'é', 'ä', 'ö', 'ü', 'å']) {
            word.push_str(random.pick(&["l", "n", "r", "v", "m", "t", "d"]));
        }
        word.push_str(random.pick(syllables.ends));
        if is_fit(&word) && word.chars().count() > 4 {
            return capital(&word);
        }
    }
}

/// A compound of two English words: `Thistlegate`, at times `ThistleGate`.
pub(crate) fn compound(random: &mut Random) -> String {
    loop {
        let (first, last) = (random.pick(&FIRST_WORDS), random.pick(&LAST_WORDS));
        let camel = random.chance(90);
        if first == last || !is_fit(&format!("{first}{last}")) {
            continue;
        }
        return if camel {
            format!("{}{}", capital(first), capital(last))
        } else {
            format!("{}{last}", capital(first))
        };
    }
}

/// One English word in capitals.
pub(crate) fn plain(random: &mut Random) -> String {
    capital(random.pick(&FIRST_WORDS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datagen::random::RandomStream;

    #[test]
    fn the_list_of_taken_names_is_sorted() {
        assert!(TAKEN.is_sorted());
    }

    #[test]
    fn coined_words_are_rare_and_decent() {
        let mut random = Random::of(5, RandomStream::FirmName, 0);
        let mut words = std::collections::HashSet::new();
        for sound in [Sound::Neutral, Sound::Romance, Sound::Germanic, Sound::Slavic, Sound::Eastern, Sound::Southern] {
            for _ in 0..2_000 {
                let word = coined(&mut random, sound, 0);
                assert!(is_fit(&word) && (5..=24).contains(&word.chars().count()), "{word}");
                words.insert(word);
            }
        }
        assert!(words.len() > 11_000, "{}", words.len());
        assert!(!is_fit("Sequoia") && is_fit("Thistlegate"));
    }
}
