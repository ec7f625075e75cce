// node server.mjs VENDOR DOCUMENT PORT: stands in for a vendor. Every request is held against the vendor's own document, and so is every
// answer. A request that the document allows is then spoilt in one way after the other, and each of the spoilt ones has to be refused.
//
// Before it listens it sends itself requests that are wrong, which have to be refused as well.
import http from 'node:http';

const [, , name, document, port] = process.argv;
const vendor = await (await import(`./${name}.mjs`)).open(document);

// A vendor judges a request without carrying it out, says what is asked, how it could be spoilt, and answers.
function judge(request) {
  const asked = vendor.asks(request);
  if (!asked) return { status: 404, verdict: `UNKNOWN ${request.method} ${request.path}` };
  const refused = vendor.refuses(request);
  if (refused) return { status: 400, said: refused, verdict: `INVALID ${asked} ${refused}` };
  const bad = [...vendor.spoilt(request)];
  const accepted = bad.filter((wrong) => !vendor.refuses(wrong));
  if (accepted.length) {
    const first = JSON.stringify({ query: accepted[0].query, body: accepted[0].body }).slice(0, 400);
    return { status: 400, verdict: `LENIENT ${asked} ${accepted.length} of ${bad.length} spoilt requests would be accepted: ${first}` };
  }
  const { status, body } = vendor.answer(request);
  const wrong = status < 300 && vendor.disallows(request, body);
  if (wrong) return { status: 500, said: wrong, verdict: `MISMADE ${asked} ${wrong}` };
  return { status, body, verdict: `VALID ${asked} ${bad.length}/${bad.length}` };
}

function read(incoming, text) {
  const url = new URL(incoming.url, 'http://peer');
  return {
    method: incoming.method,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: incoming.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

const server = http.createServer((incoming, outgoing) => {
  const pieces = [];
  incoming.on('data', (piece) => pieces.push(piece));
  incoming.on('end', () => {
    let result;
    try {
      result = judge(read(incoming, Buffer.concat(pieces).toString()));
    } catch (error) {
      result = { status: 400, said: String(error), verdict: `BROKEN ${incoming.method} ${incoming.url} ${error.stack}` };
    }
    console.log(incoming.headers['x-wrong'] ? `WRONG ${result.verdict}` : result.verdict);
    const body = result.body ?? (result.status < 300 ? undefined : { message: result.said ?? result.verdict });
    outgoing.writeHead(result.status, body === undefined ? {} : { 'content-type': 'application/json' });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
});

server.listen(Number(port), '127.0.0.1', async () => {
  for (const { method, path, headers, body } of vendor.wrong) {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { ...json, ...headers, 'x-wrong': 'yes' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    await answer.arrayBuffer();
  }
  console.log('listening');
});
