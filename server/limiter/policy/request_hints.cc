#include "server/limiter/policy/request_hints.h"

#include <algorithm>

#include "algorithms/limit_text.h"
#include "algorithms/rate_text.h"
#include "algorithms/words.h"
#include "base/ascii.h"

namespace weir::server {
namespace {

struct Elsewhere {
  std::string_view word;
  std::string_view hint;
};
constexpr Elsewhere kElsewhere[] = {
    {"TIMEOUT", "RL.ACQUIRE waits, and takes TIMEOUT"},
    {"WAIT", "RL.ACQUIRE waits, and takes TIMEOUT"},
    {"BLOCK", "RL.ACQUIRE waits, and takes TIMEOUT"},
    {"AMOUNT", "COST says how many permits a request takes"},
    {"COUNT", "COST says how many permits a request takes"},
    {"PERMITS", "COST says how many permits a request takes"},
    {"TOKENS", "COST says how many permits a request takes"},
    {"TTL", "LEASE says for how long CONCURRENCY lends a permit"},
    {"MAXWAIT", "RL.RESERVE books ahead, and takes MAXWAIT"},
    {"UPTO", "RL.TAKE and RL.MTAKE take UPTO"},
    {"FORCE", "RL.TAKE and RL.MTAKE take FORCE"},
    {"SHADOW", "RL.TAKE and RL.MTAKE take SHADOW"},
    {"ID", "RL.TAKE, RL.MTAKE, RL.ACQUIRE, RL.RESERVE and RL.REFUND take ID"},
    {"HOLD", "RL.TAKE, RL.MTAKE and RL.ACQUIRE take HOLD"},
    {"BAN", "BAN is part of a limit: it stands among its options"},
    {"SLOW", "SLOW comes right after ADAPTIVE min..max"},
    {"KEYCOSTS", "RL.MTAKE takes KEYCOSTS, one for each key"},
    {"FULL", "RL.TAKE, RL.PEEK, RL.ACQUIRE and RL.MTAKE take FULL"},
    {"HEADERS", "RL.TAKE, RL.PEEK, RL.ACQUIRE and RL.MTAKE take HEADERS"},
    {"LEGACY", "RL.TAKE, RL.PEEK, RL.ACQUIRE and RL.MTAKE take LEGACY"},
    {"PROBLEM", "RL.TAKE, RL.PEEK, RL.ACQUIRE and RL.MTAKE take PROBLEM"},
    {"PARTITION", "RL.TAKE, RL.PEEK, RL.ACQUIRE and RL.MTAKE take PARTITION"},
    {"TRACEPARENT", "RL.TAKE, RL.PEEK, RL.MTAKE, RL.ACQUIRE and RL.RESERVE take TRACEPARENT"},
    {"EACH", "RL.MTAKE takes EACH, after its keys"},
    {"AS", "AS names one limit, as its last option; those of a policy are named in the policy"},
};

// Other names of algorithms, without what joins their words.
struct OtherName {
  std::string_view given;
  std::string_view name;
};
constexpr OtherName kOtherNames[] = {
    {"TOKENBUCKET", "TOKENBUCKET"},
    {"LEAKYBUCKET", "LEAKY"},
    {"FIXEDWINDOW", "FIXED"},
    {"SLIDING", "SLIDINGWINDOW, SLIDINGCOUNTER or SLIDINGLOG"},
    {"SLIDINGWINDOW", "SLIDINGWINDOW"},
    {"SLIDINGLOG", "SLIDINGLOG"},
    {"SLIDINGWINDOWLOG", "SLIDINGLOG"},
    {"SLIDINGCOUNTER", "SLIDINGCOUNTER"},
    {"SLIDINGWINDOWCOUNTER", "SLIDINGCOUNTER"},
    {"SEMAPHORE", "CONCURRENCY"},
    {"CONCURRENT", "CONCURRENCY"},
};

std::string name_meant_by(std::string_view word) {
  constexpr size_t kNameBytesMax = 32;
  if (word.size() > kNameBytesMax) return {};
  std::string plain = to_upper(word);
  std::erase_if(plain, [](char c) { return c == '_' || c == '-'; });
  for (const OtherName& other : kOtherNames) {
    if (other.given == plain) return std::string(other.name);
  }
  return {};
}

// "COST=5" is written as two words here.
std::string two_words_of(std::string_view word) {
  constexpr size_t kOptionBytesMax = 32;
  const size_t equal = word.substr(0, kOptionBytesMax).find('=');
  if (equal == 0 || equal == word.npos) return {};
  return to_upper(algorithms::shown(word.substr(0, equal))) + " " +
         algorithms::shown(word.substr(equal + 1));
}

bool begins_limit(std::string_view word) {
  const std::string_view words[] = {word};
  return equals_ignoring_case(word, "POLICY") || algorithms::begins_limit(words);
}

}  // namespace

std::string hint_about(std::string_view word, bool after_options) {
  if (begins_limit(word)) return after_options ? "; limits come before the options" : "";
  for (const Elsewhere& each : kElsewhere) {
    if (equals_ignoring_case(each.word, word)) return "; " + std::string(each.hint);
  }
  const bool may_be_number = !word.empty() && word.size() <= algorithms::kNumberBytesMax;
  if (may_be_number && std::all_of(word.begin(), word.end(), is_digit)) {
    return "; a rate has a period: " + algorithms::shown(word) + "/1m or " +
           algorithms::shown(word) + " PER minute";
  }
  if (const std::string name = name_meant_by(word); !name.empty())
    return "; did you mean " + name + "?";
  if (const std::string words = two_words_of(word); !words.empty())
    return "; a value is a word of its own: " + words;
  const std::string owners = algorithms::names_with_option(word);
  if (owners.empty()) return "";
  return "; " + to_upper(algorithms::shown(word)) + " is an option of " + owners +
         (after_options ? ", and options of limits come right after their limit" : "");
}

std::string hint_about_keys(std::span<const std::string_view> keys) {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!begins_limit(keys[i]) && !equals_ignoring_case(keys[i], "EACH")) continue;
    return "; numkeys is " + std::to_string(keys.size()) + ", so '" + algorithms::shown(keys[i]) +
           "' is key " + std::to_string(i);
  }
  return "";
}

}  // namespace weir::server
