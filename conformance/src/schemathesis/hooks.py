"""Failures of Schemathesis that are none: each is something that the document says in words, because no schema can."""

import json
import re

import schemathesis

# A cursor is opaque and sealed, a key was sent before, a record has changed or was not read: valid by their form, refused for what
# they mean.
MEANINGS = {"invalid_cursor", "idempotency_key_reused", "precondition_failed", "precondition_required"}
# What the schema says too: a request that it allows is never refused for one of these. Ids are any text there: one that is no UUID is
# one that nobody has.
FORMS = {
    "unknown_field",
    "read_only",
    "wrong_type",
    "null_not_allowed",
    "too_long",
    "too_short",
    "too_few_items",
    "too_many_items",
    "out_of_range",
    "not_an_instant",
}
# Times have bounds that depend on the day, and a form of which the very last hours are missing in some offsets.
TIMES = re.compile(r"(At|From|To|/from|/to|/until|/since)$")
TAGS = {"if-match", "if-none-match"}


def has_null(value):
    # "a member of a request that is `null` counts as absent, where it may be absent", and so does the body
    if isinstance(value, dict):
        return any(map(has_null, value.values()))
    if isinstance(value, list):
        return any(map(has_null, value))
    return value is None


def has_odd_tags(case):
    # of a pattern together with a length it makes texts that do not match the pattern
    tags = [str(value) for name, value in (case.headers or {}).items() if name.lower() in TAGS]
    tag = r'(W/)?"[!#-~]*"'
    return any(not re.fullmatch(rf"\*|{tag}([ \t]*,[ \t]*{tag})*", value) for value in tags)


def is_meant(response, case):
    try:
        problem = json.loads(response.content)
    except ValueError:
        return False
    if problem["code"] in MEANINGS or problem["code"] == "malformed_request" and has_odd_tags(case):
        return True
    # what belongs together, lies in the future, is a country, exists, or can be done by a provider
    faults = problem.get("errors", [])
    return response.status_code == 422 and not any(
        fault["code"] in FORMS and not TIMES.search(fault["pointer"]) for fault in faults
    )


@schemathesis.hook
def filter_failure(context, failure, case, response):
    kind = type(failure).__name__
    if kind == "AcceptedNegativeData":
        return not has_null(case.body)
    if kind == "RejectedPositiveData":
        return not is_meant(response, case)
    return True
