// Clients of both generations of the MCP TypeScript SDK that start `searchwright mcp` and speak with it over its streams.
import * as legacyClient from '@modelcontextprotocol/sdk/client/index.js';
import * as legacyTransport from '@modelcontextprotocol/sdk/client/stdio.js';
import * as currentClient from '@modelcontextprotocol/client';
import * as currentTransport from '@modelcontextprotocol/client/stdio';
import { admin, product } from './product.mjs';
import { assert, flow } from './report.mjs';

const CLIENTS = [
  { name: 'stdio-sdk-1', library: { ...legacyClient, ...legacyTransport }, options: {} },
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
