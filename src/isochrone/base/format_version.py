"""Check of the 'format' number of a file."""

from isochrone.base.errors import InputError


def check_format(version: object, newest: int, subject: str) -> None:
    """Refuse what is no version of a format, or newer than the newest one that is read.

    Parameters
    ----------
    version
        The value of 'format', as it was found; None: there is none.
    newest
        The newest format.
    subject
        What should have it: ``the model file``.

    Raises
    ------
    InputError
        If it is not a whole number from 1 to ``newest``.
    """
    if type(version) is not int or version < 1:
        raise InputError(f"{subject} has no valid 'format' number")
    if version > newest:
        raise InputError(
            f"format {version} is newer than {newest}, which this version reads",
            hint="update isochrone",
        )
