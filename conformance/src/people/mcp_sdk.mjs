// The OAuth clients of both generations of the MCP TypeScript SDK, which know nothing but the address of the MCP server.
import * as legacyAuth from '@modelcontextprotocol/sdk/client/auth.js';
import * as legacyClient from '@modelcontextprotocol/sdk/client/index.js';
import * as legacyTransport from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as current from '@modelcontextprotocol/client';
import { Person } from './person.mjs';
import { createAccount, product } from './product.mjs';
import { assert, exchangesWith, flow } from './report.mjs';

const first = { ...legacyAuth, ...legacyClient, ...legacyTransport };

const CLIENTS = [
  {
    name: 'sdk-1',
    library: first,
    options: {},
    protocol: '2025-11-25',
    callback: (url) => url.searchParams.get('code'),
    refreshes: true,
  },
  {
    name: 'sdk-2-legacy',
    library: current,
    options: { versionNegotiation: { mode: 'legacy' } },
    protocol: '2025-11-25',
    callback: (url) => url.searchParams,
  },
  {
    name: 'sdk-2-modern',
    library: current,
    options: { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    protocol: '2026-07-28',
    callback: (url) => url.searchParams,
  },
];

// What a program would keep on disk.
class Storage {
  redirectUrl = 'http://127.0.0.1:33418/callback';

  constructor(name) {
    this.clientMetadata = {
      client_name: name,
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  state() {
    this.sentState = crypto.randomUUID();
    return this.sentState;
  }

  clientInformation() {
    return this.client;
  }

  saveClientInformation(client) {
    this.client = client;
  }

  tokens() {
    return this.savedTokens;
  }

  saveTokens(tokens) {
    this.savedTokens = tokens;
  }

  redirectToAuthorization(url) {
    this.asked = url;
  }

  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }

  codeVerifier() {
    return this.verifier;
  }

  saveDiscoveryState(state) {
    this.discovery = state;
  }

  discoveryState() {
    return this.discovery;
  }

  invalidateCredentials(scope) {
    if (scope === 'all' || scope === 'client') this.client = undefined;
    if (scope === 'all' || scope === 'tokens') this.savedTokens = undefined;
    if (scope === 'all' || scope === 'verifier') this.verifier = undefined;
    if (scope === 'all' || scope === 'discovery') this.discovery = undefined;
  }
}

// Expects that the client gives up and wants a person, and returns the address that it wants to open.
async function needsPerson({ library, storage }, work) {
  storage.asked = undefined;
  const isRefusal = (error) => error instanceof library.UnauthorizedError || /unauthorized|insufficient/i.test(String(error));
  await assert.rejects(work, isRefusal, 'the client went on without a person');
  assert.ok(storage.asked, 'the client did not want to open a browser');
  return storage.asked;
}

for (const { name, library, options, protocol, callback, refreshes } of CLIENTS) {
  await flow(name, async (check) => {
    const person = new Person(createAccount(name));
    const storage = new Storage(name);
    const session = { library, storage };
    const transport = () => new library.StreamableHTTPClientTransport(new URL(product.mcp), { authProvider: storage });
    const client = () => new library.Client({ name, version: '1.0.0' }, options);
    const signIn = async (url, used) => {
      const back = await person.approve(url);
      assert.equal(back.searchParams.get('state'), storage.sentState);
      assert.equal(back.searchParams.get('iss'), product.origin);
      await used.finishAuth(callback(back));
    };

    const begun = transport();
    const asked = await check('the address alone leads to registration and the sign-in page', async () => {
      const url = await needsPerson(session, () => client().connect(begun));
      const refused = exchangesWith(product.mcp).find(({ status }) => status === 401);
      assert.match(refused.headers['www-authenticate'], /resource_metadata="/);
      assert.ok(storage.client.client_id);
      assert.equal(url.searchParams.get('resource'), product.mcp);
      assert.equal(url.searchParams.get('code_challenge_method'), 'S256');
      return url;
    });
    await check('sign-in and consent give tokens', async () => {
      await signIn(asked, begun);
      assert.ok(storage.savedTokens.access_token && storage.savedTokens.refresh_token);
    });
    const connected = client();
    const connection = transport();
    await check(`connects in revision ${protocol}`, async () => {
      await connected.connect(connection);
      const negotiated = connected.getNegotiatedProtocolVersion?.() ?? connection.protocolVersion;
      assert.equal(negotiated, protocol);
    });
    const warnings = [];
    console.warn = (...words) => warnings.push(words.join(' '));
    const listed = await check.alone('lists the tools', async () => {
      const { tools } = await connected.listTools();
      assert.ok(tools.some((tool) => tool.name === 'me_get') && tools.some((tool) => tool.name === 'projects_list'));
      return tools;
    });
    const me = () => connected.callTool({ name: 'me_get', arguments: {} });
    await check('a tool that reads says who asks', async () => {
      const result = await me();
      assert.ok(!result.isError, JSON.stringify(result.content));
      assert.equal(result.structuredContent.authorization.user.name, name);
    });
    // a client that has the list compiles its schemas with the first call
    if (listed) {
      await check.alone("reads the tools' schemas without a warning", () => {
        assert.equal(warnings.length, 0, `${warnings.length} warnings, the first is: ${warnings[0]}`);
      });
    }
    await check('without its access token the client refreshes by itself, and the refresh token is replaced', async () => {
      const before = storage.savedTokens;
      const revoke = { token: before.access_token, client_id: storage.client.client_id };
      await fetch(`${product.origin}/oauth/revoke`, { method: 'POST', body: new URLSearchParams(revoke) });
      storage.asked = undefined;
      const result = await me();
      assert.ok(!result.isError && !storage.asked);
      assert.notEqual(storage.savedTokens.access_token, before.access_token);
      assert.notEqual(storage.savedTokens.refresh_token, before.refresh_token);
    });
    await check.alone('a tool that writes makes the client ask the person for more', async () => {
      const write = { name: 'projects_list', arguments: {} };
      const { structuredContent } = await connected.callTool(write);
      const projectId = structuredContent.rows[0][structuredContent.columns.indexOf('id')];
      const create = () => connected.callTool({ name: 'keywords_create', arguments: { projectId, keyword: `asked by ${name}` } });
      if (refreshes) {
        // This line answers the challenge with its refresh token, and gives up when the new token has the same scopes.
        await assert.rejects(create, /403/);
        return;
      }
      const more = await needsPerson(session, create);
      assert.match(more.searchParams.get('scope'), /keywords:write/);
      await signIn(more, connection);
    });
    const again = await check('ended on the account page, access needs the person again', async () => {
      await person.endAccess(name);
      return needsPerson(session, me);
    });
    await check('after the person signed in again it works', async () => {
      await signIn(again, connection);
      const result = await me();
      assert.ok(!result.isError);
    });
    await check('a decline comes back as access_denied', async () => {
      await person.endAccess(name);
      const back = await person.decline(await needsPerson(session, me));
      assert.equal(back.searchParams.get('error'), 'access_denied');
      assert.equal(back.searchParams.get('iss'), product.origin);
      assert.equal(back.searchParams.get('state'), storage.sentState);
    });
    await connected.close();
  });
}
