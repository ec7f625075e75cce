//! Language codes.

/// Language codes of ISO 639-1.
const LANGUAGES: &str = "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de \
    dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id \
    ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu \
    lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu \
    rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr \
    ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu";
/// Region codes of ISO 3166-1 alpha-2, lower case.
const REGIONS: &str = "ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bl bm bn bo bq br bs bt \
    bv bw by bz ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg eh \
    er es et fi fj fk fm fo fr ga gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht \
    hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls \
    lt lu lv ly ma mc md me mf mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni \
    nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg \
    sh si sj sk sl sm sn so sr ss st sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug \
    um us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw";

/// Further regions valid in language tags: exceptionally reserved, retired, or for private use.
const OTHER_REGIONS: &str = "ac an bu cp cs dd dg dy ea fx ic nh nt su ta tp yd yu zr aa zz";

/// Further languages valid in language tags: withdrawn from ISO 639-1 but still in the IANA registry. Search engines read
/// them as their successors.
const RETIRED: &str = "in iw ji jw mo sh";

/// Languages with the languages that may follow them as a second part of a tag (IANA registry, `extlang`). Other codes of
/// three letters there are mostly countries in ISO 3166-1 alpha-3, which tags do not allow.
const EXTENDED: [(&str, &str); 7] = [
    (
        "ar",
        "aao abh abv acm acq acw acx acy adf aeb aec afb ajp ajs apc apd arb arq ars ary arz auz avl ayh ayl ayn ayp bbz pga \
         shu ssh",
    ),
    ("kok", "gom knn"),
    ("lv", "ltg lvs"),
    (
        "ms",
        "bjn btj bve bvu coa dup hji jak jax kvb kvr kxd lce lcf liw max meo mfa mfb min mqg msi mui orn ors pel pse tmw urk \
         vkk vkt xmm zlm zmi zsm",
    ),
    ("sw", "swc swh"),
    ("uz", "uzn uzs"),
    (
        "zh",
        "cdo cjy cmn cnp cpx csp czh czo gan hak hnm hsn lzh luh mnp nan sjc wuu yue",
    ),
];

/// Tags that are valid as a whole although their parts are not (RFC 5646, section 2.1, `grandfathered`).
const GRANDFATHERED: [&str; 11] = [
    "art-lojban",
    "cel-gaulish",
    "en-gb-oed",
    "no-bok",
    "no-nyn",
    "sgn-be-fr",
    "sgn-be-nl",
    "sgn-ch-de",
    "zh-guoyu",
    "zh-hakka",
    "zh-min",
];

/// Whether a part may follow a language as an extended one. There are hundreds of sign languages, of which only the form
/// is checked.
fn is_extended(language: &str, part: &str) -> bool {
    let letters = part.len() == 3 && part.bytes().all(|b| b.is_ascii_alphabetic());
    let known = |(of, parts): &(&str, &str)| *of == language && parts.split(' ').any(|known| known == part);
    letters && (language == "sgn" || EXTENDED.iter().any(known))
}

/// Whether a two-letter code is in a list of such codes separated by spaces.
fn is_in(list: &str, code: &str) -> bool {
    code.len() == 2
        && list
            .as_bytes()
            .chunks(3)
            .any(|known| known.starts_with(code.as_bytes()))
}

/// Whether a part is a region of a language tag, lower case; the United Kingdom is `gb`.
fn is_region(part: &str) -> bool {
    let listed = || [REGIONS, OTHER_REGIONS].iter().any(|list| is_in(list, part));
    let private = || matches!(part.as_bytes(), [b'x', b'a'..=b'z'] | [b'q', b'm'..=b'z']);
    match part.len() {
        2 => listed() || private(),
        3 => part.bytes().all(|b| b.is_ascii_digit()),
        _ => false,
    }
}

/// Whether a code is a two-letter code of ISO 639-1, lower case.
fn is_language(code: &str) -> bool {
    is_in(LANGUAGES, code)
}

/// Whether a code is a valid `hreflang`: a language of ISO 639-1 (withdrawn codes mean their successors), then optionally a script and a region of ISO 3166-1,
/// or `x-default`.
pub(super) fn is_hreflang(code: &str) -> bool {
    let code = code.trim().to_ascii_lowercase();
    if code == "x-default" {
        return true;
    }
    let mut parts = code.split('-');
    if !parts
        .next()
        .is_some_and(|part| is_language(part) || is_in(RETIRED, part))
    {
        return false;
    }
    let mut next = parts.next();
    if next.is_some_and(|part| part.len() == 4 && part.bytes().all(|b| b.is_ascii_alphabetic())) {
        next = parts.next();
    }
    let region = next.is_none_or(|part| is_in(REGIONS, part));
    region && parts.next().is_none()
}

/// Whether a tag is a language tag of BCP 47 (RFC 5646, section 2.1) whose region and two-letter language exist; of a
/// three-letter language only the form is checked. Four letters are reserved, and none of five to eight is registered.
pub(super) fn is_language_tag(tag: &str) -> bool {
    let tag = tag.to_ascii_lowercase();
    if GRANDFATHERED.contains(&tag.as_str()) || tag == "zh-min-nan" {
        return true;
    }
    let mut parts = tag.split('-').peekable();
    let letters = |part: &str| part.bytes().all(|b| b.is_ascii_alphabetic());
    let word = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric());
    let Some(language) = parts.next() else {
        return false;
    };
    if matches!(language, "x" | "i") {
        return parts.peek().is_some() && parts.all(word);
    }
    let known = match language.len() {
        2 => is_language(language) || is_in(RETIRED, language),
        3 => letters(language),
        _ => false,
    };
    if !known {
        return false;
    }
    parts.next_if(|part| is_extended(language, part));
    parts.next_if(|part| part.len() == 4 && letters(part));
    parts.next_if(|part| is_region(part));
    while parts
        .next_if(|part| {
            word(part) && (part.len() >= 5 || part.len() == 4 && part.as_bytes()[0].is_ascii_digit())
        })
        .is_some()
    {}
    // extensions and private use: a single character, then words
    while let Some(single) = parts.next() {
        let first = single.len() == 1
            && word(single)
            && parts
                .next()
                .is_some_and(|part| word(part) && (part.len() > 1 || single == "x"));
        if !first {
            return false;
        }
        while parts
            .next_if(|part| word(part) && (part.len() > 1 || single == "x"))
            .is_some()
        {}
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{is_hreflang, is_language_tag};

    #[test]
    fn codes_of_hreflang() {
        for code in [
            "en",
            "EN-gb",
            "zh-Hant",
            "zh-Hant-TW",
            "x-default",
            "de-AT",
            "iw",
            "in-ID",
        ] {
            assert!(is_hreflang(code), "{code}");
        }
        for code in ["en-UK", "eng", "en_GB", "es-419", "", "xx", "en-GB-x", "us", "-"] {
            assert!(!is_hreflang(code), "{code}");
        }
    }

    #[test]
    fn tags_of_bcp_47() {
        for tag in [
            "en",
            "en-GB",
            "es-419",
            "zh-cmn-Hans-CN",
            "sl-rozaj-biske",
            "de-1996",
            "en-u-ca-gregory",
            "x-private",
            "sr-Latn-RS",
            "haw",
            "de-DE-x-y-z",
            "sq-XK",
            "sr-CS",
            "zh-yue-HK",
            "ar-arz",
            "sgn-ase",
            "en-GB-oed",
            "zh-min-nan",
            "iw-IL",
        ] {
            assert!(is_language_tag(tag), "{tag}");
        }
        for tag in [
            "",
            "english!",
            "en_US",
            "xx",
            "e",
            "en-",
            "en-US-",
            "de--DE",
            "en-a",
            "english-language-of-the-page",
            "english",
            "deutsch",
            "engl",
            "en-UK",
            "en-eu",
            "fr-FRA",
            "en-ENG",
            "pt-Latn-PRT",
            "zh-CHN",
            "ar-EGY",
            "zh-yue-yue",
        ] {
            assert!(!is_language_tag(tag), "{tag}");
        }
    }
}
