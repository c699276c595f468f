// What a reply must be. Mostly one value; where the server has a choice, a range or a set.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "resp/value.h"

namespace weir::simulation {

struct Expected {
  enum class Kind {
    kValue,
    kError,     // whose text begins with `text`
    kAnything,  // but an error
    kWithId,    // an array of what `value` holds, and after it an id that nobody can foresee
    kBetween,   // an integer from `low` to `high`
    kKeys,      // an array of just these, in any order
    kScan,      // as an answer of SCAN that reached the end
  };

  Kind kind = Kind::kAnything;
  resp::Value value;
  std::string text;
  int64_t low = 0;
  int64_t high = 0;
  std::set<std::string> keys;

  bool fits(const resp::Value& reply) const {
    using Type = resp::Value::Type;
    switch (kind) {
      case Kind::kValue:
        return reply == value;
      case Kind::kError:
        return reply.is_error() && reply.text.starts_with(text);
      case Kind::kAnything:
        return !reply.is_error();
      case Kind::kWithId:
        return has_an_id_more(reply);
      case Kind::kBetween:
        return reply.type == Type::kInteger && reply.integer >= low && reply.integer <= high;
      case Kind::kKeys:
        return has_just_the_keys(reply);
      case Kind::kScan:
        return reply.type == Type::kArray && reply.elements.size() == 2 &&
               reply.elements[0].text == "0" && has_just_the_keys(reply.elements[1]);
    }
    return false;
  }

  std::string description() const {
    switch (kind) {
      case Kind::kValue:
        return resp::to_string(value);
      case Kind::kError:
        return "(error " + text + "...)";
      case Kind::kAnything:
        return "anything but an error";
      case Kind::kWithId:
        return resp::to_string(value) + " and an id";
      case Kind::kBetween:
        return std::to_string(low) + " to " + std::to_string(high);
      default:
        break;
    }
    std::string all = "just these keys:";
    for (const std::string& key : keys) all += " " + key;
    return all;
  }

 private:
  bool has_an_id_more(resp::Value reply) const {
    if (reply.elements.empty() || reply.elements.back().integer < 1) return false;
    reply.elements.pop_back();
    return reply == value;
  }
  bool has_just_the_keys(const resp::Value& reply) const {
    std::set<std::string> found;
    for (const resp::Value& element : reply.elements) {
      if (!found.insert(element.text).second) return false;
    }
    return reply.type == resp::Value::Type::kArray && found == keys;
  }
};

inline resp::Value integer(int64_t number) {
  resp::Value value;
  value.type = resp::Value::Type::kInteger;
  value.integer = number;
  return value;
}
inline resp::Value text_of(resp::Value::Type type, std::string text) {
  resp::Value value;
  value.type = type;
  value.text = std::move(text);
  return value;
}
inline resp::Value bulk(std::string text) {
  return text_of(resp::Value::Type::kBulk, std::move(text));
}
inline resp::Value array(std::vector<resp::Value> elements) {
  resp::Value value;
  value.type = resp::Value::Type::kArray;
  value.elements = std::move(elements);
  return value;
}

inline Expected exactly(resp::Value value) {
  Expected expected;
  expected.kind = Expected::Kind::kValue;
  expected.value = std::move(value);
  return expected;
}
inline Expected status(std::string text) {
  return exactly(text_of(resp::Value::Type::kStatus, std::move(text)));
}
inline Expected null() { return exactly({}); }
inline Expected number(int64_t value) { return exactly(integer(value)); }
inline Expected error(std::string text) {
  Expected expected;
  expected.kind = Expected::Kind::kError;
  expected.text = std::move(text);
  return expected;
}

}  // namespace weir::simulation
