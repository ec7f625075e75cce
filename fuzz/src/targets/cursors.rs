//! A cursor somebody made up opens nothing; one of ours opens its own list only.

use searchwright_contract::keywords::ListKeywords;
use searchwright_engine::cursor::Cursors;

fn list(project: &str) -> ListKeywords {
    ListKeywords {
        project_id: project.to_owned(),
        status: None,
        intent: None,
        q: None,
        sort: None,
        limit: None,
        cluster_id: None,
        cursor: None,
    }
}

type Place = (i64, u128, String);

/// Reads one input.
pub fn run(data: &[u8]) {
    let cursors = Cursors::new([3; 32]);
    let text = String::from_utf8_lossy(data);
    assert!(cursors.open::<_, Place>(&list("a"), Some(&text)).is_err());
    let place: Place = (
        data.len() as i64,
        data.iter().map(|b| u128::from(*b)).sum(),
        text.into_owned(),
    );
    let cursor = cursors.seal(&list("a"), &place).expect("a place is written");
    let opened = cursors
        .open::<_, Place>(&list("a"), Some(&cursor))
        .expect("it is ours");
    assert_eq!(opened.as_ref(), Some(&place));
    assert!(cursors.open::<_, Place>(&list("b"), Some(&cursor)).is_err());
}
