//! Link targets of a post: indexable pages of the last audit and published posts whose keywords or titles are in its
//! text.

use std::collections::{BTreeMap, HashMap, HashSet};

use searchwright_contract::posts::{Post, PostStatus};
use searchwright_crawls::{page_texts, stored_batch::unpack};
use searchwright_keywords::{
    normalize, titles,
    words::{Lexicon, primary},
};
use searchwright_site::page::{PageFacts, UrlId};
use searchwright_store::{audits, crawls, keywords, pages, posts};
use searchwright_writing::{
    internal_links::{ANCHOR_WORDS, Candidate},
    phrases::Stems,
};

use super::super::{JobContext, JobError};

/// Candidates whose texts are compared with the post.
const MAX_CANDIDATES: usize = 200;
/// Rows asked for at once.
const ROWS: u32 = 1_000;
/// Keywords of a cluster that are looked at.
const CLUSTER: u32 = 1_000;

/// A page or post that may be linked to.
#[derive(Debug, Default)]
pub(super) struct Linkable {
    url: String,
    keywords: Vec<String>,
    text: String,
    inlinks: u32,
    same_cluster: bool,
}

impl Linkable {
    /// Returns the form in which its worth as a target is rated.
    pub(super) fn candidate(&self) -> Candidate<'_> {
        Candidate {
            url: &self.url,
            keywords: self.keywords.iter().map(String::as_str).collect(),
            text: &self.text,
            inlinks: self.inlinks,
            same_cluster: self.same_cluster,
        }
    }
}

/// Returns the count of followed links to each indexable page of the last audit, by URL; empty before the first audit.
pub(super) async fn indexable(job: &JobContext) -> Result<HashMap<String, u32>, JobError> {
    let (db, scope) = (&job.engine.db, job.leased.scope);
    let mut inlinks = HashMap::new();
    let mut query = pages::PageQuery {
        indexable: Some(true),
        limit: ROWS,
        ..pages::PageQuery::default()
    };
    loop {
        let rows = pages::list(&mut db.read().await?, scope, query.clone()).await?;
        let last = rows.last().map(|page| (page.url.clone(), page.id));
        inlinks.extend(rows.into_iter().map(|page| (page.url, page.inlinks)));
        match last {
            Some(last) => query.after = Some(last),
            None => return Ok(inlinks),
        }
    }
}

/// Text of a post, with an index of the phrases in it.
struct LinkTarget<'a> {
    post: &'a Post,
    lexicon: Lexicon,
    content: Stems,
}

impl LinkTarget<'_> {
    fn is_spoken(&self, language: &str) -> bool {
        primary(language) == primary(&self.post.summary.language)
    }

    /// Returns the phrases that can be an anchor and are in the text.
    fn found<'p>(&self, phrases: impl Iterator<Item = &'p str>) -> Vec<String> {
        let stands = |phrase: &&str| {
            let phrase = Stems::from_text(phrase, &self.lexicon);
            ANCHOR_WORDS.contains(&phrase.word_count()) && self.content.has(&phrase)
        };
        phrases.filter(stands).map(str::to_owned).collect()
    }

    /// A page that is shown, is written in the language of the post, and is named in it.
    fn page(&self, facts: &PageFacts) -> Option<Linkable> {
        let html = facts.html_200()?;
        if html
            .lang
            .as_deref()
            .is_some_and(|of_page| !self.is_spoken(of_page))
        {
            return None;
        }
        let h1s = html.headings.iter().filter(|heading| heading.level == 1);
        let names = html.titles.iter().take(1).chain(h1s.map(|heading| &heading.text));
        let keywords = self.found(names.flat_map(|name| titles::parts(name)));
        let description = html.metas.iter().find(|meta| &*meta.name == "description");
        (!keywords.is_empty()).then(|| Linkable {
            url: facts.url.to_string(),
            keywords,
            text: description
                .map(|meta| meta.content.to_string())
                .unwrap_or_default(),
            ..Linkable::default()
        })
    }
}

/// Returns the link candidates for a text of this post.
pub(super) async fn candidates(
    job: &JobContext,
    post: &Post,
    content: &str,
) -> Result<Vec<Linkable>, JobError> {
    let lexicon = Lexicon::for_language(&post.summary.language);
    let wanted = LinkTarget {
        post,
        content: Stems::from_text(content, &lexicon),
        lexicon,
    };
    let inlinks = indexable(job).await?;
    let mut found = published(job, &wanted, &inlinks).await?;
    let known: HashSet<String> = found.iter().map(|post| post.url.clone()).collect();
    found.extend(crawled(job, &wanted, &inlinks, &known).await?);
    found.retain(|page| Some(&page.url) != post.summary.published_url.as_ref());
    let cluster = cluster(job, post).await?;
    for page in &mut found {
        let is_in = |keyword: &String| cluster.contains(&wanted.lexicon.variant_key(&normalize(keyword)));
        page.same_cluster = page.keywords.iter().any(is_in);
    }
    Ok(found)
}

async fn published(
    job: &JobContext,
    wanted: &LinkTarget<'_>,
    inlinks: &HashMap<String, u32>,
) -> Result<Vec<Linkable>, JobError> {
    let (db, scope) = (&job.engine.db, job.leased.scope);
    let mut found = Vec::new();
    let mut query = posts::PostQuery {
        status: Some(PostStatus::Published),
        limit: ROWS,
        ..posts::PostQuery::default()
    };
    loop {
        let rows = posts::list(&mut db.read().await?, scope, query.clone()).await?;
        let Some(last) = rows.last().map(|post| post.id) else {
            return Ok(found);
        };
        query.before = Some(last);
        for row in rows.into_iter().filter(|row| row.id != wanted.post.summary.id) {
            let names = row.keyword.iter().chain(&row.title).map(String::as_str);
            let keywords = wanted.found(names);
            let Some(url) = row.published_url else { continue };
            if keywords.is_empty() || !wanted.is_spoken(&row.language) || found.len() == MAX_CANDIDATES {
                continue;
            }
            let record = posts::get(&mut db.read().await?, scope, row.id).await?;
            found.push(Linkable {
                inlinks: inlinks.get(&url).copied().unwrap_or_default(),
                url,
                keywords,
                text: record.post.content,
                same_cluster: false,
            });
        }
    }
}

async fn crawled(
    job: &JobContext,
    wanted: &LinkTarget<'_>,
    inlinks: &HashMap<String, u32>,
    known: &HashSet<String>,
) -> Result<Vec<Linkable>, JobError> {
    let (db, scope) = (&job.engine.db, job.leased.scope);
    let Some(audit) = audits::find_newest_finished(&mut db.read().await?, scope).await? else {
        return Ok(Vec::new());
    };
    let mut found: BTreeMap<u32, Vec<(UrlId, Linkable)>> = BTreeMap::new();
    let mut named: HashMap<String, u32> = HashMap::new();
    for number in 0.. {
        let Some(data) = crawls::find_batch(&mut db.read().await?, scope, audit, number).await? else {
            break;
        };
        let pages = unpack(&data)?.pages;
        for facts in pages.iter().filter(|facts| !known.contains(&*facts.url)) {
            let Some(inlinks) = inlinks.get(&*facts.url) else {
                continue;
            };
            let Some(mut page) = wanted.page(facts) else {
                continue;
            };
            page.inlinks = *inlinks;
            let keys: HashSet<String> = page.keywords.iter().map(|keyword| normalize(keyword)).collect();
            for key in keys {
                *named.entry(key).or_default() += 1;
            }
            found.entry(number).or_default().push((facts.id, page));
        }
        tokio::task::yield_now().await;
    }
    // A phrase that names several pages, as the name of the site does, is no topic of any of them.
    for (_, page) in found.values_mut().flatten() {
        page.keywords
            .retain(|keyword| named.get(&normalize(keyword)) == Some(&1));
    }
    let mut chosen = Vec::new();
    for (number, mut pages) in found {
        pages.retain(|(_, page)| !page.keywords.is_empty());
        pages.truncate(MAX_CANDIDATES - chosen.len());
        if pages.is_empty() {
            continue;
        }
        let mut texts = page_texts::load(db, scope, audit, number).await?;
        for (id, mut page) in pages {
            if let Some(text) = texts.remove(&id) {
                page.text = format!("{} {text}", page.text);
            }
            chosen.push(page);
        }
    }
    Ok(chosen)
}

/// Returns the keywords in the cluster of the post's keyword, in the form in which variants are compared; none without a
/// cluster.
async fn cluster(job: &JobContext, post: &Post) -> Result<HashSet<String>, JobError> {
    let (db, scope) = (&job.engine.db, job.leased.scope);
    let lexicon = Lexicon::for_language(&post.summary.language);
    let Some(keyword) = post.summary.keyword_id else {
        return Ok(HashSet::new());
    };
    let keyword = keywords::get(&mut db.read().await?, scope, keyword).await?;
    let Some(cluster) = keyword.cluster_id else {
        return Ok(HashSet::new());
    };
    let query = keywords::KeywordQuery {
        cluster: Some(cluster),
        limit: CLUSTER,
        ..keywords::KeywordQuery::default()
    };
    let keywords = keywords::list(&mut db.read().await?, scope, query).await?;
    let key = |text: &str| lexicon.variant_key(&normalize(text));
    Ok(keywords.iter().map(|keyword| key(&keyword.keyword)).collect())
}
