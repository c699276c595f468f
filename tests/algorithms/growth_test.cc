// What has to grow with the list of algorithms, and would be forgotten silently: the pages, the
// pictures, the laws, the oracles, the benchmarks. Each algorithm of the registry is looked for in
// the files where it belongs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "algorithms/algorithm.h"
#include "algorithms/grammar.h"
#include "algorithms/limit_text.h"

namespace weir::algorithms {
namespace {

namespace fs = std::filesystem;

fs::path root() { return fs::path(__FILE__).parent_path() / "../.."; }

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << path;
  return text.str();
}

std::string lower(std::string_view text) {
  std::string changed(text);
  std::ranges::transform(changed, changed.begin(), [](unsigned char c) { return std::tolower(c); });
  return changed;
}

// Tells whether code names the algorithm: "GCRA", "GCRA 1/1s" or algorithm_gcra.
bool is_named_in(std::string code, const Algorithm& algorithm) {
  std::erase(code, '_');
  const std::string name(algorithm.name);
  for (const std::string& form :
       {'"' + name + '"', '"' + name + ' ', "<key> " + name + ' ', "algorithm" + lower(name)}) {
    if (code.find(form) != code.npos) return true;
  }
  return false;
}

// Where an oracle is asked for an algorithm, or why there is none.
struct Oracle {
  std::string_view file;  // under tests/
  std::string_view words;
  std::string_view reason;
};
const std::map<std::string_view, Oracle> kOracles = {
    {"GCRA", {"algorithms/oracle_test.cc", "\"GCRA\"", ""}},
    {"TOKENBUCKET", {"algorithms/oracle_test.cc", "\"TOKENBUCKET\"", ""}},
    {"BURSTY", {"oracles/vectors/guava.txt", " BURSTY ", ""}},
    {"WARMUP", {"oracles/vectors/guava.txt", " WARMUP ", ""}},
    {"LEAKY", {"", "", "a token bucket seen from the other side, which has an oracle"}},
    {"FIXED", {"", "", "no library knows these calendars: naive_calendar.h, FixedModel"}},
    {"SLIDINGLOG", {"", "", "libraries round instants: SlidingLogModel walks all grants"}},
    {"SLIDINGWINDOW", {"", "", "no library has these sub-windows: SlidingWindowModel"}},
    {"SLIDINGCOUNTER", {"", "", "libraries count in floating point: SlidingCounterModel"}},
    {"CONCURRENCY", {"", "", "libraries have no leases that end: ConcurrencyModel, NaiveLeases"}},
};

class EachAlgorithm : public ::testing::TestWithParam<const Algorithm*> {
 protected:
  const Algorithm& algorithm_ = *GetParam();
  const std::string name_{GetParam()->name};
};

TEST_P(EachAlgorithm, HasItsPartOfThePage) {
  std::istringstream page(text_of(root() / "docs/algorithms.md"));
  bool heading = false;
  bool row = false;
  for (std::string line; std::getline(page, line);) {
    heading |= line.starts_with("### ") && (line + " ").find(" " + name_ + " ") != line.npos;
    row |= (line + " ").starts_with("| " + name_ + " ");
  }
  EXPECT_TRUE(heading);
  EXPECT_TRUE(row);
}

TEST_P(EachAlgorithm, HasItsPicture) {
  const std::string picture = "images/" + lower(name_) + ".svg";
  EXPECT_TRUE(fs::exists(root() / "docs" / picture));
  EXPECT_NE(text_of(root() / "docs/algorithms.md").find(picture), std::string::npos);
}

TEST_P(EachAlgorithm, HasItsFormOnThePageOfCommands) {
  EXPECT_NE(text_of(root() / "docs/commands.md").find("    " + grammar_text(algorithm_) + "\n"),
            std::string::npos);
}

TEST_P(EachAlgorithm, IsASubjectOfTheLaws) {
  bool found = false;
  for (const auto& file : fs::directory_iterator(root() / "tests/algorithms")) {
    if (file.path().extension() != ".cc" || file.path().filename() == "growth_test.cc") continue;
    const std::string code = text_of(file.path());
    const bool calls_laws = code.find("algorithms/laws.h\"") != code.npos ||
                            code.find("algorithms/debt_laws.h\"") != code.npos;
    found |= calls_laws && is_named_in(code, algorithm_);
  }
  EXPECT_TRUE(found);
}

TEST_P(EachAlgorithm, HasAnOracleOrAReasonWhyNot) {
  const auto found = kOracles.find(name_);
  ASSERT_NE(found, kOracles.end());
  const Oracle& oracle = found->second;
  if (oracle.file.empty()) {
    EXPECT_FALSE(oracle.reason.empty());
  } else {
    EXPECT_NE(text_of(root() / "tests" / oracle.file).find(oracle.words), std::string::npos);
  }
}

TEST_P(EachAlgorithm, HasItsRowsInTheBenchmarks) {
  EXPECT_TRUE(is_named_in(text_of(root() / "tools/bench_take.cc"), algorithm_));
  const std::string decisions = text_of(root() / "tools/bench_decide.cc");
  EXPECT_TRUE(is_named_in(decisions, algorithm_)) << "bench_decide.cc";
}

// What knows the algorithms by name in other languages, and what fills and attacks a server.
TEST_P(EachAlgorithm, IsKnownToThePageAndToWhatFillsAServer) {
  for (const char* file :
       {"server/http/page/limits.js", "tests/formats/filling.py", "tests/crash/limiters.py",
        "tests/integration/test_hammer.py", "tests/fuzz/limiter_words.h"}) {
    EXPECT_NE(text_of(root() / file).find(name_), std::string::npos) << file;
  }
}

TEST_P(EachAlgorithm, HasADescriptorThatAgreesWithItself) {
  EXPECT_NE(algorithm_.id, 0);
  ASSERT_NE(algorithm_.grammar, nullptr);
  const Grammar& grammar = *algorithm_.grammar;
  EXPECT_LE(grammar.options.size(), kOptionsMax);
  EXPECT_LE(algorithm_.options_used, Limit().options.size());
  EXPECT_LE(algorithm_.options_used, grammar.options.size());
  for (const Option& option : grammar.options) {
    EXPECT_EQ(option.kind == Option::Kind::kWord, !option.words.empty()) << option.name;
  }
  EXPECT_TRUE(algorithm_.has_rate || algorithm_.check != nullptr);
  EXPECT_NE(algorithm_.owed, nullptr);
  EXPECT_EQ(algorithm_.uses_entries, algorithm_.carry_over_entries != nullptr);
  EXPECT_EQ(algorithm_.uses_entries, algorithm_.carry_over == nullptr);
  EXPECT_TRUE(algorithm_.uses_entries || !algorithm_.makes_leases);
  EXPECT_TRUE(algorithm_.reserve != nullptr || algorithm_.reserves == nullptr);
}

INSTANTIATE_TEST_SUITE_P(Growth, EachAlgorithm, ::testing::ValuesIn(all_algorithms()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(Growth, NamesAndIdsAreUniqueAndTheirNumberIsThatOfTheReadme) {
  std::set<std::string_view> names;
  std::set<uint8_t> ids;
  for (const Algorithm* algorithm : all_algorithms()) {
    EXPECT_TRUE(names.insert(algorithm->name).second) << algorithm->name;
    EXPECT_TRUE(ids.insert(algorithm->id).second) << algorithm->name;
  }
  const std::map<size_t, std::string> words = {{10, "Ten"}, {11, "Eleven"}, {12, "Twelve"}};
  EXPECT_NE(text_of(root() / "README.md").find(words.at(names.size()) + " algorithms"),
            std::string::npos);
  EXPECT_EQ(kOracles.size(), names.size());
}

TEST(Growth, TheListOfThoseThatTakeBookingsFollowsTheDescriptors) {
  EXPECT_EQ(bookable_names(), "GCRA, TOKENBUCKET with REFILL GREEDY, LEAKY, BURSTY and WARMUP");
}

}  // namespace
}  // namespace weir::algorithms
