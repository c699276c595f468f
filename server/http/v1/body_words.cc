#include "server/http/v1/body_words.h"

#include <algorithm>
#include <cmath>

#include "algorithms/limit.h"
#include "algorithms/limiter_record.h"
#include "algorithms/rate_text.h"
#include "algorithms/words.h"
#include "base/ascii.h"
#include "server/http/v1/endpoints.h"
#include "server/http/v1/members.h"
#include "server/limiter/policy/request.h"

namespace weir::server::http {
namespace {

using CommandWords = std::vector<std::string>;
using Done = Result<void, Fault>;
using Kind = Json::Kind;

// The members of an object of `each`.
constexpr Member kOfEach[] = {kPolicyMember, kLimitsMember};

bool is_of_limits(const Member& member) {
  return member.kind == MemberKind::kLimits ||
         (member.kind == MemberKind::kName && member.word == kPolicyMember.word);
}

// A number that is whole, however it is written: 3, 3.0, 3e0.
std::optional<int64_t> whole_number(const Json& value) {
  constexpr auto kExactMax = static_cast<double>(kIdMax);
  if (value.is(Kind::kInteger)) return value.integer;
  if (!value.is(Kind::kReal) || std::trunc(value.real) != value.real) return std::nullopt;
  if (std::fabs(value.real) > kExactMax) return std::nullopt;
  return static_cast<int64_t>(value.real);
}

std::optional<std::string> key_text(const Json& value) {
  if (value.is(Kind::kText)) return value.text;
  if (value.is(Kind::kObject)) return bytes_of_json(value);
  const auto number = whole_number(value);
  return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

std::optional<int64_t> number_within(const Json& value, int64_t least, int64_t most) {
  const auto number = whole_number(value);
  return number && *number >= least && *number <= most ? number : std::nullopt;
}

bool is_array_of(const Json& value, size_t most) {
  return value.is(Kind::kArray) && !value.elements.empty() && value.elements.size() <= most;
}

// "1 to 16"
std::string up_to(size_t most) { return "1 to " + std::to_string(most); }

// Adds the words of a text. A command takes no more than kRequestWordsMax of them: what is past one
// more is not kept.
void add_limits(std::string_view text, CommandWords* words) {
  for (const std::string_view word : split_at_spaces(text)) {
    if (words->size() > kRequestWordsMax) return;
    words->emplace_back(word);
  }
}

// What is wrong inside a value is told by where it stands; of all else the member is named.
class BodyReader {
 public:
  BodyReader(const Endpoint& endpoint, std::string_view at) : endpoint_(endpoint), at_(at) {}

  Result<CommandWords, Fault> read(const Json& body) {
    for (const std::string_view word : split_at_spaces(endpoint_.command))
      words_.emplace_back(word);
    if (auto done = check_names(body, endpoint_.members, at_); !done) return done.error();
    if (auto done = check_needs(body); !done) return done.error();
    bool has_limits = false;
    for (const Member& member : endpoint_.members) {
      if (is_of_limits(member)) {
        if (std::exchange(has_limits, true)) continue;
        if (auto done = add_all_limits(body, at_); !done) return done.error();
      } else if (const Json* value = value_of(body, member)) {
        if (auto done = add(member, *value); !done) return done.error();
      }
    }
    if (!endpoint_.last.empty()) words_.emplace_back(endpoint_.last);
    return std::move(words_);
  }

 private:
  // The value of a member that was given; null if it was not, which `null` says too.
  static const Json* value_of(const Json& body, const Member& member) {
    for (size_t i = 0; i < body.names.size(); ++i) {
      if (equals_ignoring_case(body.names[i], member.name))
        return body.elements[i].is(Kind::kNull) && !member.must ? nullptr : &body.elements[i];
    }
    return nullptr;
  }

  // Every name is known and stands once, and what must be given is.
  Done check_names(const Json& body, std::span<const Member> members, std::string_view at) const {
    if (!body.is(Kind::kObject)) return Fault{.at = std::string(at), .what = "must be an object"};
    for (size_t i = 0; i < body.names.size(); ++i) {
      const std::string& name = body.names[i];
      const std::string place = place_of(at, algorithms::shown(name));
      if (find_member(members, name) == nullptr)
        return Fault{.at = place, .what = "is unknown: there are " + names_of(members)};
      const auto is_same = [&name](const std::string& other) {
        return equals_ignoring_case(name, other);
      };
      const auto before = body.names.begin() + static_cast<ptrdiff_t>(i);
      if (std::any_of(body.names.begin(), before, is_same))
        return Fault{.at = place, .what = "is given twice"};
    }
    for (const Member& member : members) {
      if (member.must && value_of(body, member) == nullptr)
        return Fault{.at = place_of(at, member.name), .what = "must be given"};
    }
    return {};
  }

  static std::string names_of(std::span<const Member> members) {
    std::string names;
    for (const Member& member : members)
      names.append(names.empty() ? "" : ", ").append(member.name);
    return names.empty() ? "none" : names;
  }

  bool has(const Json& body, std::string_view name) const {
    const Member* member = find_member(endpoint_.members, name);
    return member != nullptr && value_of(body, *member) != nullptr;
  }

  Done check_needs(const Json& body) const {
    const bool has_limits = has(body, "policy") || has(body, "limits");
    switch (endpoint_.needs) {
      case Needs::kNothing:
        return {};
      case Needs::kLimits:
        if (has_limits) return {};
        return lacking("policy", "or limits must be given");
      case Needs::kLimitsOrEach:
        if (has_limits != has(body, "each")) return {};
        return lacking("each", has_limits ? "goes neither with policy nor with limits"
                                          : "or policy or limits must be given");
      case Needs::kKeyOrPrefix:
        if (has(body, "key") != has(body, "prefix")) return {};
        return lacking("key", "or prefix must be given, one of the two");
    }
    return {};
  }

  Fault lacking(std::string_view name, std::string_view what) const {
    return {.at = place_of(at_, name), .what = std::string(what)};
  }

  // Policy and limits in the order of the body: costs count them so.
  Done add_all_limits(const Json& body, std::string_view at) {
    for (size_t i = 0; i < body.names.size(); ++i) {
      const Member* member = find_member(kOfEach, body.names[i]);
      if (member == nullptr) continue;
      const Member* own = find_member(endpoint_.members, member->name);
      if (own != nullptr && !is_of_limits(*own)) continue;
      const bool may_be_null = own == nullptr || !own->must;
      if (may_be_null && body.elements[i].is(Kind::kNull)) continue;
      if (auto done = add_value(*member, body.elements[i], place_of(at, member->name)); !done)
        return done;
    }
    return {};
  }

  Done add(const Member& member, const Json& value) {
    return add_value(member, value, place_of(at_, member.name));
  }

  Done add_value(const Member& member, const Json& value, const std::string& place) {
    switch (member.kind) {
      case MemberKind::kKey:
        return add_text(member, key_text(value), value, place);
      case MemberKind::kKeys:
        return add_keys(member, value, place);
      case MemberKind::kName:
        return add_text(member, name_text_of(value), value, place);
      case MemberKind::kLimits:
        return add_limits_of(member, value, place);
      case MemberKind::kEach:
        return add_each(member, value, place);
      case MemberKind::kCosts:
        return add_text(member, costs_text(value), value, place);
      case MemberKind::kFlag:
        return add_flag(member, value, place);
      default:
        return add_text(member, short_text(member, value), value, place);
    }
  }

  static std::optional<std::string> name_text_of(const Json& value) {
    const bool fits =
        value.is(Kind::kText) && !value.text.empty() && value.text.size() <= kPolicyNameBytesMax;
    return fits ? std::optional(value.text) : std::nullopt;
  }

  static std::optional<std::string> costs_text(const Json& value) {
    const auto one = number_within(value, 0, algorithms::kCostMax);
    if (one) return std::to_string(*one);
    if (!is_array_of(value, kCostsMax)) return std::nullopt;
    std::string text;
    for (const Json& element : value.elements) {
      const auto cost = number_within(element, 0, algorithms::kCostMax);
      if (!cost) return std::nullopt;
      text.append(text.empty() ? "" : ",").append(std::to_string(*cost));
    }
    return text;
  }

  static std::optional<std::string> short_text(const Member& member, const Json& value) {
    const bool is_text = value.is(Kind::kText);
    if (member.kind == MemberKind::kChoice) return is_text ? choice(member, value) : std::nullopt;
    if (member.kind == MemberKind::kDuration || member.kind == MemberKind::kTime)
      return is_text ? duration(member, value) : milliseconds(member, value);
    if (member.kind == MemberKind::kToken) {
      if (is_text)
        return value.text.empty() || value.text.size() > kIdBytesMax ? std::nullopt
                                                                     : std::optional(value.text);
      const auto number = whole_number(value);
      return number ? std::optional(std::to_string(*number)) : std::nullopt;
    }
    const auto number = number_within(value, member.least, member.most);
    return number ? std::optional(std::to_string(*number)) : std::nullopt;
  }

  static std::optional<std::string> choice(const Member& member, const Json& value) {
    for (const std::string_view word : member.choices) {
      if (equals_ignoring_case(word, value.text)) return std::string(word);
    }
    return std::nullopt;
  }

  static std::optional<std::string> duration(const Member& member, const Json& value) {
    const auto duration_ns = algorithms::parse_duration(value.text);
    if (!duration_ns) return std::nullopt;
    // What is longer than it may be is the command's to refuse, where the row has no bound.
    const bool fits = member.most == 0 || (*duration_ns >= member.least * kNsPerMs &&
                                           *duration_ns <= member.most * kNsPerMs);
    return fits ? std::optional(value.text) : std::nullopt;
  }

  static std::optional<std::string> milliseconds(const Member& member, const Json& value) {
    if (member.kind == MemberKind::kDuration) return std::nullopt;
    const auto number = number_within(value, member.least, member.most);
    return number ? std::optional(std::to_string(*number)) : std::nullopt;
  }

  Done add_text(const Member& member, std::optional<std::string> text, const Json& value,
                const std::string& place) {
    if (!text) return wrong(member, value, place);
    if (!member.word.empty()) words_.emplace_back(member.word);
    words_.push_back(std::move(*text));
    return {};
  }

  Done add_keys(const Member& member, const Json& value, const std::string& place) {
    if (!is_array_of(value, algorithms::kLimitsMax)) return wrong(member, value, place);
    words_.push_back(std::to_string(value.elements.size()));
    for (size_t i = 0; i < value.elements.size(); ++i) {
      auto key = key_text(value.elements[i]);
      if (!key) return wrong(kKeyMember, value.elements[i], place + "[" + std::to_string(i) + "]");
      words_.push_back(std::move(*key));
    }
    return {};
  }

  Done add_limits_of(const Member& member, const Json& value, const std::string& place) {
    const size_t before = words_.size();
    if (value.is(Kind::kText)) add_limits(value.text, &words_);
    if (value.is(Kind::kArray)) {
      for (const Json& element : value.elements) {
        if (!element.is(Kind::kText)) return wrong(member, value, place);
        add_limits(element.text, &words_);
      }
    }
    if (words_.size() == before) return wrong(member, value, place);
    if (words_.size() <= kRequestWordsMax) return {};
    return Fault{
        .at = place,
        .what = "must be fewer words: a command has at most " + std::to_string(kRequestWordsMax)};
  }

  Done add_each(const Member& member, const Json& value, const std::string& place) {
    if (!is_array_of(value, algorithms::kLimitsMax)) return wrong(member, value, place);
    for (size_t i = 0; i < value.elements.size(); ++i) {
      const std::string at = place + "[" + std::to_string(i) + "]";
      const Json& of_key = value.elements[i];
      if (auto done = check_names(of_key, kOfEach, at); !done) return done;
      words_.emplace_back(member.word);
      const size_t before = words_.size();
      if (auto done = add_all_limits(of_key, at); !done) return done;
      if (words_.size() == before)
        return Fault{.at = place_of(at, "policy"), .what = "or limits must be given"};
    }
    return {};
  }

  Done add_flag(const Member& member, const Json& value, const std::string& place) {
    if (!value.is(Kind::kBoolean)) return wrong(member, value, place);
    if (value.is_true() && !member.word.empty()) words_.emplace_back(member.word);
    return {};
  }

  static Fault wrong(const Member& member, const Json& value, const std::string& place) {
    return {.at = place, .what = form_of(member) + ", got " + algorithms::shown(text_of(value))};
  }

  const Endpoint& endpoint_;
  const std::string_view at_;
  CommandWords words_;
};

}  // namespace

std::string form_of(const Member& member) {
  const auto times = [&member](std::string_view form) {
    const std::string text = "must be " + std::string(form);
    if (member.most == 0) return text;
    return text + ", " + std::to_string(member.least) + " to " + std::to_string(member.most) +
           " ms";
  };
  switch (member.kind) {
    case MemberKind::kKey:
      return R"(must be a string or an integer, or {"hex": "..."} for other bytes)";
    case MemberKind::kKeys:
      return "must be an array of " + up_to(algorithms::kLimitsMax) + " keys";
    case MemberKind::kName:
      return "must be a string of " + up_to(kPolicyNameBytesMax) + " bytes";
    case MemberKind::kLimits:
      return "must be limits in a string, or in an array of strings";
    case MemberKind::kEach:
      return "must be an array of " + up_to(algorithms::kLimitsMax) +
             " objects with policy, limits or both";
    case MemberKind::kInteger:
      return "must be an integer " + algorithms::between(member.least, member.most);
    case MemberKind::kCosts:
      return "must be an integer " + algorithms::between(0, algorithms::kCostMax) +
             ", or an array of them with one for each limit";
    case MemberKind::kToken:
      return "must be a string of " + up_to(kIdBytesMax) + " bytes, or an integer";
    case MemberKind::kDuration:
      return times("a string with " + std::string(algorithms::kDurationForm));
    case MemberKind::kTime:
      return times("a string with " + std::string(algorithms::kDurationForm) +
                   ", or an integer, which is milliseconds");
    case MemberKind::kFlag:
      return "must be true or false";
    case MemberKind::kChoice:
      return "must be " + algorithms::list_of(member.choices);
  }
  return {};
}

std::string place_of(std::string_view at, std::string_view name) {
  std::string place(at);
  if (!place.empty()) place.push_back('.');
  return place.append(name);
}

Result<std::vector<std::string>, Fault> words_of(const Endpoint& endpoint, const Json& body,
                                                 std::string_view at) {
  return BodyReader(endpoint, at).read(body);
}

}  // namespace weir::server::http
