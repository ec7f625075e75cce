// Holds requests and answers against an OpenAPI document.
import fs from 'node:fs';
import * as yaml from 'js-yaml';
import { OpenAPIBackend } from 'openapi-backend';
import { spoilt } from './mutations.mjs';

// Formats of the documents beyond those that the validator knows.
const FORMATS = {
  objectid: /^[0-9a-f]{24}$/,
  uuid: /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  'date-string': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
  uri: /^https?:\/\/[^\s]+$/,
};

// The settings of every validator here.
export const AJV = { strict: false, allErrors: false, validateFormats: true, logger: false, formats: FORMATS };

// `amend` is given the document before anything is held against it.
export async function open(file, amend) {
  // YAML 1.1's `=` is a text in these documents. Copied, so that no part is in two places and an amendment stays where it is made.
  const definition = JSON.parse(JSON.stringify(yaml.load(fs.readFileSync(file, 'utf8'), { schema: yaml.JSON_SCHEMA })));
  for (const path of Object.values(definition.paths)) for (const operation of Object.values(path)) writable(bodyOf(operation));
  amend(definition);
  const api = new OpenAPIBackend({
    definition,
    quick: true,
    validate: true,
    ajvOpts: AJV,
    apiRoot: new URL(definition.servers[0].url).pathname.replace(/\/$/, ''),
  });
  await api.init();
  return new Document(api);
}

// The schema of what an operation is sent.
export const bodyOf = (operation) => operation.requestBody?.content?.['application/json']?.schema;

// Forbids read-only members in requests: they are not sent and may be required only of answers; validators ignore that.
function writable(schema) {
  if (!schema || typeof schema !== 'object') return;
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (!member?.readOnly) continue;
    schema.properties[name] = { not: {} };
    schema.required = schema.required?.filter((required) => required !== name);
  }
  for (const member of Object.values(schema)) writable(member);
}

// Returns a short description of the errors; `null` if there are none.
export function faults(errors) {
  const told = (error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`;
  return errors?.length ? errors.slice(0, 3).map(told).join('; ') : null;
}

// A document, and the requests it allows.
class Document {
  constructor(api) {
    this.api = api;
  }

  operation(request) {
    return this.api.matchOperation(request);
  }

  asks(request) {
    const operation = this.operation(request);
    return operation && `${request.method} ${operation.path}`;
  }

  // Returns why a request does not conform to the document; `null` if it does.
  refuses(request) {
    const operation = this.operation(request);
    if (!operation) return 'there is no such operation';
    const takesBody = bodyOf(operation) !== undefined;
    if (takesBody && request.body === undefined) return 'a body is missing';
    if (!takesBody && request.body !== undefined) return 'the document has no body there';
    if (takesBody && !request.headers['content-type']?.startsWith('application/json')) return 'the body is not said to be JSON';
    return faults(this.api.validateRequest(request, operation).errors);
  }

  *spoilt(request) {
    yield { ...request, query: { ...request.query, spoilt: 'yes' } };
    if (request.body) for (const body of spoilt(request.body)) yield { ...request, body };
  }

  // The status that a success has.
  status(request) {
    return Number(Object.keys(this.operation(request).responses).find((status) => status.startsWith('2')));
  }

  // Returns why an answer does not conform to the document; `null` if it does.
  disallows(request, body) {
    const operation = this.operation(request);
    const status = this.status(request);
    if (body === undefined) return operation.responses[status].content ? 'the answer is missing' : null;
    return faults(this.api.validateResponse(body, operation, status).errors);
  }
}
