// A configuration of any text is refused with a message or is one that the parsers can live with.
//
// An input is lines that begin with "--set ", each an override, and the text behind them.
#include <vector>

#include "core/config.h"
#include "tests/fuzz/payloads.h"

namespace hourfold::fuzz {
namespace {

SecretLookup secrets() {
  return {
      [](const std::string& name) { return name == "NONE" ? std::nullopt : std::optional("v\"\n" + name); },
      [](const std::string& path) { return path == "none" ? std::nullopt : std::optional("{\"type\":1}"); }};
}

void check_parser(const ReadingShape& shape) {
  if (shape.format == PayloadFormat::kAvro) return;
  const auto parser = make_payload_parser(shape);
  const RecordHeaders headers = {{"device-id", "h"}};
  constexpr std::string_view kValues[] = {
      R"({"device":"d1","ts":1767225600000,"metrics":{"t":1,"s":"2,5"},"metric":"m","value":1,"body":"e30="})",
      R"([{"bn":"d/","n":"t","v":1},{"n":"h","vb":true,"t":-5}])",
      "m,d=a,e=b f=1,g=2i,h=\"x\" 1767225600000",
      R"({"A":[{"ts":1767225600000,"values":{"t":1}}]})",
  };
  for (const std::string_view value : kValues) {
    for (const bool framed : {false, true}) {
      const std::string bytes = (framed ? std::string(5, '\0') : std::string()) + std::string(value);
      check_invariants(parser->parse({bytes, "key", 1'767'225'600'000, &headers, nullptr}));
    }
  }
}

}  // namespace

void try_input(std::string_view bytes) {
  constexpr std::string_view kSet = "--set ";
  Input input(bytes);
  std::vector<std::string> overrides;
  while (input.rest().starts_with(kSet)) overrides.emplace_back(input.line().substr(kSet.size()));
  const Exact text(input.rest());
  for (const bool require_kafka : {false, true}) {
    const auto config = parse_config(text.view(), "x.json", overrides, secrets(), require_kafka);
    if (!config) {
      require(config.error().kind == ErrorKind::kRefused && !config.error().message.empty(),
              "a refusal with a message");
      continue;
    }
    require(semantics_fingerprint(*config).size() == 16, "a fingerprint of 16 digits");
    require(config->sink.buckets >= 1 && config->sink.buckets <= 128, "buckets within their bounds");
    require(!require_kafka || (!config->kafka.brokers.empty() && config->kafka.topics.size() == 1),
            "brokers and a topic");
    check_parser(config->reading.shape);
  }
}

}  // namespace hourfold::fuzz
