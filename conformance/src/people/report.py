"""Checks, one line each: `ok FLOW: CHECK`, or `FAILED FLOW: CHECK: REASON`."""

import sys
from contextlib import contextmanager


class Failed(Exception):
    """A check failed, and was reported."""


_is_good = True


def flow(name, work):
    """Runs checks that build on each other; after one that fails, the rest of the flow is left out."""
    global _is_good

    @contextmanager
    def check(what, alone=False):
        global _is_good
        try:
            yield
        except Exception as error:
            _is_good = False
            print(f"FAILED {name}: {what}: {_reason(error)}", flush=True)
            if not alone:
                raise Failed from error
        else:
            print(f"ok {name}: {what}", flush=True)

    try:
        work(check)
    except BaseException as error:
        _is_good = False
        if not _has_failed(error):
            print(f"FAILED {name}: the client ends: {_reason(error)}", flush=True)


def _reason(error):
    # of a group of errors, the first one is the reason
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(f"{type(error).__name__} {error}".split())[:500]


def _has_failed(error):
    if isinstance(error, BaseExceptionGroup):
        return any(map(_has_failed, error.exceptions))
    return isinstance(error, Failed)


def finish():
    """Ends the script, with failure if a check failed."""
    sys.exit(0 if _is_good else 1)
