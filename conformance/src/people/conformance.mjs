// The MCP conformance suite against the authorization server: it prints an address to be opened, and a person opens it.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Person } from './person.mjs';
import { createAccount, freePort, product } from './product.mjs';
import { assert, flow } from './report.mjs';

const suite = fileURLToPath(new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url));
const LIMIT = AbortSignal.timeout(120_000);

// Checks of the suite that the product does not pass, with the reason: none.
const EXPLAINED = {};

// Runs the suite for a client and returns its checks.
async function run(person, client, port, resource) {
  const folder = mkdtempSync(join(tmpdir(), 'people-'));
  try {
    const words = ['authorization', '--url', product.origin, '--client-id', client, '--port', port, '--output-dir', folder];
    const child = spawn(process.execPath, [suite, ...words, ...(resource ? ['--resource', resource] : [])], { signal: LIMIT });
    let text = '';
    let visit;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (piece) => {
        text += piece;
        const address = text.match(/^(http\S+\/oauth\/authorize\?\S+)\r?\n/m);
        // the suite listens at the address that the person is sent back to
        if (address) visit ??= person.approve(address[1]).then((back) => fetch(back));
      });
    }
    await new Promise((done, failed) => child.on('close', done).on('error', failed));
    assert.ok(visit, `it did not ask for a person: ${text.slice(-500)}`);
    await visit;
    const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('checks.json'));
    return files.flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function register(port) {
  const response = await fetch(`${product.origin}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'conformance', redirect_uris: [`http://127.0.0.1:${port}/callback`] }),
  });
  return (await response.json()).client_id;
}

await flow('conformance', async (check) => {
  const person = new Person(createAccount('conformance'));
  const port = await freePort();
  for (const [what, client, resource] of [
    ['the command line, for the HTTP API', 'cli', undefined],
    ['a registered client, for MCP', await register(port), product.mcp],
  ]) {
    const judged = await check(`runs as ${what}`, async () => {
      const checks = await run(person, client, port, resource);
      const ids = new Set(checks.map(({ id }) => id));
      assert.ok(ids.has('authorization-server-metadata') && ids.has('authorization-code-grant'), [...ids].join(' '));
      return checks;
    });
    for (const { id, status, errorMessage } of judged) {
      await check.alone(`${id}, as ${what}${EXPLAINED[id] ? ` (explained: ${EXPLAINED[id]})` : ''}`, () => {
        assert.ok(status === 'SUCCESS' || EXPLAINED[id], `${status} ${errorMessage ?? ''}`);
      });
    }
  }
});
