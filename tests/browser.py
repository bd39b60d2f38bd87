"""A headless Chromium for tests, driven by its DevTools protocol."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import websocket

from beds.mpis import missing

PATIENCE = 60.0
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
)
# Two frames are drawn after all tasks that were waiting when the page was there.
SETTLED = (
    "new Promise(done => setTimeout(() => requestAnimationFrame("
    "() => requestAnimationFrame(() => setTimeout(done)))))"
)
# The maps of a page are there: their times are unpacked after it was loaded.
READY = (
    "new Promise(done => { const look = () => document.documentElement.dataset.maps"
    " ? done(true) : setTimeout(look, 20); look(); })"
)


class Browser:
    """A headless Chromium, driven by its DevTools protocol."""

    def __init__(self, program: str, profile: Path) -> None:
        self.process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            port = self._port(profile / "DevToolsActivePort")
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=PATIENCE) as reply:
                pages = [page for page in json.load(reply) if page["type"] == "page"]
            self.socket = websocket.create_connection(
                pages[0]["webSocketDebuggerUrl"], timeout=PATIENCE
            )
        except BaseException:
            self.close()
            raise
        self.events: list[dict[str, Any]] = []
        self.count = 0
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")

    def _port(self, file: Path) -> int:
        """Wait until the browser has written where it listens."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            with suppress(OSError, ValueError, IndexError):
                return int(file.read_text().splitlines()[0])
            time.sleep(0.05)
        raise RuntimeError(f"the browser did not come up (exit code {self.process.poll()})")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command and wait for its answer."""
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while (message := self.receive()).get("id") != self.count:
            pass
        assert "error" not in message, message
        result: dict[str, Any] = message["result"]
        return result

    def receive(self) -> dict[str, Any]:
        """Return the next message of the browser, and keep it if it is an event."""
        message: dict[str, Any] = json.loads(self.socket.recv())
        if "method" in message:
            self.events.append(message)
        if message.get("method") == "Page.javascriptDialogOpening":
            self.socket.send(  # or the page would wait for ever
                '{"id":-1,"method":"Page.handleJavaScriptDialog","params":{"accept":true}}'
            )
        return message

    def open(self, path: Path) -> None:
        """Open a file and wait until it is there and has done all that loading it starts."""
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        self.wait_for("Page.loadEventFired")
        self.evaluate(SETTLED)
        assert self.evaluate("location.protocol + document.readyState") == "file:complete"

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page; of a promise, what it comes to."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        return answer["result"].get("value")

    def wait_for(self, method: str) -> dict[str, Any]:
        """Wait until something is reported under this name."""
        while not self.seen(method):
            self.receive()
        return self.seen(method)[-1]

    def seen(self, *methods: str) -> list[dict[str, Any]]:
        """Return what was reported under these names since the page was opened."""
        return [event["params"] for event in self.events if event.get("method") in methods]

    def close(self) -> None:
        """End the browser, and no other."""
        if hasattr(self, "socket"):
            with suppress(Exception):
                self.call("Browser.close")
            with suppress(Exception):
                self.socket.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)


def program() -> str:
    """Return where the browser is; skip what needs one where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        missing("browser", "there is no Chromium")
    return found


@contextmanager
def running(profile: Path) -> Iterator[Browser]:
    """Start a browser and end it; skip what needs one where there is none."""
    started = Browser(program(), profile)
    try:
        yield started
    finally:
        started.close()
