//! Titles and headings that say "not found". Those of articles about such messages, of help pages and of things with such
//! a name contain more than the message.

use std::sync::LazyLock;

use hashbrown::HashSet;
use searchwright_text::{folded, is_cjk};

/// Phrases for "not found", folded.
const NOT_FOUND: [&str; 27] = [
    "not found",
    "be found",
    "does not exist",
    "doesn't exist",
    "no longer exists",
    "nicht gefunden",
    "existiert nicht",
    "introuvable",
    "non trouvée",
    "no encontrada",
    "no se encuentra",
    "non trovata",
    "não encontrada",
    "niet gevonden",
    "nie znaleziono",
    "не найдена",
    "не знайдено",
    "hittades inte",
    "ikke fundet",
    "ikke funnet",
    "ei löytynyt",
    "nenalezena",
    "bulunamadı",
    "見つかりません",
    "找不到",
    "찾을 수 없",
    "未找到",
];

/// Words before or after the number of an error.
const ERROR: [&str; 20] = [
    "error",
    "errors",
    "fehler",
    "erreur",
    "errore",
    "erro",
    "fout",
    "fel",
    "feil",
    "fejl",
    "virhe",
    "błąd",
    "chyba",
    "hiba",
    "hata",
    "ошибка",
    "помилка",
    "http",
    "status",
    "oops",
];
/// Words only after the number of an error.
const PAGE: [&str; 9] = [
    "page",
    "not",
    "seite",
    "nicht",
    "pagina",
    "página",
    "sorry",
    "страница",
    "strona",
];

/// Words that such messages are made of, by language. They name no topic.
const WORDS: &str = "\
    the this that a an of to at on for our we re you your i it s t is are was were be been has have had could couldn cannot can \
    not no isn doesn does do don longer available anymore any more found find exist exists page pages url address link site \
    website web file document resource content article post story product item category listing entry record profile user \
    account job event result view route object requested request looking sought server sorry oops whoops uh oh hmm error \
    errors http code status 404 410 gone missing unavailable moved removed deleted lost here there nothing what which \
    der die das den dem diese dieser dieses seite seiten adresse datei artikel produkt beitrag inhalt dokument eintrag leider \
    wurde wurden konnte konnten kann nicht gefunden werden ist existiert mehr angeforderte gewünschte aufgerufene gesuchte von \
    ihnen sie suchen fehler hoppla ups entschuldigung \
    la le les l cette ce adresse produit fichier document contenu demandée demandé recherchée recherché que vous cherchez \
    recherchez n pas été est trouvée trouvé erreur désolé plus existe introuvable \
    el esta este página pagina dirección artículo producto archivo solicitada solicitado buscas busca se encuentra encontrada \
    encontrado encontró ha sido pudo lo sentimos \
    il questa non è stata stato trovata trovato esiste errore spiacenti ops che stai cercando richiesta \
    o não foi encontrada encontrado erro desculpe você procura procurando \
    het deze niet gevonden kan kon worden fout oeps bestaat \
    nie znaleziono strony strona została znaleziona błąd przepraszamy \
    страница страницы страницу не найдена найдено найден ошибка запрашиваемая существует к сожалению сторінка сторінку знайдено \
    помилка sidan sidor hittades inte fel kunde siden blev ble ikke fundet funnet fejl feil sivua ei löytynyt virhe stránka \
    nenalezena nebyla chyba sayfa bulunamadı hata hiba";

static MESSAGE: LazyLock<HashSet<&'static str>> = LazyLock::new(|| WORDS.split_ascii_whitespace().collect());

/// Marks between the parts of a title.
const MARKS: [&str; 13] = [
    " - ", " – ", " — ", " | ", " · ", ": ", "! ", "? ", ". ", "» ", " «", "：", "！",
];
/// Quotation marks: what stands between them is mentioned.
const QUOTES: [char; 8] = ['"', '“', '”', '„', '«', '»', '「', '『'];
/// Number of words beside the message that may name what is not found.
const NAME: usize = 2;
/// Number of characters beside a phrase in a script without spaces.
const UNSPACED: usize = 12;
/// Number of words up to which a page with a message about something named is an error page: a page that helps with it is
/// longer.
const SHORT: u32 = 50;

/// Statement of a part of a title.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// Something else.
    Other,
    /// That something is not found, among other words.
    Mention,
    /// That something named is not found.
    Named,
    /// Nothing but that a page is not found.
    Plain,
    /// Words of such messages, without one: `Oops`.
    Filler,
}

/// Whether title and first heading of a page with this number of words are those of an error page. `limit` is the number
/// of words from which none is one.
pub(super) fn says_so(title: Option<&str>, h1: Option<&str>, words: u32, limit: u32) -> bool {
    if words >= limit {
        return false;
    }
    let title = title.map(parts).unwrap_or_default();
    let others = title.iter().filter(|part| **part == Part::Other).count();
    let title_says = title.iter().copied().filter(|part| *part != Part::Filler).max();
    let title_says = title_says.unwrap_or(Part::Other);
    // a name of the site stands beside the message, or two
    let is_title = match title_says {
        Part::Plain => others <= 1 || others == 2 && words < SHORT,
        Part::Named => others <= 1 && words < SHORT,
        Part::Other | Part::Mention | Part::Filler => false,
    };
    let Some(h1) = h1.map(parts) else { return is_title };
    // a heading names no site
    let worst = h1.iter().copied().filter(|part| *part != Part::Filler).min();
    let has = |wanted: Part| h1.contains(&wanted);
    match worst {
        Some(Part::Plain) => title_says != Part::Mention,
        Some(Part::Named) => {
            is_title && title_says == Part::Plain || title_says != Part::Mention && words < SHORT
        }
        Some(Part::Other) if has(Part::Plain) || has(Part::Named) || has(Part::Mention) => false,
        Some(Part::Mention) => false,
        Some(Part::Other | Part::Filler) | None => is_title,
    }
}

/// Returns the statement of each part of a title.
fn parts(text: &str) -> Vec<Part> {
    let text = folded(text);
    let parts = MARKS.iter().fold(vec![&*text], |parts, mark| {
        parts.into_iter().flat_map(|part| part.split(mark)).collect()
    });
    let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    parts.map(judge).collect()
}

fn judge(part: &str) -> Part {
    let words: Vec<&str> = part
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let phrase = NOT_FOUND
        .into_iter()
        .find(|phrase| part.replace('’', "'").contains(phrase));
    if phrase.is_none() && !says_404(&words) {
        let is_filler = words.iter().all(|word| MESSAGE.contains(word));
        return if is_filler { Part::Filler } else { Part::Other };
    }
    if part.contains(QUOTES) || words == ["http", "404"] {
        return Part::Mention;
    }
    let is_spaced = phrase.is_none_or(|phrase| !is_unspaced(phrase));
    let besides = if is_spaced {
        words.iter().filter(|word| !MESSAGE.contains(*word)).count()
    } else {
        let all = part.chars().filter(|c| c.is_alphanumeric()).count();
        let besides = all.saturating_sub(phrase.map_or(0, |phrase| phrase.chars().count()));
        if besides <= UNSPACED { 0 } else { NAME + 1 }
    };
    match besides {
        0 => Part::Plain,
        1..=NAME => Part::Named,
        _ => Part::Mention,
    }
}

/// Whether a phrase is in a script in which words are not told apart by spaces.
fn is_unspaced(phrase: &str) -> bool {
    let is_hangul = |c: char| matches!(c, '\u{ac00}'..='\u{d7a3}');
    phrase.chars().any(|c| is_hangul(c) || is_cjk(c))
}

/// Whether 404 is an error number, and not that of a car model, an area code or a house: it stands alone, or next to a
/// word for an error at the beginning or the end.
fn says_404(words: &[&str]) -> bool {
    let is_error = |pair: &[&str]| {
        let [a, b] = [pair[0], pair[1]];
        ERROR.contains(&a) && b == "404" || a == "404" && (ERROR.contains(&b) || PAGE.contains(&b))
    };
    let mut pairs = words.windows(2);
    words == ["404"] || pairs.clone().next().is_some_and(is_error) || pairs.next_back().is_some_and(is_error)
}

#[cfg(test)]
mod tests {
    use super::says_so;

    #[test]
    fn messages_in_many_languages() {
        for (title, h1) in [
            ("Page not found", "Page not found"),
            ("Page not found - Little Shop of Everything", "Page not found"),
            ("Little Shop", "404: Page not found"),
            ("404 Not Found", "Oops! That page can’t be found."),
            ("404 | Shop | Berlin", "Oops!"),
            (
                "Seite nicht gefunden | Laden",
                "Die gesuchte Seite wurde leider nicht gefunden",
            ),
            ("Page introuvable", "Désolé, cette page est introuvable"),
            ("Страница не найдена — Магазин", "Ошибка 404"),
            ("ページが見つかりません", "お探しのページが見つかりません"),
            ("페이지를 찾을 수 없습니다", "404"),
            ("抱歉，找不到页面 - 商店", "找不到您要的页面"),
            ("Product not found", "Sorry, this product could not be found"),
            ("Shop", "The page you are looking for does not exist."),
            ("Mower not found | Shop", "Mower not found"),
        ] {
            assert!(says_so(Some(title), Some(h1), 30, 200), "{title} / {h1}");
        }
    }

    #[test]
    fn pages_about_messages_are_none() {
        for (title, h1) in [
            (
                "Printer not found: how to connect it",
                "Printer not found: how to connect it",
            ),
            ("Scanner not found - Help", "Scanner not found"),
            ("Error 404 in the app: what to do", "Error 404 in the app"),
            (
                "File not found on the card? Try this",
                "File not found on the card?",
            ),
            (
                "Page not found: causes and cures | Help",
                "Why a page is not found",
            ),
            ("How to fix Page not found in your shop", "Page not found"),
        ] {
            assert!(!says_so(Some(title), Some(h1), 120, 200), "{title} / {h1}");
        }
        for (title, h1) in [
            (
                "What does HTTP 404 mean? Glossary",
                "What does “404 Not Found” mean?",
            ),
            ("HTTP 404 | Glossary", "HTTP 404"),
            (
                "Poster: Page not found, a print on paper",
                "Poster “Page not found”",
            ),
            ("Lost dog found, and other news", "News"),
            ("Room 404", "Room 404"),
        ] {
            assert!(!says_so(Some(title), Some(h1), 30, 200), "{title} / {h1}");
        }
        assert!(!says_so(Some("Page not found"), None, 200, 200), "too long");
    }
}
