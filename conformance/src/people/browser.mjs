// A person at Chromium: every page for people, on a phone and on a desktop, in light and in dark, and once without scripts.
//
// To add a step, add an entry to `STEPS`, or to `STEPS_AT_NAME` if it is about signing in: what it shows, and what the person
// does. A step calls `walk.inspect` on each page that it comes to, which holds the page against axe and against what every page
// has to be.
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import { chromium } from 'playwright-core';
import { PASSWORD, admin, createAccount, product, startAtName } from './product.mjs';
import { assert, flow } from './report.mjs';

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 800 };
// Milliseconds for what a page is expected to show.
const TIMEOUT = 10_000;
// In every list of common passwords, and long enough.
const COMMON_PASSWORD = 'qwerty123456789';
const NEW_PASSWORD = 'another horse, another staple 8';
const SCHEMES = ['light', 'dark'];
// Seconds for which a code of an authenticator app is shown.
const CODE_SECONDS = 30;
const AGENTS = ['Claude', 'Claude Code', 'ChatGPT', 'Cursor', 'VS Code', 'Codex', 'Gemini CLI', 'opencode'];

const WALKS = [
  ...[PHONE, DESKTOP].flatMap((size) => SCHEMES.map((scheme) => ({ size, scheme, scripts: true }))),
  { size: PHONE, scheme: 'light', scripts: false },
];

// The code that an authenticator app shows `later` time steps from now (RFC 6238).
function authenticatorCode(secret, later = 0) {
  const digits = [...secret].map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'));
  const key = Buffer.from(digits.join('').match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 1000 / CODE_SECONDS) + later));
  const digest = createHmac('sha1', key).update(step).digest();
  const number = digest.readUInt32BE(digest.at(-1) & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

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

// A page of a new browser, which knows nothing.
async function openPage({ size, scheme, scripts }) {
  const context = await browser.newContext({ viewport: size, colorScheme: scheme, javaScriptEnabled: scripts });
  context.setDefaultTimeout(TIMEOUT);
  return context.newPage();
}

// One person with one browser.
class Walk {
  constructor(name, options, page, program, site = product) {
    Object.assign(this, options, { name, page, program, site });
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
      const isOwn = origin === site.origin || request.url().startsWith(program.redirect);
      if (!isOwn && protocol !== 'data:') this.complaints.push(`asks for ${request.url()}`);
    });
  }

  // Opens an address of the product.
  open(path) {
    return this.page.goto(new URL(path, this.site.origin).href);
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
      crowded: [...document.querySelectorAll('main, main section, main details, main fieldset')]
        .filter((box) => box.scrollWidth > box.clientWidth)
        .map((box) => `${box.localName} by ${box.scrollWidth - box.clientWidth} px: ${box.textContent.trim().slice(0, 40)}`),
      background: getComputedStyle(document.body).backgroundColor,
      isDark: matchMedia('(prefers-color-scheme: dark)').matches,
    }));
    assert.ok(seen.overflow <= 0, `wider than the window by ${seen.overflow} px at ${page.url()}`);
    assert.deepEqual(seen.crowded, [], `what is in a box is wider than the box at ${page.url()}`);
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

  // Another browser: of this person, or of somebody else.
  async another(person = this.person) {
    const { name, size, scheme, scripts, email, program, site } = this;
    const options = { size, scheme, scripts, person, email };
    return new Walk(name, options, await openPage(options), program, site);
  }

  close() {
    return this.page.context().close();
  }

  // Comes to the account page by a new sign-in.
  async signInAgain(password) {
    await this.open('/account');
    await this.signIn(password);
    await this.comeTo(this.person);
  }

  // Waits for a page that is inspected elsewhere.
  comeTo(heading) {
    return this.page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  }

  async signOut() {
    await this.open('/account');
    await this.press('Sign out');
    await this.page.waitForURL('**/login');
  }

  // Makes a link for an invitation.
  async invite(role, email = '') {
    await this.page.getByLabel('Role', { exact: true }).selectOption(role);
    await this.page.getByLabel('Email, if only').fill(email);
    await this.press('Make a link');
    this.link = await this.page.getByRole('status').getByText('/invitations/').textContent();
  }

  // The part of a page below a heading.
  section(heading) {
    return this.page.locator('section.item').filter({ has: this.page.getByRole('heading', { name: heading, exact: true }) });
  }

  press(name) {
    return this.page.getByRole('button', { name, exact: true }).click();
  }

  // Waits for the address that the program is sent, and returns its parameters.
  async sentBack(program = this.program) {
    const isProgram = (url) => url.href.startsWith(program.redirect);
    await this.page.waitForURL(isProgram).catch(async () => {
      const heading = await this.page.getByRole('heading', { level: 1 }).textContent();
      throw new Error(`the program is not reached, the person is at ${this.page.url()}: ${heading}`);
    });
    const given = Object.fromEntries(new URL(this.page.url()).searchParams);
    assert.deepEqual([given.state, given.iss], [program.state, product.origin]);
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
    'permissions that the program did not ask for can be added',
    async (walk) => {
      await walk.open(await walk.program.authorization({ scope: 'projects:read' }));
      const more = walk.page.getByLabel('keywords:write');
      assert.equal(await more.isVisible(), false);
      await walk.page.getByText('Allow more').click();
      await walk.inspect(`Connect ${walk.program.name}?`);
      assert.equal(await walk.page.getByRole('checkbox', { checked: true }).count(), 1);
      await more.check();
      await walk.press('Allow');
      const { scope, access_token: token } = await walk.program.redeem((await walk.sentBack()).code);
      assert.equal(scope, 'projects:read keywords:write');
      assert.equal(await walk.program.status(token), 200);
    },
    { alone: true },
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
      // it was allowed three times
      for (const left of [3, 2, 1]) {
        const buttons = walk.page.getByRole('button', { name: `End access of ${walk.program.name}`, exact: true });
        assert.equal(await buttons.count(), left);
        await buttons.first().click();
        await walk.page.waitForURL('**/account?saved');
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
  [
    'passkeys are not offered at an address without a name, and the page says why',
    async (walk) => {
      await walk.open('/account');
      assert.match(await walk.section('Passkeys').textContent(), /only for a name over https, or for localhost/);
      assert.equal(await walk.page.getByRole('button', { name: 'Add a passkey' }).count(), 0);
    },
    { alone: true },
  ],
  [
    'the connect page tells how each agent is connected, and what became of the program',
    async (walk) => {
      const agent = new Program(`Agent of ${walk.name}`, listener.address().port);
      await agent.register();
      await walk.open(await agent.authorization({ scope: 'projects:read' }));
      await walk.press('Allow');
      const { access_token: token } = await agent.redeem((await walk.sentBack(agent)).code);
      const attempt = walk.section(agent.name);
      const open = async () => {
        await walk.open('/account');
        await walk.page.getByRole('link', { name: 'Connect an agent to People', exact: true }).click();
        await walk.comeTo('Connect an agent');
      };
      await open();
      assert.match(await attempt.textContent(), /Stopped at: Received a token/);
      assert.equal(await agent.status(token), 200);
      await open();
      assert.match(await attempt.textContent(), new RegExp(`Connected\\..*signed in as ${walk.person}`, 's'));
      const steps = (await attempt.locator('li').allTextContents()).map((step) => step.replace(/^.* UTC /, ''));
      const expected = ['Registered', 'Opened the consent page', 'Allowed by a person', 'Received a token', 'Called with its token'];
      assert.deepEqual(steps, expected);
      const agents = walk.page.locator('summary');
      assert.deepEqual(await agents.allTextContents(), AGENTS);
      for (const one of await agents.all()) await one.click();
      assert.equal(await walk.page.locator('details[open]').count(), AGENTS.length);
      await walk.inspect('Connect an agent');
    },
    { alone: true },
  ],
  [
    'somebody who is invited joins by the link, and is changed and removed',
    async (walk) => {
      await walk.open('/account');
      await walk.page.getByRole('link', { name: 'Members of People', exact: true }).click();
      await walk.inspect('Members of Default');
      const guest = await walk.another(`Guest of ${walk.name}`);
      guest.email = `a.guest.with.a.long.name.of.${walk.name.replaceAll('-', '.')}@subsidiary.example.com`;
      try {
        await walk.invite('viewer');
        await walk.inspect('Members of Default');
        await guest.open(walk.link);
        await guest.inspect('Join Default');
        assert.match(await guest.page.getByRole('main').textContent(), new RegExp(`${walk.person} invites you to .* as viewer`));
        await guest.page.getByLabel('Your name').fill(guest.person);
        await guest.page.getByLabel('Email').fill(guest.email);
        await guest.page.getByLabel('New password').fill(COMMON_PASSWORD);
        await guest.press('Create the account and join');
        assert.ok(await guest.alert());
        await guest.inspect('Join Default');
        assert.equal(await guest.page.getByLabel('Email').inputValue(), guest.email);
        await guest.page.getByLabel('New password').fill(PASSWORD);
        await guest.press('Create the account and join');
        await guest.comeTo(guest.person);
        await guest.page.getByRole('link', { name: 'Members of People', exact: true }).click();
        await guest.inspect('Members of Default');
        assert.equal(await guest.page.getByRole('button', { name: 'Make a link' }).count(), 0);
        await guest.open(walk.link);
        await guest.inspect('This invitation is no longer valid');

        const members = new URL(walk.page.url()).pathname.replace(/\/invite$/, '');
        await walk.open(members);
        const shown = walk.section(guest.person);
        assert.match(await shown.textContent(), /viewer/);
        await walk.page.getByLabel(`Role of ${guest.person}`, { exact: true }).selectOption('admin');
        await shown.getByRole('button', { name: /^Change/ }).click();
        await walk.section(guest.person).getByText(`${guest.email}, admin`).waitFor();
        await guest.open(members);
        await guest.page.getByRole('button', { name: 'Make a link' }).waitFor();
        await walk.press(`Remove ${guest.person}`);
        await shown.waitFor({ state: 'detached' });
        assert.equal((await guest.open(members)).status(), 404);
        await guest.open('/account');
        assert.match(await guest.page.getByRole('main').textContent(), /You are in no workspace/);

        await walk.invite('editor', guest.email);
        await guest.open(walk.link);
        await guest.press(`Join as ${guest.email}`);
        await guest.page.getByRole('link', { name: 'Members of People', exact: true }).waitFor();
        await walk.open(members);
        await walk.press(`Remove ${guest.person}`);
        await shown.waitFor({ state: 'detached' });

        await walk.invite('editor', guest.email);
        await walk.section(guest.email).getByRole('button', { name: 'Withdraw' }).click();
        await walk.section(guest.email).waitFor({ state: 'detached' });
        await guest.open(walk.link);
        await guest.comeTo('This invitation is no longer valid');
      } finally {
        await guest.close();
      }
    },
    { alone: true },
  ],
];

// The same at a product of this walk alone, to which failed attempts to sign in are not held against the walks that follow.
const STEPS_AT_NAME = [
  [
    'a common password is refused, and a new one ends the other sessions',
    async (walk) => {
      await walk.signInAgain();
      const other = await walk.another();
      try {
        await other.signInAgain();
        await walk.page.getByLabel('New password').fill(COMMON_PASSWORD);
        await walk.press('Set password');
        assert.ok(await walk.alert());
        await walk.inspect(walk.person);
        await walk.page.getByLabel('New password').fill(NEW_PASSWORD);
        await walk.press('Set password');
        await walk.page.getByText('Password changed').waitFor();
        await other.open('/account');
        await other.signIn();
        assert.match(await other.alert(), /wrong/);
        await other.signIn(NEW_PASSWORD);
        await other.comeTo(other.person);
      } finally {
        await other.close();
      }
    },
  ],
  [
    'other sessions are listed, and end',
    async (walk) => {
      // the session of the closed browser is still there
      const others = [await walk.another(), await walk.another()];
      try {
        for (const other of others) await other.signInAgain(NEW_PASSWORD);
        await walk.open('/account');
        await walk.inspect(walk.person);
        const sessions = walk.section('Sessions').locator('tbody tr');
        assert.equal(await sessions.count(), 4);
        assert.equal(await sessions.filter({ hasText: 'this one' }).count(), 1);
        await sessions.getByRole('button', { name: /^End the session since / }).first().click();
        await sessions.nth(3).waitFor({ state: 'detached' });
        assert.equal(await sessions.count(), 3);
        await walk.press('End all others');
        await walk.page.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' });
        assert.equal(await sessions.count(), 1);
        for (const other of others) {
          await other.open('/account');
          await other.comeTo('Sign in');
        }
      } finally {
        for (const other of others) await other.close();
      }
    },
  ],
  [
    'a second factor is set up with the code of an app',
    async (walk) => {
      await walk.press('Set up');
      await walk.inspect('Set up a second factor');
      const code = walk.page.getByRole('textbox', { name: 'Code' });
      walk.secret = (await walk.page.locator('p > code').textContent()).replaceAll(/\s/g, '');
      await code.fill(authenticatorCode(walk.secret, 1000));
      await walk.press('Turn on');
      assert.ok(await walk.alert());
      await walk.inspect('Set up a second factor');
      walk.usedCode = authenticatorCode(walk.secret);
      await code.fill(walk.usedCode);
      await walk.press('Turn on');
      await walk.inspect('Recovery codes');
      const first = await walk.page.locator('.codes li').allTextContents();
      assert.equal(new Set(first).size, 10);
      await walk.page.getByRole('link', { name: 'I have kept them' }).click();
      await walk.press('New recovery codes');
      await walk.inspect('Recovery codes');
      walk.recoveryCodes = await walk.page.locator('.codes li').allTextContents();
      assert.equal(new Set([...first, ...walk.recoveryCodes]).size, 20);
      [walk.formerCode] = first;
    },
  ],
  [
    'after the password a code is asked for, which works once',
    async (walk) => {
      await walk.signOut();
      await walk.signIn(NEW_PASSWORD);
      const code = walk.page.getByRole('textbox', { name: 'Code' });
      await walk.inspect('Enter the code');
      for (const wrong of [walk.usedCode, walk.formerCode]) {
        await code.fill(wrong);
        await walk.press('Sign in');
        assert.match(await walk.alert(), /wrong/);
      }
      await walk.inspect('Enter the code');
      // a password alone is not enough for any other page
      const other = await walk.page.context().newPage();
      await other.goto(`${walk.site.origin}/account`);
      assert.equal(await other.getByRole('heading', { level: 1 }).textContent(), 'Sign in');
      await other.close();
      // the next one is accepted a little early
      await code.fill(authenticatorCode(walk.secret, 1));
      await walk.press('Sign in');
      await walk.comeTo(walk.person);
    },
  ],
  [
    'a recovery code stands in for the app, once',
    async (walk) => {
      const code = walk.page.getByRole('textbox', { name: 'Code' });
      const [first, second] = walk.recoveryCodes;
      await walk.signOut();
      await walk.signIn(NEW_PASSWORD);
      await code.fill(first.toUpperCase().replaceAll('-', ' '));
      await walk.press('Sign in');
      await walk.inspect(walk.person);
      assert.match(await walk.section('Second factor').textContent(), /9 recovery codes are left/);
      await walk.signOut();
      await walk.signIn(NEW_PASSWORD);
      await code.fill(first);
      await walk.press('Sign in');
      assert.match(await walk.alert(), /wrong/);
      await code.fill(second);
      await walk.press('Sign in');
      await walk.comeTo(walk.person);
    },
  ],
  [
    'the second factor is removed, and the password is enough again',
    async (walk) => {
      await walk.press('Remove second factor');
      await walk.page.getByText('Second factor removed').waitFor();
      await walk.signOut();
      await walk.signInAgain(NEW_PASSWORD);
    },
  ],
  [
    'a passkey is added once per device',
    async (walk) => {
      const { page } = walk;
      walk.devices = await page.context().newCDPSession(page);
      await walk.devices.send('WebAuthn.enable');
      const options = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true };
      walk.device = await walk.devices.send('WebAuthn.addVirtualAuthenticator', {
        options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
      });
      const add = async (name) => {
        await page.getByLabel('Name of the device').fill(name);
        await walk.press('Add a passkey');
      };
      // as long as a name may be
      walk.passkey = 'The telephone of a person who gives long names to devices'.padEnd(60, '.');
      await add(walk.passkey);
      await page.getByRole('cell', { name: walk.passkey, exact: true }).waitFor();
      await add('The same device');
      await page.getByText('This device already has a passkey for your account.').waitFor();
      assert.equal(await walk.section('Passkeys').locator('tbody tr').count(), 1);
      await walk.inspect(walk.person);
    },
    { scripts: true },
  ],
  [
    'the passkey signs in without a password',
    async (walk) => {
      await walk.signOut();
      await walk.inspect('Sign in');
      await walk.press('Sign in with a passkey');
      await walk.comeTo(walk.person);
      assert.doesNotMatch(await walk.section('Passkeys').locator('tbody').textContent(), /never/);
    },
    { scripts: true },
  ],
  [
    'a removed passkey does not sign in, nor does a device without one',
    async (walk) => {
      await walk.press(`Remove the passkey ${walk.passkey}`);
      await walk.page.getByText('Passkey removed').waitFor();
      await walk.signOut();
      await walk.press('Sign in with a passkey');
      assert.match(await walk.alert(), /not known here/);
      await walk.inspect('Sign in');
      await walk.devices.send('WebAuthn.clearCredentials', walk.device);
      await walk.press('Sign in with a passkey');
      await walk.page.getByText('this device has no passkey for this site').waitFor();
      await walk.inspect('Sign in');
    },
    { scripts: true },
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

async function begin(name, options, site) {
  const program = new Program(`Program of ${name}`, listener.address().port);
  await program.register();
  return new Walk(name, options, await openPage(options), program, site);
}

async function takeSteps(walk, check, steps) {
  for (const [what, work, { alone, scripts } = {}] of steps) {
    if (!scripts || walk.scripts) await (alone ? check.alone : check)(what, () => work(walk));
  }
  await walk.close();
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
  await walk.close();
});

admin(['project', 'create', '--name', 'People', '--domain', 'example.com']);
for (const options of WALKS) {
  const name = `${options.size.width}-${options.scheme}${options.scripts ? '' : '-no-scripts'}`;
  await flow(`browser-${name}`, async (check) => {
    const walk = await begin(name, options);
    walk.person = `Person of ${name}`;
    walk.email = createAccount(`browser-${name}`, walk.person);
    await takeSteps(walk, check, STEPS);
  });
  await flow(`browser-at-name-${name}`, async (check) => {
    const site = await startAtName(name);
    try {
      const walk = await begin(name, options, site);
      walk.person = `Person of ${name}`;
      walk.email = createAccount(`browser-${name}`, walk.person, site);
      await takeSteps(walk, check, STEPS_AT_NAME);
    } finally {
      await site.end();
    }
  });
}

await browser.close();
listener.close();
