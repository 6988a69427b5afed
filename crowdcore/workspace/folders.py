"""Folders that appear whole or not at all, and what is left of those that did not.

Whoever makes or moves a folder holds it (`crowdcore.atomic.hold`) until the catalogue lists it.
What nobody holds and nobody lists is a leftover: its maker is dead, whatever the clock says.
"""

from __future__ import annotations

import os
import secrets
import shutil
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crowdcore.atomic import PREFIX, PRIVATE_FILE, PRIVATE_FOLDER, hold, sync

HOME = "CROWDCORE_HOME"
"""The environment variable that names the workspace folder."""


@contextmanager
def new_folder(scratch: Path) -> Iterator[Path]:
    """Make a folder to fill, held until the end of the block.

    Unless `publish` has given it a name by then, it is removed. Killed at any moment, the block
    leaves the whole folder or a `.tmp-` one, which `sweep` takes away.

    Parameters
    ----------
    scratch : Path
        The folder to make it in, on the same disk as its later place.

    Yields
    ------
    Path
        An empty folder that only its owner can look into.
    """
    folder, handle = _make_held(scratch)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # it is not there if it was published
        if handle is not None:
            os.close(handle)


class ScratchFolder:
    """A folder for things that nobody lists; it goes with this object, or with the process.

    Parameters
    ----------
    scratch : Path
        The folder to make it in, which `sweep` tidies after a crash.
    """

    path: Path

    def __init__(self, scratch: Path) -> None:
        self.path, handle = _make_held(scratch)
        self.remove = weakref.finalize(self, _let_go, self.path, handle)


def _let_go(folder: Path, handle: int | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if handle is not None:
        os.close(handle)


def settle(folder: Path) -> None:
    """Put everything in a folder on the disk, for its owner alone.

    Parameters
    ----------
    folder : Path
        A folder with all of its files written.
    """
    for path in folder.rglob("*"):
        path.chmod(PRIVATE_FOLDER if path.is_dir() else PRIVATE_FILE)
        sync(path)


def publish(folder: Path, target: Path) -> None:
    """Give a new folder its name, once everything in it is settled.

    Parameters
    ----------
    folder : Path
        What `new_folder` gave.
    target : Path
        Its place; nothing may be there.
    """
    sync(folder)
    folder.rename(target)
    sync(target.parent)


def make_private(folder: Path) -> None:
    """Make a folder that only its owner can look into, whatever the umask says.

    Parameters
    ----------
    folder : Path
        Where it shall be; one that is there already stays as it is.
    """
    if not folder.is_dir():
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        folder.chmod(PRIVATE_FOLDER)


def make_root(root: Path) -> None:
    """Make the folder of a workspace ours alone.

    One that others already keep things in stays as open as it was; what we put into it is private
    either way.

    Parameters
    ----------
    root : Path
        The folder of the workspace.
    """
    root.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    if not any(root.iterdir()):
        root.chmod(PRIVATE_FOLDER)


def append_private(path: Path) -> int:
    """Open a file to append to, such as a log, that only its owner may read.

    Parameters
    ----------
    path : Path
        The file; it is made if need be.

    Returns
    -------
    int
        A file descriptor, to be closed by the caller.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
    os.fchmod(handle, PRIVATE_FILE)
    return handle


def discard(folder: Path) -> None:
    """Remove a folder in one step for everybody who looks; its files go afterwards.

    Parameters
    ----------
    folder : Path
        A folder, or a file; killed meanwhile, `sweep` goes on with it.
    """
    hidden = folder.with_name(f"{PREFIX}{secrets.token_hex(8)}")
    folder.rename(hidden)
    _remove(hidden)


def sweep(folder: Path) -> None:
    """Remove what was being made in a folder, or removed from it, by processes that are gone.

    Parameters
    ----------
    folder : Path
        The folder to look in, not below.
    """
    for path in folder.glob(f"{PREFIX}*"):
        with holding(path) as held:
            if held:
                _remove(path)


@contextmanager
def holding(path: Path) -> Iterator[bool]:
    """Try to hold something for a block.

    Parameters
    ----------
    path : Path
        A file or folder.

    Yields
    ------
    bool
        False if somebody else holds it, or it is gone.
    """
    try:
        handle = hold(path)
    except OSError:
        handle = None
    try:
        yield handle is not None
    finally:
        if handle is not None:
            os.close(handle)


def default_root() -> Path:
    """Return the folder that the environment names, else one among the user's data.

    Returns
    -------
    Path
        An absolute path.
    """
    import platformdirs

    home = os.environ.get(HOME)
    root = Path(home) if home else platformdirs.user_data_path("crowdcore")
    return root.expanduser().resolve()


def _make_held(scratch: Path) -> tuple[Path, int | None]:
    while True:
        folder = scratch / f"{PREFIX}{secrets.token_hex(8)}"
        folder.mkdir(mode=PRIVATE_FOLDER)
        folder.chmod(PRIVATE_FOLDER)
        try:
            handle = hold(folder)
        except FileNotFoundError:  # swept in the moment before it was held
            continue
        if folder.exists():
            return folder, handle
        if handle is not None:
            os.close(handle)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
