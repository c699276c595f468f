// Nanoseconds and allocations per decision through the executor, in one process without sockets:
// the request's row, its limits, the key's record read, the decision, the record written, the
// reply. A decision under an ID leaves a record of its own.
// `bench_take [decisions [words]]`, of all lines or of those that end with the words; figures to
// compare on one machine.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/time_units.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/os/log.h"
#include "storage/memory/memory_store.h"

namespace {

uint64_t allocations = 0;

}  // namespace

void* operator new(size_t size) {
  ++allocations;
  if (void* block = std::malloc(size)) return block;
  std::abort();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace {

using namespace weir::server;

class StandingClock : public Clock {
 public:
  int64_t wall_ns() override { return 1'700'000'000'000'000'000 + at_ns_; }
  int64_t steady_ns() override { return at_ns_; }
  void sleep_ns(int64_t duration_ns) override { at_ns_ += duration_ns; }
  void advance(int64_t ns) { at_ns_ += ns; }

 private:
  int64_t at_ns_ = 1;
};

constexpr int kKeys = 1000;
constexpr int kPerTurn = 500;

constexpr const char* kLines[] = {
    "CL.THROTTLE <key> 1000000 1000000 1",
    "RL.TAKE <key> GCRA 1000000/1s",
    "RL.TAKE <key> TOKENBUCKET 1000000/1s",
    "RL.TAKE <key> LEAKY 1000000/1s",
    "RL.TAKE <key> FIXED 1000000/1s",
    "RL.TAKE <key> SLIDINGCOUNTER 1000000/1s",
    "RL.TAKE <key> BURSTY 1000000/1s",
    "RL.TAKE <key> WARMUP 1000000/1s OVER 1s",
    "RL.TAKE <key> SLIDINGWINDOW 1000000/1s",
    "RL.TAKE <key> SLIDINGLOG 100000/100ms",
    "RL.TAKE <key> CONCURRENCY 100000 LEASE 10ms",
    "RL.TAKE <key> GCRA 1000000/1s FIXED 1000000 ALIGN DAY",
    "RL.TAKE <key> GCRA 1000000/1s SLIDINGWINDOW 1000000/1s",
    "RL.TAKE <key> POLICY one",
    "RL.TAKE <key> POLICY two",
    "RL.TAKE <key> GCRA 1000000/1s HEADERS",
    "RL.TAKE <key> GCRA 1000000/1s FIXED 1000000 ALIGN DAY HEADERS",
    "RL.TAKE <key> GCRA 1000000/1s ID <id>",
    "RL.TAKE <key> GCRA 1000000/1s FIXED 1000000 ALIGN DAY ID <id>",
    "RL.MTAKE 2 <key> <other> GCRA 1000000/1s GCRA 1000000/1s",
    "RL.ACQUIRE <key> GCRA 1000000/1s TIMEOUT 1s",
};
constexpr const char* kPolicies[] = {
    "RL.POLICY SET one GCRA 1000000/1s",
    "RL.POLICY SET two GCRA 1000000/1s FIXED 1000000 ALIGN DAY",
};

using Words = std::vector<std::string>;

Words words_of(std::string_view line) {
  const auto words = weir::split_at_spaces(line);
  return {words.begin(), words.end()};
}

Words request_of(std::string_view line, int key) {
  Words words = words_of(line);
  for (std::string& word : words) {
    if (word == "<key>") word = "user:" + std::to_string(key);
    if (word == "<other>") word = "team:" + std::to_string(key);
  }
  return words;
}

void run(Server& server, Session* session, const Words& request,
         std::vector<std::string_view>* args) {
  args->assign(request.begin(), request.end());
  server.executor().execute(*session, *args);
}

void bench(const std::string& line, int decisions) {
  StandingClock clock;
  const auto disk = weir::storage::make_memory_disk({1, 2});
  Server server(
      Config(), &clock, [&] { return std::make_unique<weir::storage::MemoryStore>(disk); },
      weir::server::command_lists());
  if (!server.open().ok()) std::abort();
  Session* session = server.connect(Peer()).value();
  std::vector<std::string_view> args;
  for (const char* policy : kPolicies) run(server, session, words_of(policy), &args);
  std::vector<Words> requests;
  for (int key = 0; key < kKeys; ++key) requests.push_back(request_of(line, key));
  const bool has_id = requests[0].back() == "<id>";
  double spent_ns = 0;
  uint64_t allocated = 0;
  for (int done = 0; done < decisions; done += kPerTurn) {
    session->receive({}, 1);
    for (int i = 0; has_id && i < kPerTurn; ++i)
      requests[static_cast<size_t>(done + i) % kKeys].back() =
          "request-" + std::to_string(done + i);
    const uint64_t allocations_before = allocations;
    const std::clock_t begin = std::clock();
    for (int i = 0; i < kPerTurn; ++i)
      run(server, session, requests[static_cast<size_t>(done + i) % kKeys], &args);
    const bool warm = done >= 2 * kKeys;
    if (warm) spent_ns += double(std::clock() - begin) * double(weir::kNsPerS) / CLOCKS_PER_SEC;
    if (warm) allocated += allocations - allocations_before;
    server.end_turn();
    session->mark_sent(session->output().size());
    clock.advance(weir::kNsPerMs);
  }
  const int counted = decisions - 2 * kKeys;
  std::printf("  %-64s %7.0f ns  %5.2f allocations\n", line.c_str(), spent_ns / counted,
              double(allocated) / counted);
}

}  // namespace

int main(int argc, char** argv) {
  const int decisions = argc > 1 ? std::atoi(argv[1]) : 500'000;
  if (decisions < 10 * kKeys) {
    std::fprintf(stderr, "usage: bench_take [decisions, at least %d [words]]\n", 10 * kKeys);
    return 2;
  }
  set_log_level(LogLevel::kNothing);
  const std::string_view end = argc > 2 ? argv[2] : "";
  for (const std::string_view line : kLines) {
    if (line.ends_with(end)) bench(std::string(line), decisions);
  }
}
