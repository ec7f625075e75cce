// The running product, as the scripts see it, and accounts in it.
import { execFileSync } from 'node:child_process';

// Program, data folder, log, and the addresses of the authorization server, of the HTTP API and of MCP.
export const product = JSON.parse(process.env.PEOPLE_PRODUCT);

export const PASSWORD = 'correct horse battery staple 7';

// Runs `searchwright admin` on the data folder and returns what it prints.
export function admin(words, input = '') {
  const environment = { ...process.env, SEARCHWRIGHT_DATA_DIR: product.data, PUBLIC_URL: product.origin };
  const text = execFileSync(product.program, ['admin', ...words, '--json'], { env: environment, input, stdio: 'pipe' });
  return JSON.parse(text);
}

// Makes an account; every walk has its own, so that they do not see each other's applications.
export function createAccount(name, person = name) {
  const email = `${name}@example.com`;
  admin(['user', 'create', '--email', email, '--name', person, '--role', 'owner', '--password-stdin'], PASSWORD);
  return email;
}
