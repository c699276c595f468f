// A decision of the common case (server/limiter/take/single.h) allocates nothing in steady state:
// one limit or a few, by policy too, granted or denied; nor does one of a token. Steady is a key
// that was asked before. What grows now and then (tables, buffers, the undo log) is outside of
// that: an allocation for a hundred decisions.
//
// This program counts operator new, so it is one of its own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "tests/server/fake_server.h"

namespace {

uint64_t allocations = 0;

}  // namespace

// Not inline: the compiler would see memory of one kind given back as that of the other.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  if (void* block = std::malloc(size)) return block;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace weir::server {
namespace {

constexpr int kKeys = 50;
constexpr int kWarmTurns = 300;
constexpr int kCountedTurns = 200;

constexpr const char* kPolicies[] = {
    "RL.POLICY SET one GCRA 1000000/1s",
    "RL.POLICY SET two GCRA 1000000/1s FIXED 1000000 ALIGN DAY",
};

// A turn is a millisecond.
constexpr const char* kLines[] = {
    "CL.THROTTLE <key> 1000000 1000000 1",
    "RL.TAKE <key> GCRA 1000000/1s",
    "RL.TAKE <key> TOKENBUCKET 1000000/1s",
    "RL.TAKE <key> LEAKY 1000000/1s",
    "RL.TAKE <key> FIXED 1000000/1s",
    "RL.TAKE <key> SLIDINGCOUNTER 1000000/1s",
    "RL.TAKE <key> BURSTY 1000000/1s",
    "RL.TAKE <key> WARMUP 1000000/1s OVER 1s",
    "RL.TAKE <key> SLIDINGWINDOW 1000000/10s",
    "RL.TAKE <key> GCRA 1000000/1s SLIDINGWINDOW 1000000/10s",
    "RL.TAKE <key> GCRA 1000000/1s FIXED 1000000 ALIGN DAY",
    "RL.TAKE <key> GCRA 1000000/1s FIXED 1000000/1h COST 2,3",
    "RL.TAKE <key> GCRA 1/1h FIXED 1/1h",
    "RL.TAKE <key> POLICY one",
    "RL.TAKE <key> POLICY two",
    "RL.TAKE <key> GCRA 1/1h BURST 3 FIXED 1/1h COST 0",
    "RL.TAKE <key> GCRA 1000000/1s ID <id>",
    "RL.TAKE <key> GCRA 1000000/1s FIXED 1000000/1h ID <id>",
};

class Decision : public testing::TestWithParam<const char*> {
 protected:
  Decision() {
    for (const char* policy : kPolicies) set(policy);
  }

  void set(std::string_view line) {
    prepare(line, 0);
    run();
    end_turn();
  }

  // Puts a request together, so that running it does nothing else.
  void prepare(std::string_view line, int key) {
    const auto words = split_at_spaces(line);
    words_.assign(words.begin(), words.end());
    for (std::string& word : words_) {
      if (word == "<key>") word = "the:key:of:user:" + std::to_string(key);
      if (word == "<other>") word = "the:key:of:team:" + std::to_string(key);
      if (word == "<id>") word = "the-token-of-request-" + std::to_string(++tokens_);
    }
    args_.assign(words_.begin(), words_.end());
  }

  uint64_t run() {
    const uint64_t before = allocations;
    server_->executor().execute(client_->session(), args_);
    return allocations - before;
  }

  void end_turn() {
    server_.end_turn();
    ASSERT_FALSE(client_->take().starts_with('-'));
    server_.advance(kMs);
  }

  uint64_t run_turns(std::string_view line, int turns) {
    uint64_t allocated = 0;
    for (int turn = 0; turn < turns; ++turn) {
      for (int key = 0; key < kKeys; ++key) {
        prepare(line, key);
        allocated += run();
      }
      end_turn();
    }
    return allocated;
  }

  FakeServer server_;
  std::unique_ptr<FakeClient> client_ = server_.connect();
  std::vector<std::string> words_;
  std::vector<std::string_view> args_;
  int tokens_ = 0;
};

TEST_P(Decision, OfTheCommonCaseAllocatesNothing) {
  run_turns(GetParam(), kWarmTurns);
  EXPECT_LE(run_turns(GetParam(), kCountedTurns), kKeys * kCountedTurns / 100u);
}

INSTANTIATE_TEST_SUITE_P(EachKind, Decision, testing::ValuesIn(kLines));

}  // namespace
}  // namespace weir::server
