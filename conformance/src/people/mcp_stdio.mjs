// Clients of both generations of the MCP TypeScript SDK that start `searchwright mcp` and speak with it over its streams.
import * as legacyClient from '@modelcontextprotocol/sdk/client/index.js';
import * as legacyTransport from '@modelcontextprotocol/sdk/client/stdio.js';
import * as currentClient from '@modelcontextprotocol/client';
import * as currentTransport from '@modelcontextprotocol/client/stdio';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createHash, randomBytes } from 'node:crypto';
import { Person } from './person.mjs';
import { admin, createAccount, product } from './product.mjs';
import { assert, flow } from './report.mjs';

const CLIENTS = [
  { name: 'stdio-sdk-1', library: { ...legacyClient, ...legacyTransport }, options: {}, question: ElicitRequestSchema },
  {
    name: 'stdio-sdk-2-legacy',
    library: { ...currentClient, ...currentTransport },
    options: { versionNegotiation: { mode: 'legacy' } },
  },
  {
    name: 'stdio-sdk-2-modern',
    library: { ...currentClient, ...currentTransport },
    options: { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    protocol: '2026-07-28',
  },
];
const AT_ONCE = 20;

const project = admin(['project', 'create', '--name', 'Stdio', '--domain', 'stdio.example']);
const { key } = admin(['key', 'create', '--project', project.id, '--name', 'stdio']);

for (const { name, library, options, protocol } of CLIENTS) {
  await flow(name, async (check) => {
    const start = (credential) => {
      const env = { SEARCHWRIGHT_URL: product.origin, HOME: product.data, ...(credential ? { SEARCHWRIGHT_KEY: credential } : {}) };
      return new library.StdioClientTransport({ command: product.program, args: ['mcp'], env, stderr: 'pipe' });
    };
    const client = () => new library.Client({ name, version: '1.0.0' }, options);
    const connected = client();
    const transport = start(key);
    let said = '';
    transport.stderr?.on('data', (piece) => (said += piece));
    await check('connects', async () => {
      await connected.connect(transport);
      const negotiated = connected.getNegotiatedProtocolVersion?.();
      if (protocol) assert.equal(negotiated, protocol);
      assert.ok(connected.getInstructions().length > 0);
    });
    await check('lists the tools', async () => {
      const { tools } = await connected.listTools();
      assert.ok(tools.some((tool) => tool.name === 'me_get'));
    });
    const call = (tool, arguments_) => connected.callTool({ name: tool, arguments: arguments_ });
    await check('a tool that reads says whose key it is', async () => {
      const result = await call('me_get', {});
      assert.equal(result.structuredContent.project.id, project.id);
    });
    await check('calls at once get each their own answer', async () => {
      const words = Array.from({ length: AT_ONCE }, (_, at) => `${name} ${at}`);
      const made = await Promise.all(words.map((keyword) => call('keywords_create', { keyword })));
      assert.deepEqual(made.map((result) => result.structuredContent.keyword), words);
    });
    await check('a wrong argument is a result that names it', async () => {
      const result = await call('keywords_create', { keyword: '' });
      assert.ok(result.isError && JSON.stringify(result.content).includes('/keyword'), JSON.stringify(result));
    });
    await check('a call that is given up ends', async () => {
      const given = new AbortController();
      const work = connected.callTool({ name: 'me_get', arguments: {} }, ...(options.versionNegotiation ? [] : [undefined]), { signal: given.signal });
      given.abort();
      await assert.rejects(work);
      assert.equal((await call('me_get', {})).structuredContent.project.id, project.id);
    });
    await check('the program ends with its client, and says nothing beside its answers', async () => {
      const { pid } = transport;
      await connected.close();
      assert.equal(said, '');
      assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
    });
    // A pinned revision hides the reason behind words of its own, and closes the log before it is read.
    const words = protocol ? /did not offer pinned/ : /searchwright login --mcp/;
    await check('without a credential the client shows how to get one', async () => {
      const nobody = client();
      await assert.rejects(() => nobody.connect(start()), words);
      await nobody.close();
    });
  });
}

// A token of a person for MCP, as an application gets it.
async function tokenOf(person, scope) {
  const redirect = 'http://127.0.0.1:33420/callback';
  const post = async (path, body, type) => {
    const response = await fetch(`${product.origin}/oauth/${path}`, { method: 'POST', body, ...(type ? { headers: { 'content-type': type } } : {}) });
    return response.json();
  };
  const application = { client_name: 'asks', redirect_uris: [redirect], token_endpoint_auth_method: 'none' };
  const { client_id } = await post('register', JSON.stringify(application), 'application/json');
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const asked = new URLSearchParams({
    response_type: 'code', client_id, redirect_uri: redirect, scope, state: 'x', resource: product.mcp,
    code_challenge: challenge, code_challenge_method: 'S256',
  });
  const back = await person.approve(new URL(`${product.origin}/oauth/authorize?${asked}`));
  const code = back.searchParams.get('code');
  const grant = { grant_type: 'authorization_code', code, redirect_uri: redirect, client_id, code_verifier: verifier, resource: product.mcp };
  return (await post('token', new URLSearchParams(grant))).access_token;
}

for (const { name, library, options, question = 'elicitation/create' } of CLIENTS) {
  await flow(`${name}-asks`, async (check) => {
    const person = new Person(createAccount(`${name}-asks`));
    const token = await tokenOf(person, 'projects:read posts:write content:publish');
    const client = new library.Client({ name, version: '1.0.0' }, { ...options, capabilities: { elicitation: {} } });
    let asked = [];
    let answer;
    client.setRequestHandler(question, ({ params }) => {
      asked.push(params.message);
      return answer;
    });
    const env = { SEARCHWRIGHT_URL: product.origin, HOME: product.data, SEARCHWRIGHT_KEY: token };
    await client.connect(new library.StdioClientTransport({ command: product.program, args: ['mcp'], env, stderr: 'ignore' }));
    const call = (tool, values) => client.callTool({ name: tool, arguments: values });
    const { structuredContent: projects } = await call('projects_list', {});
    const projectId = projects.rows[0][projects.columns.indexOf('id')];
    const { structuredContent: post } = await call('posts_create', { projectId, title: `Asked by ${name}`, content: 'Text.' });
    for (const [action, code, words] of [
      ['decline', 'confirmation_required', /declined/],
      ['cancel', 'confirmation_required', /closed the question/],
      ['accept', 'provider_not_configured', /./],
    ]) {
      await check.alone(`a person is asked, and the answer counts: ${action}`, async () => {
        asked = [];
        answer = action === 'accept' ? { action, content: {} } : { action };
        const result = await call('posts_publish', { projectId, postId: post.id });
        assert.deepEqual(asked.length, 1, JSON.stringify(result));
        assert.ok(asked[0].startsWith(`Publish “Asked by ${name}” (version 1)`), asked[0]);
        const problem = JSON.parse(result.content[0].text);
        assert.equal(problem.code, code);
        assert.match(problem.detail, words);
      });
    }
    await client.close();
  });
}
