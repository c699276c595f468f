// A crash is told in whole lines, however long a text is. What it tells is in
// tests/integration/test_crash.py.
#include "server/os/crash_report.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/sanitized.h"
#include "server/os/log.h"
#include "tests/server/real_sockets.h"

namespace weir::server {
namespace {

void crash_with(const std::string& path, const char* text) {
  (void)start_log(path, LogLevel::kNothing, LogFormat::kJson);
  broken_check_line = text;
  report_crashes();
  std::abort();
}

TEST(CrashReport, ALongTextLeavesItsLineWhole) {
  if (kIsSanitized) GTEST_SKIP() << "sanitizers report crashes themselves";
  const TemporaryFolder folder;
  const std::string path = folder.path + "/log";
  const std::string text(3000, 'x');
  EXPECT_EXIT(crash_with(path, text.c_str()), ::testing::KilledBySignal(SIGABRT), "xxx\n");
  std::ifstream log(path);
  bool is_there = false;
  for (std::string line; std::getline(log, line);) {
    EXPECT_TRUE(line.starts_with("{") && line.ends_with("\"}")) << line;
    is_there |= line.find("xxx") != std::string::npos;
  }
  EXPECT_TRUE(is_there);
}

}  // namespace
}  // namespace weir::server
