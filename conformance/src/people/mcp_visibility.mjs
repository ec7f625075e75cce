// An agent that works on AI visibility, by the clients of both generations of the MCP TypeScript SDK, with an API key. They compile
// the schema of each tool's result and reject an answer that does not fit it.
import * as legacyClient from '@modelcontextprotocol/sdk/client/index.js';
import * as legacyTransport from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as current from '@modelcontextprotocol/client';
import { admin, product } from './product.mjs';
import { assert, flow } from './report.mjs';

const CLIENTS = [
  { name: 'visibility-sdk-1', library: { ...legacyClient, ...legacyTransport }, options: {} },
  { name: 'visibility-sdk-2', library: current, options: { versionNegotiation: { mode: { pin: '2026-07-28' } } } },
];
const ANSWER = '1. **Acme Desk**: stable, see https://acme.example/desks\n2. **Bolt Desks**: cheaper\n3. **Zolt Office**: quiet';

for (const { name, library, options } of CLIENTS) {
  await flow(name, async (check) => {
    const domain = `${name}.example`;
    const { id: projectId } = admin(['project', 'create', '--name', 'Acme Desk', '--domain', domain]);
    const { key } = admin(['key', 'create', '--project', projectId, '--name', name]);
    const account = ['--provider', 'openai', '--base-url', 'http://127.0.0.1:9/v1', '--model', 'm-1', '--secret-file', '-'];
    const prices = ['--setting', 'inputPrice=1', '--setting', 'outputPrice=4'];
    admin(['provider', 'set', '--project', projectId, ...account, ...prices], 'sk-test');

    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    const client = new library.Client({ name, version: '1.0.0' }, options);
    await check('connects with a key and lists the tools of visibility', async () => {
      await client.connect(new library.StreamableHTTPClientTransport(new URL(`${product.mcp}?toolsets=visibility,brand`), { requestInit }));
      const names = (await client.listTools()).tools.map((tool) => tool.name);
      for (const tool of ['prompts_list', 'prompts_copy', 'prompts_track', 'visibility_overview', 'visibility_opportunities', 'names_list', 'names_decide']) {
        assert.ok(names.includes(tool), `${tool} is not among ${names}`);
      }
    });
    const answer = (tool, more = {}) => client.callTool({ name: tool, arguments: { projectId, ...more } });
    const call = async (tool, more) => {
      const result = await answer(tool, more);
      assert.ok(!result.isError, `${tool}: ${JSON.stringify(result.content)}`);
      assert.ok(result.structuredContent, `${tool} has no structured content`);
      return result.structuredContent;
    };

    // records of a list, which comes as columns and rows
    const list = async (tool, more) => {
      const { columns, rows } = await call(tool, more);
      return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])));
    };

    await check('before anything was asked, figures are null and say what to do', async () => {
      const { kpis, setupProgress } = await call('visibility_overview');
      assert.equal(kpis.mentionRate.value, null);
      assert.ok(setupProgress.steps.some((step) => step.required && !step.done && step.hint));
    });
    const promptId = await check('adds a prompt and lists it', async () => {
      await call('competitors_create', { items: [{ name: 'Bolt Desks', domain: 'bolt.example' }] });
      const { id } = await call('prompts_create', { text: 'Which standing desk suits two heavy monitors in a small room?' });
      const listed = await list('prompts_list');
      assert.deepEqual(listed.map((prompt) => prompt.id), [id]);
      return id;
    });
    await check('copies an answer, which counts in the overview', async () => {
      const askedAt = new Date(Date.now() - 3_600_000).toISOString();
      const { data } = await call('prompts_copy', { promptId, items: [{ engine: 'chatgpt', askedAt, text: ANSWER }] });
      assert.deepEqual(data[0].mentions.map((mention) => [mention.brand, mention.listRank]), [['Acme Desk', 1], ['Bolt Desks', 2]]);
      const { kpis } = await call('visibility_overview', { period: '7d' });
      assert.equal(kpis.mentionRate.value, 1);
      assert.equal(kpis.mentionRate.denominator, 1);
      assert.ok(kpis.mentionRate.ciLow < 0.3, 'one answer says little');
    });
    await check('an answer that cannot be is refused with the place of its fault', async () => {
      const result = await answer('prompts_copy', { promptId, items: [{ engine: 'chatgpt', askedAt: '2031-01-01T00:00:00.000Z', text: ANSWER }] });
      assert.ok(result.isError);
      assert.match(JSON.stringify(result.content), /\/items\/0\/askedAt/);
    });
    await check('estimates a run without asking anything', async () => {
      const started = await call('prompts_track', { promptId, samples: 3, dryRun: true });
      assert.ok(started.estimatedCost.low > 0 && started.estimatedCost.high >= started.estimatedCost.low);
      assert.ok(!started.run && !started.job);
      assert.deepEqual(await list('runs_list'), []);
    });
    await check('finds a name that nobody tracks and makes it a competitor', async () => {
      const data = await list('names_list');
      assert.ok(data.some((found) => found.name === 'Zolt Office'), JSON.stringify(data));
      const decisions = [{ name: 'Zolt Office', decision: 'competitor', domain: 'zolt.example' }];
      const { job } = await call('names_decide', { items: decisions });
      assert.equal(job.type, 'analyze_answers');
      const left = await list('names_list');
      assert.ok(!left.some((found) => found.name === 'Zolt Office'));
    });
    await check('reads the engines and what to do next', async () => {
      const engines = (await call('visibility_engines')).data;
      assert.ok(engines.some((engine) => engine.engine === 'custom'), JSON.stringify(engines).slice(0, 300));
      const data = await list('visibility_opportunities');
      assert.ok(Array.isArray(data));
    });
    await check('an archived prompt takes no answers', async () => {
      await call('prompts_update', { promptId, status: 'archived' });
      const askedAt = new Date(Date.now() - 3_600_000).toISOString();
      const result = await answer('prompts_copy', { promptId, items: [{ engine: 'chatgpt', askedAt, text: ANSWER }] });
      assert.ok(result.isError);
      assert.match(JSON.stringify(result.content), /invalid_state/);
    });
    await client.close();
  });
}
