#include "server/otlp/settings.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/encoded_bytes.h"

namespace weir::server::otlp {
namespace {

using Done = Result<void, std::string>;

constexpr int64_t kIntervalLeastMs = 100;
constexpr int64_t kDurationMostMs = 24LL * 60 * 60 * 1000;
constexpr std::string_view kServiceName = "service.name";

// name=value,name=value with spaces around, percent-encoded as W3C Baggage has values. Nothing, if
// it is not well-formed.
std::optional<Attributes> read_pairs(std::string_view text) {
  Attributes pairs;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view pair = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    if (equals == pair.npos) return std::nullopt;
    const auto name = percent_decoded(trimmed(pair.substr(0, equals)));
    const auto value = percent_decoded(trimmed(pair.substr(equals + 1)));
    if (!name || name->empty() || !value) return std::nullopt;
    pairs.emplace_back(*name, *value);
  }
  return pairs;
}

// A name is a token (RFC 9110), and a value ends no line.
bool is_http_field(const std::string& name, const std::string& value) {
  static constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return std::ranges::all_of(name,
                             [](char c) {
                               return is_letter(c) || is_digit(c) ||
                                      kOthers.find(c) != kOthers.npos;
                             }) &&
         std::ranges::none_of(value, [](char c) { return is_control(c) && c != '\t'; });
}

class Reader {
 public:
  explicit Reader(const Environment& environment) : environment_(environment) {}

  Result<Settings, std::string> read() {
    Settings settings;
    if (equals_ignoring_case(text_of("OTEL_SDK_DISABLED"), "true")) return settings;
    for (const std::string_view kind : {"METRICS", "TRACES"}) {
      auto target = read_target(std::string(kind));
      if (!target) return target.error();
      (kind == "METRICS" ? settings.metrics : settings.spans) = std::move(*target);
    }
    if (!settings.exports()) return settings;
    if (auto read =
            read_ms("OTEL_METRIC_EXPORT_INTERVAL", kIntervalLeastMs, &settings.metrics_interval_ms);
        !read)
      return read.error();
    if (auto read =
            read_ms("OTEL_BSP_SCHEDULE_DELAY", kIntervalLeastMs, &settings.spans_interval_ms);
        !read)
      return read.error();
    if (auto read = read_resource(&settings.resource); !read) return read.error();
    return settings;
  }

 private:
  std::string text_of(const std::string& name) const {
    const char* const text = environment_(name.c_str());
    return text == nullptr ? "" : std::string(trimmed(text));
  }

  // The name of the variable that counts for one kind: its own, if that is set, or that of both.
  std::string variable(const std::string& kind, const std::string& what) const {
    const std::string own = "OTEL_EXPORTER_OTLP_" + kind + "_" + what;
    return text_of(own).empty() ? "OTEL_EXPORTER_OTLP_" + what : own;
  }

  // Nothing, if none of the kind are to be sent.
  Result<std::optional<HttpTarget>, std::string> read_target(const std::string& kind) const {
    const std::string name = variable(kind, "ENDPOINT");
    std::string url = text_of(name);
    if (url.empty()) return std::optional<HttpTarget>();
    const std::string wanted = "OTEL_" + kind + "_EXPORTER";
    const std::string exporter = text_of(wanted);
    if (exporter == "none") return std::optional<HttpTarget>();
    if (!exporter.empty() && exporter != "otlp")
      return wanted + " must be otlp or none, got '" + exporter + "'";
    if (name == "OTEL_EXPORTER_OTLP_ENDPOINT") {
      if (!url.ends_with('/')) url.push_back('/');
      url += "v1/" + to_lower(kind);
    }
    auto target = parse_http_url(url);
    if (!target) return name + ": " + target.error();
    if (auto read = read_manner(kind, &*target); !read) return read.error();
    return std::optional(std::move(*target));
  }

  // How a target is spoken to.
  Done read_manner(const std::string& kind, HttpTarget* target) const {
    const std::string protocol = variable(kind, "PROTOCOL");
    if (const std::string said = text_of(protocol); !said.empty() && said != "http/protobuf")
      return protocol +
             " must be http/protobuf, the only protocol of OTLP that weir speaks, got '" + said +
             "'";
    const std::string compression = variable(kind, "COMPRESSION");
    if (const std::string said = text_of(compression); !said.empty() && said != "none")
      return compression + " must be none, weir compresses nothing, got '" + said + "'";
    target->certificates = {.ca_cert_file = text_of(variable(kind, "CERTIFICATE")),
                            .cert_file = text_of(variable(kind, "CLIENT_CERTIFICATE")),
                            .key_file = text_of(variable(kind, "CLIENT_KEY"))};
    const std::string fields = variable(kind, "HEADERS");
    const auto pairs = read_pairs(text_of(fields));
    if (!pairs || !std::ranges::all_of(*pairs, [](const auto& pair) {
          return is_http_field(pair.first, pair.second);
        }))
      return fields +
             " must be name=value,name=value with names and values that a header of HTTP " +
             "may have, percent-encoded";
    target->fields = *pairs;
    return read_ms(variable(kind, "TIMEOUT"), 1, &target->timeout_ms);
  }

  Done read_ms(const std::string& name, int64_t least, int64_t* ms) const {
    const std::string text = text_of(name);
    if (text.empty()) return {};
    int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || value < least ||
        value > kDurationMostMs)
      return name + " must be a number of milliseconds from " + std::to_string(least) + " to " +
             std::to_string(kDurationMostMs) + ", got '" + text + "'";
    *ms = value;
    return {};
  }

  Done read_resource(Attributes* resource) const {
    constexpr const char* kVariable = "OTEL_RESOURCE_ATTRIBUTES";
    const auto pairs = read_pairs(text_of(kVariable));
    if (!pairs)
      return std::string(kVariable) + " must be name=value,name=value, percent-encoded, got '" +
             text_of(kVariable) + "'";
    std::string name = text_of("OTEL_SERVICE_NAME");
    for (const auto& [key, value] : *pairs) {
      if (key != kServiceName) {
        resource->emplace_back(key, value);
      } else if (name.empty()) {
        name = value;
      }
    }
    resource->emplace(resource->begin(), kServiceName, name.empty() ? "weir" : name);
    return {};
  }

  const Environment& environment_;
};

}  // namespace

Result<Settings, std::string> read_settings(const Environment& environment) {
  return Reader(environment).read();
}

}  // namespace weir::server::otlp
