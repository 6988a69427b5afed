from __future__ import annotations

import pytest

from crowdcore.run import Cancelled, Progress, Run


def test_a_cancelled_run_does_no_further_step() -> None:
    run = Run()
    steps = run.loop(10, "EM")
    assert next(steps) == 0
    run.cancel()
    with pytest.raises(Cancelled):
        next(steps)


def test_the_last_step_is_always_reported() -> None:
    told: list[Progress] = []
    run = Run(watch=told.append)
    for step in run.loop(1000, "EM"):
        run.log(loglik=step)
    assert told[-1].step == told[-1].total == 1000
    assert told[-1].share == 1
    assert told[-1].metrics["loglik"] == 999
    assert len(told) < 20


def test_a_plateau_is_a_small_move_within_one_stage() -> None:
    run = Run()
    for step in run.loop(3, "EM"):
        run.log(loglik=[1.0, 2.0, 2.0000001][step])
        assert run.plateaued("loglik", 1e-3) is (step == 2)
    assert run.converged
    for _ in run.loop(1, "EM"):  # the same stage, begun anew
        run.log(loglik=2.0)
        assert not run.plateaued("loglik", 1e-3)


def test_a_relative_plateau_is_a_share_of_the_number() -> None:
    run = Run()
    for step in run.loop(2, "EM"):
        run.log(loglik=(1000.0, 1000.5)[step])
    assert not run.plateaued("loglik", 1e-3)
    assert run.plateaued("loglik", 1e-3, relative=True)


def test_a_run_that_ends_by_its_cap_has_not_converged() -> None:
    run = Run()
    for _ in run.loop(3, "EM"):
        pass
    assert run.converged is False
    assert Run().converged is None
