// Notion by its OpenAPI document, which says little of what pages hold, and by the types of Notion's own client, which say all of it.
import Ajv from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';
import * as openapi from './openapi.mjs';

const SOURCE = '00000000-0000-4000-8000-000000000001';
const BOT = '00000000-0000-4000-8000-000000000002';
const SPACE = '00000000-0000-4000-8000-000000000003';
const THEN = '2026-11-20T10:00:00.000Z';

// Types of the client: of what is sent and of what is answered.
const TYPES = {
  'GET /v1/users/me': [null, 'GetSelfResponse'],
  'POST /v1/search': ['SearchParameters', 'SearchResponse'],
  'GET /v1/data_sources/{data_source_id}': [null, 'DataSourceObjectResponse'],
  'POST /v1/data_sources/{data_source_id}/query': ['QueryDataSourceParameters', 'QueryDataSourceResponse'],
  'GET /v1/pages/{page_id}': [null, 'PageObjectResponse'],
  'POST /v1/pages': ['CreatePageParameters', 'PageObjectResponse'],
  'PATCH /v1/pages/{page_id}': ['UpdatePageParameters', 'PageObjectResponse'],
  'GET /v1/pages/{page_id}/markdown': [null, 'GetPageMarkdownResponse'],
  'PATCH /v1/pages/{page_id}/markdown': ['UpdatePageMarkdownParameters', 'UpdatePageMarkdownResponse'],
};

// The names of what stands in a path, which the client's types have among the members.
const PATH = { '/v1/data_sources/{data_source_id}': 'data_source_id', '/v1/pages/{page_id}': 'page_id' };

function amend(definition) {
  const schemas = definition.components.schemas;
  // In the document a parent named after data sources has the id of a database, as before version 2025-09-03; according to Notion's
  // guide to that version it is `data_source_id` since then.
  schemas.dataSourceIdParentRequest = {
    type: 'object',
    properties: { type: { const: 'data_source_id' }, data_source_id: { type: 'string', format: 'uuid' } },
    required: ['data_source_id'],
  };
  // A cover is a text of JSON when a page is made and an object when it is changed; it is an object, or `null` for none, says the client.
  const change = openapi.bodyOf(definition.paths['/v1/pages/{page_id}'].patch).properties;
  change.cover = { oneOf: [change.cover, { type: 'null' }] };
  openapi.bodyOf(definition.paths['/v1/pages'].post).properties.cover = change.cover;
}

// The schema of a type of the client; members that it does not have are refused.
function compiled(type) {
  const path = 'node_modules/@notionhq/client/build/src/api-endpoints.d.ts';
  const schema = createGenerator({ path, type, skipTypeCheck: true, expose: 'all', additionalProperties: false }).createSchema(type);
  return new Ajv({ ...openapi.AJV, allowUnionTypes: true }).compile(schema);
}

const words = (content) => (content ? [{ type: 'text', text: { content, link: null }, plain_text: content, href: null, annotations: PLAIN }] : []);
const PLAIN = { bold: false, italic: false, strikethrough: false, underline: false, code: false, color: 'default' };
const option = (name) => ({ id: name, name, color: 'default' });
const choices = (...names) => ({ options: names.map((name) => ({ ...option(name), description: null })) });

// The properties of the data source: what is said of each, and what a page has in it without a value.
const PROPERTIES = {
  Name: ['title', {}, []],
  Path: ['rich_text', {}, []],
  Status: ['status', { ...choices('Draft', 'Published'), groups: [] }, option('Draft')],
  Searchwright: ['rich_text', {}, []],
  Labels: ['multi_select', choices('Red'), []],
  Day: ['date', {}, null],
  Writer: ['select', choices('Ann'), null],
  Source: ['url', {}, null],
  Teaser: ['rich_text', {}, []],
  Picture: ['files', {}, []],
};

// A value as it is answered.
function held(kind, value) {
  switch (kind) {
    case 'title':
    case 'rich_text':
      return words(value.map((piece) => piece.text.content).join(''));
    case 'status':
    case 'select':
      return value && option(value.name);
    case 'multi_select':
      return value.map(({ name }) => option(name));
    case 'date':
      return value && { end: null, time_zone: null, ...value };
    case 'files':
      return value.map((file) => ({ type: 'external', ...file }));
    default:
      return value;
  }
}

function misfit(properties) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    const kind = PROPERTIES[name]?.[0];
    if (!kind || !Object.hasOwn(value ?? {}, kind)) return `${name} is no ${kind}: ${JSON.stringify(value)}`;
  }
  return null;
}

class Workspace {
  pages = [];

  page(id) {
    return this.pages.find((page) => page.object.id === id);
  }

  add({ markdown, ...body }) {
    const id = `00000000-0000-4000-9000-${String(this.pages.length).padStart(12, '0')}`;
    const user = { object: 'user', id: BOT };
    const empty = Object.entries(PROPERTIES).map(([name, [type, , value]]) => [name, { id: name, type, [type]: value }]);
    const object = {
      object: 'page', id, created_time: THEN, last_edited_time: THEN, created_by: user, last_edited_by: user, in_trash: false, archived: false,
      is_archived: false, is_locked: false, url: `https://www.notion.so/${id.replaceAll('-', '')}`, public_url: null, icon: null, cover: null,
      parent: { type: 'data_source_id', data_source_id: SOURCE, database_id: SPACE }, properties: Object.fromEntries(empty),
    };
    const page = { object, markdown };
    this.pages.push(page);
    return this.change(page, body);
  }

  change(page, { properties = {}, cover }) {
    for (const [name, value] of Object.entries(properties)) {
      const [type] = PROPERTIES[name];
      page.object.properties[name] = { id: name, type, [type]: held(type, value[type]) };
    }
    if (cover !== undefined) page.object.cover = cover && { type: 'external', ...cover };
    return page.object;
  }

  // Returns whether a page matches a filter; only these filters are supported.
  matches(page, { or, property, ...condition }) {
    if (or) return or.some((one) => this.matches(page, one));
    const [kind, { equals, starts_with }] = Object.entries(condition)[0];
    const text = page.properties[property][kind].map((piece) => piece.plain_text).join('');
    return equals === undefined ? text.startsWith(starts_with) : text === equals;
  }

  source() {
    const properties = Object.entries(PROPERTIES).map(([name, [type, said]]) => [name, { id: name, name, description: null, type, [type]: said }]);
    const user = { object: 'user', id: BOT };
    return {
      object: 'data_source', id: SOURCE, title: words('Posts'), description: [], parent: { type: 'database_id', database_id: SPACE },
      database_parent: { type: 'workspace', workspace: true }, is_inline: false, in_trash: false, archived: false, created_time: THEN,
      last_edited_time: THEN, created_by: user, last_edited_by: user, properties: Object.fromEntries(properties), icon: null, cover: null,
      url: 'https://www.notion.so/posts', public_url: null,
    };
  }

  list(type, results) {
    return { object: 'list', type, [type]: {}, results, next_cursor: null, has_more: false };
  }

  carryOut(asked, id, body) {
    const page = this.page(id);
    const markdown = () => ({ object: 'page_markdown', id, markdown: page.markdown, truncated: false, unknown_block_ids: [] });
    switch (asked) {
      case 'GET /v1/users/me': {
        const limits = { max_file_upload_size_in_bytes: 5242880 };
        const bot = { owner: { type: 'workspace', workspace: true }, workspace_id: SPACE, workspace_limits: limits, workspace_name: 'Peer' };
        return { object: 'user', id: BOT, name: 'Searchwright', avatar_url: null, type: 'bot', bot };
      }
      case 'POST /v1/search':
        return this.list('page_or_data_source', [this.source()]);
      case 'GET /v1/data_sources/{data_source_id}':
        return id === SOURCE && this.source();
      case 'POST /v1/data_sources/{data_source_id}/query':
        return this.list('page_or_data_source', this.pages.map(({ object }) => object).filter((object) => this.matches(object, body.filter)));
      case 'GET /v1/pages/{page_id}':
        return page?.object;
      case 'POST /v1/pages':
        return this.add(body);
      case 'PATCH /v1/pages/{page_id}':
        return page && this.change(page, body);
      case 'GET /v1/pages/{page_id}/markdown':
        return page && markdown();
      case 'PATCH /v1/pages/{page_id}/markdown':
        if (page) page.markdown = body.replace_content.new_str;
        return page && markdown();
    }
  }
}

export async function open(file) {
  const document = await openapi.open(file, amend);
  const types = {};
  for (const [asked, pair] of Object.entries(TYPES)) types[asked] = pair.map((type) => type && compiled(type));
  const workspace = new Workspace();
  const headers = { authorization: 'Bearer wrong', 'notion-version': '2026-03-11' };
  const parent = { type: 'data_source_id', data_source_id: SOURCE };
  const title = [{ text: { content: 'x' } }];
  return {
    wrong: [
      { method: 'POST', path: '/v1/pages', headers, body: { parent: { type: 'data_source_id', data_source_id: 'x' }, properties: {} } },
      { method: 'POST', path: '/v1/pages', headers, body: { parent, properties: { Name: { title: [{ content: 'x' }] } } } },
      { method: 'POST', path: '/v1/pages', headers, body: { parent, properties: { Path: { title } } } },
      { method: 'PATCH', path: `/v1/pages/${BOT}/markdown`, headers, body: { type: 'replace_content', replace_content: {} } },
      { method: 'POST', path: '/v1/search', headers: { ...headers, 'notion-version': '2022-06-28' }, body: {} },
      { method: 'GET', path: `/v1/pages/${BOT}/markdown`, headers: { authorization: 'Bearer wrong' } },
    ],
    asks: (request) => document.asks(request),
    refuses(request) {
      if (!/^Bearer \S+$/.test(request.headers.authorization ?? '')) return 'there is no token';
      // Needed everywhere, says Notion's page on versions; the operations on Markdown are not in earlier ones.
      if (!(request.headers['notion-version'] >= '2026-03-11')) return `it is version ${request.headers['notion-version']}`;
      const refused = document.refuses(request);
      const [check] = types[document.asks(request)] ?? [];
      if (refused || !check) return refused;
      const inPath = Object.entries(PATH).find(([path]) => document.operation(request).path.startsWith(path));
      const whole = inPath && request.body && !Array.isArray(request.body) ? { [inPath[1]]: request.path.split('/')[3], ...request.body } : request.body;
      return check(whole) ? misfit(request.body.properties) : openapi.faults(check.errors);
    },
    spoilt: (request) => document.spoilt(request),
    answer(request) {
      const body = workspace.carryOut(document.asks(request), request.path.split('/')[3], structuredClone(request.body));
      return body
        ? { status: document.status(request), body }
        : { status: 404, body: { object: 'error', status: 404, code: 'object_not_found', message: 'not found' } };
    },
    disallows(request, body) {
      const [, check] = types[document.asks(request)];
      return document.disallows(request, body) ?? (check(body) ? null : openapi.faults(check.errors));
    },
  };
}
