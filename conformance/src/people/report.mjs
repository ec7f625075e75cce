// Checks, one line each: `ok FLOW: CHECK`, or `FAILED FLOW: CHECK: REASON` with the last exchange with the product behind it.
import assert from 'node:assert/strict';

const SECRETS = /\b(sw[a-z]_)[0-9A-Za-z]+|((?:code|code_verifier|password|csrf)=)[^&"\s]+/g;
const exchanges = [];
const plainFetch = globalThis.fetch;

// Every library here sends by the global `fetch`, so every exchange can be shown.
globalThis.fetch = async (input, options = {}) => {
  const response = await plainFetch(input, options);
  const asked = input instanceof Request ? { url: input.url, method: input.method } : { url: String(input), method: 'GET', ...options };
  exchanges.push({
    url: asked.url,
    method: options.method ?? asked.method,
    requestHeaders: Object.fromEntries(new Headers(options.headers ?? (input instanceof Request ? input.headers : {}))),
    requestBody: typeof options.body === 'string' || options.body instanceof URLSearchParams ? String(options.body) : '',
    status: response.status,
    headers: Object.fromEntries(response.headers),
    // a stream of events has no end
    text: response.headers.get('content-type')?.includes('event-stream') ? Promise.resolve('') : response.clone().text().catch(() => ''),
  });
  return response;
};

// The exchanges with an address that has `part` in it, oldest first.
export function exchangesWith(part) {
  return exchanges.filter((exchange) => exchange.url.includes(part));
}

async function describe(exchange) {
  if (!exchange) return '';
  const { url, method, requestBody, status, headers } = exchange;
  const challenge = headers['www-authenticate'] ? ` | www-authenticate: ${headers['www-authenticate']}` : '';
  const text = `${method} ${url} ${requestBody.slice(0, 600)} -> ${status}${challenge} ${(await exchange.text).slice(0, 600)}`;
  return text.replace(SECRETS, '$1$2…').replace(/\s+/g, ' ');
}

// Runs checks that build on each other; after one that fails, the rest of the flow is left out.
export async function flow(name, work) {
  const check = async (what, judge) => {
    let result;
    try {
      result = await judge();
    } catch (error) {
      const reason = String(error?.message ?? error).replace(/\s+/g, ' ').slice(0, 500);
      console.log(`FAILED ${name}: ${what}: ${reason}`);
      console.error(`  last exchange: ${await describe(exchanges.at(-1))}`);
      throw new Failed(error);
    }
    console.log(`ok ${name}: ${what}`);
    return result;
  };
  // A check that nothing later builds on.
  check.alone = (what, judge) => check(what, judge).catch(() => undefined);
  try {
    await work(check);
  } catch (error) {
    process.exitCode = 1;
    if (!(error instanceof Failed)) console.log(`FAILED ${name}: between checks: ${error.stack.replace(/\s+/g, ' ')}`);
  }
}

class Failed extends Error {
  constructor(cause) {
    super('a check failed', { cause });
    process.exitCode = 1;
  }
}

export { assert };
