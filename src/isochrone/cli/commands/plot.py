"""Plot run files, models or node orders as PNG, SVG or PDF."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from re import fullmatch

from isochrone import models, views
from isochrone.base import registry
from isochrone.base.errors import InputError
from isochrone.collective_io.orders import compared_orders as orders_file
from isochrone.collective_io.orders.compared_orders import ComparedOrders
from isochrone.console.input import add_tests, files_of, read_all, wanted
from isochrone.console.options import add_expert, add_option, count_of, hide, values_of, words_in
from isochrone.console.output import add_output, output_of, print_path
from isochrone.formats.table_notes import add_table_notes
from isochrone.latency_map.map_to_draw import SORTS
from isochrone.models import Model
from isochrone.models.data.terms import VARIABLES
from isochrone.runfile.file_type import looks_like_a_table
from isochrone.runfile.importer import Wanted
from isochrone.runfile.run import Run
from isochrone.views.appearance import Appearance

EXAMPLES = (
    ("the heatmap of a latency map", "isochrone plot map.jsonl -o map.png"),
    (
        "the levels of a map, for messages of 1 MiB",
        "isochrone plot map.jsonl --view levels --bytes 1MiB -o levels.svg",
    ),
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone plot``."""
    add_option(
        parser,
        "files",
        "FILE",
        Path,
        "run files or their folders; with --view fit, also CSV tables; with --view orders, "
        "output of place orders",
        nargs="+",
    )
    parser.add_argument(
        "--view",
        choices=registry.names(views.FAMILY),
        metavar="VIEW",
        help="view to draw, such as levels, see docs/gallery.md (default: that of the experiment)",
    )
    add_expert(
        parser,
        "--value",
        None,
        str,
        "quantity to plot: of a map mean, median (default) or stddev; view matrix: bytes "
        "(default), messages or seconds",
        choices=["mean", "median", "stddev", "bytes", "messages", "seconds"],
        default="median",
    )
    parser.add_argument(
        "--sort",
        choices=list(SORTS),
        default="rank",
        help="order of the ranks in a map: by rank (default), node, level, or median round trip "
        "(cost)",
    )
    add_option(
        parser,
        "--hosts",
        "HOST,…",
        words_in,
        "plot only the ranks on these hosts of a map (default: all)",
        default=[],
    )
    add_expert(
        parser,
        "--scale",
        None,
        str,
        "sweeps: scale of both axes (default: log if sizes grow by factors)",
        choices=["log", "linear"],
    )
    add_option(
        parser,
        "--op",
        "OP,…",
        words_in,
        "plot only these operations of a sweep (default: all)",
        default=[],
    )
    add_option(
        parser,
        "--bytes",
        "LIST",
        values_of("bytes"),
        "message size of a map, such as 1MiB (default: the smallest); with --view ranks, a list",
        default=[],
    )
    add_option(
        parser,
        "--model",
        "FILE",
        Path,
        "model file (from fit -o), for views of models; may be repeated",
        action="append",
        default=[],
    )
    add_option(
        parser, "--family", "FAMILY", str, "family of formulas, for --view fit (default: auto)"
    )
    add_expert(
        parser,
        "--across",
        "VARIABLE",
        str,
        "view fit: variable of the horizontal axis, such as p, see docs/models.md (default: the "
        "one with most values)",
        choices=list(VARIABLES),
        default="",
    )
    add_tests(parser, op=False)
    add_option(
        parser,
        "--size",
        "WxH",
        _size,
        "width and height in inches, such as 7x4 (default: that of the view)",
    )
    add_option(
        parser,
        "--font-size",
        "POINTS",
        count_of("points", 99),
        "size of the labels at the axes; other texts in proportion (default: 9)",
    )
    add_option(parser, "--title", "TEXT", str, "title (default: that of the view)")
    add_option(
        parser,
        "--style",
        "FILE",
        str,
        "style file of matplotlib, or the name of one of its styles (default: none)",
        default="",
    )
    hide(parser, "--font-size", "--style")
    add_output(parser, "figure to write (.png, .svg or .pdf)", required=True)
    add_table_notes(parser, hosts=False)


def run(args: Namespace) -> int:
    """Draw, and say where the picture is."""
    files = files_of(args.files)
    path = output_of(args, inputs=files)
    sources = [item for file in files for item in _read(file, wanted(args))]
    first = sources[0]
    view = args.view or views.usual(views.TABLE if isinstance(first, Path) else first.kind)
    plotted_model, several = _models(args, view)
    options = views.Options(
        what=args.value,
        sizes=tuple(args.bytes),
        scale=args.scale,
        ops=tuple(args.op),
        model=plotted_model,
        models=several,
        across=args.across,
        sort=args.sort,
        hosts=tuple(args.hosts),
    )
    look = Appearance(args.size, args.font_size, args.title, args.style)
    with look.styled():
        figure = views.draw(view, sources, options)
        look.apply(figure)
        views.save(figure, path)
    print_path(path)
    return 0


def _read(path: Path, which: Wanted) -> Sequence[Run | ComparedOrders | Path]:
    """Read runs, or compared orders; the views that draw a CSV read it themselves."""
    if orders_file.looks_like_one(path):
        return [orders_file.read(path)]
    return [path] if looks_like_a_table(path) else read_all(path, which)


def _models(args: Namespace, view: str) -> tuple[str, tuple[Model, ...]]:
    """Return the family or file of views of a model, and the models that others predict by."""
    files: list[Path] = args.model
    if registry.load(views.FAMILY, view).VIEW.predicts:
        return "auto", tuple(models.read(path) for path in files)
    if len(files) + (args.family is not None) > 1:
        raise InputError(f"the view {view} plots one model", where="--model and --family")
    return args.family or str(files[0] if files else "auto"), ()


def _size(text: str) -> tuple[float, float]:
    """Read ``7x4``: inches, of which a page has at most 100."""
    numbers = fullmatch(r"(\d{1,2}(?:\.\d+)?)x(\d{1,2}(?:\.\d+)?)", text)
    size = (float(numbers[1]), float(numbers[2])) if numbers else (0.0, 0.0)
    if min(size) < 1:
        raise InputError(f"'{text}' is not a width and height in inches, such as 7x4")
    return size
