"""Convert run files or application descriptions for other programs."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from isochrone.applications.description import lowering, reading
from isochrone.applications.description.actions import actions
from isochrone.base.errors import InputError
from isochrone.base.text import printable, warn
from isochrone.base.units import format_bytes
from isochrone.console.input import add_tests, files_of, read_run, wanted
from isochrone.console.options import (
    add_expert,
    add_flag,
    add_message_size,
    add_option,
    count_of,
    read_setting,
)
from isochrone.console.output import add_output, check_output, output_of, print_path
from isochrone.formats import exporter as exporters
from isochrone.formats import program as programs
from isochrone.formats.table_notes import add_table_notes
from isochrone.runfile import file as run_file
from isochrone.runfile.anonymise import anonymise

EXAMPLES = (
    ("a table for a spreadsheet", "isochrone export map.jsonl --to csv"),
    (
        "a run file to publish, without names",
        "isochrone export map.jsonl --anonymise -o public.jsonl",
    ),
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone export``."""
    of_runs, of_programs = exporters.names(), programs.names()
    add_option(parser, "file", "FILE", Path, "run file, or application description")
    add_option(
        parser,
        "--to",
        "FORMAT",
        str,
        f"format of a run: {', '.join(of_runs)}; of a description: {', '.join(of_programs)}",
        choices=sorted({*of_runs, *of_programs}),
    )
    add_flag(
        parser, "--anonymise", "write a run file without names of hosts, users, paths and commands"
    )
    add_flag(
        parser,
        "--estimates",
        "csv of a map: also the estimated time of pairs that were not measured",
        expert=True,
    )
    add_message_size(parser)
    add_tests(parser)
    add_table_notes(parser)
    add_output(parser, "file to write (default: the name of FILE with the suffix of the format)")
    group = parser.add_argument_group("options for application descriptions")
    add_option(group, "--app", "NAME", str, "application to export (default: the only one)")
    add_option(
        group,
        "--set",
        "NAME=VALUE",
        read_setting,
        "set a parameter of the description, such as n=1024; may be repeated",
        action="append",
        default=[],
    )
    add_expert(
        group,
        "--iterations",
        "N",
        count_of("iterations", 10_000_000),
        "iterations to write (default: all)",
    )
    add_expert(
        group,
        "--speed",
        "FLOPS",
        _speed,
        "simgrid-ti: floating-point operations per second of a host (default: 1e9)",
    )


def run(args: Namespace) -> int:
    """Write the file, say where it is, and what it leaves out."""
    if args.anonymise:
        return _anonymised(args)
    if args.to is None:
        raise InputError("the format is missing", hint="give --to FORMAT, such as --to csv")
    if args.to in programs.names():
        return _program(args)
    for option in ("app", "iterations", "speed", "set"):
        if getattr(args, option):
            raise InputError(f"--to {args.to} does not export descriptions", where=f"--{option}")
    exporter = exporters.load(args.to)
    path = output_of(args, args.file.with_suffix(exporter.suffix), [args.file])
    beside = [path.with_suffix(suffix) for suffix in exporter.beside]
    for other in beside:
        check_output(other, force=args.force, inputs=[args.file])
    (file,) = files_of([args.file])
    exported = read_run(file, wanted(args))
    options = {"estimates": True} if args.estimates else {}
    if options and (args.to, exported.kind) != ("csv", "latency-map"):
        raise InputError("only --to csv of a latency map has estimates", where="--estimates")
    for remark in exporter.write(exported, path, nbytes=args.bytes, **options) or ():
        warn(remark)
    if exporter.one_size and args.bytes is None and len(exported.message_sizes()) > 1:
        size = format_bytes(exported.message_sizes()[0])
        warn(f"{args.to} has one message size per file: {size} is exported (see --bytes)")
    for written in (path, *beside):
        print_path(written)
    return 0


def _anonymised(args: Namespace) -> int:
    """Write the run file again, and say what became of names, which only the user sees."""
    if args.to is not None:
        raise InputError("--anonymise writes a run file, not this format", where=f"--to {args.to}")
    name = args.file.with_name(f"{args.file.stem}-anonymous.jsonl")
    path = output_of(args, name, [args.file])
    pseudonyms = anonymise(run_file.read(args.file), args.file, path)
    for old, new in pseudonyms.items():
        warn(f"{printable(old, 200)} is {new}")
    print_path(path)
    return 0


def _program(args: Namespace) -> int:
    """Write what the ranks of an application do."""
    form = programs.load(args.to)
    if args.bytes is not None:
        raise InputError(
            f"--to {args.to} exports descriptions, which have no message size", where="--bytes"
        )
    if args.speed is not None and not form.takes_speed:
        raise InputError(f"--to {args.to} writes times, so it needs no speed", where="--speed")
    path = output_of(args, args.file.with_suffix(form.suffix), [args.file])
    program = lowering.program(reading.read(args.file, dict(args.set)))
    app_actions = actions(program, args.app or "", args.iterations)
    written = form.write(app_actions, path, speed=args.speed)
    if app_actions.decided:
        warn(
            "the application serves clients and hands out tasks in random order; the file has one "
            "fixed order: clients by rank, each task to the worker with the least work"
        )
    print_path(written[0])
    return 0


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed < 1e30:
        raise InputError(f"'{text}' is not a number of operations per second")
    return speed
