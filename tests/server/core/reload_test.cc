// SIGHUP: who takes part, and what one that fails does to the others.
#include "server/core/run/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <fstream>
#include <sstream>

#include "tests/server/fake_server.h"
#include "tests/server/real_sockets.h"

namespace weir::server {
namespace {

using ::testing::ElementsAre;

// Puts a logger into the log's place, and puts the log back.
class LogLines {
 public:
  LogLines() {
    auto logger = std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_st>(lines_));
    logger->set_pattern("%l %v");
    spdlog::set_default_logger(std::move(logger));
  }
  ~LogLines() { spdlog::set_default_logger(before_); }

  std::string text() const { return lines_.str(); }

 private:
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  std::ostringstream lines_;
};

std::vector<std::string> told(const std::vector<Reload::Outcome>& outcomes) {
  std::vector<std::string> lines;
  for (const auto& [name, read] : outcomes)
    lines.push_back(read ? name : name + ": " + read.error());
  return lines;
}

TEST(Reload, TriesAllInTheirOrderAndLogsWhatIsNew) {
  const LogLines log;
  Reload reload;
  std::string order;
  const auto participant = [&order](char name, Result<Reloaded, std::string> read) {
    return [&order, name, read = std::move(read)] {
      order += name;
      return read;
    };
  };
  reload.add("a", participant('a', Reloaded::kNew));
  reload.add("b", participant('b', std::string("no such file")));
  reload.add("c", participant('c', Reloaded::kNew));
  reload.add("d", participant('d', Reloaded::kSame));
  EXPECT_THAT(told(reload.run()), ElementsAre("a", "b: no such file", "c", "d"));
  EXPECT_EQ(order, "abcd");
  EXPECT_EQ(log.text(),
            "info reload: a: done\n"
            "error reload: b: failed, going on with what was there: no such file\n"
            "info reload: c: done\n");
}

TEST(Reload, WhenFilesChangeAllAreTried) {
  const LogLines log;
  const TemporaryFolder folder;
  const std::string path = folder.path + "/file";
  std::ofstream(path) << "1";
  Reload reload;
  int runs = 0;
  const auto act = [&runs]() -> Result<Reloaded, std::string> {
    ++runs;
    return Reloaded::kNew;
  };
  reload.add("a", act);
  reload.add("b", act, [path] { return FileWatch::Paths{path}; });
  int64_t now_ns = kSecond;
  const auto runs_after = [&](int seconds) {
    for (; seconds > 0; --seconds) reload.run_if_changed(now_ns += kSecond);
    return runs;
  };
  EXPECT_EQ(runs_after(3), 0);
  std::ofstream(path) << "22";
  EXPECT_EQ(runs_after(3), 2);
  EXPECT_EQ(log.text(), "info watch-files: " + path +
                            " has changed\n"
                            "info reload: a: done\n"
                            "info reload: b: done\n");
  reload.forget_files();
  std::ofstream(path) << "333";
  EXPECT_EQ(runs_after(3), 2);
}

TEST(Reload, ReopensTheLogOfAServer) {
  FakeServer server;
  const TemporaryFolder folder;
  const std::string path = folder.path + "/weir.log";
  ASSERT_TRUE(start_log(path, LogLevel::kWarning));
  EXPECT_EQ(*server->reload().run()[0].read, Reloaded::kSame);
  ASSERT_EQ(::rename(path.c_str(), (path + ".1").c_str()), 0);
  const auto outcomes = server->reload().run();
  EXPECT_THAT(told(outcomes), ElementsAre("log"));
  EXPECT_EQ(*outcomes[0].read, Reloaded::kNew);
  EXPECT_EQ(::access(path.c_str(), F_OK), 0);
  ASSERT_TRUE(start_log("", LogLevel::kNothing));
}

}  // namespace
}  // namespace weir::server
