// People who work on the dashboard at Chromium, with scripts and without: an audit that is watched, a fault that is marked,
// rechecked and proven fixed, keywords, a post that two people edit, a key, and what a viewer is not offered.
import { createServer } from 'node:http';
import { chromium } from 'playwright-core';
import { PASSWORD, admin, product } from './product.mjs';
import { assert, flow } from './report.mjs';

const browser = await chromium.launch({ executablePath: process.env.PEOPLE_CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
const port = product.site;
const website = { pages: {} };
const server = createServer((request, response) => {
  const links = website.pages[request.url];
  response.writeHead(links ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
  const anchors = (links ?? []).map((link) => `<a href="${link}">About ${link}</a>`).join(' ');
  response.end(`<!doctype html><html lang="en"><title>Desks at ${request.url}</title><h1>Desks</h1><p>What people ask.</p>${anchors}</html>`);
});
await new Promise((done) => server.listen(port, '127.0.0.1', done));

async function signIn(context, email) {
  const page = await context.newPage();
  await page.goto(`${product.origin}/login`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
  return page;
}

const press = (page, name) => page.getByRole('button', { name, exact: true }).first().click();

for (const scripts of [true, false]) {
  const word = scripts ? 'on' : 'off';
  await flow(`dashboard at work, scripts ${word}`, async (check) => {
    const project = admin(['project', 'create', '--name', `Desks ${word}`, '--domain', `http://127.0.0.1:${port}`]);
    const { key } = admin(['key', 'create', '--project', project.id, '--name', 'walk']);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const call = async (method, path, body, more = {}) => {
      const options = { method, headers: { ...headers, ...more }, body: body && JSON.stringify(body) };
      const response = await fetch(`${product.api}/projects/${project.id}${path}`, options);
      assert.ok(response.ok, `${method} ${path}: ${response.status}`);
      return { json: await response.json(), etag: response.headers.get('etag') };
    };
    for (const role of ['owner', 'viewer']) {
      admin(['user', 'create', '--email', `${role}-${word}@example.com`, '--name', role, '--role', role, '--password-stdin'], PASSWORD);
    }
    website.pages = { '/': ['/a', '/b', '/c', '/d'], '/a': ['/gone'], '/b': ['/gone'], '/c': ['/gone'], '/d': ['/gone'] };
    const context = await browser.newContext({ javaScriptEnabled: scripts });
    const page = await signIn(context, `owner-${word}@example.com`);
    page.setDefaultTimeout(30_000);
    const at = `${product.origin}/projects/${project.id}`;

    await check('an audit is started and its end is seen without a click', async () => {
      await page.goto(`${at}/audits`);
      await press(page, 'Run an audit now');
      await page.getByText('Health', { exact: false }).first().waitFor();
      await page.locator('#audit .stats, #audit dl, #audit svg').first().waitFor();
    });

    await check('a range of rows is ticked with Shift, and marked as done', async () => {
      await page.goto(`${at}/issues`);
      await page.getByRole('link', { name: 'Broken internal link' }).first().click();
      const boxes = page.locator('tbody td.tick input');
      assert.equal(await boxes.count(), 4);
      if (scripts) {
        await boxes.nth(0).click();
        await boxes.nth(3).click({ modifiers: ['Shift'] });
        await page.getByText('4 selected').first().waitFor();
      } else {
        for (const row of [0, 1, 2, 3]) await boxes.nth(row).check();
      }
      await press(page, 'Mark as done');
      await page.getByRole('status').waitFor();
    });

    await check('a recheck proves what was corrected, and only that', async () => {
      website.pages = { ...website.pages, '/a': [], '/b': [] };
      await page.goto(`${at}/issues`);
      await press(page, 'Recheck what is marked as done');
      await page.getByText('2 resolved').first().waitFor();
      const { json } = await call('GET', '/issues?limit=100');
      const issue = json.data.find((row) => row.checkId === 'broken-internal-link');
      const states = (await call('GET', `/issues/${issue.id}/occurrences?limit=100`)).json.data.map(({ state }) => state);
      assert.deepEqual(states.toSorted(), ['still_present', 'still_present']);
    });

    await check('keywords are added, and a bad one comes back with what was typed', async () => {
      await page.goto(`${at}/keywords`);
      const add = page.locator('form', { has: page.locator('#keyword') });
      if (!(await page.locator('#keyword').isVisible())) await page.locator('summary', { hasText: /^Add/ }).first().click();
      await page.locator('#keyword').fill('standing desk');
      await page.locator('#volume').fill('a lot');
      await add.getByRole('button', { name: 'Add', exact: true }).click();
      assert.equal(await page.locator('#keyword').inputValue(), 'standing desk');
      await page.locator('#volume').fill('2400');
      await add.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByRole('cell', { name: /standing desk/ }).first().waitFor();
    });

    await check('text that was typed is not lost: not by leaving, not to somebody else who saved first', async () => {
      await page.goto(`${at}/posts`);
      if (!(await page.locator('#title').isVisible())) await page.locator('summary').first().click();
      await page.locator('#title').fill('How to choose a desk');
      await press(page, 'Create a draft');
      await page.waitForURL(/\/posts\/[0-9a-f-]{36}/);
      const id = /posts\/([0-9a-f-]{36})/.exec(page.url())[1];
      const text = page.locator('textarea[name=content]');
      if (!(await text.isVisible())) await page.locator('summary', { hasText: 'Edit' }).first().click();
      await text.fill('A desk should fit you.');
      if (scripts) {
        let asked = 0;
        const stay = (dialog) => ((asked += 1), dialog.dismiss());
        page.on('dialog', stay);
        await page.getByRole('link', { name: 'Keywords', exact: true }).first().click().catch(() => {});
        page.off('dialog', stay);
        assert.equal(asked, 1, 'leaving asks first');
      }
      const { etag } = await call('GET', `/posts/${id}`);
      await call('PATCH', `/posts/${id}`, { content: 'Somebody else was here.' }, { 'if-match': etag });
      await press(page, 'Save');
      assert.equal(await page.locator('textarea[name=content]').inputValue(), 'A desk should fit you.');
      const { json } = await call('GET', `/posts/${id}`);
      assert.equal(json.content, 'Somebody else was here.');
    });

    await check('a key is shown once, and works', async () => {
      await page.goto(`${at}/settings/keys`);
      await page.locator('#name').fill('nightly report');
      await press(page, 'Make the key');
      const shown = /swk_[A-Za-z0-9]+/.exec(await page.locator('main').innerText())?.[0];
      assert.ok(shown, 'the key is shown');
      const me = await fetch(`${product.api}/me`, { headers: { authorization: `Bearer ${shown}` } });
      assert.equal(me.status, 200);
      await page.goto(`${at}/settings/keys`);
      assert.ok(!(await page.content()).includes(shown), 'it is not shown again');
    });

    await check('a report is shared with somebody without an account, until it is revoked', async () => {
      await page.goto(`${at}/audits`);
      await page.locator('#audits a[href*="/audits/"]').first().click();
      await page.locator('summary', { hasText: /^Share$/ }).click();
      await press(page, 'Make the link');
      const link = /https?:\/\/\S+\/share\/\S+/.exec(await page.locator('main').innerText())?.[0];
      assert.ok(link, 'the link is shown');
      const stranger = await browser.newContext({ javaScriptEnabled: scripts });
      const report = await stranger.newPage();
      assert.equal((await report.goto(link)).status(), 200);
      await report.getByText('Broken internal link').first().waitFor();
      assert.equal(await report.locator('form, a[href*="/projects/"]').count(), 0, 'it leads nowhere else');
      await page.goto(`${at}/settings/shares`);
      if (!(await page.getByRole('button', { name: /^Revoke/ }).first().isVisible())) await page.locator('summary', { hasText: 'Revoke' }).first().click();
      await page.getByRole('button', { name: /^Revoke/ }).first().click();
      assert.equal((await report.goto(link)).status(), 404);
      await stranger.close();
    });

    await check('a viewer is offered nothing that changes the project', async () => {
      const other = await browser.newContext({ javaScriptEnabled: scripts });
      const view = await signIn(other, `viewer-${word}@example.com`);
      for (const path of ['/audits', '/issues', '/keywords', '/posts', '/calendar', '/brand', '/webhooks', '/settings', '/settings/shares']) {
        await view.goto(at + path);
        assert.equal(await view.locator('main form[method=post] button').count(), 0, path);
      }
      await other.close();
    });
    await context.close();
  });
}
server.close();
await browser.close();
