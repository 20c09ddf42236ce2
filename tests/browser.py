"""A headless Chromium under WebDriver, for pages that only a browser can judge."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # a page that asks the network for anything fails
    "--window-size=1200,800",
)
PATIENCE = 120.0  # s, for a page under software rendering on a loaded machine


class Browser:
    """One page: `go(file)`, `run(script)`, `screenshot()`."""

    def __init__(self, port: int) -> None:
        self.home = f"http://127.0.0.1:{port}/session"

    def ask(self, path: str, given: dict[str, Any] | None = None, method: str = "POST") -> Any:
        """The answer of the driver. Error: what it says."""
        body = None if method != "POST" else json.dumps(given or {}).encode()
        request = urllib.request.Request(self.home + path, body, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None

    def go(self, file: Path) -> None:
        """Open a file and wait until its viewer is ready."""
        self.ask("/url", {"url": file.resolve().as_uri()})
        end = time.monotonic() + PATIENCE
        while self.run("return document.body.dataset.ready") != "yes":
            assert time.monotonic() < end, self.log()
            time.sleep(0.1)

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns."""
        return self.ask("/execute/sync", {"script": script, "args": list(arguments)})

    def screenshot(self) -> bytes:
        """The window as PNG."""
        return base64.b64decode(self.ask("/screenshot", method="GET"))

    def log(self) -> list[str]:
        """Errors of the page."""
        return [entry["message"] for entry in self.ask("/se/log", {"type": "browser"}) if entry["level"] == "SEVERE"]


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A browser of its own; where there is none the test is skipped, and says what to install."""
    driver, program = shutil.which("chromedriver"), shutil.which("chromium") or shutil.which("google-chrome")
    if not driver or not program:
        missing = "NO BROWSER: the viewer's page is not tested here; `apt-get install chromium chromium-driver`"
        warnings.warn(missing, stacklevel=2)  # pytest lists warnings, and counts of skips only
        pytest.skip(missing)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            assert process.stdout is not None
            ports = (re.search(r"started successfully on port (\d+)", line) for line in process.stdout)
            browser = Browser(int(next(found for found in ports if found).group(1)))
            options = {"args": [*FLAGS, f"--user-data-dir={folder}"], "binary": program}
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            session = browser.ask("", {"capabilities": {"alwaysMatch": wanted}})
            browser.home += f"/{session['sessionId']}"
            try:
                yield browser
            finally:
                browser.ask("", method="DELETE")
        finally:
            process.terminate()
            process.wait(timeout=30)
