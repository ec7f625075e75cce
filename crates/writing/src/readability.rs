//! Readability of a document: its running text, without headings, cells and code.

use searchwright_text::readability;
pub use searchwright_text::readability::{Band, Counts, Formula, Readability};

use super::document::Document;

/// Counts the running text of a document.
pub fn count(document: &Document, language: &str) -> Counts {
    readability::count(document.prose(), language)
}

/// Readability of a document; `None` without running text.
pub fn readability(document: &Document, language: &str) -> Option<Readability> {
    readability::readability(document.prose(), language)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(text: &str, language: &str) -> Readability {
        readability(&Document::of_markdown(text).unwrap(), language).unwrap()
    }

    #[test]
    fn short_words_are_easier_than_long_ones() {
        let pairs = [
            (
                "en",
                "The cat sat on the mat. It was warm.",
                "Organisational considerations necessitate comprehensive deliberation.",
            ),
            (
                "de",
                "Der Hund ist da. Er ist froh.",
                "Gesamtorganisatorische Überlegungen erfordern Vereinbarungen.",
            ),
            (
                "es",
                "El sol sale. La casa es azul.",
                "Consideraciones organizativas necesitan deliberaciones extraordinarias.",
            ),
            (
                "fr",
                "Le chat dort. Il est là.",
                "Considérations organisationnelles nécessitant délibérations extraordinaires.",
            ),
            (
                "ru",
                "Дом мал. Он тут.",
                "Организационные соображения требуют дополнительного рассмотрения.",
            ),
            (
                "nl",
                "De kat zit. Het is warm.",
                "Organisatorische overwegingen vereisen uitgebreide besluitvorming.",
            ),
            (
                "it",
                "Il sole c'è. Va bene.",
                "Considerazioni organizzative richiedono deliberazioni straordinarie.",
            ),
        ];
        for (language, easy, hard) in pairs {
            let (easy, hard) = (measure(easy, language), measure(hard, language));
            assert!(easy.score > hard.score, "{language}: {easy:?} {hard:?}");
            assert_eq!((easy.band, hard.band), (Band::Good, Band::Poor), "{language}");
        }
        assert!(
            measure("Kissa on tuolla. Se on iso.", "fi").score
                < measure("Järjestelmällisyydestänsäkään huolimatta epäonnistuneet.", "fi").score
        );
    }

    #[test]
    fn chinese_is_judged_by_its_sentences() {
        let found = measure("今天天气很好。我们去公园散步吧。", "en");
        assert_eq!(found.formula, Formula::SentenceLength);
        // 7 and 8 characters are 4 and 5 words
        assert_eq!(found.score, 4.5);
    }

    #[test]
    fn headings_cells_and_code_do_not_count() {
        let plain = measure("The cat sat on the mat.", "en");
        let with = measure(
            "# Extraordinary Considerations\n\nThe cat sat on the mat.\n\n```\nvery long code without any stop\n```",
            "en",
        );
        assert_eq!(plain, with);
    }
}
