#!/usr/bin/env python3
"""The built binary as a user meets it without any server: messages, exit codes, `fold` against an independent computation, `query` on an
embedded table that a demo left. Usage: run.py HOURFOLD"""

import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

HOUR = 3_600_000
DONE, CHECK_FAILED, USAGE, SERVICE = 0, 1, 2, 3


class Cli:
    def __init__(self, binary, folder):
        self.binary, self.folder, self.failures = binary, folder, 0

    def run(self, *words, stdin="", **environment):
        return subprocess.run(
            [self.binary, *map(str, words)],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=180,
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", "COLUMNS": "80", **environment},
        )

    def expect(self, condition, what):
        if not condition:
            self.failures += 1
            print(f"FAILED: {what}")

    def refuses(self, code, words, *mentions, stdin=""):
        """Ends with the code, one message that names what it must, and nothing on standard output."""
        done = self.run(*words, stdin=stdin)
        told = f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout[:500]}{done.stderr[:500]}"
        self.expect(done.returncode == code, f"want exit {code} of {told}")
        self.expect(done.stderr.startswith("hourfold: ") and done.stderr.count("hourfold: ") == 1, f"one message of {told}")
        self.expect(not done.stdout, f"no output of {told}")
        for mention in mentions:
            self.expect(mention in done.stderr, f"{mention!r} is named by {told}")


def check_use(cli):
    cli.refuses(USAGE, ["tabel"], "tabel", "'table'")
    cli.refuses(USAGE, ["table", "cretae"], "'create'")
    cli.refuses(USAGE, ["table"], "create", "check")
    cli.refuses(USAGE, ["run", "--confg", "x"], "--confg", "'--config'")
    cli.refuses(USAGE, ["fold", "--format", "xml"], "xml", "json|csv")
    cli.refuses(USAGE, ["query"], "--device")
    cli.refuses(USAGE, ["run", "-c", "nosuch.json"], "nosuch.json", "No such file")
    cli.refuses(USAGE, ["fold", "nosuch.jsonl"], "nosuch.jsonl", "No such file")
    cli.refuses(USAGE, ["fold", "."], ".", "directory")
    cli.refuses(USAGE, ["fold", "--set", "reading.device=key"], "reading.device")
    avro = ["fold", "--set", "reading.format=avro", "--set"]
    cli.refuses(USAGE, [*avro, 'reading.schema={"type":"flaot"}'], "reading.schema", "flaot")
    cli.refuses(USAGE, [*avro, "reading.schema_registry=registry:8081", "--set", "reading.framing=confluent"], "reading.schema_registry", "http://")
    cli.refuses(USAGE, ["fold", "--set", "reading.deduplcate=false"], "reading.deduplcate", "deduplicate")
    cli.refuses(USAGE, ["query", "-d", "x", "--from", "yesterday"], "--from", "yesterday")
    cli.refuses(USAGE, ["query", "-d", "x", "--plot", "--format", "csv"], "--plot")
    cli.refuses(USAGE, ["table", "create"], "kafka.brokers", "contribution_ttl")
    cli.refuses(SERVICE, ["query", "-d", "x", "--set", "sink.address=127.0.0.1:1"], "127.0.0.1:1")
    cli.refuses(SERVICE, ["query", "-d", "x", "--set", "sink.type=embedded", "--set", "sink.dir=none"], "none", "table create")
    check_use_of_the_log(cli)
    done = cli.run()
    cli.expect(done.returncode == USAGE and "demo" in done.stderr, "without a word the help, as an error")


def check_use_of_the_log(cli):
    """verify and rebuild."""
    nobody = ["--set", "kafka.brokers=127.0.0.1:1", "--set", "kafka.topics=t", "--set", "startup_timeout=0"]
    embedded = ["--set", "sink.type=embedded", "--set", "sink.dir=none"]
    for command in ("verify", "rebuild"):
        cli.refuses(USAGE, [command], "kafka.brokers", "kafka.topics")
        cli.refuses(USAGE, [command, *nobody, "--from", "yesterday"], "--from", "yesterday")
        cli.refuses(SERVICE, [command, *nobody, "--set", "sink.address=127.0.0.1:1", "--set", "sink.contribution_ttl=forever"], "127.0.0.1:1")
        cli.refuses(SERVICE, [command, *nobody, *embedded], "none", "table create")
    cli.refuses(USAGE, ["verify", *nobody, "--report", "no/such/folder/report"], "no/such/folder/report")
    cli.refuses(USAGE, ["verify", "--max-differences", "many"], "--max-differences")
    cli.refuses(USAGE, ["rebuild", *nobody, "--follow", "--into", "x"], "--follow", "--into")
    cli.refuses(USAGE, ["rebuild", *nobody, "--into", "rollups"], "--into rollups")
    cli.refuses(USAGE, ["rebuild", *nobody, "--from", "-1d", "--set", "reading.arrival=/at"], "reading.arrival", "earliest")
    cli.refuses(USAGE, ["rebuild", *nobody, "--log-level", "loud"], "loud")


def check_help(cli):
    cli.expect(cli.run("--version").stdout.startswith("hourfold "), "--version")
    for words in ([], ["run"], ["demo"], ["fold"], ["query"], ["rebuild"], ["verify"], ["table"], ["table", "create"], ["table", "check"], ["payload"], ["payload", "try"], ["completion"]):
        done = cli.run(*words, "--help")
        cli.expect(done.returncode == DONE and "Usage: " + " ".join(["hourfold", *words]) in done.stdout, f"help of {words}")
        cli.expect(all(len(line) <= 120 for line in done.stdout.splitlines()), f"help of {words} fits")
    for unbuilt in ("state", "doctor", "size"):
        cli.expect(f"  {unbuilt} " not in cli.run("--help").stdout, f"{unbuilt} is not promised")
        cli.refuses(USAGE, [unbuilt], unbuilt)


def check_completion(cli):
    script = cli.folder / "completion.bash"
    script.write_text(cli.run("completion", "bash").stdout)
    for line, wanted in (
        ("hourfold ta", {"table"}),
        ("hourfold table c", {"create", "check"}),
        ("hourfold fold --fo", {"--format"}),
        ("hourfold fold --format ", {"json", "csv"}),
        ("hourfold query --set a=b --by m", {"month"}),
        ("hourfold completion f", {"fish"}),
        ("hourfold pay", {"payload"}),
        ("hourfold payload t", {"try"}),
        ("hourfold payload try --he", {"--help", "--hex", "--header"}),
        ("hourfold payload try --format j", {"json"}),
    ):
        words = line.split(" ")
        quoted = " ".join(f"'{word}'" for word in words)
        code = (
            f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _hourfold; "
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        given = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True).stdout.split()
        cli.expect(set(given) == wanted, f"completion of {line!r} is {given}")
    for shell in ("zsh", "fish"):
        cli.expect("hourfold" in cli.run("completion", shell).stdout, f"completion of {shell}")


CHIRPSTACK = (
    '{"deviceInfo":{"devEui":"0011223344556677"},"time":"2026-01-01T00:00:00.5+00:00","object":{"t":1.5,"door":true},"fPort":2}'
)


def check_payload_try(cli):
    def told(code, words, *mentions, stdin=""):
        done = cli.run("payload", "try", *words, stdin=stdin)
        for mention in mentions:
            cli.expect(mention in done.stdout, f"{mention!r} is in payload try {words}:\n{done.stdout}{done.stderr}")
        cli.expect(done.returncode == code and not done.stderr, f"payload try {words}: exit {done.returncode}\n{done.stderr}")
        cli.expect("\x1b" not in done.stdout, "no colour where there is no terminal")
        cli.expect(all(len(line) <= 110 for line in done.stdout.splitlines()), f"payload try {words} fits:\n{done.stdout}")

    folded = "0011223344556677  2026-01-01T00:00:00.500Z  folded      t=1.5"
    told(DONE, [], "ChirpStack", '"device": "/deviceInfo/devEui"', '"booleans": true', folded, "1 reading: 1 folded", stdin=CHIRPSTACK)
    (cli.folder / "sample.json").write_text(CHIRPSTACK + "\n")
    told(DONE, ["sample.json", "--propose"], folded)
    section = {"device": "/deviceInfo/devEui", "time": "/time", "time_unit": "rfc3339", "metrics": "/object"}
    (cli.folder / "reading.json").write_text(json.dumps({"reading": section}))
    told(DONE, ["-c", "reading.json", "sample.json"], folded)
    told(CHECK_FAILED, ["-c", "reading.json", "--set", "reading.time=/when", "sample.json"], "no_time", '"time": "/time"')
    told(CHECK_FAILED, ["-c", "reading.json", "--arrival", "2025-12-31T23:00Z", "sample.json"], "quarantine", "policy.max_future")
    told(DONE, ["--hex"], "1 reading: 1 folded", stdin=CHIRPSTACK.encode().hex())
    told(DONE, ["--key", "d1"], '"device": "key"', "d1 ", stdin='{"ts":1767225600000,"metrics":{"t":1}}')
    told(DONE, ["--header", "device-id=d1"], '"device": "header:device-id"', stdin='{"ts":1767225600000,"metrics":{"t":1}}')
    told(DONE, [], "The defaults fit", stdin='{"device":"d1","ts":1767225600000,"metrics":{"t":1}}')
    lines = '{"device":"d1","ts":1767225600000,"metrics":{"t":1}}\n\n{"device":"d1"\n'
    told(CHECK_FAILED, ["--lines"], "2 records, 2 readings: 1 folded, 1 malformed", "line 3", stdin=lines)
    told(CHECK_FAILED, ["--hex"], "gzip", "compression.type", stdin="1f8b 0800")
    told(CHECK_FAILED, ["--hex"], "schema 42", '"format": "avro"', "registry", stdin="000000002a0464318080c0f39bef66")
    told(CHECK_FAILED, [], "bad_json", "json.dumps", stdin="{'device': 'd1'}")
    done = cli.run("payload", "try", "--format", "json", "sample.json")
    given = json.loads(done.stdout)
    cli.expect(given["reading"] == section and given["counts"]["folded"] == 1, f"payload try --format json: {given}")
    reading = given["records"][0]["readings"][0]
    cli.expect(reading == {"verdict": "folded", "device": "0011223344556677", "ts": 1767225600500, "metrics": {"t": 1.5}}, f"{reading}")
    copied = ["--set", "reading=" + json.dumps(given["reading"])]
    told(DONE, [*copied, "sample.json"], folded)
    refused = cli.run("payload", "try", "--format", "json", stdin="<a/>")
    cli.expect(refused.returncode == CHECK_FAILED and json.loads(refused.stdout)["refused"]["what"] == "XML", "what is refused, as JSON")


def check_the_documented_try(cli):
    """docs/PAYLOADS.md, "Trying it", word by word."""
    text = (pathlib.Path(__file__).parents[2] / "docs" / "PAYLOADS.md").read_text()
    sample, shown = (text.split(f"```{kind}\n", 1)[1].split("```\n", 1)[0] for kind in ("sample", "console"))
    (cli.folder / "sample.json").write_text(sample)
    command, output = shown.split("\n", 1)
    done = cli.run(*command.split()[2:], COLUMNS="100")
    cli.expect(done.stdout == output, f"the output in docs/PAYLOADS.md is another than\n{done.stdout}")


def check_wrong_use_of_payload_try(cli):
    cli.refuses(USAGE, ["payload"], "try")
    cli.refuses(USAGE, ["payload", "try", "--kye", "x"], "--kye", "'--key'")
    cli.refuses(USAGE, ["payload", "try", "nosuch.json"], "nosuch.json", "No such file")
    cli.refuses(USAGE, ["payload", "try", "--hex"], "--hex", "'x'", stdin="0x41")
    cli.refuses(USAGE, ["payload", "try", "--hex"], "two digits", stdin="414")
    cli.refuses(USAGE, ["payload", "try", "--arrival", "yesterday"], "--arrival", "yesterday", stdin="{}")
    cli.refuses(USAGE, ["payload", "try", "--header", "x"], "NAME=VALUE", stdin="{}")
    cli.refuses(USAGE, ["payload", "try", "--set", "reading.devcie=/x"], "devcie", "device", stdin="{}")
    cli.refuses(USAGE, ["payload", "try", "--last", "3"], "kafka.brokers", "kafka.topics")
    cli.refuses(USAGE, ["payload", "try", "--last", "3", "--key", "x"], "--last", "--key")
    cli.refuses(USAGE, ["payload", "try", "--last", "3", "--first", "3"], "--first", "--last")
    nobody = ["--set", "kafka.brokers=127.0.0.1:1", "--set", "kafka.topics=t", "--set", "startup_timeout=0"]
    cli.refuses(SERVICE, ["payload", "try", "--last", "3", *nobody], "'t'")


def readings(seed):
    """Lines out of order, some repeated, some early, some old, some broken; and what they must come to."""
    chance, lines, values, seen = random.Random(seed), [], {}, set()
    for _ in range(5_000):
        device, event = f"d{chance.randrange(20)}", 1_767_225_600_000 + chance.randrange(3 * HOUR)
        arrival = event + chance.choice([0, 5, 300_000, 29 * 24 * HOUR, 29 * 24 * HOUR + 1, -300_000, -300_001])
        metrics = {m: round(chance.uniform(-9, 9), 2) for m in ("a", "b", "ü") if chance.random() < 0.8}
        if metrics and chance.random() < 0.1:
            event -= event % 60_000
        lines.append(json.dumps({"device": device, "ts": event, "metrics": metrics, "arrival_ts": arrival}))
        if not -300_000 <= arrival - event <= 29 * 24 * HOUR:
            continue
        for metric, value in metrics.items():
            if (device, event, metric) in seen:
                continue
            seen.add((device, event, metric))
            values.setdefault((device, metric, event // HOUR * HOUR), []).append(value)
    lines += ["", "{", '{"device":"d1"}']
    wanted = {key: (min(v), max(v), math.fsum(v), len(v)) for key, v in values.items()}
    return "\n".join(lines), wanted


def check_fold(cli):
    text, wanted = readings(1)
    done = cli.run("fold", stdin=text)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    keys = [(row["device"].encode(), row["metric"].encode(), row["hour"]) for row in rows]
    given = {(r["device"], r["metric"], r["hour"]): (r["min"], r["max"], r["sum"], r["count"]) for r in rows}
    cli.expect(done.returncode == DONE, f"fold: {done.stderr}")
    cli.expect(given == wanted, "fold gives min, max, correctly rounded sum and count of every hour")
    cli.expect(keys == sorted(keys), "rows are sorted by bytes")
    counts = {line.rsplit(None, 1)[0].strip(): int(line.split()[-1]) for line in done.stderr.splitlines() if "first:" not in line}
    parts = ("folded", "duplicate", "quarantined", "archived", "malformed")
    cli.expect(sum(counts[part] for part in parts) == counts["readings"] == 5_002, f"counts add up: {done.stderr}")
    cli.expect(counts["malformed"] == 2 and "line 5002" in done.stderr, f"malformed lines are named: {done.stderr}")

    for zone in ("IST-5:30", "<+1245>-12:45", "NST3:30NDT,M3.2.0,M11.1.0"):
        cli.expect(cli.run("fold", stdin=text, TZ=zone).stdout == done.stdout, f"case 10: hours are UTC's with TZ={zone}")

    (cli.folder / "readings.jsonl").write_text(text)
    csv = cli.run("fold", "--format", "csv", "readings.jsonl").stdout.splitlines()
    cli.expect(csv[0] == "device,metric,hour,min,max,sum,count" and len(csv) == len(rows) + 1, "fold --format csv")


def check_query(cli):
    done = cli.run("demo", "--devices", 20, "--hours", 24, "--dir", cli.folder / "demo")
    cli.expect(done.returncode == DONE, f"demo: exit {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-1000:]}")
    config = ["-c", cli.folder / "demo" / "demo.json"]
    cli.expect(cli.run("table", "check", *config).returncode == DONE, "table check of the demo's table")
    cli.refuses(SERVICE, ["table", "create", *config], "exists")
    query = ["query", *config, "--device", "dev-000007"]
    hours = [json.loads(line) for line in cli.run(*query, "--format", "json").stdout.splitlines()]
    cli.expect(len(hours) > 24, f"hours of the demo: {len(hours)}")
    for row in hours:
        cli.expect(row["avg"] == row["sum"] / row["count"] and row["min"] <= row["avg"] <= row["max"], f"{row}")
    for step in ("day", "month"):
        rows = [json.loads(line) for line in cli.run(*query, "--format", "json", "--by", step).stdout.splitlines()]
        cli.expect(sum(r["count"] for r in rows) == sum(r["count"] for r in hours), f"--by {step} keeps the count")
    plot = cli.run(*query, "--plot")
    cli.expect("average" in plot.stdout and "\x1b" not in plot.stdout, "a plot, without colour where there is no terminal")
    cli.expect(all(len(line) <= 80 for line in plot.stdout.splitlines()), "the plot fits 80 columns")
    cli.expect("metric" in cli.run(*query).stdout, "a table")
    cli.refuses(CHECK_FAILED, ["query", *config, "-d", "nobody"], "nobody")
    cli.refuses(CHECK_FAILED, [*query, "-m", "nothing"], "nothing", "temp_c")


def main():
    with tempfile.TemporaryDirectory() as folder:
        cli = Cli(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))
        for check in (check_use, check_help, check_completion, check_payload_try, check_the_documented_try, check_wrong_use_of_payload_try, check_fold, check_query):
            check(cli)
    print("failed" if cli.failures else "ok")
    sys.exit(1 if cli.failures else 0)


if __name__ == "__main__":
    main()
