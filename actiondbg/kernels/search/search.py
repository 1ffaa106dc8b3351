"""The search for the fastest configuration of an operation, its trials, and the log of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Literal

import msgspec

from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.kernels.errors import KernelError
from actiondbg.kernels.generated import CONFIGURED, GeneratedFolder, from_json
from actiondbg.kernels.model import Configuration, Dispatch, Operation, Parameter
from actiondbg.kernels.profiling.profiler import Profiler
from actiondbg.kernels.providers.provider import Provider
from actiondbg.kernels.results.entry import Profile, Row, Verdict
from actiondbg.kernels.search.samplers import Point, Sampler, SamplerName, SearchSpace, make_sampler
from actiondbg.kernels.sweep.generation import write_dispatches
from actiondbg.kernels.sweep.sweep import Stages, Sweep
from actiondbg.support.atomic_write import create_free, write_whole

_VERSION = 1
End = Literal["budget", "time", "space"]
Origin = Literal["default", "predefined", "baseline", "found"]
_FINALISTS = 3  # beside the default, a predefined one and the best of an earlier search
# A finalist that took so many times as long as the fastest is not measured again.
_SLOW = 10.0
# How many points that do not fit may follow each other, until the space counts as tried.
_MISFITS = 2000


@dataclass(frozen=True)
class SearchTrial:
    """A configuration that was compiled, verified and measured.

    Attributes:
        verdict: of its verification; only one that is SUCCESS can win.
        seconds: the least time of one call; None if the kernel is not right.
        detail: one sentence on what is not right, or "".
        choice: of the space's parameters that gave the configuration; None for the default and
            predefined ones.
    """

    configuration: Configuration
    verdict: Verdict
    seconds: float | None = None
    detail: str = ""
    choice: Mapping[str, Parameter] | None = None

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters as the space has them, if the configuration is of the space."""
        return self.configuration.parameters if self.choice is None else self.choice

    @property
    def is_right(self) -> bool:
        """Whether the kernel is right, and its time is known."""
        return self.verdict == "SUCCESS" and self.seconds is not None

    @property
    def cost(self) -> float:
        """The time of one call; infinite if the kernel is not right."""
        return self.seconds if self.is_right and self.seconds is not None else float("inf")


@dataclass(frozen=True)
class LogHeader:
    """What the times of a log depend on."""

    operation: str
    provider: str
    identity: str
    space: Mapping[str, Sequence[Parameter]]
    version: int = _VERSION


class TrialLog:
    """Trials that outlive the search: an interrupted one continues with them.

    A log of another compiler or space is renamed, and a new one is begun.

    Attributes:
        path: of the file.
        trials: those in the file, in order.
        renamed: the file that the log of another compiler or space is in now, or None.

    Raises:
        FileNotWritten: the file cannot be read or written.
    """

    def __init__(self, path: Path, header: LogHeader) -> None:
        self.path = path
        self.trials: list[SearchTrial] = []
        self.renamed: Path | None = None
        first = msgspec.json.encode(header)
        try:
            if not self._read(first):
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, first + b"\n")
        except OSError as error:
            raise _not_written(path, error) from error

    def append(self, trial: SearchTrial) -> None:
        """Add a trial; it is in the file when this returns.

        Raises:
            FileNotWritten: such as on a full disk.
        """
        try:
            with self.path.open("ab") as file:
                file.write(msgspec.json.encode(trial) + b"\n")
        except OSError as error:
            raise _not_written(self.path, error) from error
        self.trials.append(trial)

    def _read(self, header: bytes) -> bool:
        """Read the trials; return whether the file continues this search."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return False
        # A line without its end was cut by a kill or a full disk.
        first, *lines = content.splitlines(keepends=True) or [b""]
        if first != header + b"\n":
            if first.endswith(b"\n"):
                self.renamed = create_free(self.path)
                self.path.replace(self.renamed)
            return False
        whole = len(first)
        for line in lines:
            if not line.endswith(b"\n"):
                break
            try:
                self.trials.append(from_json(line, SearchTrial))
            except msgspec.DecodeError:
                break
            whole += len(line)
        if whole < len(content):
            os.truncate(self.path, whole)
        return True


def _not_written(path: Path, error: OSError) -> FileNotWritten:
    return FileNotWritten(
        f"The log {str(path)!r} cannot be written ({error.strerror}): name another folder with "
        "--generated-dir, or make room on the disk."
    )


@dataclass(frozen=True)
class SearchSettings:
    """The limits of a search.

    Attributes:
        budget: how many configurations are tried, with those in the log; None for no limit.
        seconds: the time of this search, without its confirmation; None for no limit.
    """

    budget: int | None = 50
    seconds: float | None = None
    sampler: SamplerName = "tpe"
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in (("budget", self.budget), ("seconds", self.seconds)):
            if value is not None and value <= 0:
                raise UsageError(f"The {name} of a search must be more than 0, got {value:g}.")


@dataclass(frozen=True)
class SearchProgress:
    """The progress of a search.

    Attributes:
        trial: the last one; None before the first.
        best: the fastest right one so far, or None.
        left: an estimate of the seconds that are left, or None.
    """

    tried: int
    budget: int | None
    trial: SearchTrial | None
    best: SearchTrial | None
    left: float | None


@dataclass(frozen=True)
class Finalist:
    """A configuration in the confirmation run.

    Attributes:
        profile: its times in the confirmation run; the time of its trial if it is much slower.
        origin: "default", "predefined", "baseline" of another provider, or "found" by the sampler.
    """

    configuration: Configuration
    profile: Profile
    origin: Origin = "found"

    @property
    def seconds(self) -> float:
        return min(self.profile.seconds)

    def is_clearly_faster(self, other: Finalist) -> bool:
        """Whether the other one's best time is above the usual times of this one."""
        return median(self.profile.seconds) < other.seconds


@dataclass(frozen=True)
class SearchResult:
    """The result of a search.

    Attributes:
        trials: all of them, with those of earlier searches in the log.
        finalists: of the confirmation run, the fastest first; none if no kernel is right.
        log: the file of the trials.
        plain_default: whether the default is a lowering without any optimization.
    """

    operation: Operation
    trials: list[SearchTrial]
    finalists: list[Finalist]
    ended: End
    log: Path
    plain_default: bool = False

    @property
    def best(self) -> Finalist | None:
        """The fastest of the provider in the confirmation run; None if no kernel is right."""
        return next((each for each in self.finalists if each.origin != "baseline"), None)

    @property
    def best_parameters(self) -> Mapping[str, Parameter]:
        """The parameters of the best, as the space of its provider has them; none without one."""
        if self.best is None:
            return {}
        name = self.best.configuration.name
        trial = next(each for each in self.trials if each.configuration.name == name)
        return trial.parameters

    @property
    def without_search(self) -> Finalist | None:
        """The fastest that needs no search, with which the best is compared, or None.

        A default that is slow on purpose is none.
        """
        chosen = {"predefined", "baseline", *(() if self.plain_default else ("default",))}
        return next((each for each in self.finalists if each.origin in chosen), None)

    @property
    def configured(self) -> Path | None:
        """The file of the best with its configuration, such as its schedule; None without one."""
        folder = self.log.parent
        return folder / self.best.configuration.name / CONFIGURED if self.best else None

    @property
    def default(self) -> Finalist | None:
        """The default in the confirmation run; None if it is wrong."""
        return next((each for each in self.finalists if each.origin == "default"), None)

    @property
    def wrong(self) -> list[SearchTrial]:
        return [each for each in self.trials if not each.is_right]


# A configuration to try, with the parameters of the space that it was made of, or None.
_Candidate = tuple[Configuration, Mapping[str, Parameter] | None]


class ConfigurationSearch:
    """Tries the configurations of an operation.

    First come the default, what was fast elsewhere, and the predefined configurations; then the
    proposals of the sampler. Only a kernel that is verified can win. As many are compiled and
    verified at a time as the evaluator has jobs: the sampler learns their times after that.

    Args:
        log: the file of the trials; a search of the same compiler and space is continued.
        baseline: a configuration of another provider to compare with, which never wins.
        likely: parameters that were fast for similar operations; those outside the space are not
            tried.

    Raises:
        UsageError: the provider has nothing to search.
        ActiondbgError: the sampler needs a package that is missing.
    """

    def __init__(
        self,
        operation: Operation,
        provider: Provider,
        evaluator: Evaluator,
        log: Path,
        settings: SearchSettings,
        progress: Callable[[SearchProgress], None] | None = None,
        baseline: Configuration | None = None,
        likely: Sequence[Mapping[str, Parameter]] = (),
    ) -> None:
        parameters = provider.space(operation)
        if not parameters:
            raise UsageError(f"The provider {provider.name} has no parameters to search.")
        self._operation = operation
        self._provider = provider
        self._evaluator = evaluator
        self._settings = settings
        self._progress = progress
        self._space = SearchSpace(parameters)
        self._sampler: Sampler = make_sampler(settings.sampler, self._space, settings.seed)
        default = provider.default(operation)
        self._firsts = [default, *([baseline] if baseline else [])]
        self._likely = likely
        self._predefined = list(provider.configurations(operation))
        self._origins: dict[str, Origin] = {each.name: "predefined" for each in self._predefined}
        if baseline is not None:
            self._origins[baseline.name] = "baseline"
        self._origins[default.name] = "default"  # also where it is the baseline, too
        self._started = time.monotonic()
        header = LogHeader(operation.name, provider.name, provider.identity(), parameters)
        self.log = TrialLog(log, header)
        self._by_name = {each.configuration.name: each for each in self.log.trials}
        self._chosen = set(self._by_name)
        self._new = 0

    def run(self) -> SearchResult:
        """Search and confirm.

        Raises:
            KernelError: kernels of this operation cannot be verified or run here.
        """
        earlier = self._best()
        for trial in self.log.trials:
            self._learn(trial)
        self._try([(each, None) for each in self._firsts if self._is_new(each)])
        candidates = self._candidates()
        while (ended := self._ended()) is None:
            room = self._evaluator.jobs
            if self._settings.budget is not None:
                room = min(room, self._settings.budget - len(self.log.trials))
            batch = list(islice(candidates, room))
            if not batch:
                ended = "space"
                break
            self._try(batch)
        return SearchResult(
            self._operation,
            list(self.log.trials),
            self._confirm(earlier),
            ended,
            self.log.path,
            self._provider.default_is_plain,
        )

    def _candidates(self) -> Iterator[_Candidate]:
        """Yield configurations that fit and were not chosen before."""
        for parameters in self._likely:
            point = self._space.point(parameters)
            yield from () if point is None else self._candidate(point)
        for configuration in self._predefined:
            if self._fits(configuration) and self._is_new(configuration):
                yield configuration, None
        misfits = 0
        while misfits < _MISFITS and (point := self._sampler.propose()) is not None:
            misfits += 1
            for candidate in self._candidate(point):
                misfits = 0
                yield candidate

    def _candidate(self, point: Point) -> Iterator[_Candidate]:
        """Yield the candidate of a point, unless it does not fit or was chosen before."""
        choice = self._space.choice(point)
        configuration = self._provider.configured(self._operation, choice)
        known = self._by_name.get(configuration.name)
        if known is not None:
            self._sampler.learn(point, known.cost)
        elif not self._fits(configuration):
            self._sampler.learn(point, float("inf"))
        elif self._is_new(configuration):
            yield configuration, choice

    def _fits(self, configuration: Configuration) -> bool:
        return self._provider.obstacle(Dispatch(self._operation, configuration)) is None

    def _is_new(self, configuration: Configuration) -> bool:
        """Choose a configuration; return whether it was not chosen before."""
        is_new = configuration.name not in self._chosen
        self._chosen.add(configuration.name)
        return is_new

    def _try(self, candidates: Sequence[_Candidate]) -> None:
        """Evaluate candidates; the log has those before one that ends the search."""
        dispatches = [Dispatch(self._operation, each) for each, _ in candidates]
        trials = self._evaluator.evaluate(dispatches) if dispatches else []
        for (_, choice), trial in zip(candidates, trials, strict=True):
            if trial.verdict in ("Not verified", "NOT RUNNABLE HERE"):
                raise KernelError(
                    f"{self._operation.name} cannot be searched, because its kernels are "
                    f"{trial.verdict.lower()}: {trial.detail}"
                )
            tried = replace(trial, choice=choice)
            self._by_name[tried.configuration.name] = tried
            self.log.append(tried)
            self._new += 1
            self._learn(tried)
            self._report(tried)

    def _learn(self, trial: SearchTrial) -> None:
        """Teach the sampler a trial, if its configuration is of the space."""
        point = self._space.point(trial.parameters)
        if point is not None:
            self._sampler.learn(point, trial.cost)

    def _ended(self) -> End | None:
        budget, seconds = self._settings.budget, self._settings.seconds
        if budget is not None and len(self.log.trials) >= budget:
            return "budget"
        if seconds is not None and time.monotonic() - self._started >= seconds:
            return "time"
        return None

    def _best(self) -> SearchTrial | None:
        right = (each for each in self.log.trials if each.is_right)
        own = (each for each in right if self._origin(each) != "baseline")
        return min(own, key=lambda each: each.cost, default=None)

    def _report(self, trial: SearchTrial) -> None:
        if self._progress is None:
            return
        tried, budget, seconds = len(self.log.trials), self._settings.budget, self._settings.seconds
        spent = time.monotonic() - self._started
        left: list[float] = []
        if budget is not None:
            left.append(max(budget - tried, 0) * spent / self._new)
        if seconds is not None:
            left.append(max(seconds - spent, 0.0))
        progress = SearchProgress(tried, budget, trial, self._best(), min(left, default=None))
        self._progress(progress)

    def _confirm(self, earlier: SearchTrial | None) -> list[Finalist]:
        """Measure the fastest again, in turn with the default, predefined and earlier best."""
        right = sorted((each for each in self.log.trials if each.is_right), key=lambda it: it.cost)
        chosen = dict.fromkeys(each.configuration.name for each in right[:_FINALISTS])
        for origin in ("default", "predefined", "baseline"):
            first = next((each for each in right if self._origin(each) == origin), None)
            if first is not None:
                chosen.setdefault(first.configuration.name)
        if earlier is not None:
            chosen.setdefault(earlier.configuration.name)
        trials = [self._by_name[name] for name in chosen]
        # Those that are much slower are not measured: that would take long.
        fastest = min((each.cost for each in trials), default=0.0)
        close = [each.configuration for each in trials if each.cost <= _SLOW * fastest]
        profiles = self._evaluator.confirm([Dispatch(self._operation, each) for each in close])
        found = {each.name: profile for each, profile in zip(close, profiles, strict=True)}
        finalists = [
            Finalist(
                each.configuration,
                found.get(each.configuration.name) or Profile((each.cost,)),
                self._origin(each),
            )
            for each in trials
        ]
        return sorted(finalists, key=lambda each: each.seconds)

    def _origin(self, trial: SearchTrial) -> Origin:
        return self._origins.get(trial.configuration.name, "found")


class Evaluator:
    """Compiles, verifies and measures kernels by sweeps, in the folder of generated kernels.

    Nothing is compiled while a kernel is measured: that would disturb its times.

    Args:
        folder: gets the files of the dispatches.
        providers: of the configurations, by their names; the first is searched.
        confirmation: profiles the finalists.

    Attributes:
        jobs: how many dispatches are compiled and verified at a time.
    """

    def __init__(
        self,
        folder: GeneratedFolder,
        stages: Stages,
        providers: Mapping[str, Provider],
        confirmation: Profiler,
    ) -> None:
        self.jobs = stages.jobs
        self._folder = folder
        self._stages = stages
        self._providers = providers
        self._confirmation = confirmation

    def evaluate(self, dispatches: Sequence[Dispatch]) -> list[SearchTrial]:
        """Compile and verify dispatches at a time, then measure them in turn.

        A fault of a kernel is a verdict, no error.
        """
        for name in {each.configuration.provider for each in dispatches}.difference(
            self._providers
        ):
            raise UsageError(
                f"The provider {next(iter(self._providers))} made a configuration of the provider "
                f"{name}: its 'configured' must name its own."
            )
        write_dispatches(self._folder, self._providers, dispatches)
        return [_trial(row) for row in Sweep(self._stages, self._providers).run(dispatches)]

    def confirm(self, dispatches: Sequence[Dispatch]) -> list[Profile]:
        """Measure right kernels again, in turn, such that all see the same machine.

        Raises:
            KernelError: a dispatch fails now.
        """
        # Of a log whose folder was removed.
        write_dispatches(self._folder, self._providers, dispatches)
        stages = Stages(self._stages.compiler, profiler=self._confirmation, jobs=self._stages.jobs)
        profiles: list[Profile] = []
        for row in Sweep(stages, self._providers).run(dispatches):
            if row.profile is None:
                reason = row.verification.detail if row.verification else "it has no time"
                raise KernelError(f"{row.dispatch.name} cannot be measured again: {reason}")
            profiles.append(row.profile)
        return profiles


def _trial(row: Row) -> SearchTrial:
    configuration = row.dispatch.configuration
    verification = row.verification
    if verification is None:
        return SearchTrial(configuration, "Not verified", detail="it was not verified.")
    detail = verification.detail
    if verification.wrong:
        detail = f"{verification.wrong:,} of {verification.total:,} elements are wrong"
    seconds = min(row.profile.seconds) if row.profile else None
    return SearchTrial(configuration, verification.verdict, seconds, detail)
