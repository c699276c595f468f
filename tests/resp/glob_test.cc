#include "resp/glob.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace weir::resp {
namespace {

using Texts = std::vector<std::string>;

const Texts kTexts = {"abc", "a", "b", "]", "^", "-", "[a", "\\", "ab", "a*", "m", "\xff", ""};

// Observed on redis-server 7.0.15: the keys among kTexts that KEYS named.
const std::vector<std::pair<std::string, Texts>> kKeys = {
    {"*", {"abc", "a", "b", "]", "^", "-", "[a", "\\", "ab", "a*", "m", "\xff", ""}},
    {"**", {"abc", "a", "b", "]", "^", "-", "[a", "\\", "ab", "a*", "m", "\xff"}},
    {"a*", {"abc", "a", "ab", "a*"}},
    {"*c", {"abc"}},
    {"a?c", {"abc"}},
    {"?", {"a", "b", "]", "^", "-", "\\", "m", "\xff"}},
    {"[ab]", {"a", "b"}},
    {"[^ab]", {"]", "^", "-", "\\", "m", "\xff"}},
    {"[a-n]", {"a", "b", "m"}},
    {"[n-a]", {"a", "b", "m"}},
    {"[a", {"a"}},
    {"[^a", {"b", "]", "^", "-", "\\", "m", "\xff"}},
    {"[", {}},
    {"[^", {"a", "b", "]", "^", "-", "\\", "m", "\xff"}},
    {"[]", {}},
    {"[^]", {"a", "b", "]", "^", "-", "\\", "m", "\xff"}},
    {"[\\]]", {"]"}},
    {"[]]", {}},
    {"[a-]", {"a", "]", "^"}},
    {"[a-", {"a", "-"}},
    {"[a\\", {"a", "\\"}},
    {"a\\*", {"a*"}},
    {"a\\", {}},
    {"\\", {"\\"}},
    {"\\a", {"a"}},
    {"\\\\", {"\\"}},
    {"[^\\^]", {"a", "b", "]", "-", "\\", "m", "\xff"}},
    {"[\\^]", {"^"}},
    {"[-a]", {"a", "-"}},
    {"*[", {}},
    {"a[b", {"ab"}},
    {"[a-\xff]", {"a", "]", "^", "-", "\\", "\xff"}},
    {"[\x80-\xff]", {"\xff"}},
    {"[[]a", {"[a"}},
    {"", {""}},
    {"?*", {"abc", "a", "b", "]", "^", "-", "[a", "\\", "ab", "a*", "m", "\xff"}},
    {"*?*?*", {"abc", "[a", "ab", "a*"}},
};

Texts matching(std::string_view pattern) {
  Texts found;
  for (const std::string& text : kTexts) {
    if (glob_match(pattern, text)) found.push_back(text);
  }
  return found;
}

TEST(GlobTest, NamesTheKeysThatRedisNames) {
  for (const auto& [pattern, keys] : kKeys) EXPECT_EQ(matching(pattern), keys) << pattern;
}

TEST(GlobTest, CaseIsIgnoredOnRequest) {
  EXPECT_FALSE(glob_match("MAX*", "maxmemory"));
  EXPECT_TRUE(glob_match("MAX*", "maxmemory", true));
  EXPECT_TRUE(glob_match("[A-M]axmemory", "maxmemory", true));
  EXPECT_TRUE(glob_match("[M]axmemory", "maxmemory", true));
  EXPECT_TRUE(glob_match("\\Maxmemory", "maxmemory", true));
  EXPECT_FALSE(glob_match("[\\M]axmemory", "maxmemory", true));
}

// Says by trying everything what the patterns mean, element by element; exponential.
class NaiveMatcher {
 public:
  static bool match(std::string_view pattern, std::string_view text) {
    if (pattern.empty()) return text.empty();
    if (pattern[0] == '*') {
      if (match(pattern.substr(1), text)) return true;
      return !text.empty() && match(pattern, text.substr(1));
    }
    if (text.empty()) return false;
    const auto [accepts, size] = element(pattern, text[0]);
    return accepts && match(pattern.substr(size), text.substr(1));
  }

  // The same for long ones: which prefixes of the text the pattern's prefixes match.
  static bool match_long(std::string_view pattern, std::string_view text) {
    std::vector<bool> matched(text.size() + 1);
    matched[0] = true;
    while (!pattern.empty()) {
      std::vector<bool> next(text.size() + 1);
      size_t size = 1;
      for (size_t i = 0; i <= text.size(); ++i) {
        if (pattern[0] == '*') {
          next[i] = matched[i] || (i > 0 && next[i - 1]);
        } else if (i > 0) {
          const auto [accepts, element_size] = element(pattern, text[i - 1]);
          next[i] = accepts && matched[i - 1];
          size = element_size;
        }
      }
      matched = next;
      pattern.remove_prefix(size);
    }
    return matched[text.size()];
  }

 private:
  // Whether the first element accepts the byte, and the element's size.
  static std::pair<bool, size_t> element(std::string_view pattern, char c) {
    if (pattern[0] == '?') return {true, 1};
    if (pattern[0] == '\\' && pattern.size() > 1) return {pattern[1] == c, 2};
    if (pattern[0] != '[') return {pattern[0] == c, 1};
    std::string_view rest = pattern.substr(1);
    const bool negated = rest.starts_with('^');
    if (negated) rest.remove_prefix(1);
    const bool found = in_class(&rest, c);
    return {found != negated, pattern.size() - rest.size()};
  }

  static bool in_class(std::string_view* rest, char c) {
    bool found = false;
    while (!rest->empty() && !rest->starts_with(']')) {
      size_t size = 1;
      char low = (*rest)[0], high = low;
      if (low == '\\' && rest->size() > 1) {
        low = high = (*rest)[1];
        size = 2;
      } else if (rest->size() > 2 && (*rest)[1] == '-') {
        high = (*rest)[2];
        size = 3;
      }
      found |= (low <= c && c <= high) || (high <= c && c <= low);
      rest->remove_prefix(size);
    }
    if (!rest->empty()) rest->remove_prefix(1);
    return found;
  }
};

TEST(GlobTest, AgreesWithTryingEverything) {
  std::mt19937 random(5);
  const auto some = [&random](std::string_view bytes, size_t size_max) {
    std::string text;
    for (size_t left = random() % (size_max + 1); left > 0; --left) {
      text += bytes[random() % bytes.size()];
    }
    return text;
  };
  int matches = 0;
  for (int round = 0; round < 300000; ++round) {
    const std::string pattern = some("aab**?[]^-\\c", 9), text = "a" + some("aabbc-]^\\[*", 6);
    const bool expected = NaiveMatcher::match(pattern, text);
    ASSERT_EQ(glob_match(pattern, text), expected) << pattern << "  " << text;
    matches += expected;
  }
  EXPECT_GT(matches, 3000);
}

TEST(GlobTest, AgreesWithTryingEverythingInLongTexts) {
  std::mt19937 random(6);
  const auto repeated = [&random](std::vector<std::string> parts, size_t times) {
    std::string text;
    for (; times > 0; --times) text += parts[random() % parts.size()];
    return text;
  };
  int matches = 0;
  for (int round = 0; round < 100; ++round) {
    const std::string a = random() % 2 == 0 ? "a" : "?";
    const std::string body = repeated({a, a, a, "a", "[ab]", "[^b]", "\\a"}, 1 + random() % 100);
    std::string pattern = "*" + body + repeated({"", "b", "[b-c]", "c"}, 1 + random() % 2);
    if (random() % 2 == 0) pattern += "*" + repeated({"a", "?", "b", "[", "*"}, random() % 100);
    std::string text(300 + random() % 300, 'a');
    for (size_t rest = random() % 20; rest > 0; --rest) text[random() % text.size()] = 'b';
    const bool expected = NaiveMatcher::match_long(pattern, text);
    ASSERT_EQ(glob_match(pattern, text), expected) << pattern << "  " << text;
    matches += expected;
  }
  EXPECT_GT(matches, 5);
  EXPECT_LT(matches, 95);
}

TEST(GlobTest, StepsGrowWithTheTextAndASixtyFourthOfThePattern) {
  const std::string text(100'000, 'a');
  for (const std::string end : {"b", "b*", "?b*c", "[^a]*"}) {
    size_t steps = 0;
    EXPECT_FALSE(glob_match_counted("*" + std::string(4'000, 'a') + end, text, &steps));
    EXPECT_LT(steps, text.size() * 70) << end;
    EXPECT_GT(steps, 4'000u) << end;
  }
}

TEST(GlobTest, ManyStarsTakeNoTime) {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "a*";
  const std::string text(20000, 'a');
  EXPECT_FALSE(glob_match(pattern + "b", text));
  EXPECT_TRUE(glob_match(pattern, text));
  EXPECT_FALSE(glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

}  // namespace
}  // namespace weir::resp
