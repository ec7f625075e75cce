// The dashboard at Chromium: every address of a project, as owner, editor and viewer, on a phone and on a desktop, in light and in
// dark, with scripts and without. Pictures are left in `pictures`.
//
// To add a page, add its address below the project to `ADDRESSES`, or to `recordAddresses` if it is that of a record.
import { createServer } from 'node:http';
import { mkdirSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import { chromium } from 'playwright-core';
import { PASSWORD, admin, product } from './product.mjs';
import { assert, flow } from './report.mjs';

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 800 };
const WALKS = [
  { role: 'owner', size: DESKTOP, scheme: 'light', scripts: true },
  { role: 'owner', size: DESKTOP, scheme: 'dark', scripts: true },
  { role: 'owner', size: PHONE, scheme: 'light', scripts: true },
  { role: 'owner', size: PHONE, scheme: 'dark', scripts: false },
  { role: 'editor', size: DESKTOP, scheme: 'light', scripts: true },
  { role: 'viewer', size: PHONE, scheme: 'dark', scripts: true },
];
const MAX_BYTES = 150_000;
const SECTIONS = ['', '/audits', '/issues', '/pages', '/keywords', '/posts', '/calendar', '/approvals', '/visibility', '/brand', '/integrations', '/webhooks', '/activity'];
const SETTINGS = ['', '/keys', '/members', '/autonomy', '/providers', '/autopilot', '/schedules', '/checks', '/notices', '/shares', '/connect'];
const ADDRESSES = [...SECTIONS, ...SETTINGS.map((name) => `/settings${name}`)];
const FORBIDDEN_TO_VIEWERS = ['/settings/keys'];
// Text of a website that must stay text.
const HOSTILE = '"><img src=x onerror=document.title=1> <script>document.title=1</script> \u202e' + 'W'.repeat(3_000);
const PAGES = 40;

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

// A website with faults: broken links, titles that are missing, too long or hostile.
function startWebsite() {
  const document = (title, links) =>
    `<!doctype html><html lang="en"><head><title>${escaped(title)}</title></head><body><h1>${escaped(title.slice(0, 60))}</h1><p>What people ask about desks.</p>${links.map((link) => `<a href="${link}">More of ${link}</a>`).join(' ')}</body></html>`;
  const numbers = Array.from({ length: PAGES }, (_, number) => number);
  const server = createServer((request, response) => {
    const number = Number(/^\/desks\/(\d+)$/.exec(request.url)?.[1] ?? Number.NaN);
    const page =
      request.url === '/'
        ? document('Desks of oak', ['/hostile', ...numbers.map((n) => `/desks/${n}`)])
        : request.url === '/hostile'
          ? document(HOSTILE, ['/'])
          : number < PAGES
            ? document(number % 4 ? `Desk number ${number}` : '', ['/', `/gone/${number % 7}`])
            : null;
    response.writeHead(page ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
    response.end(page ?? 'not here');
  });
  return new Promise((done) => server.listen(product.site, '127.0.0.1', () => done(server)));
}

// The API with a key of the project.
class Api {
  constructor(project, key) {
    this.root = `${product.api}/projects/${project}`;
    this.headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  }

  async call(method, path, body) {
    const options = { method, headers: this.headers, body: body && JSON.stringify(body) };
    const response = await fetch(this.root + path, options);
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
    return text && JSON.parse(text);
  }

  async audit() {
    const { job } = await this.call('POST', '/audits', {});
    for (;;) {
      const { status } = await this.call('GET', `/jobs/${job.id}`);
      if (!['queued', 'running'].includes(status)) return assert.equal(status, 'succeeded');
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}

// Fills the project, and returns the addresses of its records.
async function recordAddresses(api) {
  await api.audit();
  await api.audit();
  const keyword = await api.call('POST', '/keywords', { keyword: 'standing desk <b>oak</b>' });
  const post = await api.call('POST', '/posts', { title: 'How to choose a <i>desk</i>', keywordId: keyword.id, content: 'A desk should fit you.\n\n## How high?\n\nAs high as your elbows.' });
  await api.call('POST', '/webhooks', { targetUrl: 'https://example.com/hook', event: 'issue.opened' });
  const { data: hooks } = await api.call('GET', '/webhooks');
  const { data: issues } = await api.call('GET', '/issues?limit=100');
  const { data: pages } = await api.call('GET', '/pages?q=hostile');
  const { data: audits } = await api.call('GET', '/audits');
  return [`/issues/${issues[0].id}`, `/issues/${issues.at(-1).id}`, `/pages/${pages[0].id}`, `/audits/${audits[0].id}`, `/posts/${post.id}`, `/webhooks/${hooks[0].id}`];
}

async function inspect(page, path, { scripts }) {
  const complaints = [];
  const listen = (message) => message.type() === 'error' && complaints.push(message.text());
  page.on('console', listen);
  const response = await page.goto(product.origin + path);
  assert.equal(response.status(), 200);
  const size = (await response.body()).length;
  assert.ok(size <= MAX_BYTES, `${size} bytes`);
  const policy = response.headers()['content-security-policy'];
  assert.ok(policy.includes("default-src 'none'") && !policy.includes('unsafe'), policy);
  assert.deepEqual(complaints, [], 'the browser complains');
  page.off('console', listen);
  const seen = await page.evaluate(() => ({
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    headings: document.querySelectorAll('h1').length,
    styled: document.querySelectorAll('[style]').length,
    isHostile: document.title === '1' || document.querySelector('main img') !== null,
  }));
  assert.deepEqual(seen, { overflow: Math.min(seen.overflow, 0), headings: 1, styled: 0, isHostile: false });
  if (!scripts) return;
  // Previews are frames in which no script runs, so axe stays out of them.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ').slice(0, 200)}`);
  assert.deepEqual(found, [], 'axe');
}

const browser = await chromium.launch({ executablePath: process.env.PEOPLE_CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
const website = await startWebsite();
const project = admin(['project', 'create', '--name', 'Desks & more', '--domain', `http://127.0.0.1:${product.site}`]);
const { key } = admin(['key', 'create', '--project', project.id, '--name', 'walk']);
const api = new Api(project.id, key);
const records = await recordAddresses(api);
for (const role of ['owner', 'editor', 'viewer']) {
  admin(['user', 'create', '--email', `${role}@example.com`, '--name', role, '--role', role, '--password-stdin'], PASSWORD);
}
mkdirSync('pictures', { recursive: true });
for (const walk of WALKS) {
  const { role, size, scheme, scripts } = walk;
  const name = `dashboard, ${role}, ${size.width} px, ${scheme}, scripts ${scripts ? 'on' : 'off'}`;
  await flow(name, async (check) => {
    const context = await browser.newContext({ viewport: size, colorScheme: scheme, javaScriptEnabled: scripts });
    const page = await context.newPage();
    await check('signs in', async () => {
      await page.goto(`${product.origin}/login`);
      await page.getByLabel('Email').fill(`${role}@example.com`);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
    });
    const below = [...ADDRESSES, ...records].filter((path) => role === 'owner' || !FORBIDDEN_TO_VIEWERS.includes(path));
    for (const path of ['/projects', '/account', '/docs', ...below.map((rest) => `/projects/${project.id}${rest}`)]) {
      const shown = path.replace(project.id, 'P');
      await check.alone(shown, async () => {
        try {
          if (path !== '/docs') await inspect(page, path, walk);
          else await page.goto(product.origin + path);
        } finally {
          const file = `${shown.replaceAll('/', '_').slice(1, 60)}-${role}-${size.width}-${scheme}.png`;
          await page.screenshot({ path: `pictures/${file}`, fullPage: path !== '/docs' });
        }
      });
    }
    await context.close();
  });
}
website.close();
await browser.close();
