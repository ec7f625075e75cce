// Webflow's Data API v2 by its OpenAPI document: a site, a collection for posts, one for what they refer to, and their items.
import * as openapi from './openapi.mjs';

const SITE = 'a00000000000000000000001';
const POSTS = 'b00000000000000000000001';
const LABELS = 'b00000000000000000000002';
const THEN = '2026-11-20T10:00:00.000Z';

// Scopes of the token that users are told to create.
const SCOPES = ['sites:read', 'cms:read', 'cms:write'];

const FIELDS = [
  ['name', 'PlainText', true],
  ['slug', 'PlainText', true],
  ['body', 'RichText', true],
  ['teaser', 'PlainText', false],
  ['cover', 'Image', false],
  ['day', 'DateTime', false],
  ['source', 'Link', false],
  ['writer', 'Reference', false, { collectionId: LABELS }],
  ['labels', 'MultiReference', false, { collectionId: LABELS }],
  ['section', 'Option', false, { options: [{ name: 'Ann', id: 'c00000000000000000000001' }] }],
  ['words', 'PlainText', false, { maxLength: 256 }],
].map(([slug, type, isRequired, validations = null], at) => ({
  id: `d${String(at).padStart(23, '0')}`,
  slug,
  type,
  isRequired,
  isEditable: true,
  displayName: slug,
  validations,
}));

// The document leaves open what fields hold; Webflow's page "Field Types & Item Values" says it.
const is = (pattern) => (value) => typeof value === 'string' && pattern.test(value);
const VALUES = {
  PlainText: is(/^/),
  RichText: is(/^/),
  Link: is(/^https?:/),
  DateTime: is(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
  Reference: is(/^[0-9a-f]{24}$/),
  MultiReference: (value) => Array.isArray(value) && value.every(VALUES.Reference),
  // An option is named by its id.
  Option: (value, field) => field.validations.options.some((option) => option.id === value),
  Image: (value) =>
    typeof value === 'object' && VALUES.Link(value.url) && Object.entries(value).every(([name, member]) => ['url', 'alt', 'fileId'].includes(name) && VALUES.PlainText(member)),
};

function misfit(data) {
  for (const [name, value] of Object.entries(data ?? {})) {
    const field = FIELDS.find((known) => known.slug === name);
    if (!field) return `there is no field ${name}`;
    const isCleared = value === null && !field.isRequired;
    if (!isCleared && !VALUES[field.type](value, field)) return `${name} is no ${field.type}: ${JSON.stringify(value)}`;
  }
  return null;
}

function amend(definition) {
  for (const path of Object.values(definition.paths)) {
    for (const operation of Object.values(path)) {
      // If one item or several can be sent, neither variant of the body requires its own member: both allow a list of ids, so that the
      // document refuses its own examples, and anything passes as a list of items.
      for (const way of openapi.bodyOf(operation)?.oneOf ?? []) {
        const members = Object.keys(way.properties ?? {});
        if (!way.required?.length && members.length === 1) way.required = members;
      }
      for (const response of Object.values(operation.responses ?? {})) nullable(response.content);
    }
  }
}

// `lastPublished` is `null` for items that were never published, also in the document's own examples.
function nullable(schema) {
  if (!schema || typeof schema !== 'object') return;
  if (schema.properties?.lastPublished) schema.properties.lastPublished.nullable = true;
  for (const member of Object.values(schema)) nullable(member);
}

class Site {
  constructor() {
    this.items = { [POSTS]: [], [LABELS]: [] };
    for (const name of ['Red', 'Green', 'Ann']) this.add(LABELS, { isDraft: false, fieldData: { name, slug: name.toLowerCase() } }, THEN);
  }

  add(collection, { isDraft, fieldData }, lastPublished) {
    const id = `e${String(this.items[POSTS].length + this.items[LABELS].length).padStart(23, '0')}`;
    const item = { id, lastPublished, lastUpdated: THEN, createdOn: THEN, isArchived: false, isDraft, fieldData };
    this.items[collection].push(item);
    return item;
  }

  carryOut(asked, [, , first, , third], query, body) {
    const items = this.items[first];
    const item = items?.find((item) => item.id === third);
    switch (asked) {
      case 'GET /sites':
        return { sites: [this.site()] };
      case 'GET /sites/{site_id}':
        return first === SITE && this.site();
      case 'GET /sites/{site_id}/collections':
        return { collections: [{ id: POSTS, displayName: 'Posts', slug: 'posts' }, { id: LABELS, displayName: 'Labels', slug: 'labels' }] };
      case 'GET /collections/{collection_id}':
        return items && { id: first, displayName: 'Posts', singularName: 'Post', slug: 'posts', fields: FIELDS };
      case 'GET /collections/{collection_id}/items': {
        const found = items.filter(({ fieldData }) => ['name', 'slug'].every((name) => !query[name] || fieldData[name] === query[name]));
        return { items: found.slice(0, Number(query.limit)), pagination: { limit: Number(query.limit), offset: 0, total: found.length } };
      }
      case 'POST /collections/{collection_id}/items':
        return this.add(first, body, null);
      case 'POST /collections/{collection_id}/items/live':
        return this.add(first, body, THEN);
      case 'GET /collections/{collection_id}/items/{item_id}':
        return item;
      case 'PATCH /collections/{collection_id}/items/{item_id}':
        return item && Object.assign(item, body, { fieldData: { ...item.fieldData, ...body.fieldData } });
      case 'POST /collections/{collection_id}/items/publish':
        for (const item of items.filter(({ id }) => body.itemIds.includes(id))) Object.assign(item, { lastPublished: THEN, isDraft: false });
        return { publishedItemIds: body.itemIds, errors: [] };
      case 'DELETE /collections/{collection_id}/items/{item_id}/live':
        Object.assign(item, { lastPublished: null, isDraft: true });
        return undefined;
    }
  }

  site() {
    return { id: SITE, displayName: 'Peer', shortName: 'peer', customDomains: [{ id: 'f00000000000000000000001', url: 'example.com' }] };
  }
}

export async function open(file) {
  const document = await openapi.open(file, amend);
  const site = new Site();
  const headers = { authorization: 'Bearer wrong' };
  return {
    wrong: [
      { method: 'POST', path: `/v2/collections/${POSTS}/items`, headers, body: { isDraft: true, fieldData: { name: 'No slug' } } },
      { method: 'POST', path: `/v2/collections/${POSTS}/items/publish`, headers, body: { ids: ['e00000000000000000000001'] } },
      { method: 'GET', path: `/v2/collections/${POSTS}/items?title=x`, headers },
      { method: 'GET', path: '/v2/collections/posts', headers },
      { method: 'GET', path: '/v2/sites' },
    ],
    asks: (request) => document.asks(request),
    refuses(request) {
      if (!/^Bearer \S+$/.test(request.headers.authorization ?? '')) return 'there is no token';
      const operation = document.operation(request);
      const scopes = operation?.security?.flatMap((way) => way.OAuth2 ?? []) ?? [];
      const lacking = scopes.find((scope) => !SCOPES.includes(scope));
      if (lacking) return `the token may not ${lacking}`;
      return document.refuses(request) ?? (request.body && misfit(request.body.fieldData));
    },
    spoilt: (request) => document.spoilt(request),
    answer(request) {
      const asked = document.asks(request);
      const body = site.carryOut(asked, request.path.split('/').slice(1), request.query, structuredClone(request.body));
      const isThere = body || asked.startsWith('DELETE');
      return isThere ? { status: document.status(request), body } : { status: 404, body: { code: 'resource_not_found', message: 'not found' } };
    },
    disallows: (request, body) => document.disallows(request, body),
  };
}
