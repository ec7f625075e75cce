// The running product, as the scripts see it, and accounts in it.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, openSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

// Program, data folder, log, and the addresses of the authorization server, of the HTTP API and of MCP.
export const product = JSON.parse(process.env.PEOPLE_PRODUCT);

export const PASSWORD = 'correct horse battery staple 7';

// Runs `searchwright admin` on the data folder and returns what it prints.
export function admin(words, input = '', { data, origin } = product) {
  const environment = { ...process.env, SEARCHWRIGHT_DATA_DIR: data, PUBLIC_URL: origin };
  const text = execFileSync(product.program, ['admin', ...words, '--json'], { env: environment, input, stdio: 'pipe' });
  return JSON.parse(text);
}

// Makes an account; every walk has its own, so that they do not see each other's applications.
export function createAccount(name, person = name, site = product) {
  const email = `${name}@example.com`;
  admin(['user', 'create', '--email', email, '--name', person, '--role', 'owner', '--password-stdin'], PASSWORD, site);
  return email;
}

export function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

// Starts another product, with an empty database, at `localhost`: browsers make passkeys only for a name. `end` ends it.
export async function startAtName(name) {
  const [port, mcpPort] = [await freePort(), await freePort()];
  const data = `${product.data}-${name}`;
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data);
  const log = openSync(`${data}/serve.log`, 'w');
  const words = ['serve', '--listen', `127.0.0.1:${port}`, '--mcp-listen', `127.0.0.1:${mcpPort}`, '--data-dir', data];
  const origin = `http://localhost:${port}`;
  const child = spawn(product.program, words, { env: { ...process.env, PUBLIC_URL: origin }, stdio: ['ignore', log, log] });
  const ended = new Promise((done) => child.once('exit', done).once('error', done));
  const kill = () => child.kill();
  process.once('exit', kill);
  const end = () => {
    process.off('exit', kill);
    kill();
    return ended;
  };
  const deadline = Date.now() + 60_000;
  while (!(await fetch(`http://127.0.0.1:${port}/login`).catch(() => null))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await end();
      throw new Error(`it does not start, see ${data}/serve.log`);
    }
    await pause(100);
  }
  return { data, origin, end };
}
