// Shopify's GraphQL Admin API by its introspection, which Shopify packages with its own tools: a shop with a blog.
import fs from 'node:fs';
import zlib from 'node:zlib';
import {
  NoDeprecatedCustomRule, buildClientSchema, executeSync, getVariableValues, parse, print, specifiedRules, validate, valueFromASTUntyped, visit,
} from 'graphql';
import { spoilt } from './mutations.mjs';

const BLOG = 'gid://shopify/Blog/7';
const GRAPHQL = '/admin/api/2026-10/graphql.json';
const TOKEN = '/admin/oauth/access_token';
const DAY = 'shpat_of_a_day';

// Introspection leaves open what scalars look like; their descriptions say it.
const isText = (value) => typeof value === 'string';
const SCALARS = {
  HTML: isText,
  URL: (value) => isText(value) && URL.canParse(value),
  DateTime: (value) => isText(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value),
};

function schemaOf(file) {
  const read = JSON.parse(zlib.gunzipSync(fs.readFileSync(file)));
  const schema = buildClientSchema(read.data ?? read);
  for (const [name, isIt] of Object.entries(SCALARS)) {
    const type = schema.getType(name);
    type.parseValue = (value) => {
      if (!isIt(value)) throw new TypeError(`${JSON.stringify(value)} is no ${name}`);
      return value;
    };
    type.parseLiteral = (node) => type.parseValue(valueFromASTUntyped(node));
  }
  return schema;
}

// An id of this type.
function id(type, value) {
  if (!new RegExp(`^gid://shopify/${type}/\\d+$`).test(value)) throw new TypeError(`${value} is no id of a ${type}`);
  return value;
}

// Answers of the root fields; the schema validates every value against its type.
class Shop {
  articles = [];

  root() {
    const nodes = (nodes) => ({ nodes });
    return {
      shop: { name: 'Peer', myshopifyDomain: 'peer.myshopify.com', primaryDomain: { url: 'https://example.com' } },
      currentAppInstallation: { accessScopes: [{ handle: 'write_content' }] },
      blogs: nodes([{ id: BLOG, title: 'News' }]),
      metafieldDefinitions: nodes([{ namespace: 'custom', key: 'lead', name: 'Lead', type: { name: 'multi_line_text_field' } }]),
      blog: (sent) => (id('Blog', sent.id) === BLOG ? { handle: 'news', articles: ({ first }) => nodes(this.articles.slice(-first).reverse()) } : null),
      article: (sent) => this.article(id('Article', sent.id)) ?? null,
      articles: ({ query }) => nodes(this.search(query)),
      articleCreate: ({ article }) => this.create(article),
      articleUpdate: (sent) => this.update(this.article(id('Article', sent.id)), sent.article),
    };
  }

  article(id) {
    return this.articles.find((article) => article.id === id);
  }

  // The description of the argument documents the searches that are possible.
  search(query) {
    const [, blog, handle] = /^blog_id:(\d+) AND handle:'?([^']+)'?$/.exec(query) ?? [];
    if (!handle) throw new TypeError(`${query} is no search of articles`);
    return this.articles.filter((article) => BLOG.endsWith(`/${blog}`) && article.handle === handle);
  }

  create({ blogId, ...sent }) {
    id('Blog', blogId);
    const empty = { summary: null, tags: [], isPublished: false, blog: { handle: 'news' }, held: {} };
    const article = { id: `gid://shopify/Article/${this.articles.length + 1}`, ...empty };
    // With `keys` the key of a metafield has its namespace, as `keys` has it, says the description of the argument.
    article.metafields = ({ keys }) => ({
      nodes: keys.filter((name) => article.held[name]).map((name) => ({ namespace: name.split('.')[0], key: name, value: article.held[name] })),
    });
    this.articles.push(article);
    return this.update(article, sent);
  }

  update(article, { metafields, redirectNewHandle, ...sent }) {
    const wrong = (message) => ({ article: null, userErrors: [{ code: 'INVALID', field: ['article'], message }] });
    if (sent.publishDate && sent.isPublished === false) return wrong('an article that is not published has no day');
    for (const { namespace, key, type, value } of metafields ?? []) {
      if (!value) return wrong('a metafield is empty');
      if (namespace !== 'custom' && !type) return wrong('a metafield without a definition needs a type');
      article.held[`${namespace}.${key}`] = value;
    }
    Object.assign(article, sent);
    return { article, userErrors: [] };
  }
}

// Fields of a query one by one under names that do not exist.
function* misspelt(query) {
  const document = parse(query);
  let count = 0;
  visit(document, { Field: () => void (count += 1) });
  for (let wrong = 0; wrong < count; wrong += 1) {
    let at = 0;
    const Field = (node) => (at++ === wrong ? { ...node, name: { ...node.name, value: 'spoilt' } } : undefined);
    yield print(visit(document, { Field }));
  }
}

export async function open(file) {
  const schema = schemaOf(file);
  const shop = new Shop();
  const rootValue = shop.root();
  const rules = [...specifiedRules, NoDeprecatedCustomRule];
  const isToken = ({ path }) => path === TOKEN;
  const headers = { 'x-shopify-access-token': 'wrong' };
  const wrong = (query, variables = {}) => ({ method: 'POST', path: GRAPHQL, headers, body: { query, variables } });
  const create = 'mutation($article: ArticleCreateInput!) { articleCreate(article: $article) { article { id } } }';
  const said = (errors) => errors.map((error) => error.message).join('; ');

  // The request of a token is not in the introspection; it is documented on Shopify's page on the client credentials grant.
  function refusesToken({ body }) {
    const isOfThese = Object.keys(body ?? {}).sort().join() === 'client_id,client_secret,grant_type';
    const isRight = isOfThese && Object.values(body).every(isText) && body.grant_type === 'client_credentials';
    return isRight ? null : 'it is no exchange of client credentials';
  }

  return {
    wrong: [
      wrong('query { shop { nickname } }'),
      wrong('query { articles(first: 1, blog: 7) { nodes { id } } }'),
      wrong(create, { article: { title: 'No author' } }),
      wrong(create, { article: { title: 'x', author: { name: 'x' }, publishDate: 'tomorrow' } }),
      wrong(create, { article: { title: 'x', author: { name: 'x' }, bodyHtml: 'x' } }),
      { ...wrong('query { shop { name } }'), headers: {} },
    ],
    asks(request) {
      if (request.method !== 'POST') return null;
      if (isToken(request)) return `POST ${TOKEN}`;
      if (request.path !== GRAPHQL) return null;
      const [operation] = parse(request.body.query).definitions;
      return `${operation.operation} ${operation.selectionSet.selections.map((field) => field.name.value).join(' ')}`;
    },
    refuses(request) {
      if (!request.headers['content-type']?.startsWith('application/json')) return 'the body is not said to be JSON';
      if (isToken(request)) return refusesToken(request);
      if (!request.headers['x-shopify-access-token']) return 'there is no token';
      const { query, variables, ...more } = request.body;
      if (!isText(query) || Object.keys(more).length) return 'it is no request of GraphQL';
      const document = parse(query);
      const errors = validate(schema, document, rules);
      if (errors.length) return said(errors);
      if (!variables || typeof variables !== 'object') return 'the variables are no object';
      const definitions = document.definitions[0].variableDefinitions ?? [];
      const unknown = Object.keys(variables).find((name) => !definitions.some((one) => one.variable.name.value === name));
      if (unknown) return `there is no variable ${unknown}`;
      const coerced = getVariableValues(schema, definitions, variables);
      return coerced.errors ? said(coerced.errors) : null;
    },
    *spoilt(request) {
      for (const body of spoilt(request.body)) yield { ...request, body };
      if (isToken(request)) return;
      for (const query of misspelt(request.body.query)) yield { ...request, body: { ...request.body, query } };
    },
    answer(request) {
      if (isToken(request)) return { status: 200, body: { access_token: DAY, scope: 'write_content', expires_in: 86399 } };
      const { query, variables } = request.body;
      return { status: 200, body: executeSync({ schema, document: parse(query), rootValue, variableValues: variables }) };
    },
    // An answer that is not as the schema has it has errors.
    disallows: (request, body) => (body.errors ? said(body.errors) : null),
  };
}
