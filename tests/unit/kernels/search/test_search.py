"""The search for the fastest configuration, over kernels whose times are known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.errors import KernelError
from actiondbg.kernels.model import Configuration, Dispatch
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.search import samplers
from actiondbg.kernels.search.search import (
    ConfigurationSearch,
    SearchProgress,
    SearchResult,
    SearchSettings,
    SearchTrial,
)
from tests.fakes.kernels.tuned_provider import FASTEST, KnownTimes, TunedProvider

OPERATION = Matmul(64, 64, 64)
EVERY = SearchSettings(budget=None, sampler="random")


def search(
    folder: Path,
    settings: SearchSettings,
    evaluator: KnownTimes | None = None,
    provider: TunedProvider | None = None,
) -> SearchResult:
    """Search in a folder."""
    return ConfigurationSearch(
        OPERATION,
        provider or TunedProvider(),
        evaluator or KnownTimes(),
        folder / "search.jsonl",
        settings,
    ).run()


def test_every_point_is_tried_once_and_the_fastest_right_one_wins(tmp_path: Path) -> None:
    evaluator = KnownTimes()
    result = search(tmp_path, EVERY, evaluator)
    assert result.ended == "space"
    assert result.best is not None
    assert result.best.configuration.parameters == FASTEST
    # The default, and all points but those whose tile does not fit.
    assert len(evaluator.evaluated) == len(set(evaluator.evaluated)) == 1 + 5 * 5 * 3
    assert evaluator.evaluated[:2] == ["tuned_default", "tuned_tile_8_unroll_1_order_ijk"]


def test_what_was_fast_elsewhere_is_tried_first(tmp_path: Path) -> None:
    """Parameters outside of the space are left out; a log has them, as it has other trials."""
    evaluator = KnownTimes()
    likely = [{"tile": 7, "unroll": 1, "order": "ijk"}, {"tile": 8}, FASTEST]
    for budget in (2, 4):
        result = ConfigurationSearch(
            OPERATION,
            TunedProvider(),
            evaluator,
            tmp_path / "search.jsonl",
            SearchSettings(budget=budget, sampler="random"),
            likely=likely,
        ).run()
        assert result.best is not None and result.best.configuration.parameters == FASTEST
        assert result.best_parameters == FASTEST
    assert len(evaluator.evaluated) == 4


def test_a_wrong_kernel_never_wins(tmp_path: Path) -> None:
    result = search(tmp_path, EVERY)
    assert len(result.wrong) == 5 * 3
    assert min(each.seconds or 1 for each in result.wrong) < result.finalists[0].seconds
    assert all(each.configuration.parameters.get("unroll") != 3 for each in result.finalists)


def test_the_confirmation_has_the_fastest_and_the_default(tmp_path: Path) -> None:
    evaluator = KnownTimes()
    result = search(tmp_path, EVERY, evaluator)
    assert len(evaluator.confirmed) == 5
    assert result.default is not None
    assert result.default.configuration.name == "tuned_default"
    (predefined,) = (each for each in result.finalists if each.origin == "predefined")
    assert predefined.configuration.name == "tuned_tile_8_unroll_1_order_ijk"
    assert result.finalists == sorted(result.finalists, key=lambda each: each.seconds)


def test_a_baseline_is_measured_and_never_wins(tmp_path: Path) -> None:
    class Fast(KnownTimes):
        def trial(self, dispatch: Dispatch) -> SearchTrial:
            trial = super().trial(dispatch)
            is_loops = dispatch.configuration.provider == "c"
            return replace(trial, seconds=1e-9) if is_loops else trial

    evaluator = Fast()
    loops = Configuration("c", "c_loops")
    log = tmp_path / "search.jsonl"
    found = ConfigurationSearch(
        OPERATION, TunedProvider(), evaluator, log, EVERY, baseline=loops
    ).run()
    assert evaluator.evaluated[:2] == ["tuned_default", "c_loops"]
    assert "c_loops" in evaluator.confirmed
    assert found.best is not None
    assert found.best.configuration.parameters == FASTEST


def test_a_default_that_is_the_baseline_too_can_win(tmp_path: Path) -> None:
    provider, log = TunedProvider(), tmp_path / "search.jsonl"
    default = provider.default(OPERATION)
    settings = SearchSettings(budget=1, sampler="random")
    found = ConfigurationSearch(
        OPERATION, provider, KnownTimes(), log, settings, baseline=default
    ).run()
    assert [each.origin for each in found.finalists] == ["default"]
    assert found.best is not None and found.best.configuration == default


def test_a_default_that_is_much_slower_keeps_the_time_of_its_trial(tmp_path: Path) -> None:
    class Slow(KnownTimes):
        def trial(self, dispatch: Dispatch) -> SearchTrial:
            trial = super().trial(dispatch)
            return trial if dispatch.configuration.parameters else replace(trial, seconds=7.0)

    evaluator = Slow()
    result = search(tmp_path, EVERY, evaluator)
    assert "tuned_default" not in evaluator.confirmed
    assert result.default is not None
    assert result.default.profile.seconds == (7.0,)


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_a_budget_and_a_seed_decide_the_trials(
    tmp_path: Path, sampler: samplers.SamplerName
) -> None:
    names: list[list[str]] = []
    for folder in ("first", "second"):
        evaluator = KnownTimes()
        settings = SearchSettings(budget=20, sampler=sampler, seed=3)
        assert search(tmp_path / folder, settings, evaluator).ended == "budget"
        names.append(evaluator.evaluated)
    assert len(names[0]) == len(set(names[0])) == 20
    assert names[0] == names[1]


def test_tpe_finds_the_fastest_sooner_than_the_average_random_order(tmp_path: Path) -> None:
    needed: dict[str, int] = {}
    for sampler in ("tpe", "random"):
        needed[sampler] = 0
        for seed in range(5):
            evaluator = KnownTimes()
            settings = SearchSettings(budget=None, sampler=sampler, seed=seed)
            search(tmp_path / f"{sampler}{seed}", settings, evaluator)
            fastest = "tuned_tile_32_unroll_4_order_ikj"
            needed[sampler] += evaluator.evaluated.index(fastest)
    assert needed["tpe"] < needed["random"]


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_several_at_a_time_keep_to_the_budget_and_repeat_none(
    tmp_path: Path, sampler: samplers.SamplerName
) -> None:
    sizes: list[int] = []

    class Batches(KnownTimes):
        def evaluate(self, dispatches: Sequence[Dispatch]) -> list[SearchTrial]:
            sizes.append(len(dispatches))
            return super().evaluate(dispatches)

    evaluator = Batches(jobs=4)
    result = search(tmp_path, SearchSettings(budget=20, sampler=sampler), evaluator)
    assert result.ended == "budget"
    assert sizes == [1, 4, 4, 4, 4, 3]
    assert len(evaluator.evaluated) == len(set(evaluator.evaluated)) == len(result.trials) == 20
    every = search(tmp_path, SearchSettings(budget=None, sampler=sampler), KnownTimes(jobs=7))
    assert every.ended == "space"
    assert len(every.trials) == 1 + 5 * 5 * 3
    assert every.best is not None and every.best.configuration.parameters == FASTEST


def test_an_interrupted_search_continues(tmp_path: Path) -> None:
    settings = SearchSettings(budget=12, sampler="random")
    whole = KnownTimes()
    search(tmp_path / "whole", settings, whole)
    first, second = KnownTimes(interrupted_at=8), KnownTimes()
    with pytest.raises(KeyboardInterrupt):
        search(tmp_path, settings, first)
    result = search(tmp_path, settings, second)
    assert first.evaluated[:-1] + second.evaluated == whole.evaluated
    assert len(result.trials) == 12


def test_a_continued_search_has_learned_from_the_log(tmp_path: Path) -> None:
    settings = SearchSettings(budget=40, sampler="tpe")
    search(tmp_path, settings)
    learned: list[samplers.Point] = []

    class Recording(samplers.TpeSampler):
        def learn(self, point: samplers.Point, seconds: float) -> None:
            learned.append(point)
            super().learn(point, seconds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samplers, "TpeSampler", Recording)
        result = search(tmp_path, settings)
    # All but the default, whose parameters are not of the space.
    assert len(learned) == len(set(learned)) == len(result.trials) - 1


def test_a_larger_budget_continues_and_keeps_the_best_of_before(tmp_path: Path) -> None:
    first = search(tmp_path, SearchSettings(budget=6, sampler="random"))
    evaluator = KnownTimes()
    search(tmp_path, SearchSettings(budget=60, sampler="random"), evaluator)
    assert len(evaluator.evaluated) == 54
    assert first.best is not None
    assert first.best.configuration.name in evaluator.confirmed


def test_a_line_that_a_kill_cut_is_dropped(tmp_path: Path) -> None:
    search(tmp_path, SearchSettings(budget=5, sampler="random"))
    log = tmp_path / "search.jsonl"
    log.write_bytes(log.read_bytes()[:-20])
    evaluator = KnownTimes()
    search(tmp_path, SearchSettings(budget=5, sampler="random"), evaluator)
    assert len(evaluator.evaluated) == 1
    assert len([json.loads(line) for line in log.read_text().splitlines()]) == 6


def test_another_compiler_begins_a_new_log_and_keeps_the_old_one(tmp_path: Path) -> None:
    search(tmp_path, SearchSettings(budget=5, sampler="random"))
    evaluator = KnownTimes()
    settings = SearchSettings(budget=5, sampler="random")
    search(tmp_path, settings, evaluator, TunedProvider("2"))
    assert len(evaluator.evaluated) == 5
    assert len((tmp_path / "search-2.jsonl").read_text().splitlines()) == 6


def test_the_progress_names_the_best_so_far(tmp_path: Path) -> None:
    seen: list[SearchProgress] = []
    settings = SearchSettings(budget=30, sampler="random")
    log = tmp_path / "search.jsonl"
    ConfigurationSearch(OPERATION, TunedProvider(), KnownTimes(), log, settings, seen.append).run()
    assert [each.tried for each in seen] == list(range(1, 31))
    costs = [each.best.cost for each in seen if each.best is not None]
    assert costs == sorted(costs, reverse=True)
    assert seen[-1].left == 0


def test_kernels_that_cannot_be_verified_are_not_searched(tmp_path: Path) -> None:
    class Unverified(KnownTimes):
        def trial(self, dispatch: Dispatch) -> SearchTrial:
            return SearchTrial(
                dispatch.configuration, "Not verified", 0.1, "There is no reference."
            )

    with pytest.raises(KernelError, match=r"cannot be searched.*not verified: There is no ref"):
        search(tmp_path, EVERY, Unverified())


def test_limits_are_positive() -> None:
    with pytest.raises(UsageError, match="budget of a search must be more than 0, got 0"):
        SearchSettings(budget=0)


def test_tpe_without_optuna_names_the_install_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samplers, "find_spec", lambda name: None)  # pyright: ignore
    with pytest.raises(ActiondbgError, match=r"pip install 'actiondbg\[search\]'"):
        search(tmp_path, SearchSettings(sampler="tpe"))
