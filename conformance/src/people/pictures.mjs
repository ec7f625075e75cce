// Pictures of the manual, taken from the real pages: `node pictures.mjs PROGRAM FOLDER` in a folder with playwright-core, with Chromium
// and Pillow, which leaves few colours so that the files stay small.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [program, folder] = process.argv.slice(2);
const { chromium } = createRequire(join(process.cwd(), 'here.js'))('playwright-core');
const PLACES = ['wordpress', 'ghost', 'webflow', 'shopify', 'wix', 'notion', 'contentful', 'strapi', 'directus', 'git', 'files', 'webhook'];
const REDUCE = 'import sys; from PIL import Image; f = sys.argv[1]; Image.open(f).convert("RGB").quantize(24).save(f, optimize=True)';
const PASSWORD = 'correct horse battery staple 7';
const address = '127.0.0.1:9287';
const environment = {
  ...process.env,
  SEARCHWRIGHT_DATA_DIR: mkdtempSync(join(tmpdir(), 'pictures-')),
  SEARCHWRIGHT_LISTEN: address,
  SEARCHWRIGHT_MCP_LISTEN: '127.0.0.1:9288',
  SEARCHWRIGHT_URL: `http://${address}`,
};
const run = (args, input) => execFileSync(program, args, { env: environment, input }).toString();
const json = (...args) => JSON.parse(run([...args, '--json']));

const server = spawn(program, ['serve', '--set', 'worker.jobs=0'], { env: environment, stdio: 'ignore' });
try {
  for (let tries = 0; tries < 100; tries += 1) {
    const isReady = await fetch(`http://${address}/readyz`).then((answer) => answer.ok, () => false);
    if (isReady) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const project = json('admin', 'project', 'create', '--name', 'Fern & Fir', '--domain', 'https://example.com').id;
  environment.SEARCHWRIGHT_KEY = json('admin', 'key', 'create', '--project', project, '--name', 'pictures').key;
  run(['admin', 'user', 'create', '--email', 'ann@example.com', '--name', 'Ann', '--role', 'owner', '--password-stdin'], PASSWORD);
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 640, height: 800 }, colorScheme: 'light' });
  const take = async (name, what) => {
    const file = join(folder, `${name}.png`);
    await what.screenshot({ path: file });
    execFileSync('python3', ['-c', REDUCE, file]);
  };
  for (const place of PLACES) {
    const { url } = json('integrations', 'connect', place);
    await page.goto(url);
    await take(`connect-${place}`, page.locator('main'));
  }
  run(['admin', 'integration', 'connect', '--project', project, '--provider', 'files', '--setting', 'baseUrl=https://example.com/blog']);
  await page.setViewportSize({ width: 900, height: 760 });
  await page.goto(`http://${address}/login`);
  await page.getByLabel('Email').fill('ann@example.com');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
  await page.goto(`http://${address}/projects/${project}/integrations/files`);
  await take('mapping', page);
  await browser.close();
} finally {
  server.kill();
}
