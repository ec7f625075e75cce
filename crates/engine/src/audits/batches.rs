//! Batches of crawled pages as they are stored. What facts gained since the form was fixed lies behind it, so that batches
//! of older releases are read as before: they end earlier.

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

/// A batch as it is stored: what is known of the site if that changed, new URLs, pages.
pub(crate) type Saved = (Option<Origin>, Vec<Discovered>, Vec<PageFacts>);

/// What is stored behind it.
#[derive(Default, Serialize, Deserialize)]
struct Later {
    /// Of each page, in their order; of pages without HTML nothing.
    pages: Vec<Option<More>>,
    /// Of the site, if that changed.
    origin: Option<origin::More>,
    /// What pages need beside themselves, when it was asked for.
    resources: Option<Vec<Resource>>,
}

/// What is stored behind that, which is as it ever was too.
#[derive(Default, Serialize, Deserialize)]
struct Latest {
    /// Of what made-up URLs answered, if that changed.
    probes: Vec<Option<Sketch>>,
    /// Of URLs with a day, their place among those of the batch.
    days: Vec<(u32, u16)>,
    /// Of pages with any, their place, and names in their microdata that schema.org does not have.
    strange: Vec<(u32, UnknownTerms)>,
}

/// What is stored behind that, which is as it ever was as well.
#[derive(Default, Serialize, Deserialize)]
struct Dates {
    /// Of pages with any, their place, and the newest date in their text, in milliseconds since the Unix epoch.
    dated: Vec<(u32, i64)>,
}

/// What is stored behind that, and before [`placed`].
#[derive(Serialize)]
pub(super) struct Asked {
    /// By which rules; to others it says nothing.
    by: u64,
    /// What the evaluation needs of what was found on each page while the crawl went on, in their order.
    early: Vec<Option<Early>>,
}

impl Asked {
    /// Asks the pages of a batch. What is seen is not stored with it: who goes on with a crawl asks again.
    pub(super) fn of<'p>(
        asking: &Asking,
        pages: impl Iterator<Item = &'p PageFacts>,
    ) -> (Self, Vec<Noticed>) {
        let (early, noticed) = asking.of(pages);
        let by = asking.fingerprint();
        (Self { by, early }, noticed)
    }
}

/// Where a batch becomes bytes. A vector that grows from nothing is copied as many times as it doubles.
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

/// Where a batch and what is saved with it are packed, one after the other: a megabyte that is asked for anew each time costs
/// more than what is put there.
#[derive(Debug, Default)]
pub(super) struct Rooms {
    plain: Vec<u8>,
    packed: Vec<u8>,
}

/// Bytes of a room beyond which it is given back.
const MOST_KEPT: usize = 8 << 20;

impl Rooms {
    /// Something as it is stored.
    pub(super) fn pack(&mut self, what: &impl Serialize) -> Result<Vec<u8>, JobError> {
        self.plain.clear();
        write(&mut self.plain, what)?;
        self.packed()
    }

    fn packed(&mut self) -> Result<Vec<u8>, JobError> {
        let Self { plain, packed } = self;
        let most = lz4_flex::block::get_maximum_output_size(plain.len());
        // what is there from before need not be made zeros again
        packed.resize(packed.len().max(most), 0);
        let size = lz4_flex::block::compress_into(plain, packed).map_err(|e| defect("batch", e))?;
        // as `compress_prepend_size` begins it
        let whole = u32::try_from(plain.len()).map_err(|e| defect("batch", e))?;
        let data = [&whole.to_le_bytes()[..], packed.get(..size).unwrap_or_default()].concat();
        if packed.len() > MOST_KEPT {
            *self = Self::default();
        }
        Ok(data)
    }
}

/// The stored form of a batch, with what is found on its pages when that is asked already; its texts are beside it. `rooms` are
/// for the next one what they were for this one.
pub(super) fn pack(
    mut batch: Batch,
    asked: Option<Asked>,
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
        places.note(facts.id, plain.len());
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

/// What a crawl needs that goes on where it was.
pub(super) struct Again {
    pub(super) saved: Saved,
    /// What pages need beside themselves, when it was asked for.
    pub(super) resources: Option<Vec<Resource>>,
    /// What was found on the pages, if they were asked by the same rules.
    pub(super) noticed: Vec<Noticed>,
}

/// Reads all of a stored batch back.
pub(super) fn unpack_whole(data: &[u8], asking: &Asking) -> Result<Again, Failure> {
    let Whole {
        saved,
        resources,
        asked_by,
    } = read(&plain(data)?)?;
    let asked = asked_by.filter(|by| *by == asking.fingerprint());
    let noticed = asked.map(|_| asking.of(saved.2.iter()).1);
    Ok(Again {
        saved,
        resources,
        noticed: noticed.unwrap_or_default(),
    })
}

/// All that a batch says.
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

/// All that is stored behind pages.
struct Behind<'b> {
    later: Later,
    latest: Latest,
    dates: Dates,
    objects: Placed<Objects>,
    /// By which rules pages were asked, and what they know: to others that may be of another form.
    asked: Option<(u64, &'b [u8])>,
}

impl<'b> Behind<'b> {
    /// Of a batch of an older release there is less.
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

    /// What [`Asked`] knows of each page, if they were asked by these rules.
    fn early(&self, by: u64) -> Result<Vec<Option<Early>>, Failure> {
        match self.asked {
            Some((of, early)) if of == by => Ok(behind(early)?.0.unwrap_or_default()),
            _ => Ok(Vec::new()),
        }
    }

    /// Gives the page in a place what is stored behind it.
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

/// Some of its pages, which costs less than all of them; without what is stored behind them, but for a batch of an older
/// release.
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

/// The words of texts of some of its pages.
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

/// What comes next, and what is behind it; nothing where a batch of an older release ends.
fn behind<'b, T: Deserialize<'b>>(rest: &'b [u8]) -> Result<(Option<T>, &'b [u8]), Failure> {
    if rest.is_empty() {
        return Ok((None, rest));
    }
    let (next, rest) = postcard::take_from_bytes(rest).map_err(|e| defect("saved batch", e))?;
    Ok((Some(next), rest))
}
