// openid-client, as a program uses it: registration, code with PKCE, calls, refreshing, revoking, and a device that polls.
import * as client from 'openid-client';
import { Person } from './person.mjs';
import { createAccount, product } from './product.mjs';
import { assert, flow } from './report.mjs';

const issuer = new URL(product.origin);
const options = { algorithm: 'oauth2', execute: [client.allowInsecureRequests] };
const redirect = 'http://localhost:33419/callback';
const me = new URL(`${product.api}/me`);

async function name(config, tokens) {
  const response = await client.fetchProtectedResource(config, tokens.access_token, me, 'GET');
  return (await response.json()).authorization.user.name;
}

await flow('openid-client', async (check) => {
  const person = new Person(createAccount('openid-client'));
  const config = await check('discovers and registers', () => {
    const metadata = {
      client_name: 'openid-client',
      redirect_uris: [redirect],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    };
    return client.dynamicClientRegistration(issuer, metadata, client.None(), options);
  });
  const code = await check('sign-in and consent give a token', async () => {
    const verifier = client.randomPKCECodeVerifier();
    const state = client.randomState();
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: redirect,
      scope: 'projects:read offline_access',
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
    });
    const back = await person.approve(url.href);
    return client.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier, expectedState: state });
  });
  await check('the token opens the API', async () => {
    assert.equal(await name(config, code), 'openid-client');
  });
  const refreshed = await check('a refresh replaces the refresh token', async () => {
    const tokens = await client.refreshTokenGrant(config, code.refresh_token);
    assert.notEqual(tokens.refresh_token, code.refresh_token);
    assert.equal(await name(config, tokens), 'openid-client');
    return tokens;
  });
  await check('a revoked token opens nothing', async () => {
    await client.tokenRevocation(config, refreshed.refresh_token);
    await assert.rejects(() => name(config, refreshed), (error) => error instanceof client.WWWAuthenticateChallengeError);
    await assert.rejects(
      () => client.refreshTokenGrant(config, refreshed.refresh_token),
      (error) => error instanceof client.ResponseBodyError && error.error === 'invalid_grant',
    );
  });
});

await flow('openid-client-device', async (check) => {
  const person = new Person(createAccount('openid-client-device'));
  const config = await client.discovery(issuer, 'cli', undefined, client.None(), options);
  const begin = () => client.initiateDeviceAuthorization(config, { scope: 'projects:read offline_access' });
  await check('polls until the person allows', async () => {
    const device = await begin();
    const polled = client.pollDeviceAuthorizationGrant(config, device);
    await person.decideDevice(device.verification_uri, device.user_code.toLowerCase(), 'allow');
    assert.equal(await name(config, await polled), 'openid-client-device');
  });
  await check('polls until the person declines', async () => {
    const device = await begin();
    const polled = client.pollDeviceAuthorizationGrant(config, device).catch((error) => error);
    await person.decideDevice(device.verification_uri_complete, undefined, 'deny');
    const error = await polled;
    assert.ok(error instanceof client.ResponseBodyError && error.error === 'access_denied', String(error));
  });
});
