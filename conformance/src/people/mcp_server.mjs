// The MCP conformance suite against the MCP server, with an API key, in each revision that it speaks. The suite sends no credential,
// so a proxy adds it. Scenarios that need tools of the suite's own are left to the suite's fixtures.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { admin, freePort, product } from './product.mjs';
import { assert, flow } from './report.mjs';

const suite = fileURLToPath(new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url));
const SCENARIOS = {
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'resources-list', 'prompts-list', 'completion-complete', 'dns-rebinding-protection'],
  '2026-07-28': ['server-stateless', 'tools-list', 'resources-list', 'prompts-list', 'completion-complete', 'caching', 'input-required-result-unsupported-methods', 'http-header-validation', 'sep-2164-resource-not-found', 'dns-rebinding-protection'],
};
// Scenarios of the tasks extension, with tools of the product in the place of the suite's: one that answers at once, and one that starts
// a job. Left out are checks of what only the suite's tools do: their own words, a crash, and a question in the midst of a task.
const STAND_INS = { greet: 'me_get', slow_compute: 'audits_start', failing_job: 'audits_start', protocol_error_job: 'audits_start', confirm_delete: 'audits_start' };
const TASKS = {
  'tasks-lifecycle': ['sep-2663-tasks-get-status-failed'],
  'tasks-capability-negotiation': [],
  'tasks-wire-fields': [],
  'tasks-request-state-removal': [],
  'tasks-request-headers': ['tasks-headers-tolerate-mcp-method-on-tools-call'],
  'tasks-dispatch-and-envelope': ['tasks-result-type-complete-on-non-task-responses'],
};
// Reason that the suite gives for a check that needs a tool of its own server.
const NEEDS_FIXTURE = /^Not testable: server does not list the diagnostic tool/;

async function proxy(key) {
  const port = await freePort();
  const target = new URL(product.mcp);
  const server = http.createServer(async (request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${key}` };
    const body = withStandIn(Buffer.concat(await request.toArray()), headers);
    headers['content-length'] = body.length;
    const options = { host: target.hostname, port: target.port, path: request.url, method: request.method, headers, setHost: false };
    const passed = http.request(options, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', (error) => response.writeHead(502).end(String(error)));
    passed.end(body);
  });
  await new Promise((done) => server.listen(port, '127.0.0.1', done));
  return { server, url: `http://127.0.0.1:${port}${target.pathname}` };
}

// Returns a call of one of the suite's tools as one of the tool that stands in for it, in the header as well where both agree.
function withStandIn(body, headers) {
  const named = Object.keys(STAND_INS).some((name) => body.includes(`"${name}"`));
  const call = named ? JSON.parse(body) : {};
  const tool = call.method === 'tools/call' && STAND_INS[call.params.name];
  if (!tool) return body;
  if (headers['mcp-name'] === call.params.name) headers['mcp-name'] = tool;
  Object.assign(call.params, { name: tool, arguments: {} });
  return Buffer.from(JSON.stringify(call));
}

// Runs a scenario and returns its checks.
async function run(url, scenario, ...more) {
  const folder = mkdtempSync(join(tmpdir(), 'people-'));
  try {
    const words = ['server', '--url', url, '--scenario', scenario, ...more, '--output-dir', folder];
    const child = spawn(process.execPath, [suite, ...words], { stdio: 'ignore' });
    await new Promise((done, failed) => child.on('close', done).on('error', failed));
    const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('checks.json'));
    return files.flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

for (const [revision, scenarios] of Object.entries(SCENARIOS)) {
  await flow(`mcp-server-${revision}`, async (check) => {
    const { id } = admin(['project', 'create', '--name', 'Conformance', '--domain', `conformance-${revision}.example`]);
    const { key } = admin(['key', 'create', '--project', id, '--name', 'conformance']);
    const { server, url } = await proxy(key);
    for (const scenario of scenarios) {
      await check.alone(scenario, async () => {
        const checks = await run(url, scenario, '--spec-version', revision);
        assert.ok(checks.some(({ status }) => status === 'SUCCESS'), `${checks.length} checks, none passed`);
        const failed = checks.filter(({ status, errorMessage }) => status === 'FAILURE' && !NEEDS_FIXTURE.test(errorMessage));
        assert.deepEqual(failed.map(({ id, errorMessage }) => `${id}: ${errorMessage}`), []);
      });
    }
    server.close();
  });
}

await flow('mcp-server-tasks', async (check) => {
  const { id } = admin(['project', 'create', '--name', 'Tasks', '--domain', 'conformance-tasks.example']);
  const { key } = admin(['key', 'create', '--project', id, '--name', 'tasks']);
  const { server, url } = await proxy(key);
  for (const [scenario, left] of Object.entries(TASKS)) {
    await check.alone(scenario, async () => {
      const checks = (await run(url, scenario)).filter((one) => !left.includes(one.id));
      const failed = checks.filter(({ status }) => status !== 'SUCCESS');
      assert.ok(checks.length > 1, `${checks.length} checks`);
      assert.deepEqual(failed.map((one) => `${one.id}: ${one.errorMessage}`), []);
    });
  }
  server.close();
});
