// CONFIG RESETSTAT begins each counter anew, but for those that tell of what is there or how the
// server has fared since its start.
#include <set>
#include <sstream>

#include "server/core/metrics/metrics.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

// Redis keeps the first line's, too. The second has numbers of the store, the third what CONFIG
// RESETSTAT itself takes.
const std::set<std::string> kStay = {"weir_used_cpu_sys_main_thread_seconds_total",
                                     "weir_used_cpu_sys_seconds_total",
                                     "weir_used_cpu_user_main_thread_seconds_total",
                                     "weir_used_cpu_user_seconds_total",
                                     "weir_acl_access_denied_auth_total",

                                     "weir_log_appended_bytes_total",
                                     "weir_syncs_total",
                                     "weir_turn_total",
                                     "weir_write_backs_total",
                                     "weir_written_back_turn_total",

                                     "weir_net_output_bytes_total",
                                     "weir_turns_run_total",
                                     "weir_writes_processed_total"};

class ResetStatistics : public LimiterTest {
 protected:
  // Counters, with their labels, that are not 0.
  std::set<std::string> counters() {
    std::set<std::string> names;
    std::string counter;
    std::istringstream lines(metrics_text(**server_, MetricsFormat::kPrometheus));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("# TYPE ")) {
        const bool is_counter = line.ends_with(" counter");
        counter = is_counter ? line.substr(7, line.rfind(' ') - 7) : "";
      } else if (!counter.empty() && line.starts_with(counter) && !line.ends_with(" 0")) {
        names.insert(line.substr(0, line.rfind(' ')));
      }
    }
    return names;
  }
};

TEST_F(ResetStatistics, OfAllCounters) {
  ask("SET key 1");
  ask("LPUSH key 1");
  ask("GET nothing");
  ask("AUTH nobody wrong");
  ask("SUBSCRIBE x");
  ask("UNSUBSCRIBE x");
  ask("RL.POLICY SET api 1/1s BAN 1s AFTER 1 WITHIN 1s");
  for (int i = 0; i < 4; ++i) ask("RL.TAKE k POLICY api ID x" + std::to_string(i / 2));
  for (int i = 0; i < 3; ++i) ask("RL.TAKE shadow FIXED 1/1s SHADOW");
  ask("BLPOP list 0.001");
  server_->advance(kSecond);
  (*server_)->report().exports = {.error = {}, .requests = 1, .failed = 1, .spans_sent = 1};
  (*server_)->report().spans.note_dropped(1);
  ASSERT_GT(counters().size(), 15u);
  ask("CONFIG RESETSTAT");
  std::set<std::string> left;
  for (const std::string& name : counters()) {
    if (name.find("config|resetstat") == std::string::npos && !kStay.contains(name))
      left.insert(name);
  }
  EXPECT_EQ(left, std::set<std::string>());
}

}  // namespace
}  // namespace weir::server
