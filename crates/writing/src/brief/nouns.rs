//! English names of things within a sentence: with an article where they need one.

/// Nouns that are not counted, so that they have no article.
const MASS: &str = " accounting advertising advice air aluminium aluminum analytics bedding beer bread broadband butter care cash cement \
    cheese clothing coffee compost concrete content cookware copper cotton credit crockery cutlery data decor education \
    electricity energy equipment ethics fabric fencing fertiliser fertilizer finance fitness flooring flour food footwear fuel furniture \
    gas gear glassware gold grass gravel growth hair hardware health help heat honey hosting housework ice information ink \
    insulation insurance irrigation jewellery jewelry juice knowledge laundry leather legislation lighting lingerie \
    linen literature logistics love luck luggage machinery mail maintenance makeup management marketing meat meditation milk money mud \
    mulch music news nutrition oil outerwear paint paper parking pasta petrol photography plastic plumbing poetry pollution power \
    privacy produce progress psychology rain research rice roofing rubber safety salt sand security seo shampoo shipping silk silver \
    skincare sleep snow soap software soil sportswear stationery steel storage sugar sunscreen support tableware tea therapy time \
    timber toothpaste traffic training transport travel underwear veganism ventilation wallpaper warranty waste water wax weather wifi \
    wine wood wool work workwear yoga ";
/// Nouns that are counted or not by what they mean.
const EITHER: &str = " glass law land debt china iron stone chicken ";
/// Words in `ing` that are things to be counted.
const COUNTED_ING: &str = " building ceiling covering drawing earring fitting king meeting opening painting paving railing recording ring sling \
    spring string swing thing wedding wing ";
/// Plurals without an ending.
const PLURALS: &str =
    " people children men women feet teeth mice geese sheep fish deer series species lice oxen jeans ";
/// Endings of nouns of which some are counted and some are not.
const UNSURE: [&str; 13] = [
    "tion", "sion", "ment", "ance", "ence", "ity", "ism", "age", "ware", "ship", "th", "ure", "sis",
];
/// Nouns with such an ending that are counted.
const COUNTED: &str = " apartment application appliance activity agreement attachment bath booth boot camera charity city cottage cage \
    department document element extension facility fixture garage instrument investment lecture licence location mortgage moth \
    ornament package page path payment picture reservation sculpture ship solution station structure television tooth university \
    vacation village ambulance fence conference cloth ";
/// First words that do without an article, or are one.
const DETERMINERS: &str =
    " a an the my your our his her its their this that these those no some any each every ";

/// Returns a name of something as it stands within a sentence, with an article if it is of one thing: `a standing desk`,
/// `garden hoses`, `drip irrigation`. `None` if its words do not tell.
pub(super) fn in_a_sentence(topic: &str) -> Option<String> {
    let words: Vec<String> = topic.split(' ').map(str::to_lowercase).collect();
    let first = words.first()?;
    let head = head(&words)?;
    let is_word = |word: &String| !word.is_empty() && word.chars().all(|c| c.is_alphabetic() || c == '-');
    if !is_word(head) {
        return None;
    }
    // `choosing the right hose`: what is done
    let is_act = first.ends_with("ing") && words.get(1).is_some_and(|word| is_in(DETERMINERS, word));
    if is_plural(head) || is_act || is_in(MASS, head) || is_in(DETERMINERS, first) {
        return Some(topic.to_owned());
    }
    // a name is spelt with a capital letter
    if topic.split(' ').any(|word| word.starts_with(char::is_uppercase)) {
        return None;
    }
    let is_counted = is_in(COUNTED, head) || is_in(COUNTED_ING, head);
    if head.ends_with("ing") && !is_counted || head.ends_with("ness") {
        return Some(topic.to_owned());
    }
    if !is_counted && UNSURE.iter().any(|end| head.ends_with(end))
        || is_in(EITHER, head)
        || !head.is_ascii()
        || head.ends_with("ly")
    {
        return None;
    }
    Some(format!("{} {topic}", article(first)))
}

/// Whether a name is that of several things.
pub(super) fn is_many(topic: &str) -> bool {
    let words: Vec<String> = topic.split(' ').map(str::to_lowercase).collect();
    head(&words).is_some_and(|head| is_plural(head) && !is_in(MASS, head))
}

/// Returns the word that the others tell more of: the last, or the one before `for small gardens`.
fn head(words: &[String]) -> Option<&String> {
    let is_joint = |word: &String| {
        is_in(
            " for of with in on to from without by at and or under over near ",
            word,
        )
    };
    let end = words.iter().position(is_joint).unwrap_or(words.len());
    words.get(end.checked_sub(1)?)
}

fn is_in(list: &str, word: &str) -> bool {
    list.contains(&format!(" {word} "))
}

fn is_plural(word: &str) -> bool {
    is_in(PLURALS, word)
        || word.ends_with('s') && word.len() > 3 && !["ss", "us", "is"].iter().any(|end| word.ends_with(end))
}

/// Returns the article by the sound of the word behind it.
fn article(word: &str) -> &'static str {
    // `a USB cable`, `a used car`, `a one-way valve`; `an hour`
    let is_consonant = [
        "uni", "use", "usu", "usb", "eu", "one", "once", "uk", "us-", "util", "url",
    ];
    if [
        "hour", "honest", "honour", "heir", "html", "hdmi", "seo", "ssd", "rv", "led", "lcd", "mp3", "sms",
        "xml",
    ]
    .iter()
    .any(|start| word == *start || start.len() > 3 && word.starts_with(start))
    {
        return "an";
    }
    if word.starts_with(['a', 'e', 'i', 'o', 'u'])
        && !is_consonant.iter().any(|start| word.starts_with(start))
        || word.starts_with("unin")
        || word.starts_with("unim")
    {
        "an"
    } else {
        "a"
    }
}

#[cfg(test)]
mod tests {
    use super::in_a_sentence;

    #[test]
    fn one_thing_has_an_article() {
        for (topic, said) in [
            ("standing desk", "a standing desk"),
            ("electric bike", "an electric bike"),
            ("bike light", "a bike light"),
            ("used car", "a used car"),
            ("usb cable", "a usb cable"),
            ("umbrella stand", "an umbrella stand"),
            ("led lamp", "an led lamp"),
            ("hourglass", "an hourglass"),
            ("hose for small gardens", "a hose for small gardens"),
            ("garden building", "a garden building"),
            ("weather station", "a weather station"),
            ("garden hoses", "garden hoses"),
            ("running shoes", "running shoes"),
            ("drip irrigation", "drip irrigation"),
            ("garden furniture", "garden furniture"),
            ("email marketing", "email marketing"),
            ("bike lights with usb", "bike lights with usb"),
            ("the right hose", "the right hose"),
            ("choosing the right hose", "choosing the right hose"),
            ("shoes for children", "shoes for children"),
        ] {
            assert_eq!(in_a_sentence(topic).as_deref(), Some(said));
        }
        for topic in [
            "database migration",
            "Acme desk",
            "model 3000",
            "",
            "café",
            "magnifying glass",
        ] {
            assert_eq!(in_a_sentence(topic), None, "{topic}");
        }
    }
}
