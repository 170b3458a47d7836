#include "http/schema_registry.h"

#include <httplib.h>

#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

namespace hourfold {
namespace {

constexpr std::chrono::seconds kConnectTimeout{3};
constexpr std::chrono::seconds kIoTimeout{5};
constexpr std::size_t kMaxAnswerBytes = 8 << 20;
constexpr int kNoSuchSchema = 40403;
constexpr const char* kAccept = "application/vnd.schemaregistry.v1+json, application/json";

struct Url {
  std::string origin;  // scheme, host and port
  std::string path;    // without a slash at its end
  std::optional<std::pair<std::string, std::string>> user;
};

std::optional<std::string> without_percents(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2) return std::nullopt;
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

std::optional<std::pair<std::string, std::string>> user_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  auto name = without_percents(text.substr(0, colon));
  auto password = without_percents(colon == std::string_view::npos ? "" : text.substr(colon + 1));
  if (!name || !password) return std::nullopt;
  return std::pair(*std::move(name), *std::move(password));
}

bool is_authority(std::string_view text) {
  if (text.empty() || text.find_first_of(" \t\r\n\"?#\\") != std::string_view::npos) return false;
  const std::size_t colon = text.rfind(':');
  const bool has_port = colon != std::string_view::npos && text.find(']', colon) == std::string_view::npos;
  if (!has_port) return true;
  unsigned port = 0;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return colon > 0 && error == std::errc() && end == digits.data() + digits.size() && port > 0 &&
         port < 65536;
}

std::optional<Url> parse_url(std::string_view text) {
  Url url;
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(0, scheme);
  if (name != "http" && name != "https") return std::nullopt;
  std::string_view rest = text.substr(scheme + 3);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  url.path = rest.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();
  rest = rest.substr(0, slash);
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    url.user = user_of(rest.substr(0, at));
    if (!url.user) return std::nullopt;
    rest.remove_prefix(at + 1);
  }
  if (!is_authority(rest) || url.path.find_first_of(" \t\r\n?#") != std::string::npos) return std::nullopt;
  url.origin = std::string(name) + "://" + std::string(rest);
  return url;
}

// What went wrong below HTTP.
std::string words_for(httplib::Error error) {
  switch (error) {
    case httplib::Error::Connection:
      return "no connection";
    case httplib::Error::ConnectionTimeout:
      return "no connection in time";
    case httplib::Error::Read:
      return "no answer in time";
    case httplib::Error::SSLConnection:
    case httplib::Error::SSLLoadingCerts:
      return "no secure connection";
    case httplib::Error::SSLServerVerification:
      return "its certificate is not trusted here; SSL_CERT_FILE may name the authority's";
    case httplib::Error::Canceled:
      return "its answer is too large";
    default:
      return httplib::to_string(error);
  }
}

std::string text_of(const nlohmann::json& answer, const char* key) {
  const auto at = answer.find(key);
  return at != answer.end() && at->is_string() ? at->get<std::string>() : std::string();
}

}  // namespace

class SchemaRegistry::Impl {
 public:
  explicit Impl(const Url& url) : origin_(url.origin), path_(url.path), client_(url.origin) {
    client_.set_connection_timeout(kConnectTimeout);
    client_.set_read_timeout(kIoTimeout);
    client_.set_write_timeout(kIoTimeout);
    if (url.user) client_.set_basic_auth(url.user->first, url.user->second);
  }
  bool works() const { return client_.is_valid(); }

  Result<std::string> fetch(std::int32_t id);

 private:
  Result<nlohmann::json> ask(const std::string& path);

  const std::string origin_;
  const std::string path_;
  httplib::Client client_;
};

// An object, or why there is none.
Result<nlohmann::json> SchemaRegistry::Impl::ask(const std::string& path) {
  std::string body;
  const auto result =
      client_.Get(path_ + path, {{"Accept", kAccept}}, [&body](const char* data, std::size_t size) {
        body.append(data, size);
        return body.size() <= kMaxAnswerBytes;
      });
  if (!result) return unavailable(origin_ + " does not answer (" + words_for(result.error()) + ")");
  const nlohmann::json answer = nlohmann::json::parse(body, nullptr, false);
  const bool is_object = answer.is_object();
  if (result->status == 404 && is_object && answer.value("error_code", nlohmann::json()) == kNoSuchSchema)
    return refused("the registry has none of this id");
  if (result->status != 200) {
    const std::string said = is_object ? text_of(answer, "message") : "";
    return unavailable(origin_ + " answered " + std::to_string(result->status) +
                       (said.empty() ? "" : " (" + said.substr(0, 200) + ")"));
  }
  if (!is_object) return unavailable(origin_ + " answered, but not as a schema registry does");
  return answer;
}

Result<std::string> SchemaRegistry::Impl::fetch(std::int32_t id) {
  // Ids are unsigned where they are written down.
  const std::string path = "/schemas/ids/" + std::to_string(static_cast<std::uint32_t>(id));
  auto answer = ask(path);
  if (answer && answer->contains("references") && !(*answer)["references"].empty())
    answer = ask(path + "?format=resolved");
  if (!answer) return answer.error();
  const std::string type = text_of(*answer, "schemaType");
  if (!type.empty() && type != "AVRO") return refused("it is one of " + type.substr(0, 40) + ", not of Avro");
  const auto schema = answer->find("schema");
  if (schema == answer->end() || !schema->is_string())
    return unavailable(origin_ + " answered without a schema");
  return schema->get<std::string>();
}

Result<std::unique_ptr<SchemaRegistry>> SchemaRegistry::create(const std::string& url) {
  const auto parsed = parse_url(url);
  if (!parsed) return refused("is no address of a registry, such as http://registry:8081");
  auto impl = std::make_unique<Impl>(*parsed);
  if (!impl->works()) return refused("this build has no https");
  return std::unique_ptr<SchemaRegistry>(new SchemaRegistry(std::move(impl)));
}

SchemaRegistry::SchemaRegistry(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SchemaRegistry::~SchemaRegistry() = default;

Result<std::string> SchemaRegistry::fetch(std::int32_t id) { return impl_->fetch(id); }

}  // namespace hourfold
