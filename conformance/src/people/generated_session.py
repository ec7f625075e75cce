"""The first session of the README by the client that openapi-python-client generates."""

import time

from searchwright_api_client import AuthenticatedClient
from searchwright_api_client.api.audits import audits_current, audits_start
from searchwright_api_client.api.issues import issues_list, issues_occurrences
from searchwright_api_client.api.keywords import keywords_create, keywords_list
from searchwright_api_client.api.me import me_get
from searchwright_api_client.api.occurrences import occurrences_done
from searchwright_api_client.api.rechecks import rechecks_get, rechecks_start
from searchwright_api_client.models import (
    AuditStatus,
    KeywordsCreateBody,
    OccurrencesDoneBody,
    Problem,
    RecheckStatus,
    Severity,
)


def until(ended):
    """Asks until there is an answer."""
    for _ in range(600):
        found = ended()
        if found:
            return found
        time.sleep(0.1)
    raise TimeoutError("it did not end in a minute")


def run(api, key, mend):
    client = AuthenticatedClient(base_url=api, token=key)
    project = me_get.sync(client=client).project.id
    body = KeywordsCreateBody(keyword="indoor ferns", search_volume=2400)
    made = keywords_create.sync(project, client=client, body=body, idempotency_key="first")
    again = keywords_create.sync(project, client=client, body=body, idempotency_key="first")
    assert made.id == again.id and made.keyword_difficulty is None
    assert [keyword.id for keyword in keywords_list.sync(project, client=client).data] == [made.id]
    refused = keywords_create.sync(project, client=client, body=KeywordsCreateBody(keyword=""))
    assert isinstance(refused, Problem) and refused.errors[0].pointer == "/keyword", refused

    audits_start.sync(project, client=client)

    def audited():
        audit = audits_current.sync(project, client=client)
        assert audit.status != AuditStatus.FAILED
        return audit.status == AuditStatus.COMPLETED

    until(audited)
    issues = issues_list.sync(project, client=client, severity=Severity.ERROR)
    broken = next(issue for issue in issues.data if issue.check_id == "broken-internal-link")

    def recheck():
        found = issues_occurrences.sync(project, broken.id, client=client).data
        places = [{"issue_id": place.issue_id, "page_id": place.page_id} for place in found]
        body = OccurrencesDoneBody.from_dict({"occurrences": places, "note": "link corrected"})
        occurrences_done.sync(project, client=client, body=body)
        started = rechecks_start.sync(project, client=client).recheck.id

        def rechecked():
            return rechecks_get.sync(project, started, client=client).status == RecheckStatus.COMPLETED

        until(rechecked)
        return [place.state.value for place in issues_occurrences.sync(project, broken.id, client=client).data]

    assert recheck() == ["still_present"]
    mend()
    assert recheck() in ([], ["resolved"])
