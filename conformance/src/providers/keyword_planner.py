"""python keyword_planner.py PORT: Google's token endpoint, Google Ads and Search Console, as far as keywords go.

A request to Google Ads is parsed into the message of Google's own client library, which refuses members it
does not know, and answered with a message of that library in its JSON form. One to Search Console is held
against Google's discovery document.
"""

import json
import pathlib
import sys
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import googleapiclient
from google.ads.googleads.v26.enums.types.month_of_year import MonthOfYearEnum
from google.ads.googleads.v26.services.types import google_ads_service, keyword_plan_idea_service as ideas
from google.protobuf import json_format

FOLDER = pathlib.Path(googleapiclient.__file__).parent / "discovery_cache" / "documents"
CONSOLE = json.loads((FOLDER / "webmasters.v3.json").read_text())
CUSTOMER = "/v26/customers/1234567890"


def metrics():
    return {
        "avg_monthly_searches": 1300,
        "competition": 3,
        "competition_index": 42,
        "low_top_of_page_bid_micros": 510000,
        "high_top_of_page_bid_micros": 2100000,
        "monthly_search_volumes": [
            {"month": MonthOfYearEnum.MonthOfYear.OCTOBER, "year": 2025, "monthly_searches": 1000}
        ],
    }


def wire(message):
    return json_format.MessageToDict(type(message).pb(message))


def parse(kind, body):
    # Parameters of the path are not members of the body.
    return kind.from_json(json.dumps(body), ignore_unknown_fields=False)


def searched(body):
    parse(google_ads_service.SearchGoogleAdsRequest, body)
    assert body["query"].startswith("SELECT language_constant.resource_name FROM language_constant WHERE")
    return {"results": [{"languageConstant": {"resourceName": "languageConstants/1000"}}]}


def ideas_for(body):
    request = parse(ideas.GenerateKeywordIdeasRequest, body)
    assert list(request.keyword_seed.keywords) and request.language and request.keyword_plan_network == 2
    result = ideas.GenerateKeywordIdeaResult(text="oak desk", keyword_idea_metrics=metrics())
    return wire(ideas.GenerateKeywordIdeaResponse(results=[result], next_page_token="more"))


def metrics_for(body):
    request = parse(ideas.GenerateKeywordHistoricalMetricsRequest, body)
    assert list(request.keywords) and request.language
    result = ideas.GenerateKeywordHistoricalMetricsResult(text="oak desk", keyword_metrics=metrics())
    return wire(ideas.GenerateKeywordHistoricalMetricsResponse(results=[result]))


def fits(schema, value, where):
    if "$ref" in schema:
        schema = {"type": "object", **CONSOLE["schemas"][schema["$ref"]]}
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "number": (int, float)}
    assert isinstance(value, kinds[schema["type"]]), f"{where} is no {schema['type']}"
    for name, member in value.items() if schema["type"] == "object" else ():
        assert name in schema["properties"], f"{where}/{name} is unknown"
        fits(schema["properties"][name], member, f"{where}/{name}")
    for item in value if schema["type"] == "array" else ():
        fits(schema["items"], item, where)


def queried(body):
    fits({"$ref": "SearchAnalyticsQueryRequest"}, body, "")
    row = {"keys": ["oak desk", "https://example.com/"], "clicks": 3.0, "impressions": 40.0, "ctr": 0.075, "position": 4.5}
    return {"rows": [row], "responseAggregationType": "byPage"}


CONSOLE_PATH = "/" + CONSOLE["servicePath"] + CONSOLE["resources"]["searchanalytics"]["methods"]["query"]["path"].replace(
    "{siteUrl}", urllib.parse.quote("https://example.com/", safe="")
)
ROUTES = {
    f"{CUSTOMER}/googleAds:search": searched,
    f"{CUSTOMER}:generateKeywordIdeas": ideas_for,
    f"{CUSTOMER}:generateKeywordHistoricalMetrics": metrics_for,
    CONSOLE_PATH: queried,
}


def refused(answer, body):
    try:
        answer(body)
    except Exception:
        return True
    return False


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        text = self.rfile.read(int(self.headers["content-length"])).decode()
        try:
            verdict, status, answer = self.judge(text)
        except Exception as error:
            verdict, status, answer = f"INVALID POST {self.path} {error!r}", 400, {"error": {"message": repr(error)}}
        print(verdict, flush=True)
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json; charset=UTF-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def judge(self, text):
        if self.path == "/token":
            form = dict(urllib.parse.parse_qsl(text, strict_parsing=True))
            assert form == {"grant_type": "refresh_token", "client_id": "i", "client_secret": "s", "refresh_token": "r"}
            return "VALID POST /token 1/1", 200, {"access_token": "t", "expires_in": 3599, "token_type": "Bearer"}
        answer, body = ROUTES[self.path], json.loads(text)
        assert self.headers["authorization"] == "Bearer t"
        if self.path.startswith(CUSTOMER):
            assert self.headers["developer-token"] == "d" and self.headers["login-customer-id"] == "9998887777"
        spoilt = [{**body, name: {"spoilt": [True]}} for name in body]
        count = sum(refused(answer, bad) for bad in spoilt)
        return f"VALID POST {self.path} {count}/{len(spoilt)}", 200, answer(body)

    def log_message(self, *_):
        pass


print("listening", flush=True)
try:
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
except KeyboardInterrupt:
    pass
