//! Stored form of batches of crawled pages. Fields that were added after the first form was fixed follow it, so that older
//! batches can still be read: they end earlier.

mod few;
mod placed;
mod places;
#[cfg(test)]
mod tests;

use postcard::{ser_flavors::Flavor, serialize_with_flavor};
use searchwright_site::{
    checks::{Asking, Early, Noticed},
    crawl::{Batch, CrawledPage, Discovered},
    origin::{self, Origin},
    page::{More, Objects, PageFacts, UnknownTerms, UrlId},
    resources::Resource,
};
use searchwright_store::crawls::PackedBatch;
use searchwright_text::{minhash::Sketch, shingles::Tokens};
use serde::{Deserialize, Serialize};

pub(super) use self::few::Few;
use self::{placed::Placed, places::Places};
use crate::{
    failure::{Failure, defect},
    jobs::JobError,
};

/// First part of a stored batch: the facts about the site if they changed, new URLs, pages.
pub(crate) type Saved = (Option<Origin>, Vec<Discovered>, Vec<PageFacts>);

/// Second part, after [`Saved`].
#[derive(Default, Serialize, Deserialize)]
struct Later {
    /// Further facts of each page, in their order; `None` for pages without HTML.
    pages: Vec<Option<More>>,
    /// Further facts of the site, if they changed.
    origin: Option<origin::More>,
    /// Resources that pages need, if they were requested.
    resources: Option<Vec<Resource>>,
}

/// Third part, after [`Later`].
#[derive(Default, Serialize, Deserialize)]
struct Latest {
    /// Sketches of the answers to made-up URLs, if the facts about the site changed.
    probes: Vec<Option<Sketch>>,
    /// New URLs with a date: their place among those of the batch, and the day.
    days: Vec<(u32, u16)>,
    /// Pages with microdata names that schema.org does not have: their place in the batch, and the names.
    strange: Vec<(u32, UnknownTerms)>,
}

/// Fourth part, after [`Latest`].
#[derive(Default, Serialize, Deserialize)]
struct Dates {
    /// Pages with a date in their text: their place in the batch, and the newest date, in milliseconds since the Unix epoch.
    dated: Vec<(u32, i64)>,
}

/// Fifth part, after [`Dates`] and before [`placed`]: results of the checks that ran during the crawl.
#[derive(Serialize)]
pub(super) struct EarlyAnswers {
    /// Fingerprint of the rules; results are ignored under other rules.
    by: u64,
    /// Results that the later evaluation needs, for each page, in their order.
    early: Vec<Option<Early>>,
}

impl EarlyAnswers {
    /// Runs the early checks on the pages of a batch. The findings are returned and not stored with it: a resumed crawl runs the
    /// checks again.
    pub(super) fn evaluate<'p>(
        asking: &Asking,
        pages: impl Iterator<Item = &'p PageFacts>,
    ) -> (Self, Vec<Noticed>) {
        let (early, noticed) = asking.evaluate(pages);
        let by = asking.fingerprint();
        (Self { by, early }, noticed)
    }
}

/// Buffer into which postcard writes. It is reused, because an empty vector is copied each time it doubles.
struct Room(Vec<u8>);

impl Flavor for Room {
    type Output = Vec<u8>;

    fn try_extend(&mut self, data: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(data);
        Ok(())
    }

    fn try_push(&mut self, data: u8) -> postcard::Result<()> {
        self.0.push(data);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}

/// Buffers in which batches and what is saved with them are packed, one after the other. They are reused, because allocating a
/// megabyte each time costs more than filling it.
#[derive(Debug, Default)]
pub(super) struct Rooms {
    plain: Vec<u8>,
    packed: Vec<u8>,
}

/// Bytes above which a buffer is freed after use.
const MOST_KEPT: usize = 8 << 20;

impl Rooms {
    /// Returns the stored form of a value: postcard, then LZ4 with its size before it.
    pub(super) fn pack(&mut self, what: &impl Serialize) -> Result<Vec<u8>, JobError> {
        self.plain.clear();
        write(&mut self.plain, what)?;
        self.packed()
    }

    fn packed(&mut self) -> Result<Vec<u8>, JobError> {
        let Self { plain, packed } = self;
        let most = lz4_flex::block::get_maximum_output_size(plain.len());
        // bytes from before need not be zeroed again
        packed.resize(packed.len().max(most), 0);
        let size = lz4_flex::block::compress_into(plain, packed).map_err(|e| defect("batch", e))?;
        // the same header as `compress_prepend_size` writes
        let whole = u32::try_from(plain.len()).map_err(|e| defect("batch", e))?;
        let data = [&whole.to_le_bytes()[..], packed.get(..size).unwrap_or_default()].concat();
        if packed.len() > MOST_KEPT {
            *self = Self::default();
        }
        Ok(data)
    }
}

/// Returns the stored form of a batch, with the results of early checks if they have run. Its texts are stored separately.
/// `rooms` can be reused for the next batch.
pub(super) fn pack(
    mut batch: Batch,
    asked: Option<EarlyAnswers>,
    rooms: &mut Rooms,
) -> Result<PackedBatch, JobError> {
    let mores = batch.pages.iter_mut().map(|page| {
        let html = page.facts.html.as_mut()?;
        Some(std::mem::take(&mut html.more))
    });
    let later = Later {
        pages: mores.collect(),
        origin: batch.origin.as_ref().map(|origin| origin.more.clone()),
        resources: batch.resources.take(),
    };
    let probes = batch.origin.iter().flat_map(|origin| &origin.probes);
    let strange = |(place, page): (u32, &CrawledPage)| {
        let strange = &page.facts.html.as_ref()?.strange;
        (!strange.is_empty()).then(|| (place, strange.clone()))
    };
    let latest = Latest {
        strange: (0..).zip(&batch.pages).filter_map(strange).collect(),
        probes: probes.map(|probe| probe.sketch).collect(),
        days: (0..)
            .zip(batch.discovered.iter().map(|url| url.day))
            .filter(|(_, day)| *day > 0)
            .collect(),
    };
    let dated = |(place, page): (u32, &CrawledPage)| Some((place, page.facts.html.as_ref()?.dated?));
    let dates = Dates {
        dated: (0..).zip(&batch.pages).filter_map(dated).collect(),
    };
    let plain = &mut rooms.plain;
    plain.clear();
    write(plain, &(&batch.origin, &batch.discovered, batch.pages.len()))?;
    let mut places = Places::default();
    for CrawledPage { facts, .. } in &batch.pages {
        places.insert(facts.id, plain.len());
        write(plain, facts)?;
    }
    write(plain, &later)?;
    write(plain, &latest)?;
    write(plain, &dates)?;
    if let Some(asked) = asked {
        write(plain, &asked)?;
    }
    placed::write(plain, &batch.pages)?;
    places.write(plain);
    Ok(PackedBatch {
        data: rooms.packed()?,
        ..PackedBatch::default()
    })
}

fn write(plain: &mut Vec<u8>, what: &impl Serialize) -> Result<(), JobError> {
    let room = Room(std::mem::take(plain));
    *plain = serialize_with_flavor(what, room).map_err(|e| defect("batch", e))?;
    Ok(())
}

/// Reads a stored batch back.
pub(crate) fn unpack(data: &[u8]) -> Result<Saved, Failure> {
    Ok(read(&plain(data)?)?.saved)
}

/// A stored batch as a resumed crawl needs it.
pub(super) struct Again {
    pub(super) saved: Saved,
    /// Resources that pages need, if they were requested.
    pub(super) resources: Option<Vec<Resource>>,
    /// Findings of early checks on the pages, if these ran under the same rules.
    pub(super) noticed: Vec<Noticed>,
}

/// Reads a whole stored batch back, and runs the early checks again if they ran under the same rules.
pub(super) fn unpack_whole(data: &[u8], asking: &Asking) -> Result<Again, Failure> {
    let Whole {
        saved,
        resources,
        asked_by,
    } = read(&plain(data)?)?;
    let asked = asked_by.filter(|by| *by == asking.fingerprint());
    let noticed = asked.map(|_| asking.evaluate(saved.2.iter()).1);
    Ok(Again {
        saved,
        resources,
        noticed: noticed.unwrap_or_default(),
    })
}

/// Everything in a stored batch.
struct Whole {
    saved: Saved,
    resources: Option<Vec<Resource>>,
    asked_by: Option<u64>,
}

fn plain(data: &[u8]) -> Result<Vec<u8>, Failure> {
    lz4_flex::decompress_size_prepended(data).map_err(|e| defect("saved batch", e))
}

fn read(plain: &[u8]) -> Result<Whole, Failure> {
    let (before, objects, tokens) = placed::split(places::split(plain).0)?;
    let (mut saved, rest): (Saved, _) =
        postcard::take_from_bytes(before).map_err(|e| defect("saved batch", e))?;
    let mut behind = Behind::read(rest, objects)?;
    for (place, page) in saved.2.iter_mut().enumerate() {
        behind.complete(page, place);
    }
    for (place, tokens) in tokens.read()? {
        if let Some(html) = saved
            .2
            .get_mut(place as usize)
            .and_then(|page| page.html.as_mut())
        {
            html.tokens = Some(Box::new(tokens));
        }
    }
    if let (Some(origin), Some(more)) = (&mut saved.0, behind.later.origin) {
        origin.more = more;
    }
    if let Some(origin) = &mut saved.0 {
        for (probe, sketch) in origin.probes.iter_mut().zip(behind.latest.probes) {
            probe.sketch = sketch;
        }
    }
    for (place, day) in behind.latest.days {
        if let Some(url) = saved.1.get_mut(place as usize) {
            url.day = day;
        }
    }
    Ok(Whole {
        saved,
        resources: behind.later.resources,
        asked_by: behind.asked.map(|(by, _)| by),
    })
}

/// Everything that is stored after the pages.
struct Behind<'b> {
    later: Later,
    latest: Latest,
    dates: Dates,
    objects: Placed<Objects>,
    /// Fingerprint of the rules of early checks, and their results; under other rules these may have another form.
    asked: Option<(u64, &'b [u8])>,
}

impl<'b> Behind<'b> {
    /// Reads the parts after the pages; an older batch has fewer, and the rest is empty.
    fn read(rest: &'b [u8], objects: Placed<Objects>) -> Result<Self, Failure> {
        let (later, rest): (Option<Later>, _) = behind(rest)?;
        let (latest, rest): (Option<Latest>, _) = behind(rest)?;
        let (dates, rest): (Option<Dates>, _) = behind(rest)?;
        let (by, rest): (Option<u64>, _) = behind(rest)?;
        Ok(Self {
            later: later.unwrap_or_default(),
            latest: latest.unwrap_or_default(),
            dates: dates.unwrap_or_default(),
            objects,
            asked: by.map(|by| (by, rest)),
        })
    }

    /// Returns the results in [`Asked`], one per page, if they were made under these rules; else none.
    fn early(&self, by: u64) -> Result<Vec<Option<Early>>, Failure> {
        match self.asked {
            Some((of, early)) if of == by => Ok(behind(early)?.0.unwrap_or_default()),
            _ => Ok(Vec::new()),
        }
    }

    /// Adds to the page at this place the facts that are stored after the pages.
    fn complete(&mut self, page: &mut PageFacts, place: usize) {
        let Some(html) = page.html.as_deref_mut() else {
            return;
        };
        if let Some(more) = self.later.pages.get_mut(place).and_then(Option::take) {
            html.more = more;
        }
        let Ok(place) = u32::try_from(place) else { return };
        let strange = &mut self.latest.strange;
        if let Ok(at) = strange.binary_search_by_key(&place, |(place, _)| *place) {
            html.strange = std::mem::take(&mut strange[at].1);
        }
        let dated = &self.dates.dated;
        if let Ok(at) = dated.binary_search_by_key(&place, |(place, _)| *place) {
            html.dated = Some(dated[at].1);
        }
        let objects = &mut self.objects;
        if let Ok(at) = objects.binary_search_by_key(&place, |(place, _)| *place) {
            html.objects = Some(Box::new(std::mem::take(&mut objects[at].1)));
        }
    }
}

/// Reads some pages of a batch, which costs less than all of them. They lack the facts that are stored after the pages, except
/// in a batch of an older release, which is read whole.
pub(crate) fn unpack_some(data: &[u8], wanted: impl Fn(UrlId) -> bool) -> Result<Vec<PageFacts>, Failure> {
    let plain = plain(data)?;
    let (_, Some(places)) = places::split(&plain) else {
        let (_, _, mut pages) = unpack(data)?;
        pages.retain(|page| wanted(page.id));
        return Ok(pages);
    };
    let pages = places.filter(|(id, _)| wanted(*id));
    pages.map(|(_, at)| Ok(few::page(&plain, at)?.0)).collect()
}

/// Reads the words of the texts of some pages of a batch.
pub(super) fn unpack_tokens(
    data: &[u8],
    wanted: impl Fn(UrlId) -> bool,
) -> Result<Vec<(UrlId, Tokens)>, Failure> {
    let plain = plain(data)?;
    // a batch of an older release has none
    let (before, Some(places)) = places::split(&plain) else {
        return Ok(Vec::new());
    };
    let ids: Vec<UrlId> = places.map(|(id, _)| id).collect();
    let tokens = placed::split(before)?.2.read()?.into_iter();
    let of_pages = tokens.filter_map(|(place, tokens)| Some((*ids.get(place as usize)?, tokens)));
    Ok(of_pages.filter(|(id, _)| wanted(*id)).collect())
}

/// Reads the next part and returns it with the rest; `None` where a batch of an older release ends.
fn behind<'b, T: Deserialize<'b>>(rest: &'b [u8]) -> Result<(Option<T>, &'b [u8]), Failure> {
    if rest.is_empty() {
        return Ok((None, rest));
    }
    let (next, rest) = postcard::take_from_bytes(rest).map_err(|e| defect("saved batch", e))?;
    Ok((Some(next), rest))
}
