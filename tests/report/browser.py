"""A headless Chromium, spoken to over its debugging pipe: no driver and no further package is needed."""

import fcntl
import json
import os
import select
import signal
import time
from itertools import count

_FREE_FD = 20  # above those that the browser expects
_SECONDS = 60
_FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
)
KEYS = {
    "Tab": {"code": "Tab", "windowsVirtualKeyCode": 9},
    "Enter": {"code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
    " ": {"code": "Space", "windowsVirtualKeyCode": 32, "text": " "},
    "ArrowRight": {"code": "ArrowRight", "windowsVirtualKeyCode": 39},
}


class Browser:
    """One page in a browser of its own.

    Attributes:
        complaints: what the console and the security policy said of the page that is open.
        requests: addresses that the page asked for, data in the page itself apart.
    """

    def __init__(self, program, profile):
        to_read, self._write = _high(os.pipe())
        self._read, to_write = _high(os.pipe())
        with open(os.devnull, "r+b") as nothing:  # noqa: PTH123
            actions = [(os.POSIX_SPAWN_DUP2, nothing.fileno(), fd) for fd in (0, 1, 2)]
            actions += [(os.POSIX_SPAWN_DUP2, to_read, 3), (os.POSIX_SPAWN_DUP2, to_write, 4)]
            arguments = [program, *_FLAGS, f"--user-data-dir={profile}", "about:blank"]
            self._pid = os.posix_spawn(program, arguments, os.environ, file_actions=actions, setpgroup=0)
        os.close(to_read)
        os.close(to_write)
        self._pending, self._number, self._session = b"", count(1), None
        self.complaints, self.requests, self._loaded = [], [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        """The answer to a command of the DevTools protocol."""
        number = next(self._number)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != number:
            self._note(answer)
        assert "error" not in answer, f"{method}: {answer.get('error')}"
        return answer["result"]

    def open(self, path, width, height=800, dark=False):
        """Load a file into a window of this size, in CSS pixels."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.complaints.clear()
        self.requests.clear()
        self._loaded = False
        self.call("Page.navigate", url=path.as_uri())
        while not self._loaded:
            self._note(self._next())

    def run(self, script, *values):
        """What a function of JavaScript gives for these values."""
        expression = f"({script})(...{json.dumps(values)})"
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def click(self, selector):
        """Click into the middle of an element."""
        x, y = self.run(
            "s => { const e = document.querySelector(s); e.scrollIntoView({block: 'center'});"
            " const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }",
            selector,
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key):
        """Press and release a key."""
        held = KEYS[key]
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **held)
        up = {name: value for name, value in held.items() if name != "text"}
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **up)

    def close(self):
        """End the browser, and only it."""
        self._session = None
        try:
            self.call("Browser.close")
        except (OSError, AssertionError):
            os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._read)
        os.close(self._write)

    def _next(self):
        deadline = time.monotonic() + _SECONDS
        while b"\0" not in self._pending:
            ready, _, _ = select.select([self._read], [], [], max(0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            piece = os.read(self._read, 1 << 20)
            assert piece, "the browser has ended"
            self._pending += piece
        message, _, self._pending = self._pending.partition(b"\0")
        return json.loads(message)

    def _note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(params["args"])
        elif method == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            self.requests += [] if url.startswith("data:") else [url]


def _high(pair):
    """Both ends of a pipe at numbers that are free in the browser."""
    moved = []
    for fd in pair:
        moved.append(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _FREE_FD))
        os.close(fd)
    return moved
