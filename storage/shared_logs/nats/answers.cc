#include "storage/shared_logs/nats/answers.h"

#include <time.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <optional>

#include "base/base64.h"
#include "base/one_line.h"
#include "base/time_units.h"

namespace weir::storage::nats {
namespace {

namespace json = boost::json;

constexpr size_t kDepthMax = 16;

std::string_view view(json::string_view text) { return {text.data(), text.size()}; }

const json::value* member(const json::value* object, const char* name) {
  const json::object* const members = object ? object->if_object() : nullptr;
  return members ? members->if_contains(name) : nullptr;
}

std::string text_at(const json::value* object, const char* name) {
  const json::value* const value = member(object, name);
  const json::string* const text = value ? value->if_string() : nullptr;
  return text ? std::string(view(*text)) : "";
}

std::optional<int64_t> signed_at(const json::value* object, const char* name) {
  const json::value* const value = member(object, name);
  const int64_t* const number = value ? value->if_int64() : nullptr;
  return number ? std::optional(*number) : std::nullopt;
}

std::optional<uint64_t> number_at(const json::value* object, const char* name) {
  const json::value* const value = member(object, name);
  if (const uint64_t* const large = value ? value->if_uint64() : nullptr) return *large;
  const std::optional<int64_t> number = signed_at(object, name);
  return number && *number >= 0 ? std::optional(static_cast<uint64_t>(*number)) : std::nullopt;
}

bool truth_at(const json::value* object, const char* name) {
  const json::value* const value = member(object, name);
  const bool* const truth = value ? value->if_bool() : nullptr;
  return truth && *truth;
}

Problem not_understood() { return {.code = 0, .text = "an answer that is not understood"}; }

Problem problem_of(const json::value& error) {
  std::string text = one_line(text_at(&error, "description"));
  return {.code = signed_at(&error, "err_code").value_or(0),
          .text = text.empty() ? "an error without a text" : std::move(text)};
}

// An object that tells of no error.
Result<json::value, Problem> parse(std::string_view answer) {
  if (answer.size() > kAnswerBytesMax) return not_understood();
  json::parse_options options;
  options.max_depth = kDepthMax;
  boost::system::error_code failed;
  json::value value = json::parse({answer.data(), answer.size()}, failed, {}, options);
  if (failed || !value.is_object()) return not_understood();
  if (const json::value* const error = member(&value, "error")) return problem_of(*error);
  return value;
}

template <typename Number>
bool take_number(std::string_view* text, size_t digits, Number* number) {
  if (text->size() < digits) return false;
  const auto [end, error] = std::from_chars(text->data(), text->data() + digits, *number);
  const bool is_whole = error == std::errc() && end == text->data() + digits;
  text->remove_prefix(digits);
  return is_whole;
}

bool take_letter(std::string_view* text, char letter) {
  if (!text->starts_with(letter)) return false;
  text->remove_prefix(1);
  return true;
}

// "2026-01-31T23:59:59.123456789Z", with no or up to nine digits of a second; 0 for anything else.
int64_t time_of(std::string_view text) {
  tm parts{};
  const bool has_begun = take_number(&text, 4, &parts.tm_year) && take_letter(&text, '-') &&
                         take_number(&text, 2, &parts.tm_mon) && take_letter(&text, '-') &&
                         take_number(&text, 2, &parts.tm_mday) && take_letter(&text, 'T') &&
                         take_number(&text, 2, &parts.tm_hour) && take_letter(&text, ':') &&
                         take_number(&text, 2, &parts.tm_min) && take_letter(&text, ':') &&
                         take_number(&text, 2, &parts.tm_sec);
  constexpr int kFirstYear = 1970, kLastYear = 2261;
  if (!has_begun || parts.tm_year < kFirstYear || parts.tm_year > kLastYear || parts.tm_mon > 12 ||
      parts.tm_mday > 31 || parts.tm_hour > 24)
    return 0;
  int64_t part_ns = 0;
  if (take_letter(&text, '.')) {
    for (int64_t unit = kNsPerS / 10; !text.empty() && text[0] >= '0' && text[0] <= '9';
         unit /= 10, text.remove_prefix(1))
      part_ns += (text[0] - '0') * unit;
  }
  if (text != "Z") return 0;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return static_cast<int64_t>(::timegm(&parts)) * kNsPerS + part_ns;
}

constexpr int64_t kSilentNs = 10 * kNsPerS;

uint64_t copies_of(const json::value* cluster) {
  const json::value* const list = member(cluster, "replicas");
  const json::array* const others = list ? list->if_array() : nullptr;
  uint64_t copies = 1;
  if (others == nullptr) return copies;
  for (const json::value& other : *others)
    copies += !truth_at(&other, "offline") && signed_at(&other, "active").value_or(0) < kSilentNs;
  return copies;
}

// That it takes messages of the log, and no others (names.h).
bool has_our_subject(const json::value* config) {
  const json::value* const value = member(config, "subjects");
  const json::array* const subjects = value ? value->if_array() : nullptr;
  const std::string name = text_at(config, "name");
  const std::string ours =
      "weir." + name.substr(std::min(name.find('_') + 1, name.size())) + ".log.*";
  return subjects != nullptr && subjects->size() == 1 && subjects->front().is_string() &&
         view(subjects->front().get_string()) == ours;
}

// What would lose records, refuse appends or let a log index come twice.
std::string unlike_ours(const json::value* config) {
  const auto is_not = [&](const char* name, std::string_view wanted) {
    const std::string text = text_at(config, name);
    return text == wanted ? "" : std::string(name) + " is " + one_line(text);
  };
  for (const auto& [name, wanted] :
       {std::pair("storage", "file"), {"retention", "limits"}, {"discard", "new"}})
    if (std::string unlike = is_not(name, wanted); !unlike.empty()) return unlike;
  for (const char* const limit : {"max_age", "max_msgs", "max_msgs_per_subject"})
    if (const auto number = signed_at(config, limit); number && *number > 0)
      return std::string(limit) + " is " + std::to_string(*number);
  if (const auto size = signed_at(config, "max_msg_size"); size && *size > 0)
    return "max_msg_size is " + std::to_string(*size);
  if (const auto first = number_at(config, "first_seq"); first && *first > 1)
    return "first_seq is " + std::to_string(*first);
  if (!has_our_subject(config)) return "it has other subjects";
  for (const char* const truth : {"sealed", "deny_purge", "allow_rollup_hdrs", "no_ack"})
    if (truth_at(config, truth)) return std::string(truth) + " is true";
  for (const char* const other : {"mirror", "sources", "subject_transform"})
    if (member(config, other)) return std::string("it has ") + other;
  const std::string mode = text_at(config, "persist_mode");
  return mode.empty() || mode == "default" ? "" : "persist_mode is " + one_line(mode);
}

}  // namespace

Result<Stored, Problem> stored(std::string_view answer, std::string_view stream) {
  const auto parsed = parse(answer);
  if (!parsed) return parsed.error();
  const uint64_t sequence = number_at(&*parsed, "seq").value_or(0);
  if (sequence == 0 || text_at(&*parsed, "stream") != stream) return not_understood();
  return Stored{.sequence = sequence, .is_duplicate = truth_at(&*parsed, "duplicate")};
}

Result<Message, Problem> message(std::string_view answer) {
  const auto parsed = parse(answer);
  if (!parsed) return parsed.error();
  const json::value* const stored = member(&*parsed, "message");
  const uint64_t sequence = number_at(stored, "seq").value_or(0);
  auto headers = decode_base64(text_at(stored, "hdrs"));
  auto data = decode_base64(text_at(stored, "data"));
  if (sequence == 0 || !headers || !data) return not_understood();
  return Message{.sequence = sequence,
                 .subject = text_at(stored, "subject"),
                 .headers = std::move(*headers),
                 .data = std::move(*data),
                 .time_ns = time_of(text_at(stored, "time"))};
}

std::string_view header(std::string_view headers, std::string_view name) {
  while (!headers.empty()) {
    const size_t end = headers.find("\r\n");
    const std::string_view line = headers.substr(0, end);
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':') {
      const size_t begin = line.find_first_not_of(' ', name.size() + 1);
      return begin == std::string_view::npos ? "" : line.substr(begin);
    }
    if (end == std::string_view::npos) break;
    headers.remove_prefix(end + 2);
  }
  return {};
}

Result<StreamInfo, Problem> stream_info(std::string_view answer) {
  const auto parsed = parse(answer);
  if (!parsed) return parsed.error();
  const json::value* const config = member(&*parsed, "config");
  const json::value* const state = member(&*parsed, "state");
  const std::optional<uint64_t> last = number_at(state, "last_seq");
  if (!config || !last) return not_understood();
  return StreamInfo{.version = one_line(text_at(member(config, "metadata"), "_nats.ver")),
                    .replicas = number_at(config, "num_replicas").value_or(1),
                    .copies = copies_of(member(&*parsed, "cluster")),
                    .last_sequence = *last,
                    .now_ns = time_of(text_at(&*parsed, "ts")),
                    .unlike_ours = unlike_ours(config)};
}

Result<void, Problem> done(std::string_view answer) {
  const auto parsed = parse(answer);
  if (!parsed) return parsed.error();
  return {};
}

}  // namespace weir::storage::nats
