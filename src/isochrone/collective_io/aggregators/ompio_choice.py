"""OMPIO: choose the number of aggregators; no hint selects their hosts."""

from __future__ import annotations

from collections.abc import Sequence

from isochrone.base.errors import InputError
from isochrone.collective_io.aggregators.choice import Choice, ranked
from isochrone.collective_io.aggregators.setting import Setting
from isochrone.collective_io.aggregators.setting_costs import SettingCosts
from isochrone.collective_io.predict.node_cost import NodeCost, refuse_no_time
from isochrone.collective_io.predict.whole_call import WholeCall
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.cb_config_list import block_aggregators


def choices(
    call: Call,
    by_rank: Sequence[str],
    model: NodeCost,
    whole: WholeCall | None,
    *,
    given: Setting,
) -> list[Choice]:
    """Return numbers of aggregators, the best first; parameters as of `collective_choice`.

    Without a number, OMPIO takes a rank of each row of a Cartesian communicator.

    Raises
    ------
    InputError
        If numbers cannot be compared, or OMPIO's present choice is unknown.
    """
    if not model.of_bytes:
        raise InputError(
            "OMPIO has a hint for the number of its aggregators only, which needs a model of "
            "several message sizes",
            where="--model", hint="isochrone measure hotspot --bytes 32KiB,256KiB,1MiB,2MiB",
        )  # fmt: skip
    ranks = len(by_rank)
    costs = SettingCosts(call, by_rank, model, whole)
    now = call.rows() if given.nodes is None else block_aggregators(given.nodes, ranks)
    sides = [(given, now, "given")]
    for number in _numbers(ranks, len(costs.placed[1])):
        sides.append((Setting(nodes=number), block_aggregators(number, ranks), "number"))
    found: list[Choice] = []
    for setting, served, lever in sides:
        cost = costs.of(setting, served)
        assert cost is not None
        refuse_no_time(cost.exchange)
        before = found[0].given_seconds if found else cost.seconds
        words = "as given" if lever == "given" else f"{len(served)} aggregators ({option(setting)})"
        # there is one set of aggregators for each number: what it takes is the least it can take
        found.append(
            Choice(
                setting, served, cost.seconds, before, cost.seconds, cost.parts, words,
                costs.memory(setting, served), lever,
            )
        )  # fmt: skip
    return ranked(found)


def _numbers(ranks: int, hosts: int) -> list[int]:
    """Return numbers of aggregators to compare: all of few ranks, or powers of two and hosts."""
    if ranks <= 64:
        return list(range(1, ranks + 1))
    powers = {2**k for k in range(ranks.bit_length()) if 2**k <= ranks}
    return sorted(powers | {hosts, ranks} | {n * 3 // 2 for n in powers if n * 3 // 2 <= ranks})


def option(setting: Setting) -> str:
    """Return the option of mpirun for a number of aggregators."""
    return f"--mca io_ompio_num_aggregators {setting.nodes}"
