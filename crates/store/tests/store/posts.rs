//! Posts: stored whole, listed without texts, never overwritten by a change of an older version.

use searchwright_contract::{
    actions::AllowedActions,
    ids::PostId,
    posts::{
        Author, FeaturedImage, Generation, GenerationMethod, Post, PostDetails, PostFailure, PostFindings,
        PostOrigin, PostStatus, PostSummary, PostWarning, TextLink,
    },
};
use searchwright_store::{
    Error,
    access::ProjectScope,
    keywords,
    posts::{self, MAX_REVISIONS, PostOrder, PostQuery, PostRecord},
};
use serde_json::json;

use crate::{
    harness::{Place, Store, id, later, now},
    keywords::keyword,
};

on_both!(
    post_reads_back,
    changes_count_up_and_never_overwrite,
    slug_is_unique_per_project,
    another_project_sees_nothing,
    filters_and_pages,
    deleted_keyword_reads_as_none,
    the_last_fifty_texts_are_kept,
    near_duplicates_are_found,
    every_order_walks_each_post_once,
);

fn new(slug: &str) -> PostRecord {
    PostRecord {
        post: Post {
            summary: PostSummary {
                id: id(),
                title: Some("A desk".to_owned()),
                slug: slug.to_owned(),
                status: PostStatus::Draft,
                keyword_id: None,
                keyword: None,
                language: "en".to_owned(),
                origin: PostOrigin::Api,
                replaces_post_id: None,
                word_count: 2,
                reading_time_minutes: 1,
                seo_score: Some(40),
                has_unpublished_changes: false,
                scheduled_at: None,
                published_at: None,
                published_url: None,
                is_live: false,
                publication_state: None,
                failure: None,
                archived_at: None,
                version: 1,
                created_at: now(),
                updated_at: now(),
                allowed_actions: AllowedActions::default(),
            },
            content: "Some *text* 🪴".to_owned(),
            content_html: "<p>Some <em>text</em> 🪴</p>".to_owned(),
            details: PostDetails::default(),
            findings: PostFindings::default(),
            generation: None,
            publications: Vec::new(),
        },
        title_key: "a desk".to_owned(),
        content_hash: vec![1; 32],
        published_hash: None,
        job: None,
        replaces_hash: None,
    }
}

fn uuid(record: &PostRecord) -> PostId {
    record.post.summary.id
}

async fn add(store: &Store, scope: ProjectScope, record: PostRecord) -> PostRecord {
    commit!(store.db, |tx| posts::create(tx, scope, &record, now()).await).unwrap()
}

async fn post_reads_back(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let wanted = new("a-desk");
    let added = add(&store, scope, wanted.clone()).await;
    assert_eq!(added, wanted);
    let mut whole = added.clone();
    let summary = &mut whole.post.summary;
    summary.status = PostStatus::Published;
    (summary.scheduled_at, summary.published_at) = (Some(later(5)), Some(later(6)));
    (summary.published_url, summary.archived_at) =
        (Some("https://a.example/desk".to_owned()), Some(later(7)));
    whole.post.details = PostDetails {
        excerpt: Some("A summary".to_owned()),
        tags: vec!["a".to_owned(), "ü".to_owned()],
        featured_image: Some(FeaturedImage {
            url: "https://a.example/i.png".to_owned(),
            alt: None,
            width: Some(3),
            height: None,
            credit: None,
        }),
        author: Some(Author {
            name: "Ada".to_owned(),
            url: None,
            same_as: vec!["https://b.example/".to_owned()],
        }),
        ..PostDetails::default()
    };
    whole.post.findings = PostFindings {
        structured_data: Some(json!({ "@graph": [{ "a": 1 }] })),
        internal_links: vec![TextLink {
            url: "/b".to_owned(),
            title: "b".to_owned(),
        }],
        warnings: vec![PostWarning {
            code: "brief_only".to_owned(),
            detail: "is a brief".to_owned(),
            blocks_publishing: true,
            source: Some("posts/1".to_owned()),
            share: Some(0.31),
            ..PostWarning::default()
        }],
        ..PostFindings::default()
    };
    whole.post.generation = Some(Generation {
        job_id: id(),
        method: Some(GenerationMethod::Brief),
        provider: None,
        model: None,
        cost_micros_usd: Some(0),
        requested_at: now(),
        finished_at: Some(later(1)),
    });
    whole.post.summary.failure = Some(PostFailure {
        stage: "generate".to_owned(),
        code: "provider_error".to_owned(),
        detail: "refused".to_owned(),
    });
    (whole.content_hash, whole.published_hash, whole.job) = (vec![2; 32], Some(vec![3; 32]), Some(id()));
    let changed = {
        let whole = whole.clone();
        commit!(store.db, |tx| posts::update(tx, scope, &whole, later(9)).await).unwrap()
    };
    (whole.post.summary.version, whole.post.summary.updated_at) = (2, later(9));
    whole.post.summary.has_unpublished_changes = true;
    assert_eq!(changed, whole);
    let read = posts::get(&mut store.read().await, scope, uuid(&whole))
        .await
        .unwrap();
    assert_eq!(read, whole);
}

async fn changes_count_up_and_never_overwrite(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let first = add(&store, scope, new("a-desk")).await;
    let (mine, theirs) = (first.clone(), first.clone());
    let won = commit!(store.db, |tx| posts::update(tx, scope, &mine, later(1)).await).unwrap();
    assert_eq!(won.post.summary.version, 2);
    let lost = commit!(store.db, |tx| posts::update(tx, scope, &theirs, later(2)).await);
    assert!(matches!(lost, Err(Error::Missing)), "{lost:?}");
}

async fn slug_is_unique_per_project(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    let first = add(&store, scope, new("a-desk")).await;
    add(&store, foreign, new("a-desk")).await;
    let second = new("a-desk");
    let refused = commit!(store.db, |tx| posts::create(tx, scope, &second, now()).await);
    assert!(matches!(refused, Err(Error::Duplicate(_))), "{refused:?}");
    add(&store, scope, new("a-desk-2")).await;
    add(&store, scope, new("b-desk")).await;
    let mut tx = store.read().await;
    assert_eq!(
        posts::find_by_slug(&mut tx, scope, "a-desk").await.unwrap(),
        Some(uuid(&first))
    );
    assert_eq!(posts::find_by_slug(&mut tx, scope, "c").await.unwrap(), None);
    let mut slugs = posts::list_slugs(&mut tx, scope, "a-desk").await.unwrap();
    slugs.sort();
    assert_eq!(slugs, ["a-desk", "a-desk-2"]);
}

async fn another_project_sees_nothing(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    let post = add(&store, scope, new("a-desk")).await;
    let kept = post.post.clone();
    commit!(store.db, |tx| posts::insert_revision(tx, scope, &kept, now())
        .await)
    .unwrap();
    let mut tx = store.read().await;
    let got = posts::get(&mut tx, foreign, uuid(&post)).await;
    assert!(matches!(got, Err(Error::Missing)));
    assert_eq!(
        posts::list(
            &mut tx,
            foreign,
            PostQuery {
                limit: 10,
                ..PostQuery::default()
            }
        )
        .await
        .unwrap(),
        []
    );
    assert_eq!(
        posts::list_revisions(&mut tx, foreign, uuid(&post), None, 10)
            .await
            .unwrap(),
        []
    );
    assert!(
        posts::get_revision(&mut tx, foreign, uuid(&post), 1)
            .await
            .is_err()
    );
    drop(tx);
    let stolen = post.clone();
    let written = commit!(store.db, |tx| posts::update(tx, foreign, &stolen, now()).await);
    assert!(matches!(written, Err(Error::Missing)));
}

async fn filters_and_pages(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let desk = keyword(&store, scope, "desk", None, None).await;
    for at in 0..5 {
        let mut record = new(&format!("p-{at}"));
        record.title_key = format!("50% of title {at}");
        if at % 2 == 0 {
            record.post.summary.status = PostStatus::Review;
            record.post.summary.keyword_id = Some(desk);
        }
        add(&store, scope, record).await;
    }
    let slugs = async |query: PostQuery| -> Vec<String> {
        let rows = posts::list(&mut store.read().await, scope, query).await.unwrap();
        rows.into_iter().map(|row| row.slug).collect()
    };
    let all = PostQuery {
        limit: 10,
        ..PostQuery::default()
    };
    assert_eq!(slugs(all.clone()).await, ["p-4", "p-3", "p-2", "p-1", "p-0"]);
    let review = PostQuery {
        status: Some(PostStatus::Review),
        ..all.clone()
    };
    assert_eq!(slugs(review).await, ["p-4", "p-2", "p-0"]);
    let aimed = PostQuery {
        keyword: Some(desk),
        ..all.clone()
    };
    assert_eq!(slugs(aimed).await, ["p-4", "p-2", "p-0"]);
    for (text, found) in [
        ("title 3", vec!["p-3"]),
        ("50% of title 0", vec!["p-0"]),
        ("%3", vec![]),
        ("_", vec![]),
    ] {
        let query = PostQuery {
            contains: Some(text.to_owned()),
            ..all.clone()
        };
        assert_eq!(slugs(query).await, found, "{text}");
    }
    let first = posts::list(
        &mut store.read().await,
        scope,
        PostQuery {
            limit: 2,
            ..PostQuery::default()
        },
    )
    .await
    .unwrap();
    let before = Some(first[1].id);
    assert_eq!(slugs(PostQuery { before, ..all }).await, ["p-2", "p-1", "p-0"]);
}

async fn deleted_keyword_reads_as_none(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let desk = keyword(&store, scope, "desk", None, None).await;
    let mut record = new("a-desk");
    record.post.summary.keyword_id = Some(desk);
    let post = add(&store, scope, record).await;
    assert_eq!(post.post.summary.keyword.as_deref(), Some("desk"));
    let others = async |except| {
        posts::count_others_with_keyword(&mut store.read().await, scope, desk, except)
            .await
            .unwrap()
    };
    assert_eq!((others(uuid(&post)).await, others(id()).await), (0, 1));
    commit!(store.db, |tx| keywords::delete(tx, scope, desk, 1).await).unwrap();
    let read = posts::get(&mut store.read().await, scope, uuid(&post))
        .await
        .unwrap();
    assert_eq!(
        (read.post.summary.keyword_id, read.post.summary.keyword),
        (None, None)
    );
}

async fn the_last_fifty_texts_are_kept(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let post = add(&store, scope, new("a-desk")).await.post;
    let id = post.summary.id;
    for at in 1..=MAX_REVISIONS + 3 {
        let old = Post {
            content: format!("text {at}"),
            ..post.clone()
        };
        commit!(store.db, |tx| posts::insert_revision(tx, scope, &old, later(at))
            .await)
        .unwrap();
    }
    let mut tx = store.read().await;
    let kept = posts::list_revisions(&mut tx, scope, id, None, 1000)
        .await
        .unwrap();
    assert_eq!(kept.len() as i64, MAX_REVISIONS);
    assert_eq!(
        (kept[0].number, kept[0].content.as_str(), kept[0].replaced_at),
        (53, "text 53", later(53))
    );
    assert_eq!((kept[49].number, kept[49].content.as_str()), (4, "text 4"));
    let next = posts::list_revisions(&mut tx, scope, id, Some(53), 1)
        .await
        .unwrap();
    assert_eq!(
        next[0],
        posts::get_revision(&mut tx, scope, id, 52).await.unwrap()
    );
    assert!(matches!(
        posts::get_revision(&mut tx, scope, id, 3).await,
        Err(Error::Missing)
    ));
}

async fn near_duplicates_are_found(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    let (a, b, away) = (
        add(&store, scope, new("a")).await,
        add(&store, scope, new("b")).await,
        add(&store, scope, {
            let mut away = new("away");
            away.post.summary.status = PostStatus::Archived;
            away
        })
        .await,
    );
    let mark = async |record: &PostRecord, marks: &'static [i64]| {
        let id = uuid(record);
        commit!(store.db, |tx| posts::save_minhash(tx, scope, id, marks).await).unwrap();
    };
    mark(&a, &[-3, 5, 7]).await;
    mark(&b, &[5, 7, 9]).await;
    mark(&away, &[5]).await;
    let alike = async |scope, except: &PostRecord, marks: &[i64]| {
        let mut tx = store.read().await;
        let found = posts::find_similar(&mut tx, scope, uuid(except), marks)
            .await
            .unwrap();
        found.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert_eq!(alike(scope, &away, &[7, 9]).await, [uuid(&b), uuid(&a)]);
    assert_eq!(alike(scope, &a, &[-3, 5, 7]).await, [uuid(&b)]);
    assert!(alike(scope, &b, &[1]).await.is_empty());
    assert!(alike(foreign, &away, &[5]).await.is_empty());
    mark(&b, &[]).await;
    assert!(alike(scope, &a, &[5]).await.is_empty());
}

async fn every_order_walks_each_post_once(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    let desk = keyword(&store, scope, "desk", None, None).await;
    let mut all = Vec::new();
    for at in 0..23_u8 {
        let mut record = new(&format!("p-{at}"));
        let summary = &mut record.post.summary;
        record.title_key = format!("title {}", (b'a' + at % 4) as char);
        summary.seo_score = (at % 3 != 0).then_some(at % 5);
        summary.scheduled_at = (at % 4 > 1).then(|| later(i64::from(at % 6)));
        summary.published_at = (at % 4 == 3).then(|| later(i64::from(at % 2)));
        if at % 2 == 0 {
            summary.status = PostStatus::Review;
            summary.keyword_id = Some(desk);
        }
        let dates = (summary.scheduled_at, summary.published_at);
        let mut stored = add(&store, scope, record).await;
        let summary = &mut stored.post.summary;
        (summary.scheduled_at, summary.published_at) = dates;
        let changed = stored.clone();
        all.push(commit!(store.db, |tx| posts::update(tx, scope, &changed, now()).await).unwrap());
    }
    add(&store, foreign, new("foreign")).await;
    let none = PostQuery {
        limit: 4,
        ..PostQuery::default()
    };
    let filters = [
        none.clone(),
        PostQuery {
            status: Some(PostStatus::Review),
            ..none.clone()
        },
        PostQuery {
            keyword: Some(desk),
            ..none.clone()
        },
        PostQuery {
            contains: Some("title b".to_owned()),
            ..none
        },
    ];
    let date = |row: &PostSummary| row.published_at.or(row.scheduled_at);
    let score = |row: &PostSummary| row.seo_score.map(i64::from);
    let title = |row: &PostSummary| {
        let stored = all.iter().find(|stored| stored.post.summary.id == row.id);
        stored.unwrap().title_key.clone()
    };
    for filter in &filters {
        let passing = all.iter().filter(|record| {
            let summary = &record.post.summary;
            filter.status.is_none_or(|status| summary.status == status)
                && filter
                    .keyword
                    .is_none_or(|keyword| summary.keyword_id == Some(keyword))
                && filter
                    .contains
                    .as_ref()
                    .is_none_or(|text| record.title_key.contains(text))
        });
        let passing: Vec<&PostSummary> = passing.map(|record| &record.post.summary).collect();
        for order in ["title", "score", "date"] {
            let mut expected = passing.clone();
            match order {
                "title" => expected.sort_by_key(|row| (title(row), row.id)),
                "score" => expected.sort_by_key(|row| std::cmp::Reverse((score(row), row.id))),
                _ => expected.sort_by_key(|row| std::cmp::Reverse((date(row), row.id))),
            }
            let (mut walked, mut last): (Vec<PostId>, Option<PostSummary>) = (Vec::new(), None);
            loop {
                let last_of = last.as_ref();
                let by = match order {
                    "title" => PostOrder::Title(last_of.map(|row| (title(row), row.id))),
                    "score" => PostOrder::Score(last_of.map(|row| (score(row), row.id))),
                    _ => PostOrder::Date(last_of.map(|row| (date(row), row.id))),
                };
                let rows = posts::list_by(&mut store.read().await, scope, filter, by)
                    .await
                    .unwrap();
                walked.extend(rows.iter().map(|row| row.id));
                last = rows.into_iter().last();
                if last.is_none() {
                    break;
                }
            }
            let expected: Vec<PostId> = expected.into_iter().map(|row| row.id).collect();
            assert_eq!(walked, expected, "{order} {filter:?}");
        }
    }
}
