use super::*;

fn words(text: &str) -> Vec<String> {
    let answer = AnswerText::parse(text, "en");
    (0..answer.words())
        .map(|at| answer.normal(at).to_owned())
        .collect()
}

#[test]
fn spans_count_characters_of_the_original() {
    let text = "日本 **Ünï** [Acme Desk](https://a.example) — «Bolt’s»\n1. `Zed`";
    let answer = AnswerText::parse(text, "en");
    let original: Vec<char> = text.chars().collect();
    for token in &answer.tokens {
        let span: String = original[token.span.start as usize..token.span.end as usize]
            .iter()
            .collect();
        assert_eq!(span, answer.plain[token.place.clone()]);
    }
    assert_eq!(
        words(text),
        ["日", "本", "uni", "acme", "desk", "bolt", "s", "zed"]
    );
}

#[test]
fn hosts_are_found() {
    let answer = AnswerText::parse("Try my-shop.co.uk, www.Acme.example or 3.5 e.g. acme", "en");
    let hosts: Vec<&str> = answer.hosts.iter().map(|host| &*host.name).collect();
    assert!(hosts.starts_with(&["my-shop.co.uk", "acme.example"]), "{hosts:?}");
}

#[test]
fn language_is_detected_where_it_is_certain() {
    let german =
        "Die Reparatur von Rasenmähern ist nicht schwierig, wenn man das richtige Werkzeug und Geduld hat.";
    assert_eq!(detect_language(german), Some("de"));
    assert_eq!(detect_language(""), None);
}
