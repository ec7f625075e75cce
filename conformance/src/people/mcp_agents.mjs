// Agents of others as people install them: Claude Code and the Inspector add the product by their own commands, over HTTP and as a
// program, and say whether they reach it. None of them has an account, so no model is asked.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { admin, product } from './product.mjs';
import { assert, flow } from './report.mjs';

const HOME = `${product.data}/agents`;
mkdirSync(HOME, { recursive: true });

const project = admin(['project', 'create', '--name', 'Agents', '--domain', 'agents.example']);
const { key } = admin(['key', 'create', '--project', project.id, '--name', 'agents']);

// Runs a program of the packages to its end and returns all that it said.
function run(path, words) {
  const program = new URL(`node_modules/.bin/${path}`, import.meta.url).pathname;
  const env = { PATH: `${new URL('.', `file://${process.execPath}`).pathname}:${process.env.PATH}`, HOME, CLAUDE_CONFIG_DIR: `${HOME}/.claude` };
  const done = spawnSync(program, words, { cwd: HOME, env, encoding: 'utf8', timeout: 120_000 });
  return { status: done.status, said: `${done.stdout}${done.stderr}` };
}

await flow('claude-code', async (check) => {
  const claude = (...words) => run('claude', ['mcp', ...words]);
  const added = (name, words) => {
    const { status, said } = claude('add', '--scope', 'user', ...words);
    assert.equal(status, 0, `${name}: ${said}`);
  };
  const line = (name, said) => said.split('\n').find((text) => text.startsWith(`${name}:`)) ?? said;
  await check('adds it over HTTP, as a program, and with a wrong key', () => {
    added('over-http', ['--transport', 'http', 'over-http', product.mcp, '--header', `Authorization: Bearer ${key}`]);
    added('wrong', ['--transport', 'http', 'wrong', product.mcp, '--header', 'Authorization: Bearer swk_wrong']);
    const env = ['-e', `SEARCHWRIGHT_URL=${product.origin}`, '-e', `SEARCHWRIGHT_KEY=${key}`];
    added('as-program', ['as-program', ...env, '--', product.program, 'mcp']);
  });
  await check('reaches both, and not the one with a wrong key', () => {
    const { said } = claude('list');
    for (const name of ['over-http', 'as-program']) assert.match(line(name, said), /Connected/, line(name, said));
    assert.doesNotMatch(line('wrong', said), /Connected/);
  });
  await check('says the same of one alone', () => {
    for (const name of ['over-http', 'as-program']) {
      const { said } = claude('get', name);
      assert.match(said, /Connected/, said);
      assert.doesNotMatch(said, /Failed/);
    }
  });
});

await flow('inspector', async (check) => {
  const inspect = (...words) => {
    const { status, said } = run('mcp-inspector', ['--cli', ...words]);
    assert.equal(status, 0, said);
    return JSON.parse(said);
  };
  const env = ['-e', `SEARCHWRIGHT_URL=${product.origin}`, '-e', `SEARCHWRIGHT_KEY=${key}`];
  await check('lists tools, prompts and templates of the program', () => {
    const ask = (method) => inspect(...env, product.program, 'mcp', '--method', method);
    assert.ok(ask('tools/list').tools.some((tool) => tool.name === 'me_get'));
    assert.ok(ask('prompts/list').prompts.length > 0);
    assert.ok(ask('resources/templates/list').resourceTemplates.length > 0);
  });
  await check('calls a tool of it', () => {
    const made = inspect(...env, product.program, 'mcp', '--method', 'tools/call', '--tool-name', 'keywords_create', '--tool-arg', 'keyword=desk');
    assert.equal(made.structuredContent.keyword, 'desk');
  });
});
