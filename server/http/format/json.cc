#include "server/http/format/json.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>

#include "algorithms/words.h"
#include "base/ascii.h"
#include "base/encoded_bytes.h"

namespace weir::server::http {
namespace {

namespace json = boost::json;
using resp::Value;

// Builds the tree from what the parser tells, which calls the functions by the names that they
// have here.
//
// Invariant: an open container is the last element of the one before it. So those that are open
// stay where they are, since only the last one grows.
class TreeBuilder {
 public:
  explicit TreeBuilder(size_t members_max) : members_max_(members_max) {}

  static constexpr size_t max_array_size = SIZE_MAX;
  static constexpr size_t max_object_size = SIZE_MAX;
  static constexpr size_t max_string_size = SIZE_MAX;
  static constexpr size_t max_key_size = SIZE_MAX;

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_array_begin(json::error_code&) { return open(Json::array()); }
  bool on_array_end(size_t, json::error_code&) { return close(); }
  bool on_object_begin(json::error_code&) { return open(Json::object()); }
  bool on_object_end(size_t, json::error_code&) { return close(); }
  bool on_string_part(json::string_view part, size_t, json::error_code&) { return collect(part); }
  bool on_string(json::string_view part, size_t, json::error_code&) {
    collect(part);
    return add(Json{.kind = Json::Kind::kText, .text = std::exchange(text_, {})});
  }
  bool on_key_part(json::string_view part, size_t, json::error_code&) { return collect(part); }
  bool on_key(json::string_view part, size_t, json::error_code& error) {
    collect(part);
    if (begin_member(std::exchange(text_, {}))) return true;
    error = json::error::syntax;
    return false;
  }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(int64_t number, json::string_view, json::error_code&) {
    return add(Json::number(number));
  }
  bool on_uint64(uint64_t number, json::string_view, json::error_code&) {
    if (number <= INT64_MAX) return add(Json::number(static_cast<int64_t>(number)));
    return add(Json{.kind = Json::Kind::kReal, .real = static_cast<double>(number)});
  }
  bool on_double(double number, json::string_view, json::error_code&) {
    return add(Json{.kind = Json::Kind::kReal, .real = number});
  }
  bool on_bool(bool value, json::error_code&) { return add(Json::boolean(value)); }
  bool on_null(json::error_code&) { return add(Json()); }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

  Json take_root() { return std::move(root_); }
  // What the library does not know.
  const std::optional<Fault>& fault() const { return fault_; }

 private:
  bool collect(json::string_view part) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool add(Json value) {
    (open_.empty() ? root_ : open_.back()->elements.emplace_back()) = std::move(value);
    return true;
  }
  bool open(Json container) {
    add(std::move(container));
    open_.push_back(open_.empty() ? &root_ : &open_.back()->elements.back());
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  bool begin_member(std::string name) {
    std::vector<std::string>& names = open_.back()->names;
    if (names.size() == members_max_) {
      fault_ = {.at = place(), .what = "has more than " + std::to_string(names.size()) + " names"};
    } else if (std::find(names.begin(), names.end(), name) != names.end()) {
      const std::string at = place();
      fault_ = {.at = at + (at.empty() ? "" : ".") + algorithms::shown(name),
                .what = "is given twice"};
    }
    names.push_back(std::move(name));
    return !fault_;
  }

  // Where the container that was opened last stands.
  std::string place() const {
    std::string at;
    for (size_t i = 0; i + 1 < open_.size(); ++i) {
      const Json& around = *open_[i];
      if (around.is(Json::Kind::kArray)) {
        at += "[" + std::to_string(around.elements.size() - 1) + "]";
      } else {
        at += (at.empty() ? "" : ".") + algorithms::shown(around.names.back());
      }
    }
    return at;
  }

  const size_t members_max_;
  Json root_;
  std::vector<Json*> open_;
  std::string text_;  // of a string or a name, as far as it was told
  std::optional<Fault> fault_;
};

bool is_flag(std::string_view name) {
  return name == "allowed" || name == "shadow" || name == "banned";
}

// A name has to be text: one that is no UTF-8 is told by its digits.
std::string name_text(const std::string& name) {
  if (is_utf8(name)) return name;
  const auto* const data = reinterpret_cast<const uint8_t*>(name.data());
  return hex_text({data, name.size()});
}

Json object_of(const std::vector<Value>& elements) {
  Json object = Json::object();
  for (size_t i = 0; i + 1 < elements.size(); i += 2) {
    const std::string& name = elements[i].text;
    const Value& value = elements[i + 1];
    const bool flag = is_flag(name) && value.type == Value::Type::kInteger;
    object.add(name_text(name), flag ? Json::boolean(value.integer != 0) : json_of(value));
  }
  return object;
}

}  // namespace

Result<Json, Fault> parse_json(std::string_view text, const JsonBounds& bounds) {
  json::parse_options options;
  options.max_depth = bounds.depth_max;
  json::basic_parser<TreeBuilder> parser(options, bounds.members_max);
  json::error_code error;
  const size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (const auto& fault = parser.handler().fault()) return *fault;
  if (!error && used < text.size()) error = json::error::extra_data;
  if (error) return Fault{.what = "is no JSON: " + error.message()};
  return parser.handler().take_root();
}

Result<std::vector<std::vector<std::string>>, std::string> commands_of_json(std::string_view text) {
  const std::string form =
      R"(ERR the body must be {"commands": [[word, ...], ...]}, words being strings, integers or )"
      R"({"hex": "..."})";
  const auto parsed = parse_json(text);
  if (!parsed) return parsed.error().line();
  const Json* list = parsed->find("commands");
  if (list == nullptr || !list->is(Json::Kind::kArray)) return form;
  std::vector<std::vector<std::string>> commands;
  for (const Json& each : list->elements) {
    if (!each.is(Json::Kind::kArray)) return form;
    std::vector<std::string>& words = commands.emplace_back();
    for (const Json& word : each.elements) {
      auto read = word.is(Json::Kind::kObject) ? bytes_of_json(word) : plain_text(word);
      if (!read) return form;
      words.push_back(std::move(*read));
    }
  }
  return commands;
}

std::optional<std::string> plain_text(const Json& value) {
  if (value.is(Json::Kind::kText)) return value.text;
  if (value.is(Json::Kind::kInteger)) return std::to_string(value.integer);
  return std::nullopt;
}

std::optional<std::string> bytes_of_json(const Json& value) {
  const Json* digits = value.find("hex");
  if (digits == nullptr || !digits->is(Json::Kind::kText) || value.names.size() != 1)
    return std::nullopt;
  return bytes_of_hex(digits->text);
}

Json json_of(const Value& reply) {
  using Type = Value::Type;
  switch (reply.type) {
    case Type::kNull:
      return {};
    case Type::kInteger:
      return Json::number(reply.integer);
    case Type::kBoolean:
      return Json::boolean(reply.integer != 0);
    case Type::kDouble:
      return {.kind = Json::Kind::kReal, .real = reply.real};
    case Type::kMap:
      return object_of(reply.elements);
    case Type::kArray:
    case Type::kSet:
    case Type::kPush: {
      Json array = Json::array();
      for (const Value& element : reply.elements) array.elements.push_back(json_of(element));
      return array;
    }
    default:
      return Json::bytes(reply.text);
  }
}

std::string page_json_of(const Value& reply) {
  if (!reply.is_error()) return text_of(json_of(reply));
  Json object = Json::object();
  object.add("error", Json::bytes(reply.text));
  return text_of(object);
}

std::string json_of_error(std::string_view error) {
  Json object = Json::object();
  object.add("error", Json::bytes(error));
  return text_of(object) + "\n";
}

}  // namespace weir::server::http
