"""Selection trees of MPICH 5.0 (MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE).

A file replaces the tree that is built in; one that lacks an operation ends MPI_Init. So the tree is
taken out of the file of the library, where it is text, and only what a rule is for is changed: in
front of what was there come the number of ranks and the sizes of the rule. The tree of the device
(MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE) decides before it, and would take bcast, reduce and
allreduce within a node to shared memory: there the same numbers and sizes go past it. Numbers of
ranks and sizes of no rule find what they always found.
"""

import json
import re
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.collectives.tuning_file import LibraryRule, TuningFile, Written

Tree = dict[str, "Tree"]

_VERSION = re.compile(r"MPICH 5\.0(\.\d+)?")

_TEXT = re.compile(rb'\x00(\{\s*"collective=[^\x00]{100,})(?=\x00)')

_PAGE = 4096
"""The library maps the file and reads on to a zero byte, which whole pages do not end in."""

_LEAVES = {
    "bcast": ("binomial", "smp", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"),
    "reduce": ("binomial", "smp", "reduce_scatter_gather"),
    "allreduce": ("smp", "recursive_doubling", "reduce_scatter_allgather"),
    "allgather": ("brucks", "recursive_doubling", "ring"),
    "alltoall": ("brucks", "pairwise", "scattered"),
    "reduce_scatter_block": ("pairwise", "recursive_doubling", "recursive_halving"),
}
"""Algorithms without parameters of their own. gather and scatter are not here: their tree counts
elements instead of bytes, and has nothing to choose from."""

_PAST_DEVICE = {
    "bcast": "MPIDI_Bcast_intra_composition_gamma",
    "reduce": "MPIDI_Reduce_intra_composition_gamma",
    "allreduce": "MPIDI_Allreduce_intra_composition_beta",
}
"""What hands an operation to the algorithms; all others are handed to them anyway."""

_OF_BLOCK = ("bcast", "reduce", "allreduce", "alltoall")
"""Operations whose ``avg_msg_size`` is the block; of the others only the total is known."""


def check(mpi: str) -> None:
    """Refuse other libraries, and versions whose trees are not known to be like these."""
    if not mpi.startswith("MPICH"):
        raise InputError(f"the runs were measured with {mpi}, not MPICH", where="--to mpich")
    if not _VERSION.fullmatch(mpi):
        raise InputError(
            f"selection files can be written for MPICH 5.0, not for {mpi}",
            where="--to mpich",
            hint="other versions fail in MPI_Init",
        )


def write(rules: Sequence[LibraryRule], path: Path, library: bytes) -> Written:
    """Return the tree and, if needed, that of the device."""
    usable = [rule for rule in rules if rule.algorithm in _LEAVES.get(rule.op, ())]
    left_out = tuple(rule for rule in rules if rule not in usable)
    warnings = tuple(
        f"{rule.op}={rule.algorithm} on {rule.ranks} ranks: left out, "
        "because selection files cannot express it"
        for rule in left_out
    )
    algorithms, device = built_in(library)
    device_path = path.with_name(f"{path.stem}-device{path.suffix}")
    files = {path: _text(_changed(algorithms, usable, _algorithm))}
    environ = {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(path.absolute())}
    passing = [rule for rule in usable if rule.op in _PAST_DEVICE]
    if passing:
        files[device_path] = _text(_changed(device, passing, _past_device))
        environ["MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE"] = str(device_path.absolute())
    return Written(files, environ, warnings, left_out)


def built_in(library: bytes) -> tuple[Tree, Tree]:
    """Return the trees of the algorithms and of the device that are in the file of the library.

    Raises
    ------
    InputError
        If they are not there.
    """
    trees = []
    for text in _TEXT.findall(library):
        try:
            tree = json.loads(text)
        except ValueError:
            continue
        trees.append((tree, json.dumps(tree)))
    algorithms = [tree for tree, text in trees if '"algorithm=MPIR_Alltoallw_intra' in text]
    device = [tree for tree, text in trees if '"composition=MPIDI_Bcast_intra' in text]
    if not algorithms or not device:
        raise InputError(
            "this MPI library has no algorithm selection trees",
            where="--to mpich",
            hint="give the --mpicc of the runs",
        )
    return algorithms[0], device[0]


def _text(tree: Tree) -> str:
    text = json.dumps(tree, indent=1) + "\n"
    return text + " " * (_PAGE // 2 if len(text) % _PAGE == 0 else 0)


def _changed(
    tree: Tree, rules: Sequence[LibraryRule], leaf: Callable[[LibraryRule, Tree], Tree]
) -> Tree:
    """Return the tree with the rules in front of what it has for their operations."""
    changed = dict(tree)
    for op, op_rules in groupby(sorted(rules, key=lambda rule: rule.op), lambda rule: rule.op):
        op_tree = tree[f"collective={op}"]
        existing = op_tree["comm_type=intra"]
        by_ranks: Tree = {}
        ordered = sorted(op_rules, key=lambda rule: (rule.ranks, rule.bytes))
        for ranks, same_ranks in groupby(ordered, lambda rule: rule.ranks):
            by_ranks.setdefault(f"comm_size<={ranks - 1}", existing)
            by_ranks[f"comm_size<={ranks}"] = _by_size(op, ranks, list(same_ranks), existing, leaf)
        by_ranks["comm_size=any"] = existing
        changed[f"collective={op}"] = {**op_tree, "comm_type=intra": by_ranks}
    return changed


def _by_size(
    op: str,
    ranks: int,
    rules: Sequence[LibraryRule],
    existing: Tree,
    leaf: Callable[[LibraryRule, Tree], Tree],
) -> Tree:
    """Return the branch of one number of ranks: in turn what a rule is for, and what is between."""
    name, times = ("avg_msg_size", 1) if op in _OF_BLOCK else ("total_msg_size", ranks)
    branch: Tree = {}
    for rule in rules:
        low, high = (size * times for size in rule.bytes)
        if low > 0:
            branch.setdefault(f"{name}<={low - 1}", existing)
        branch[f"{name}<={high}"] = leaf(rule, existing)
    branch[f"{name}=any"] = existing
    return branch


def _algorithm(rule: LibraryRule, existing: Tree) -> Tree:
    """Return the algorithm, with the tests without which it may be given what it cannot do."""
    leaf: Tree = {f"algorithm=MPIR_{rule.op.capitalize()}_intra_{rule.algorithm}": {}}
    if rule.algorithm == "smp":  # it needs the nodes, which not every communicator knows
        leaf = {"comm_hierarchy=parent": leaf, "comm_hierarchy=any": existing}
    if rule.op == "alltoall":
        return {"is_sendbuf_inplace=yes": existing, "is_sendbuf_inplace=no": leaf}
    if rule.op in ("reduce", "allreduce"):
        enough = {"count<pow2": existing, "count=any": leaf}
        return {"is_op_built_in=yes": enough, "is_op_built_in=no": existing}
    if rule.op == "reduce_scatter_block":
        return {"is_commutative=yes": leaf, "is_commutative=no": existing}
    return leaf


def _past_device(rule: LibraryRule, existing: Tree) -> Tree:
    return {f"composition={_PAST_DEVICE[rule.op]}": {}}


TUNING_FILE = TuningFile(check=check, write=write, of_library=True, seen_by="loading")
