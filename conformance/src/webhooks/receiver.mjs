// A receiver of webhooks that verifies by the official libraries of JavaScript. `receiver.mjs PORT`; the secret is in `secret`.
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { Webhook as StandardWebhooks } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';

const server = createServer((request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    const body = Buffer.concat(pieces).toString('utf8');
    const secret = readFileSync('secret', 'ascii');
    for (const [name, Library] of [['standardwebhooks', StandardWebhooks], ['svix', Svix]]) {
      try {
        new Library(secret).verify(body, request.headers);
        console.log('VALID', name, JSON.parse(body).type);
      } catch (error) {
        console.log('INVALID', name, error.message);
      }
      try {
        new Library(secret).verify(body + ' ', request.headers);
        console.log('INVALID', name, 'took a body that was changed');
      } catch {
        console.log('REFUSED', name);
      }
    }
    response.writeHead(204).end();
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('listening'));
