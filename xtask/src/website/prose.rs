//! Sentences that read like English and differ from page to page, so that word counts, language
//! detection and the search for near duplicates work on them as on real text.

use crate::random::Random;

const NOUNS: [&str; 96] = [
    "harbour",
    "orchard",
    "lantern",
    "meadow",
    "workshop",
    "kiln",
    "loom",
    "bridge",
    "garden",
    "river",
    "chimney",
    "cellar",
    "market",
    "ferry",
    "quarry",
    "mill",
    "barn",
    "hedge",
    "stove",
    "ladder",
    "window",
    "roof",
    "timber",
    "copper",
    "linen",
    "wool",
    "clay",
    "glass",
    "leather",
    "paper",
    "candle",
    "basket",
    "bell",
    "compass",
    "map",
    "ledger",
    "recipe",
    "harvest",
    "season",
    "winter",
    "summer",
    "morning",
    "evening",
    "storm",
    "drought",
    "frost",
    "soil",
    "compost",
    "seedling",
    "pruning",
    "grafting",
    "pasture",
    "flock",
    "beehive",
    "honey",
    "bread",
    "cheese",
    "cider",
    "vinegar",
    "pottery",
    "weaving",
    "carving",
    "joinery",
    "masonry",
    "thatching",
    "dyeing",
    "spinning",
    "forge",
    "anvil",
    "hammer",
    "chisel",
    "plane",
    "saw",
    "rope",
    "sail",
    "anchor",
    "keel",
    "rudder",
    "tide",
    "current",
    "shoreline",
    "marsh",
    "heath",
    "moor",
    "valley",
    "ridge",
    "footpath",
    "village",
    "parish",
    "archive",
    "library",
    "museum",
    "festival",
    "apprentice",
    "neighbour",
    "household",
];

const ADJECTIVES: [&str; 48] = [
    "practical",
    "quiet",
    "seasonal",
    "northern",
    "coastal",
    "careful",
    "modest",
    "durable",
    "traditional",
    "early",
    "patient",
    "local",
    "reliable",
    "simple",
    "narrow",
    "broad",
    "weathered",
    "restored",
    "shared",
    "hidden",
    "affordable",
    "sturdy",
    "gentle",
    "fragrant",
    "bright",
    "rural",
    "urban",
    "forgotten",
    "celebrated",
    "ordinary",
    "generous",
    "steady",
    "handmade",
    "regional",
    "southern",
    "historic",
    "modern",
    "compact",
    "spacious",
    "fertile",
    "sheltered",
    "remote",
    "familiar",
    "curious",
    "honest",
    "slow",
    "lasting",
    "thrifty",
];

const VERBS: [&str; 48] = [
    "shapes",
    "supports",
    "replaces",
    "surrounds",
    "improves",
    "protects",
    "explains",
    "changes",
    "carries",
    "needs",
    "rewards",
    "follows",
    "precedes",
    "resembles",
    "outlasts",
    "strengthens",
    "simplifies",
    "measures",
    "records",
    "reveals",
    "connects",
    "divides",
    "feeds",
    "shelters",
    "cools",
    "warms",
    "dries",
    "cleans",
    "repairs",
    "prepares",
    "limits",
    "extends",
    "balances",
    "absorbs",
    "reflects",
    "attracts",
    "delays",
    "guides",
    "tests",
    "confirms",
    "demands",
    "allows",
    "prevents",
    "encourages",
    "completes",
    "describes",
    "survives",
    "enriches",
];

const OPENINGS: [&str; 24] = [
    "In most years",
    "After the first frost",
    "Before the market opens",
    "On the whole",
    "As a rule",
    "For a small household",
    "When the weather turns",
    "According to the parish records",
    "In our experience",
    "Without much effort",
    "Over several decades",
    "At the edge of the village",
    "By the end of the season",
    "With a little practice",
    "From a distance",
    "Compared with last year",
    "Once the work is done",
    "Near the coast",
    "Under an old roof",
    "During the long evenings",
    "Among the older members",
    "To begin with",
    "In a few cases",
    "Contrary to common belief",
];

const LINKERS: [&str; 16] = [
    "and",
    "but",
    "because",
    "while",
    "although",
    "so that",
    "whereas",
    "until",
    "unless",
    "where",
    "since",
    "and later",
    "even though",
    "as long as",
    "which is why",
    "and in turn",
];

const KINDS: [&str; 12] = [
    "handbook",
    "field notes",
    "a short course",
    "common mistakes",
    "tools and costs",
    "first steps",
    "a year in detail",
    "measured results",
    "questions answered",
    "a visitor's view",
    "history and use",
    "worked examples",
];

/// Adjective and two nouns, all lower case.
pub fn name(random: &mut Random) -> String {
    let first = random.below(NOUNS.len());
    let second = (first + random.between(1, NOUNS.len() - 1)) % NOUNS.len();
    format!("{} {} {}", random.pick(&ADJECTIVES), NOUNS[first], NOUNS[second])
}

/// Kind of text a page is, for its title.
pub fn kind(random: &mut Random) -> &'static str {
    KINDS[random.below(KINDS.len())]
}

/// Appends one sentence with a full stop; the number of its words.
pub fn sentence(random: &mut Random, out: &mut String) -> usize {
    let mut words = 0;
    let opened = random.below(3) == 0;
    if opened {
        let opening = random.pick(&OPENINGS);
        out.push_str(opening);
        out.push(' ');
        words += count(opening);
    }
    words += clause(random, !opened, out);
    for _ in 0..random.below(3) {
        let linker = random.pick(&LINKERS);
        out.push_str(", ");
        out.push_str(linker);
        out.push(' ');
        words += count(linker) + clause(random, false, out);
    }
    out.push('.');
    words
}

/// "the quiet harbour protects a ledger of the orchard"
fn clause(random: &mut Random, first: bool, out: &mut String) -> usize {
    let start = out.len();
    out.push_str(if first { "The " } else { "the " });
    if random.below(2) == 0 {
        push(out, random.pick(&ADJECTIVES));
    }
    push(out, random.pick(&NOUNS));
    push(out, random.pick(&VERBS));
    out.push_str(if random.below(2) == 0 { "every " } else { "the " });
    push(out, random.pick(&ADJECTIVES));
    out.push_str(random.pick(&NOUNS));
    if random.below(2) == 0 {
        out.push_str(" of the ");
        out.push_str(random.pick(&NOUNS));
    }
    count(&out[start..])
}

fn push(out: &mut String, word: &str) {
    out.push_str(word);
    out.push(' ');
}

fn count(text: &str) -> usize {
    text.split_whitespace().count()
}
