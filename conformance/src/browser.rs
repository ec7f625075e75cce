//! The HTML of posts in a real browser: whatever the sanitiser leaves of a text that attacks its reader is
//! shown, touched and watched, and so is the same text without the sanitiser, so that silence means something.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
};

use anyhow::{Result, anyhow, bail, ensure};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde::Deserialize;
use serde_json::{Value, json};
use xtask::packages;

use super::chromium::{Chromium, Tab};

/// Address that every text is shown at; nobody serves it.
const PAGE: &str = "http://page.test/";

const BROWSER_COUNT: usize = 4;

/// Part of the vectors that has to do something without the sanitiser, in percent. Many were made for browsers of
/// long ago.
const MIN_ACTIVE_PERCENT: usize = 60;

#[derive(Deserialize)]
struct SanitisedVector {
    vector: String,
    raw: BTreeSet<String>,
    clean: BTreeSet<String>,
}

/// Way in which a text comes into a page.
#[derive(Clone, Copy, Debug)]
enum RenderMode {
    /// As the document.
    Document,
    /// By `innerHTML`.
    InnerHtml,
}

/// Shows every vector with and without the sanitiser; fails if one does anything, or if too few would.
pub(crate) fn check() -> Result<()> {
    let folder = xtask::target().join("peers/browser");
    fs::create_dir_all(&folder)?;
    packages::ensure("chromium", "chromium")?;
    let texts = load_vectors()?;
    let clean: BTreeSet<&str> = texts
        .iter()
        .flat_map(|text| text.clean.iter().map(String::as_str))
        // text that has no tag is text
        .filter(|html| html.contains('<'))
        .collect();
    let clean: Vec<_> = clean.into_iter().collect();
    let faults: Vec<String> = run_in_parallel(&clean, &folder, |chromium, html| {
        let seen = [
            render(chromium, html, RenderMode::Document)?,
            render(chromium, html, RenderMode::InnerHtml)?,
        ]
        .concat();
        Ok((!seen.is_empty()).then(|| format!("{html:?}: {}", seen.join(", "))))
    })?;
    let vectors: Vec<&SanitisedVector> = texts.iter().filter(|text| !text.raw.is_empty()).collect();
    let silent: Vec<String> = run_in_parallel(&vectors, &folder, |chromium, text| {
        for html in &text.raw {
            for mode in [RenderMode::Document, RenderMode::InnerHtml] {
                if !render(chromium, html, mode)?.is_empty() {
                    return Ok(None);
                }
            }
        }
        Ok(Some(text.vector.clone()))
    })?;
    fs::write(folder.join("silent.txt"), silent.join("\n"))?;
    let acted = vectors.len() - silent.len();
    eprintln!(
        "sanitised: {} of {} texts did something",
        faults.len(),
        clean.len()
    );
    eprintln!(
        "not sanitised: {acted} of {} vectors did something; the others are in {}",
        vectors.len(),
        folder.join("silent.txt").display()
    );
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    ensure!(
        acted * 100 >= vectors.len() * MIN_ACTIVE_PERCENT,
        "too few vectors do something without the sanitiser to trust this"
    );
    Ok(())
}

/// Calls `judge` for every item in a few browsers at once, because most of the time is spent waiting for frames, and returns
/// the faults.
fn run_in_parallel<T: Sync>(
    items: &[T],
    folder: &Path,
    judge: impl Fn(&mut Chromium, &T) -> Result<Option<String>> + Sync,
) -> Result<Vec<String>> {
    let judge = &judge;
    thread::scope(|scope| {
        let part = items.len().div_ceil(BROWSER_COUNT).max(1);
        let workers: Vec<_> = items
            .chunks(part)
            .enumerate()
            .map(|(number, part)| {
                scope.spawn(move || {
                    let mut chromium = Chromium::start(&folder.join(number.to_string()))?;
                    part.iter()
                        .filter_map(|item| judge(&mut chromium, item).transpose())
                        .collect::<Result<Vec<_>>>()
                })
            })
            .collect();
        let mut said = Vec::new();
        for worker in workers {
            said.extend(
                worker
                    .join()
                    .map_err(|_| anyhow!("a browser's thread panicked"))??,
            );
        }
        Ok(said)
    })
}

/// The vectors and what the product makes of them.
fn load_vectors() -> Result<Vec<SanitisedVector>> {
    let mut command = Command::new(xtask::cargo());
    command
        .args(["run", "--quiet", "--package", "searchwright-writing"])
        .args(["--example", "sanitised_vectors"])
        .current_dir(xtask::workspace());
    let output = command.stderr(Stdio::inherit()).output()?;
    ensure!(
        output.status.success(),
        "the vectors ended with {}",
        output.status
    );
    String::from_utf8(output.stdout)?
        .lines()
        .map(|line| Ok(serde_json::from_str(line)?))
        .collect()
}

/// Renders a text and returns the actions of the page. A page that stayed quiet shows the next one too; making a page takes as long as showing one.
fn render(chromium: &mut Chromium, html: &str, mode: RenderMode) -> Result<Vec<String>> {
    let tab = match chromium.tab.take() {
        Some(tab) => tab,
        None => chromium.open()?,
    };
    let mut page = PageObserver {
        tab,
        chromium,
        document: None,
        loaded: false,
        requests: Vec::new(),
        journeys: Vec::new(),
        seen: BTreeSet::new(),
    };
    page.visit(html, mode)?;
    let (tab, seen) = (page.tab, page.seen);
    if seen.is_empty() {
        chromium.tab = Some(tab);
    } else {
        chromium.call(None, "Target.closeTarget", &json!({ "targetId": tab.target }))?;
    }
    Ok(seen.into_iter().collect())
}

struct PageObserver<'c> {
    chromium: &'c mut Chromium,
    tab: Tab,
    document: Option<String>,
    loaded: bool,
    requests: Vec<(String, String)>,
    journeys: Vec<(String, String)>,
    seen: BTreeSet<String>,
}

impl PageObserver<'_> {
    fn visit(&mut self, html: &str, mode: RenderMode) -> Result<()> {
        let document = match mode {
            RenderMode::Document => html,
            RenderMode::InnerHtml => "",
        };
        self.document = Some(format!(
            "<!doctype html><meta charset=utf-8><link rel=icon href=data:,><body>{document}"
        ));
        self.call("Page.navigate", &json!({ "url": PAGE })).map(drop)?;
        while !self.loaded {
            let message = self.chromium.receive()?;
            self.handle_event(&message)?;
        }
        let touched = self.interact(html, mode)?;
        let named = |kind: &str, address: &str| {
            touched
                .as_ref()
                .and_then(|touched| touched[kind].as_array())
                .is_some_and(|known| {
                    known
                        .iter()
                        .any(|known| known.as_str() == address.split('#').next())
                })
        };
        for (kind, address) in &self.requests {
            let allowed = match kind.as_str() {
                "Image" => named("images", address),
                "Document" => named("links", address),
                _ => false,
            };
            if !allowed {
                self.seen.insert(format!("asks for {kind} {address}"));
            }
        }
        for (reason, address) in &self.journeys {
            if reason != "anchorClick" || !named("links", address) {
                self.seen.insert(format!("goes to {address} by {reason}"));
            }
        }
        if touched.is_none() {
            self.seen.insert("is gone".to_owned());
        }
        Ok(())
    }

    /// Does what a reader could; what the page names, or none if it went away meanwhile.
    fn interact(&mut self, html: &str, mode: RenderMode) -> Result<Option<Value>> {
        let frame = json!({ "frameId": self.tab.target });
        let world = self.call("Page.createIsolatedWorld", &frame)?;
        let Ok(world) = world else { return Ok(None) };
        let context = world["executionContextId"].clone();
        if matches!(mode, RenderMode::InnerHtml) {
            let insert = format!(
                "document.body.appendChild(document.createElement('div')).innerHTML = {}; new Promise((done) => setTimeout(done, 10))",
                serde_json::to_string(html)?
            );
            if self.evaluate(&context, &insert)?.is_none() {
                return Ok(None);
            }
        }
        let touch = format!("({})()", include_str!("browser/interaction.js").trim_end());
        let Some(touched) = self.evaluate(&context, &touch)? else {
            return Ok(None);
        };
        for (number, middle) in touched["middles"].as_array().into_iter().flatten().enumerate() {
            for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
                // a click of `browser/interaction.js` is as good, a pointer that moves is not
                if kind == "mouseMoved" || number == 0 {
                    let mouse = json!({
                        "type": kind, "x": middle["x"], "y": middle["y"], "button": "left", "clickCount": 1,
                    });
                    self.call("Input.dispatchMouseEvent", &mouse)?.ok();
                }
            }
        }
        self.evaluate(&context, "new Promise((done) => setTimeout(done, 10))")?;
        Ok(Some(touched))
    }

    /// The value of an expression in our own world, waited for; none if the page has gone.
    fn evaluate(&mut self, context: &Value, expression: &str) -> Result<Option<Value>> {
        let parameters = json!({
            "expression": expression, "contextId": context,
            "awaitPromise": true, "returnByValue": true, "userGesture": true,
        });
        let Ok(mut answer) = self.call("Runtime.evaluate", &parameters)? else {
            return Ok(None);
        };
        if let Some(thrown) = answer.get("exceptionDetails") {
            bail!("our own script fails: {thrown}");
        }
        Ok(Some(answer["result"]["value"].take()))
    }

    /// The page's answer, or its refusal; handles the events before it.
    fn call(&mut self, method: &str, parameters: &Value) -> Result<Result<Value, Value>> {
        let id = self.chromium.send(Some(&self.tab.session), method, parameters)?;
        loop {
            let mut message = self.chromium.receive()?;
            if message["id"] == id {
                return Ok(match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].take()),
                });
            }
            self.handle_event(&message)?;
        }
    }

    fn handle_event(&mut self, message: &Value) -> Result<()> {
        let parameters = &message["params"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match message["method"].as_str().unwrap_or_default() {
            "Target.targetCreated" if parameters["targetInfo"]["openerId"].is_string() => {
                self.seen.insert("opens a window".to_owned());
                let target = json!({ "targetId": parameters["targetInfo"]["targetId"] });
                self.chromium.send(None, "Target.closeTarget", &target)?;
            }
            _ if message["sessionId"] != self.tab.session.as_str() => {}
            "Fetch.requestPaused" => self.answer_request(parameters)?,
            // every script of the page is parsed before it runs: elements, handlers and addresses alike
            "Debugger.scriptParsed" | "Debugger.scriptFailedToParse"
                if parameters["executionContextAuxData"]["isDefault"] == true =>
            {
                self.seen.insert("runs a script".to_owned());
            }
            "Page.javascriptDialogOpening" => {
                self.seen.insert("opens a dialog".to_owned());
                let accept = json!({ "accept": true });
                self.chromium
                    .send(Some(&self.tab.session), "Page.handleJavaScriptDialog", &accept)?;
            }
            "Page.frameAttached" => {
                self.seen.insert("has a frame".to_owned());
            }
            "Page.frameRequestedNavigation" => self
                .journeys
                .push((text(&parameters["reason"]), text(&parameters["url"]))),
            "Page.loadEventFired" => self.loaded = true,
            "Inspector.targetCrashed" => bail!("the page crashed"),
            _ => {}
        }
        Ok(())
    }

    /// Gives the page its document, and nothing to anybody after that.
    fn answer_request(&mut self, paused: &Value) -> Result<()> {
        let (id, address) = (&paused["requestId"], paused["request"]["url"].as_str());
        let kind = paused["resourceType"].as_str().unwrap_or_default();
        if address == Some(PAGE)
            && let Some(document) = self.document.take()
        {
            let answer = json!({
                "requestId": id, "responseCode": 200, "body": BASE64_STANDARD.encode(document),
                "responseHeaders": [{ "name": "Content-Type", "value": "text/html; charset=utf-8" }],
            });
            self.chromium
                .send(Some(&self.tab.session), "Fetch.fulfillRequest", &answer)?;
            return Ok(());
        }
        self.requests
            .push((kind.to_owned(), address.unwrap_or_default().to_owned()));
        // an aborted journey leaves the page where it is
        let reason = if kind == "Document" { "Aborted" } else { "Failed" };
        let refusal = json!({ "requestId": id, "errorReason": reason });
        self.chromium
            .send(Some(&self.tab.session), "Fetch.failRequest", &refusal)?;
        Ok(())
    }
}
