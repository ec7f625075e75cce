// A person at Chromium: every page for people, on a phone and on a desktop, in light and in dark, and once without scripts.
//
// To add a step, add an entry to `STEPS`: what it shows, and what the person does. A step calls `walk.inspect` on each page that
// it comes to, which holds the page against axe and against what every page has to be.
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import { chromium } from 'playwright-core';
import { PASSWORD, admin, createAccount, product } from './product.mjs';
import { assert, flow } from './report.mjs';

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 800 };
// Milliseconds for what a page is expected to show.
const TIMEOUT = 10_000;
// In every list of common passwords, and long enough.
const COMMON_PASSWORD = 'qwerty123456789';
const SCHEMES = ['light', 'dark'];

const WALKS = [
  ...[PHONE, DESKTOP].flatMap((size) => SCHEMES.map((scheme) => ({ size, scheme, scripts: true }))),
  { size: PHONE, scheme: 'light', scripts: false },
];

// The program that asks for access. Its page shows nothing; what it is sent is in the address.
class Program {
  constructor(name, port) {
    this.name = name;
    this.redirect = `http://127.0.0.1:${port}/callback`;
  }

  async #post(path, body, type = 'application/x-www-form-urlencoded') {
    const response = await fetch(product.origin + path, { method: 'POST', headers: { 'content-type': type }, body });
    return response.json();
  }

  async register() {
    const metadata = { client_name: this.name, redirect_uris: [this.redirect], grant_types: ['authorization_code', 'refresh_token'] };
    this.id = (await this.#post('/oauth/register', JSON.stringify(metadata), 'application/json')).client_id;
  }

  async authorization(changes = {}) {
    this.verifier = crypto.randomUUID() + crypto.randomUUID();
    this.state = crypto.randomUUID();
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(this.verifier));
    return `${product.origin}/oauth/authorize?${new URLSearchParams({
      response_type: 'code',
      client_id: this.id,
      redirect_uri: this.redirect,
      scope: 'projects:read keywords:read keywords:write content:generate content:publish',
      state: this.state,
      code_challenge: Buffer.from(digest).toString('base64url'),
      code_challenge_method: 'S256',
      ...changes,
    })}`;
  }

  redeem(code) {
    const form = { grant_type: 'authorization_code', code, client_id: this.id, redirect_uri: this.redirect, code_verifier: this.verifier };
    return this.#post('/oauth/token', new URLSearchParams(form));
  }

  beginDevice() {
    return this.#post('/oauth/device', new URLSearchParams({ client_id: 'cli', scope: 'projects:read' }));
  }

  pollDevice(code) {
    const grant = 'urn:ietf:params:oauth:grant-type:device_code';
    return this.#post('/oauth/token', new URLSearchParams({ grant_type: grant, device_code: code, client_id: 'cli' }));
  }

  async status(token) {
    return (await fetch(`${product.api}/me`, { headers: { authorization: `Bearer ${token}` } })).status;
  }
}

// One person with one browser.
class Walk {
  constructor(name, options, page, program) {
    Object.assign(this, options, { name, page, program });
    this.complaints = [];
    page.on('console', (message) => {
      // what fails to load is judged below, by its kind
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) this.complaints.push(message.text());
    });
    page.on('response', (response) => {
      const isDocument = response.request().resourceType() === 'document';
      if (!isDocument && response.status() >= 400) this.complaints.push(`${response.status()} ${response.url()}`);
    });
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      const isOwn = origin === product.origin || request.url().startsWith(program.redirect);
      if (!isOwn && protocol !== 'data:') this.complaints.push(`asks for ${request.url()}`);
    });
  }

  // Opens an address of the product.
  open(path) {
    return this.page.goto(new URL(path, product.origin).href);
  }

  // Holds the page against what every page has to be.
  async inspect(heading) {
    const { page } = this;
    assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), heading);
    await this.#look();
    assert.deepEqual(this.complaints, [], 'the browser complains');
  }

  // Holds a page that is shown once only against the same, in every size and scheme.
  async inspectEverywhere(heading) {
    for (const size of [PHONE, DESKTOP]) {
      for (const colorScheme of SCHEMES) {
        await this.page.setViewportSize(size);
        await this.page.emulateMedia({ colorScheme });
        await this.inspect(heading);
      }
    }
    await this.page.setViewportSize(this.size);
    await this.page.emulateMedia({ colorScheme: this.scheme });
  }

  async #look() {
    const { page } = this;
    const seen = await page.evaluate(() => ({
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      background: getComputedStyle(document.body).backgroundColor,
      isDark: matchMedia('(prefers-color-scheme: dark)').matches,
    }));
    assert.ok(seen.overflow <= 0, `wider than the window by ${seen.overflow} px at ${page.url()}`);
    const channels = seen.background.match(/\d+/g).slice(0, 3).map(Number);
    const isTransparent = seen.background.endsWith(', 0)');
    assert.ok(isTransparent || Math.max(...channels) < 128 === seen.isDark, `background ${seen.background}, dark: ${seen.isDark}`);
    if (!this.scripts) return;
    const { violations } = await new AxeBuilder({ page }).analyze();
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ').slice(0, 200)}`);
    assert.deepEqual(found, [], `axe at ${page.url()}`);
  }

  async signIn(password = PASSWORD) {
    await this.page.getByLabel('Email').fill(this.email);
    await this.page.getByLabel('Password').fill(password);
    await this.press('Sign in');
  }

  press(name) {
    return this.page.getByRole('button', { name, exact: true }).click();
  }

  // Waits for the address that the program is sent, and returns its parameters.
  async sentBack() {
    const isProgram = (url) => url.href.startsWith(this.program.redirect);
    await this.page.waitForURL(isProgram).catch(async () => {
      const heading = await this.page.getByRole('heading', { level: 1 }).textContent();
      throw new Error(`the program is not reached, the person is at ${this.page.url()}: ${heading}`);
    });
    const given = Object.fromEntries(new URL(this.page.url()).searchParams);
    assert.deepEqual([given.state, given.iss], [this.program.state, product.origin]);
    return given;
  }

  alert() {
    return this.page.getByRole('alert').textContent();
  }
}

// Each step begins where the one before it ended; after one that fails, the walk goes on only if it is `alone`.
const STEPS = [
  [
    'a wrong password is refused, and the address that was entered stays',
    async (walk) => {
      await walk.open(await walk.program.authorization());
      await walk.inspect('Sign in');
      await walk.signIn('a wrong password of some length');
      assert.match(await walk.alert(), /wrong/);
      assert.equal(await walk.page.getByLabel('Email').inputValue(), walk.email);
      await walk.inspect('Sign in');
    },
  ],
  [
    'the right password leads on to the request',
    async (walk) => {
      await walk.signIn();
      await walk.inspect(`Connect ${walk.program.name}?`);
      assert.match(await walk.page.getByRole('main').textContent(), /not verified/);
    },
  ],
  [
    'allowed without one permission, the program gets the others',
    async (walk) => {
      await walk.page.getByLabel('content:publish').uncheck();
      await walk.press('Allow');
      const { code } = await walk.sentBack();
      const tokens = await walk.program.redeem(code);
      assert.equal(tokens.scope, 'projects:read keywords:read keywords:write content:generate');
      walk.token = tokens.access_token;
      assert.equal(await walk.program.status(walk.token), 200);
    },
  ],
  [
    'nothing allowed is nothing granted',
    async (walk) => {
      await walk.open(await walk.program.authorization({ scope: 'projects:read' }));
      await walk.page.getByLabel('projects:read').uncheck();
      await walk.press('Allow');
      await walk.inspect('Nothing was chosen');
    },
  ],
  [
    'a decline reaches the program',
    async (walk) => {
      await walk.open(await walk.program.authorization());
      await walk.press('Decline');
      assert.equal((await walk.sentBack()).error, 'access_denied');
    },
  ],
  [
    'Allow, pressed again before the answer arrived, connects the program',
    async (walk) => {
      await walk.open(await walk.program.authorization({ scope: 'projects:read' }));
      const address = '**/oauth/authorize';
      const answered = new Promise((done, failed) => {
        let isFirst = true;
        walk.page.route(address, async (route) => {
          if (!isFirst) return route.continue();
          isFirst = false;
          // the product has decided, and the browser does not know it yet; a request that is held back lacks what the browser adds at
          // the end
          const headers = { ...route.request().headers(), 'sec-fetch-site': 'same-origin' };
          return route.fetch({ headers, maxRedirects: 0 }).then((response) => done(response.status()), failed);
        });
      });
      const allow = walk.page.getByRole('button', { name: 'Allow', exact: true });
      await allow.scrollIntoViewIfNeeded();
      const { x, y } = await allow.boundingBox();
      try {
        await walk.page.mouse.click(x + 5, y + 5);
        assert.equal(await answered, 303);
        await walk.page.mouse.click(x + 5, y + 5);
        const { code } = await walk.sentBack();
        assert.equal((await walk.program.redeem(code)).scope, 'projects:read');
      } finally {
        await walk.page.unroute(address);
      }
    },
    { alone: true },
  ],
  [
    'an unknown program is refused on a page',
    async (walk) => {
      await walk.open(await walk.program.authorization({ client_id: 'nobody' }));
      await walk.inspect('The program cannot be connected');
    },
  ],
  [
    'a mistake of the program is shown, and told to it by a link',
    async (walk) => {
      await walk.open(await walk.program.authorization({ scope: 'everything' }));
      await walk.inspect('The program made a mistake');
      await walk.page.getByRole('link', { name: /Tell the program/ }).click();
      assert.equal((await walk.sentBack()).error, 'invalid_scope');
    },
  ],
  [
    'the account page lists the program, and ends its access',
    async (walk) => {
      await walk.open('/account');
      await walk.inspect(walk.person);
      // it was allowed twice
      for (const left of [2, 1]) {
        const buttons = walk.page.getByRole('button', { name: `End access of ${walk.program.name}`, exact: true });
        assert.equal(await buttons.count(), left);
        await buttons.first().click();
        await walk.page.waitForURL('**/account');
      }
      await walk.page.getByText('None. An agent that speaks MCP').waitFor();
      await walk.inspect(walk.person);
      assert.equal(await walk.program.status(walk.token), 401);
    },
  ],
  [
    'a wrong code of a device is refused',
    async (walk) => {
      await walk.open('/device');
      await walk.inspect('Connect a device');
      await walk.page.getByLabel('Code').fill('BBBB-BBBB');
      await walk.press('Continue');
      assert.match(await walk.alert(), /No device waits/);
      await walk.inspect('Connect a device');
    },
  ],
  [
    'the right code leads to a decision, and connects the device',
    async (walk) => {
      const device = await walk.program.beginDevice();
      await walk.page.getByLabel('Code').fill(device.user_code);
      await walk.press('Continue');
      await walk.inspect('Connect this device?');
      await walk.press('Allow');
      await walk.inspect('The device is connected');
      assert.equal(await walk.program.status((await walk.program.pollDevice(device.device_code)).access_token), 200);
    },
  ],
  [
    'the address with the code asks as well, and a decline reaches the device',
    async (walk) => {
      const device = await walk.program.beginDevice();
      await walk.open(device.verification_uri_complete);
      assert.equal(await walk.page.getByLabel('Code').inputValue(), device.user_code);
      await walk.press('Continue');
      await walk.press('Decline');
      await walk.inspect('The device was declined');
      assert.equal((await walk.program.pollDevice(device.device_code)).error, 'access_denied');
    },
  ],
  [
    'after signing out nothing is shown, also not by going back',
    async (walk) => {
      await walk.open('/account');
      await walk.press('Sign out');
      await walk.inspect('Sign in');
      await walk.page.goBack();
      assert.doesNotMatch(await walk.page.content(), new RegExp(walk.email));
      await walk.open('/account');
      await walk.inspect('Sign in');
    },
  ],
  [
    'a link signs in once',
    async (walk) => {
      const { url } = admin(['user', 'sign-in-link', walk.email]);
      await walk.open(url);
      await walk.inspect(`Sign in as ${walk.person}`);
      await walk.press('Sign in');
      await walk.inspect(walk.person);
      await walk.open(url);
      await walk.inspect('This link is no longer valid');
    },
  ],
];

// The link that the product prints while there is no account.
function setupLink() {
  const printed = readFileSync(product.log, 'utf8').match(/http\S+(\/setup\/[\w-]+)/);
  assert.ok(printed, 'no link in the log');
  return printed[1];
}

const listener = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>program</title>');
});
await new Promise((done) => listener.listen(0, '127.0.0.1', done));

const browser = await chromium.launch({
  executablePath: process.env.PEOPLE_CHROMIUM,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});

async function begin(name, options) {
  const program = new Program(`Program of ${name}`, listener.address().port);
  await program.register();
  const context = await browser.newContext({
    viewport: options.size,
    colorScheme: options.scheme,
    javaScriptEnabled: options.scripts,
  });
  context.setDefaultTimeout(TIMEOUT);
  return new Walk(name, options, await context.newPage(), program);
}

await flow('browser-setup', async (check) => {
  const walk = await begin('setup', WALKS[0]);
  await check('the link of the first start creates the first account, and works once', async () => {
    const link = setupLink();
    await walk.open(link);
    await walk.inspectEverywhere('Set up the first account');
    await walk.page.evaluate(() => document.querySelector('main').append(document.createElement('img')));
    await assert.rejects(() => walk.inspect('Set up the first account'), /image-alt/, 'axe sees nothing');
    await walk.page.getByLabel('Name').fill('First');
    await walk.page.getByLabel('Email').fill('first@example.com');
    await walk.page.getByLabel('Password').fill(COMMON_PASSWORD);
    await walk.page.getByRole('button').click();
    assert.ok(await walk.alert());
    await walk.inspectEverywhere('Set up the first account');
    await walk.page.getByLabel('Password').fill(PASSWORD);
    await walk.page.getByRole('button').click();
    await walk.inspectEverywhere('First');
    await walk.open(link);
    await walk.inspectEverywhere('This link is no longer valid');
  });
  await walk.page.context().close();
});

admin(['project', 'create', '--name', 'People', '--domain', 'example.com']);
for (const options of WALKS) {
  const name = `${options.size.width}-${options.scheme}${options.scripts ? '' : '-no-scripts'}`;
  await flow(`browser-${name}`, async (check) => {
    const walk = await begin(name, options);
    walk.person = `Person of ${name}`;
    walk.email = createAccount(`browser-${name}`, walk.person);
    for (const [what, work, { alone } = {}] of STEPS) await (alone ? check.alone : check)(what, () => work(walk));
    await walk.page.context().close();
  });
}

await browser.close();
listener.close();
