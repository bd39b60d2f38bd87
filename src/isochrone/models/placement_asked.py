"""Questions about nodes and ranks on each: what follows from the rest, and what is not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isochrone.base.errors import InputError
from isochrone.models.placement import PLACES, contradicts
from isochrone.models.questions import needed, recorded
from isochrone.models.regime import Regime
from isochrone.models.terms import VARIABLES

__all__ = ["check_constants", "check_places", "completed"]


def completed(
    asked: Mapping[str, ArrayLike], constant: Mapping[str, float], full_node: int = 0
) -> dict[str, ArrayLike]:
    """Return ``p``, ``nodes`` and ``ppn`` as far as they follow from what is asked.

    Parameters
    ----------
    asked
        Values by the names of variables, numbers or arrays.
    constant
        What was the same in all data: it is meant where only one of the three is given.
    full_node
        Ranks on a full node, if the data filled node after node: so are ``p`` ranks that are asked
        for without their nodes. 0 if not known.

    Raises
    ------
    InputError
        If so many ranks do not fill so many nodes.
    """
    found: dict[str, ArrayLike] = dict(asked)
    known = {k: np.asarray(v, dtype=np.float64) for k, v in asked.items() if k in ("p", *PLACES)}
    if len(known) == 1:
        other = "nodes" if "ppn" in known else "ppn"
        if "p" not in known and other in constant:
            known[other] = np.asarray(constant[other])
        elif "p" in known and full_node:
            known["ppn"] = np.minimum(known["p"], full_node)
    if len(known) == 2 and all(np.all(values >= 1) for values in known.values()):
        if "p" not in known:
            known["p"] = known["nodes"] * known["ppn"]
        else:
            given, missing = PLACES if "nodes" in known else PLACES[::-1]
            known[missing] = np.ceil(known["p"] / known[given])
    if contradicts(known):
        p, nodes, ppn = np.broadcast_arrays(*(known[name] for name in ("p", *PLACES)))
        first = int(np.argmax(((p > nodes * ppn) | (p <= (nodes - 1) * ppn)).ravel()))
        raise InputError(
            f"{p.ravel()[first]:g} ranks do not fill {nodes.ravel()[first]:g} nodes with "
            f"{ppn.ravel()[first]:g} on each",
            hint="give two of the ranks, the nodes and the ranks on each",
        )
    return {**found, **{name: values for name, values in known.items() if name not in asked}}


def check_constants(constant: Mapping[str, float], asked: Mapping[str, Any]) -> None:
    """Refuse a question about what was constant when the model was made.

    Raises
    ------
    InputError
        If another value is asked for.
    """
    for name, value in constant.items():
        if name not in asked:
            continue
        others = np.unique(np.asarray(asked[name], dtype=np.float64))
        others = others[others != value]
        if len(others):
            raise InputError(
                f"the model was made at {name} = {value:g} only and knows nothing of {name} = "
                f"{others[0]:g}",
                hint=f"measure with other values of it, the {VARIABLES[name]}, and fit again",
            )


def check_places(
    regimes: Sequence[Regime], constant: Mapping[str, float], asked: Mapping[str, Any]
) -> list[str]:
    """Return what is doubtful of a question about nodes, one sentence each.

    Raises
    ------
    InputError
        If the data did not say on which nodes the ranks were.
    """
    held = needed(regimes)
    places = [name for name in PLACES if name in asked]
    if not places or constant or set(held) & set(PLACES):
        return []
    if not any(recorded(regimes, name) for name in PLACES):
        raise InputError(
            "the model does not say on how many nodes its ranks were",
            hint="ask with --ranks, or fit data with the columns nodes and ppn",
        )
    return ["the formula holds neither nodes nor ppn: it gives the same time for all p ranks"]
