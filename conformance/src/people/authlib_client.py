"""Authlib against the HTTP API: authorization code with PKCE, calls, refreshing by itself, and revoking.

Introspection is for confidential clients, which nobody can register here.
"""

from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata

import httpx2

from product import PRODUCT, create_account, run_person
from report import finish, flow

NAME = "authlib"
REDIRECT = "http://127.0.0.1:33420/callback"
ORIGIN, API = PRODUCT["origin"], PRODUCT["api"]


def refused(code, work):
    """Expects an error answer that the library understands."""
    try:
        work()
    except OAuthError as error:
        assert error.error == code and error.description, repr(error)
    else:
        raise AssertionError(f"not refused with {code}")


def walk(check):
    email = create_account(NAME)
    with check("the metadata is valid by its own rules"):
        found = httpx2.get(f"{ORIGIN}/.well-known/oauth-authorization-server").raise_for_status().json()
        server = AuthorizationServerMetadata(found)
        # the rules for addresses want https, which no product on the loopback interface has
        for rule in server.REGISTRY_KEYS:
            if not isinstance(server.get(rule), str) or not server[rule].startswith("http://127.0.0.1"):
                getattr(server, f"validate_{rule}", lambda: None)()
    with check("registers"):
        metadata = {
            "client_name": NAME,
            "redirect_uris": [REDIRECT],
            "grant_types": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_method": "none",
        }
        registered = httpx2.post(server["registration_endpoint"], json=metadata)
        assert registered.status_code == 201, registered.text
        client_id = registered.json()["client_id"]

    kept = []
    session = OAuth2Client(
        client_id,
        token_endpoint_auth_method="none",
        revocation_endpoint_auth_method="none",
        redirect_uri=REDIRECT,
        scope="projects:read keywords:read offline_access",
        code_challenge_method="S256",
        token_endpoint=server["token_endpoint"],
        update_token=lambda token, **_: kept.append(token),
    )
    verifier = generate_token(48)
    with check("sign-in and consent give a token of the HTTP API"):
        url, state = session.create_authorization_url(
            server["authorization_endpoint"], code_verifier=verifier, resource=API
        )
        address = run_person("approve", email, url)
        token = session.fetch_token(authorization_response=address, code_verifier=verifier, state=state, resource=API)
        assert token["token_type"] == "Bearer" and token["scope"] == session.scope, token["scope"]
    with check("the token opens the API"):
        me = session.get(f"{API}/me").raise_for_status().json()
        assert me["authorization"]["user"]["name"] == NAME, me
    with check("a token whose time has come is refreshed with the next call, and the refresh token is replaced"):
        session.token["expires_at"] = 1
        session.get(f"{API}/projects").raise_for_status()
        assert len(kept) == 1 and kept[0]["refresh_token"] != token["refresh_token"]
        assert session.token["refresh_token"] == kept[0]["refresh_token"]
    with check("an address with another state is refused by the client"):
        try:
            session.fetch_token(authorization_response=address, code_verifier=verifier, state="other")
        except Exception as error:
            assert "state" in str(error).lower(), error
        else:
            raise AssertionError("accepted")
    with check("a revoked token opens nothing"):
        refresh = session.token["refresh_token"]
        answer = session.revoke_token(server["revocation_endpoint"], token=refresh, token_type_hint="refresh_token")
        assert answer.status_code == 200, answer.text
        assert session.get(f"{API}/me").status_code == 401
        refused("invalid_grant", lambda: session.refresh_token(server["token_endpoint"], refresh_token=refresh))


flow(NAME, walk)
finish()
