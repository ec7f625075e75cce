// Verdicts of html-validate, linkinator and Lighthouse on a website. usage: validators.mjs URL FILES.json SAMPLE-URL...

import { readFile } from "node:fs/promises";
import { HtmlValidate } from "html-validate";
import { launch } from "chrome-launcher";
import lighthouse from "lighthouse";
import { LinkChecker } from "linkinator";

const [start, list, ...sample] = process.argv.slice(2);
const origin = new URL(start).origin + "/";
const files = JSON.parse(await readFile(list, "utf8"));
const verdicts = new Map();
const signs = {};

function note(check, peer, url, pages) {
  const key = `${check} ${peer}`;
  if (!verdicts.has(key)) verdicts.set(key, { check, peer, pages, fails: new Set() });
  if (url) verdicts.get(key).fails.add(url);
}

function sign(name, url) {
  (signs[name] ??= []).push(url);
}

// Rule of html-validate, what its message says, and the check that looks for the same.
const RULES = [
  ["missing-doctype", /./, "doctype-missing"],
  ["element-required-attributes", /<html>.*"lang"/, "lang-missing"],
  ["element-required-content", /<head>.*<title>/, "title-missing"],
  ["empty-heading", /./, "heading-empty"],
  ["heading-level", /can only increase/, "heading-skip"],
  ["wcag/h30", /./, "anchor-empty"],
];

async function validate() {
  const rules = Object.fromEntries(RULES.map(([rule]) => [rule, "error"]));
  const validator = new HtmlValidate({ root: true, elements: ["html5"], rules });
  for (const [, , check] of RULES) note(check, "html-validate");
  for (const [url, file] of Object.entries(files)) {
    const source = await readFile(file, "utf8");
    const report = await validator.validateString(source);
    if (!/<html/i.test(source)) sign("no html tag", url);
    if (source.match(/<h1[\s>]/gi)?.length > 1) sign("several h1", url);
    if (source.match(/<a\s/gi)?.length > 5000) sign("more than 5,000 links", url);
    for (const message of report.results.flatMap((result) => result.messages))
      for (const [rule, said, check] of RULES)
        if (message.ruleId === rule && said.test(message.message)) note(check, "html-validate", url);
  }
}

async function links() {
  for (const check of ["broken-internal-link", "http-4xx", "broken-fragment"]) note(check, "linkinator");
  const linksToSkip = async (url) => !url.startsWith(origin);
  const checker = new LinkChecker();
  const { links } = await checker.check({ path: start, recurse: true, checkFragments: true, concurrency: 8, linksToSkip });
  for (const { url, status, state, parent } of links) {
    if (state !== "BROKEN" || !url.startsWith(origin)) continue;
    if (status >= 400) {
      note("broken-internal-link", "linkinator", parent);
      note("http-4xx", "linkinator", url.split("#")[0]);
    } else if (status === 200) {
      note("broken-fragment", "linkinator", parent);
    }
  }
}

const AUDITS = {
  "meta-description": "description-missing",
  "html-has-lang": "lang-missing",
  "is-crawlable": "noindex",
  doctype: "doctype-missing",
  "crawlable-anchors": "anchor-uncrawlable",
  hreflang: "hreflang-invalid-code",
  "image-alt": "image-alt-missing",
  "html-lang-valid": "lang-invalid",
  "meta-viewport": "viewport-zoom-off",
  "unsized-images": "image-dimensions-missing",
};

// Or not shown: a style sheet says that too.
const sizedByStyle = ({ cssEffectiveRules: rules, node: { boundingRect: at } }) => (rules?.width && rules?.height) || (at.width === 0 && at.height === 0);

async function pages() {
  const chromeFlags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
  const chrome = await launch({ chromeFlags });
  try {
    for (const check of Object.values(AUDITS)) note(check, "lighthouse", undefined, sample);
    for (const url of sample) {
      const options = { port: chrome.port, onlyAudits: Object.keys(AUDITS), throttlingMethod: "provided", formFactor: "desktop", screenEmulation: { disabled: true }, disableFullPageScreenshot: true };
      const { lhr, artifacts } = await lighthouse(url, options);
      for (const [audit, check] of Object.entries(AUDITS)) {
        const { score, scoreDisplayMode } = lhr.audits[audit];
        if (scoreDisplayMode === "error") throw new Error(`${audit} of ${url}: ${lhr.audits[audit].errorMessage}`);
        if (score !== null && score < 1) note(check, "lighthouse", url);
      }
      if (artifacts.ImageElements.every(sizedByStyle)) sign("images sized by style sheets", url);
      if (artifacts.LinkElements.some(({ rel, href }) => rel === "canonical" && href && href !== url)) sign("another page is canonical", url);
    }
  } finally {
    chrome.kill();
  }
}

await validate();
await links();
if (sample.length > 0) await pages();
const said = [...verdicts.values()].map((verdict) => ({ ...verdict, fails: [...verdict.fails] }));
console.log(JSON.stringify({ pages: Object.keys(files), verdicts: said, signs }));
