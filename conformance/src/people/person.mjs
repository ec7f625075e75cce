// A person at a browser without scripts: cookies, redirects and forms, nothing else.
//
// Scripts in other languages run it: `node person.mjs approve|decline EMAIL URL` prints the address the person is sent back to,
// `node person.mjs end EMAIL APPLICATION` ends an application's access.
import { fileURLToPath } from 'node:url';
import { load } from 'cheerio';
import { PASSWORD, product } from './product.mjs';

const MAX_HOPS = 10;

export class Person {
  #cookies = new Map();

  constructor(email, password = PASSWORD) {
    this.email = email;
    this.password = password;
  }

  // Opens an address and follows redirects within the product. Ends at a page, or at the address of another program.
  async open(address, form) {
    let url = new URL(address, product.origin);
    let options = form ? { method: 'POST', body: form } : {};
    for (let hop = 0; hop < MAX_HOPS; hop += 1) {
      if (url.origin !== product.origin) return { url: url.href };
      const headers = { accept: 'text/html', cookie: [...this.#cookies].map((pair) => pair.join('=')).join('; ') };
      if (options.body) headers.origin = product.origin;
      const response = await fetch(url, { ...options, headers, redirect: 'manual' });
      for (const line of response.headers.getSetCookie()) this.#keepCookie(line);
      const location = response.headers.get('location');
      if (!location) {
        return { url: url.href, status: response.status, $: load(await response.text()) };
      }
      url = new URL(location, url);
      options = {};
    }
    throw new Error(`more than ${MAX_HOPS} redirects from ${address}`);
  }

  #keepCookie(line) {
    const [pair, ...attributes] = line.split(';').map((part) => part.trim());
    const [name, ...value] = pair.split('=');
    if (attributes.includes('Max-Age=0')) this.#cookies.delete(name);
    else this.#cookies.set(name, value.join('='));
  }

  // Sends the form of a page that has `control` in it, with fields filled in and a button pressed.
  async submit(page, control, fields = {}, button = undefined) {
    const form = page.$('form').filter((_, element) => page.$(element).find(control).length > 0).first();
    if (form.length === 0) {
      throw new Error(`no form with ${control} at ${page.url}, ${page.status}: ${page.$?.('main').text().trim().slice(0, 300)}`);
    }
    const data = new URLSearchParams(form.serializeArray().map(({ name, value }) => [name, value]));
    for (const [name, value] of Object.entries({ ...fields, ...button })) data.set(name, value);
    return this.open(new URL(form.attr('action') ?? '', page.url).href, data);
  }

  // Signs in wherever a page asks for it.
  async signIn(page) {
    const form = page ?? (await this.open('/login'));
    return this.submit(form, '[name=password]', { email: this.email, password: this.password });
  }

  // Follows an authorization request to the address that the person is sent back to.
  async #decide(url, decision) {
    let page = await this.open(url);
    if (page.$?.('form[action="/login"]').length) page = await this.signIn(page);
    if (!page.$) return page.url;
    return (await this.submit(page, '[name=decision]', {}, { decision })).url;
  }

  async approve(url) {
    return new URL(await this.#decide(url, 'allow'));
  }

  async decline(url) {
    return new URL(await this.#decide(url, 'deny'));
  }

  // Follows a request that the product finds fault with: to the page that says so, and from there to the program that made it.
  async followFault(url) {
    let page = await this.open(url);
    if (page.$?.('form[action="/login"]').length) page = await this.signIn(page);
    const link = page.$('a[rel=noreferrer]').attr('href');
    if (page.status !== 400 || !link) throw new Error(`no page about a mistake at ${page.url}, ${page.status}`);
    return new URL(link);
  }

  async #account() {
    const page = await this.open('/account');
    return page.$('form[action="/login"]').length ? this.signIn(page) : page;
  }

  // Names of the applications on the account page.
  async applications() {
    const { $ } = await this.#account();
    return $('section.item h3').toArray().map((heading) => $(heading).text());
  }

  // Ends the access of every application of this name.
  async endAccess(application) {
    const control = `[aria-label="End access of ${application}"]`;
    let page = await this.#account();
    let ended = 0;
    for (; page.$(control).length; ended += 1) page = await this.submit(page, control);
    if (!ended) throw new Error(`${application} is not on the account page`);
  }

  // Enters the code of a device and decides; returns the last page.
  async decideDevice(address, code, decision) {
    let page = await this.open(address);
    if (page.$('form[action="/login"]').length) page = await this.signIn(page);
    page = await this.submit(page, '[name=user_code]', code ? { user_code: code } : {});
    return page.$('[name=decision]').length ? this.submit(page, '[name=decision]', {}, { decision }) : page;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , work, email, subject] = process.argv;
  const person = new Person(email);
  if (work === 'end') await person.endAccess(subject);
  else console.log((await person[work](subject)).href);
}
