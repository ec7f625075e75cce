//! Answers that are JSON before the protocol writes its own: lists of tools, kept by the tools that are in them because to write one
//! takes longer than all else about its request, and results of tools.
//!
//! The protocol answers with a list without tools or a result without content, whose place is taken by an [`Insertion`].

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use axum::body::{Body, to_bytes};
use bytes::Bytes;
use http::{Response, header};

/// Lists that are kept, those that were asked for last: clients ask for the same few sets of scopes.
const MAX_LISTS: usize = 32;
/// Members of an answer that has nothing in it yet. Within a text of JSON their quotation marks would be escaped.
const LIST_PLACE: &[u8] = br#""tools":[]"#;
const CONTENT_PLACE: &[u8] = br#""content":[]"#;

/// JSON that is put into an answer of the protocol, so that what is written already is not read and written again.
#[derive(Clone, Debug)]
pub(super) enum Insertion {
    /// A list of tools.
    Tools(Bytes),
    /// Members that carry the answer of a tool.
    Content(Bytes),
}

/// Everything that the list of a credential depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    /// Whether the tools name the project that they work on.
    pub(super) names_project: bool,
    /// Whether it lists the tools of every set, in their shorter form.
    pub(super) is_whole: bool,
    /// Whether it names the cards of tools.
    pub(super) has_cards: bool,
    /// The tools, by their place in the table.
    pub(super) tools: Vec<usize>,
}

/// Lists that were written, the one that was asked for last at the end.
#[derive(Debug, Default)]
pub(super) struct KeptLists(Mutex<VecDeque<(Listed, Bytes)>>);

impl KeptLists {
    /// Returns the kept list of these tools, or keeps the one that is written now.
    pub(super) fn get_or_write<E>(
        &self,
        listed: &Listed,
        write: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Bytes, E> {
        if let Some(list) = self.find(listed) {
            return Ok(list);
        }
        // not under the lock; who asks for the same meanwhile writes it as well
        let list = Bytes::from(write()?);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(other, _)| other != listed);
        if kept.len() == MAX_LISTS {
            kept.pop_front();
        }
        kept.push_back((listed.clone(), list.clone()));
        Ok(list)
    }

    fn find(&self, listed: &Listed) -> Option<Bytes> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(other, _)| other == listed)?;
        let found = kept.remove(at)?;
        let list = found.1.clone();
        kept.push_back(found);
        Some(list)
    }
}

impl Insertion {
    /// Puts it into an answer that has nothing in its place. Another answer, such as a refusal, stays as it is.
    pub(super) async fn insert(&self, answer: Response<Body>) -> Response<Body> {
        let (place, start, inserted): (&[u8], &[u8], _) = match self {
            Self::Tools(tools) => (LIST_PLACE, br#""tools":"#, tools),
            Self::Content(content) => (CONTENT_PLACE, b"", content),
        };
        let (mut parts, body) = answer.into_parts();
        // it is in memory already, and cannot fail
        let empty = to_bytes(body, usize::MAX).await.unwrap_or_default();
        let at = empty.windows(place.len()).rposition(|window| window == place);
        let Some(at) = at else {
            return Response::from_parts(parts, Body::from(empty));
        };
        parts.headers.remove(header::CONTENT_LENGTH);
        let mut whole = Vec::with_capacity(empty.len() + inserted.len());
        for piece in [&empty[..at], start, inserted, &empty[at + place.len()..]] {
            whole.extend_from_slice(piece);
        }
        Response::from_parts(parts, Body::from(whole))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn listed(tool: usize, names_project: bool) -> Listed {
        Listed {
            names_project,
            is_whole: false,
            has_cards: false,
            tools: vec![tool],
        }
    }

    #[test]
    fn a_list_is_written_once_while_it_is_asked_for() {
        let lists = KeptLists::default();
        let written = std::cell::Cell::new(0);
        let get = |listed: &Listed| {
            let write = || {
                written.set(written.get() + 1);
                Ok::<_, Infallible>(format!("{listed:?}").into_bytes())
            };
            lists.get_or_write(listed, write).unwrap()
        };
        let hot = listed(0, false);
        for tool in 0..100 {
            for names_project in [false, true] {
                let other = listed(tool, names_project);
                assert_eq!(get(&other), format!("{other:?}"));
            }
            assert_eq!(get(&hot), format!("{hot:?}"));
        }
        assert_eq!(written.get(), 200, "the list that is asked for stays");
        get(&listed(1, false));
        assert_eq!(written.get(), 201, "others go");
        assert_eq!(lists.0.lock().unwrap().len(), MAX_LISTS);
    }

    #[tokio::test]
    async fn a_list_goes_where_the_answer_has_none() {
        let insert = async |answer: &'static str| {
            let list = Insertion::Tools(Bytes::from_static(br#"[{"name":"a"}]"#));
            let answer = list.insert(Response::new(Body::from(answer))).await;
            String::from_utf8(to_bytes(answer.into_body(), 1_000).await.unwrap().to_vec()).unwrap()
        };
        assert_eq!(
            insert(r#"{"id":"\"tools\":[]","result":{"tools":[],"ttlMs":1}}"#).await,
            r#"{"id":"\"tools\":[]","result":{"tools":[{"name":"a"}],"ttlMs":1}}"#
        );
        let refusal = r#"{"id":1,"error":{"code":-32603}}"#;
        assert_eq!(insert(refusal).await, refusal);
    }
}
