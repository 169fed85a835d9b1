"""Looking again and again whether a source was written to, whether it answers, what it warns of."""

from __future__ import annotations

from collections.abc import Callable

from retrograph.engine.errors import RetrographError
from retrograph.engine.model import Loader
from retrograph.engine.text import escape
from retrograph.tui.messages import SourceAnswers, SourceChanged, SourceLost, SourceWarned
from retrograph.tui.work import Job

_PAUSE = 0.3
"""Seconds between two looks."""
_PAUSE_AT_MOST = 10.0
"""While the source does not answer, the looks become as rare as this."""


def follow(job: Job, loader: Loader, shown: Callable[[str], str]) -> None:
    """Tell what happens to a source until the job is stopped; `shown` hides secrets."""
    pause, away, told, new = _PAUSE, False, 0, True
    while True:
        back = False
        try:
            # What was there at the first look is no change.
            if loader.changed() and not new:
                job.post(SourceChanged())
            new = False
            away, back, pause = False, away, _PAUSE
        except RetrographError as error:
            if not away:
                job.post(SourceLost(escape(shown(str(error)))))
            away, pause = True, min(pause * 2, _PAUSE_AT_MOST)
        warnings = loader.warnings[told:]
        told += len(warnings)
        if back:
            # That it was opened again is a warning of some loaders.
            said = warnings.pop(0) if warnings else "The source answers again."
            job.post(SourceAnswers(escape(shown(said))))
        for warning in warnings:
            job.post(SourceWarned(escape(shown(warning))))
        if job.wait(pause):
            return
