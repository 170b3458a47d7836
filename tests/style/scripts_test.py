#!/usr/bin/env python3
"""The scripts as their users meet them, as far as that needs neither network nor root: syntax, --help, wrong flags, the health check."""

import http.server
import subprocess
import sys
import threading

import tree

SCRIPTS = ("bootstrap", "build-sanitized", "demo", "fuzz", "install-runtime", "test", "with-servers")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, cwd=tree.ROOT, timeout=60)


def check_usage():
    for name in [*SCRIPTS, "healthcheck"]:
        path = tree.ROOT / "scripts" / name
        if not path.stat().st_mode & 0o111:
            yield f"scripts/{name} is not executable"
        if path.read_text().startswith("#!/usr/bin/env bash") and (done := run("bash", "-n", str(path))).returncode:
            yield f"scripts/{name}: {done.stderr}"
    for name in SCRIPTS:
        done = run(f"scripts/{name}", "--help")
        if done.returncode or name not in done.stdout:
            yield f"scripts/{name} --help: exit {done.returncode}, {done.stdout}{done.stderr}"
    for name in ("bootstrap", "build-sanitized", "fuzz", "install-runtime", "test"):
        done = run(f"scripts/{name}", "--nosuch")
        if done.returncode != 2 or "--nosuch" not in done.stderr:
            yield f"scripts/{name} --nosuch: exit {done.returncode}, {done.stdout}{done.stderr}"


def check_packages():
    names = {}
    for file in sorted((tree.ROOT / "scripts/packages").iterdir()):
        for line in file.read_text().splitlines():
            if name := line.partition("#")[0].strip():
                if name in names:
                    yield f"{name} is in {names[name]} and in {file.name}"
                names[name] = file.name


def check_health():
    """200 is healthy; any other answer, and none, is not."""
    status = [200]

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status[0] if self.path == "/healthz" else 404)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"127.0.0.1:{server.server_port}"
    for status[0], healthy in ((200, True), (503, False)):
        if (run("scripts/healthcheck", address).returncode == 0) != healthy:
            yield f"healthcheck of a service that answers {status[0]} says otherwise"
    server.shutdown()
    server.server_close()
    if run("scripts/healthcheck", address).returncode == 0:
        yield "healthcheck of a service that is not there says healthy"


if __name__ == "__main__":
    sys.exit(tree.report("scripts", [*check_usage(), *check_packages(), *check_health()]))
