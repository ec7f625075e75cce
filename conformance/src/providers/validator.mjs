// node validator.mjs DOCUMENT PORT: holds each request against an OpenAPI document and answers in the shape that
// the document gives its answers. Each valid request is then spoilt, member by member; how many of the spoilt ones
// are refused tells how much the document's schemas are worth.
import fs from 'node:fs';
import http from 'node:http';
import * as yaml from 'js-yaml';
import { OpenAPIBackend } from 'openapi-backend';

const [, , file, port] = process.argv;
// YAML 1.1's `=` is a text in these documents.
const schema = yaml.JSON_SCHEMA;
const definition = yaml.load(fs.readFileSync(file, 'utf8'), { schema });
const api = new OpenAPIBackend({
  definition,
  quick: true,
  validate: true,
  ajvOpts: { strict: false, allErrors: false, validateFormats: false },
});
await api.init();

function spoilt(body) {
  const inner = Array.isArray(body) ? body[0] : body;
  return Object.keys(inner).map((name) => {
    const plain = typeof inner[name] !== 'object' || Array.isArray(inner[name]);
    const wrong = { ...inner, [name]: plain ? { spoilt: [true] } : 42 };
    return Array.isArray(body) ? [wrong] : wrong;
  });
}

// An answer made from schemas says 0 where DataForSEO says that all is well.
function succeed(value) {
  if (value && typeof value === 'object') {
    for (const name of Object.keys(value)) {
      if (name === 'status_code') value[name] = 20000;
      else succeed(value[name]);
    }
  }
  return value;
}

function judge(request) {
  const operation = api.matchOperation(request);
  if (!operation) return { status: 404, answer: { error: { message: 'no such operation' } }, verdict: 'UNKNOWN' };
  const name = `${request.method} ${operation.path}`;
  const errors = (r) => api.validateRequest(r, operation).errors;
  const found = errors(request);
  if (found?.length) {
    return { status: 422, answer: { error: { message: JSON.stringify(found) } }, verdict: `INVALID ${name} ${JSON.stringify(found.slice(0, 3))}` };
  }
  const bad = spoilt(request.body);
  const refused = bad.filter((body) => errors({ ...request, body })?.length).length;
  const answer = succeed(api.mockResponseForOperation(operation.operationId, { code: 200 }).mock);
  return { status: 200, answer, verdict: `VALID ${name} ${refused}/${bad.length}` };
}

http
  .createServer((incoming, outgoing) => {
    const pieces = [];
    incoming.on('data', (piece) => pieces.push(piece));
    incoming.on('end', () => {
      let result;
      try {
        const url = new URL(incoming.url, 'http://peer');
        // A parameter of every method of Google's, which its documents leave out.
        url.searchParams.delete('alt');
        result = judge({
          method: incoming.method,
          path: url.pathname,
          query: Object.fromEntries(url.searchParams),
          headers: incoming.headers,
          body: JSON.parse(Buffer.concat(pieces).toString()),
        });
      } catch (error) {
        result = { status: 400, answer: { error: { message: String(error) } }, verdict: `BROKEN ${error}` };
      }
      console.log(result.verdict);
      outgoing.writeHead(result.status, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify(result.answer));
    });
  })
  .listen(Number(port), '127.0.0.1', () => console.log('listening'));
