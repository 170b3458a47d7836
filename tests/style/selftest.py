#!/usr/bin/env python3
"""The checks of this folder fail when they should: each violation is planted in a tree of its own and must be reported, and alone."""

import pathlib
import sys
import tempfile

import include_table
import text_rules

HEADERS = (
    "src/core/types.h src/ports/clock.h state/window_store.h state/memory_store.h src/pipeline/outbox.h src/kafka/client.h "
    "src/hbase/hbase_table.h src/embedded/embedded_table.h src/http/metrics.h src/app/service.h tests/support/fake.h"
).split()

# (file, its text, what the report must say); the first group must be clean.
ALLOWED = [
    ("src/payload/a.cc", '#include <vector>\n#include <simdjson.h>\n#include "core/types.h"\n'),
    ("src/ports/a.h", '#include "core/types.h"\n'),
    ("state/a.cc", '#include <rocksdb/db.h>\n#include "state/memory_store.h"\n'),
    ("src/pipeline/a.cc", '#include <chrono>\n#include "ports/clock.h"\n#include "state/window_store.h"\n'),
    ("src/kafka/a.cc", '#include <librdkafka/rdkafka.h>\n#include <thread>\n#include "ports/clock.h"\n'),
    ("src/hbase/a.cc", '#include <thrift/TOutput.h>\n#include "hbase_types.h"\n'),
    ("src/app/a.cc", '#include <spdlog/spdlog.h>\n#include "hbase/hbase_table.h"\n#include "state/memory_store.h"\n'),
    ("tests/fuzz/corpus/json/a", "\t\r x "),
]
INCLUDES = [
    ("src/core/a.cc", '#include "ports/clock.h"\n', "src/core may not know src/ports"),
    ("src/core/a.cc", "#include <fstream>\n", "is pure"),
    ("src/core/a.cc", "#include <thread>\n", "is pure"),
    ("src/core/a.cc", "#include <unistd.h>\n", "not in the table"),
    ("src/core/a.cc", "auto t = std::chrono::system_clock::now();\n", "reads no clock"),
    ("src/ports/a.h", '#include "state/window_store.h"\n', "may not know state"),
    ("state/a.cc", '#include "pipeline/outbox.h"\n', "may not know src/pipeline"),
    ("state/a.cc", "#include <nlohmann/json.hpp>\n", "may not know nlohmann"),
    ("src/pipeline/a.cc", '#include "state/memory_store.h"\n', "may not know state"),
    ("src/pipeline/a.cc", '#include "kafka/client.h"\n', "may not know src/kafka"),
    ("src/pipeline/a.cc", "#include <mutex>\n", "is pure"),
    ("src/kafka/a.cc", '#include "hbase/hbase_table.h"\n', "may not know src/hbase"),
    ("src/hbase/a.cc", "#include <librdkafka/rdkafka.h>\n", "may not know librdkafka"),
    ("src/hbase/a.cc", "  #  include <rocksdb/db.h>\n", "may not know rocksdb"),
    ("src/embedded/a.cc", '#include "hbase_types.h"\n', "may not know hbase_types.h"),
    ("src/http/a.cc", "#include <spdlog/spdlog.h>\n", "may not know spdlog"),
    ("src/kafka/a.cc", '#include "app/service.h"\n', "may not know src/app"),
    ("src/app/a.cc", '#include "tests/support/fake.h"\n', "may not know tests/support"),
    ("src/app/a.cc", "#include <boost/optional.hpp>\n", "not in the table"),
    ("src/kafka/a.cc", '#include "kafka/nosuch.h"\n', "no such header"),
    ("src/novel/a.cc", "#include <vector>\n", "not in the include table"),
]
SLASH = "/"
TEXTS = [
    ("src/core/a.cc", "int a;\n" * (text_rules.LINES_MAX + 1), "split it"),
    ("src/core/a.cc", "int a;  // TO" "DO: b\n", "open ends"),
    ("src/core/a.cc", "\tint a;\n", "tabs"),
    ("src/core/a.cc", "int a; \n", "white space"),
    ("src/core/a.cc", "int a;", "no newline"),
    ("src/core/a.cc", "int a;\r\n", "carriage return"),
    ("docs/a.md", f"see {SLASH}home{SLASH}ada/notes\n", "path of one machine"),
    ("docs/a.md", f"see {SLASH}root{SLASH}notes\n", "path of one machine"),
    ("docs/a.md", f"from https:{SLASH}/repo1.example.org/x\n", "registry"),
    ("src/hbase/idl/a.thrift", "struct TIncrement {}\n", "absolute Puts only"),
    ("src/hbase/idl/a.thrift", "void append(1: i32 a)\n", "absolute Puts only"),
]


def problems_of(check, file, text):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in [*HEADERS, file]:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text if name == file else "", newline="")
        return check(root)


def main():
    failures = 0

    def expect(holds, what):
        nonlocal failures
        if not holds:
            failures += 1
            print("FAILED:", what)

    for file, text in ALLOWED:
        for check in (include_table.check, text_rules.check):
            expect(not (found := problems_of(check, file, text)), f"{file} with {text!r} is clean, but: {found}")
    for check, planted in ((include_table.check, INCLUDES), (text_rules.check, TEXTS)):
        for file, text, wanted in planted:
            found = problems_of(check, file, text)
            expect(len(found) == 1 and wanted in found[0], f"{file} with {text[:60]!r} gives one problem, {wanted!r}: {found}")
    print(f"{len(ALLOWED)} clean trees, {len(INCLUDES) + len(TEXTS)} planted violations, {failures} surprises")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
