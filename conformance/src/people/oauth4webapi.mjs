// oauth4webapi, which holds every answer against the RFCs: codes with PKCE, refreshing, revoking, devices, and errors.
import * as oauth from 'oauth4webapi';
import { Person } from './person.mjs';
import { createAccount, product } from './product.mjs';
import { assert, flow } from './report.mjs';

const options = { [oauth.allowInsecureRequests]: true };
const auth = oauth.None();
const redirect = 'http://127.0.0.1:33418/callback';
const resource = { additionalParameters: { resource: product.api }, ...options };
const scope = 'projects:read keywords:read keywords:write offline_access';

async function discover() {
  const issuer = new URL(product.origin);
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
  return oauth.processDiscoveryResponse(issuer, response);
}

async function register(server, metadata) {
  const response = await oauth.dynamicClientRegistrationRequest(
    server,
    {
      redirect_uris: [redirect],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: 'native',
      ...metadata,
    },
    options,
  );
  return oauth.processDynamicClientRegistrationResponse(response);
}

// An authorization request, with what is needed afterwards.
async function ask(server, client, changes = {}) {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = new URL(server.authorization_endpoint);
  const parameters = {
    client_id: client.client_id,
    redirect_uri: redirect,
    response_type: 'code',
    scope,
    state,
    resource: product.api,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...changes,
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, verifier, state };
}

async function redeem(server, client, callback, verifier, uri = redirect) {
  const response = await oauth.authorizationCodeGrantRequest(server, client, auth, callback, uri, verifier, resource);
  return oauth.processAuthorizationCodeResponse(server, client, response);
}

async function refresh(server, client, token) {
  const response = await oauth.refreshTokenGrantRequest(server, client, auth, token, resource);
  return oauth.processRefreshTokenResponse(server, client, response);
}

async function revoke(server, client, token) {
  await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, auth, token, options));
}

function read(token, path = '/me', body = undefined) {
  const headers = new Headers(body ? { 'content-type': 'application/json' } : {});
  const url = new URL(product.api + path);
  return oauth.protectedResourceRequest(token, body ? 'POST' : 'GET', url, headers, body, options);
}

// Expects an error answer that the library accepts as one.
async function refused(work, code, status) {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof oauth.ResponseBodyError, `no error of OAuth: ${error}`);
    assert.deepEqual([error.status, error.error], [status, code]);
    assert.ok(error.error_description);
    return true;
  });
}

// Expects a challenge of the resource.
async function challenged(work, status, error) {
  await assert.rejects(work, (thrown) => {
    assert.ok(thrown instanceof oauth.WWWAuthenticateChallengeError, `no challenge: ${thrown}`);
    const [{ scheme, parameters }] = thrown.cause;
    assert.deepEqual([thrown.status, scheme, parameters.error], [status, 'bearer', error]);
    return true;
  });
}

await flow('oauth4webapi', async (check) => {
  const person = new Person(createAccount('oauth4webapi'));
  const server = await check('the metadata of the API names the authorization server, and its metadata is valid', async () => {
    const url = new URL(product.api);
    const answer = await oauth.processResourceDiscoveryResponse(url, await oauth.resourceDiscoveryRequest(url, options));
    assert.deepEqual(answer.authorization_servers, [product.origin]);
    return discover();
  });
  await check.alone('a call without a token is challenged without an error, a call with a wrong one with invalid_token', async () => {
    const { status, headers } = await fetch(`${product.api}/me`);
    assert.equal(status, 401);
    assert.match(headers.get('www-authenticate'), /^Bearer .*resource_metadata="/);
    assert.doesNotMatch(headers.get('www-authenticate'), /error=/);
    await challenged(() => read('x'), 401, 'invalid_token');
  });
  const client = await check('registers', () => register(server, { client_name: 'oauth4webapi' }));
  const asked = await ask(server, client);
  const callback = await check('sign-in and consent give a code with state and issuer', async () => {
    const back = await person.approve(asked.url);
    const parameters = oauth.validateAuthResponse(server, client, back, asked.state);
    for (const [name, value] of [['iss', 'https://elsewhere.example'], ['state', 'other']]) {
      const changed = new URL(back);
      changed.searchParams.set(name, value);
      assert.throws(() => oauth.validateAuthResponse(server, client, changed, asked.state), `a changed ${name} is accepted`);
    }
    return parameters;
  });
  await check('a wrong verifier is refused and does not use up the code', () =>
    refused(() => redeem(server, client, callback, oauth.generateRandomCodeVerifier()), 'invalid_grant', 400),
  );
  const first = await check('the code gives a token', async () => {
    const tokens = await redeem(server, client, callback, asked.verifier);
    assert.deepEqual([tokens.token_type, tokens.scope, tokens.expires_in], ['bearer', scope, 3600]);
    return tokens;
  });
  await check('the token opens the API', async () => {
    const answer = await (await read(first.access_token)).json();
    assert.equal(answer.authorization.user.name, 'oauth4webapi');
  });
  await check.alone('a call beyond the scopes is answered with the scope it needs', async () => {
    const { data } = await (await read(first.access_token, '/projects')).json();
    await assert.rejects(
      () => read(first.access_token, `/projects/${data[0].id}/posts`),
      ({ status, cause }) => {
        assert.deepEqual([status, cause[0].parameters.error, cause[0].parameters.scope], [403, 'insufficient_scope', 'posts:read']);
        return true;
      },
    );
  });
  await check.alone('a token of the API does not open MCP', () =>
    challenged(
      () => oauth.protectedResourceRequest(first.access_token, 'POST', new URL(product.mcp), new Headers(), '{}', options),
      401,
      'invalid_token',
    ),
  );
  const third = await check('each refresh replaces the refresh token', async () => {
    const second = await refresh(server, client, first.refresh_token);
    const last = await refresh(server, client, second.refresh_token);
    assert.equal(new Set([first, second, last].map((tokens) => tokens.refresh_token)).size, 3);
    return last;
  });
  await check('an old refresh token is refused and ends the whole grant', async () => {
    await refused(() => refresh(server, client, first.refresh_token), 'invalid_grant', 400);
    await refused(() => refresh(server, client, third.refresh_token), 'invalid_grant', 400);
    await challenged(() => read(third.access_token), 401, 'invalid_token');
  });
  await check('a code that is redeemed twice ends its tokens', async () => {
    const again = await ask(server, client);
    const answer = oauth.validateAuthResponse(server, client, await person.approve(again.url), again.state);
    const tokens = await redeem(server, client, answer, again.verifier);
    await refused(() => redeem(server, client, answer, again.verifier), 'invalid_grant', 400);
    await challenged(() => read(tokens.access_token), 401, 'invalid_token');
  });
  await check('a revoked refresh token ends access, and to revoke an unknown token is no error', async () => {
    const again = await ask(server, client);
    const answer = oauth.validateAuthResponse(server, client, await person.approve(again.url), again.state);
    const tokens = await redeem(server, client, answer, again.verifier);
    await revoke(server, client, tokens.refresh_token);
    await challenged(() => read(tokens.access_token), 401, 'invalid_token');
    await refused(() => refresh(server, client, tokens.refresh_token), 'invalid_grant', 400);
    await revoke(server, client, 'unknown');
  });
  await check('a decline is an error of the authorization response', async () => {
    const again = await ask(server, client);
    const back = await person.decline(again.url);
    assert.throws(
      () => oauth.validateAuthResponse(server, client, back, again.state),
      (error) => error instanceof oauth.AuthorizationResponseError && error.error === 'access_denied',
    );
  });
});

await flow('oauth4webapi-errors', async (check) => {
  const person = new Person(createAccount('oauth4webapi-errors'));
  const server = await discover();
  const client = await register(server, { client_name: 'oauth4webapi errors' });
  for (const [what, metadata, code] of [
    ['a redirect to a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['a redirect over plain http', { redirect_uris: ['http://example.com/callback'] }, 'invalid_redirect_uri'],
    ['no redirect', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['a name that is a number', { client_name: 7 }, 'invalid_client_metadata'],
  ]) {
    await check.alone(`registration with ${what} is ${code}`, () => refused(() => register(server, metadata), code, 400));
  }
  // A registered program is told its error only after a click of the person.
  for (const [what, changes, code] of [
    ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
    ['the plain method of PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['an unknown resource', { resource: 'https://elsewhere.example/' }, 'invalid_target'],
    ['unknown scopes', { scope: 'everything' }, 'invalid_scope'],
  ]) {
    await check.alone(`authorization with ${what} is ${code}`, async () => {
      const asked = await ask(server, client, changes);
      const back = await person.followFault(asked.url);
      assert.throws(
        () => oauth.validateAuthResponse(server, client, back, asked.state),
        (error) => {
          assert.ok(error instanceof oauth.AuthorizationResponseError, String(error));
          assert.equal(error.error, code);
          return true;
        },
      );
    });
  }
  for (const [what, changes] of [
    ['an unknown client', { client_id: 'nobody' }],
    ['a redirect that was not registered', { redirect_uri: 'https://elsewhere.example/' }],
  ]) {
    await check.alone(`authorization with ${what} leads nowhere`, async () => {
      const page = await person.open((await ask(server, client, changes)).url);
      assert.deepEqual([page.status, page.url.startsWith(product.origin)], [400, true]);
    });
  }
  const unknown = { client_id: 'nobody' };
  await check.alone('an unknown client is invalid_client at the token endpoint', () =>
    refused(() => refresh(server, unknown, 'x'), 'invalid_client', 401),
  );
  await check.alone('an unknown refresh token is invalid_grant', () =>
    refused(() => refresh(server, client, 'x'), 'invalid_grant', 400),
  );
  await check.alone('another grant is unsupported_grant_type', async () => {
    const response = await oauth.genericTokenEndpointRequest(server, client, auth, 'password', {}, options);
    await refused(() => oauth.processGenericTokenEndpointResponse(server, client, response), 'unsupported_grant_type', 400);
  });
  await check.alone('introspection is refused to a public client', async () => {
    const response = await oauth.introspectionRequest(server, client, auth, 'x', options);
    await refused(() => oauth.processIntrospectionResponse(server, client, response), 'invalid_client', 401);
  });
});

await flow('oauth4webapi-device', async (check) => {
  const person = new Person(createAccount('oauth4webapi-device'));
  const server = await discover();
  const client = { client_id: 'cli' };
  const begin = async (by = client) => {
    const parameters = { scope: 'projects:read content:publish offline_access' };
    const response = await oauth.deviceAuthorizationRequest(server, by, auth, parameters, options);
    return oauth.processDeviceAuthorizationResponse(server, by, response);
  };
  const poll = async ({ device_code: code }) => {
    const response = await oauth.deviceCodeGrantRequest(server, client, auth, code, options);
    return oauth.processDeviceCodeResponse(server, client, response);
  };
  const device = await check('a device begins', begin);
  await check('it is told to wait, and to ask less often', async () => {
    await refused(() => poll(device), 'authorization_pending', 400);
    await refused(() => poll(device), 'slow_down', 400);
  });
  const tokens = await check('once the person typed the code and allowed it, it gets a token without the scope to publish', async () => {
    const page = await person.decideDevice(device.verification_uri, device.user_code, 'allow');
    assert.equal(page.status, 200);
    const given = await poll(device);
    assert.equal(given.scope, 'projects:read offline_access');
    return given;
  });
  await check('the token opens the API, and is refreshed', async () => {
    await read(tokens.access_token);
    await read((await refresh(server, client, tokens.refresh_token)).access_token);
  });
  await check.alone('a device code works once', () => refused(() => poll(device), 'invalid_grant', 400));
  await check.alone('the address with the code in it needs a decision as well, and a decline is access_denied', async () => {
    const other = await begin();
    const page = await person.decideDevice(other.verification_uri_complete, undefined, 'deny');
    assert.equal(page.status, 200);
    await refused(() => poll(other), 'access_denied', 400);
  });
  await check.alone('other clients may not begin a device', async () => {
    const other = await register(server, { client_name: 'oauth4webapi device' });
    await refused(() => begin(other), 'unauthorized_client', 400);
  });
});
