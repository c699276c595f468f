// What RocksDB says of itself, at the level at which it matters to who runs weir.
#include <rocksdb/env.h>

#include <cstdarg>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "storage/rocks/rocks_internal.h"
#include "storage/store/steady_clock.h"

namespace weir::storage {
namespace {

constexpr int64_t kRepeatedNs = 60'000'000'000;
constexpr size_t kKnownLinesMax = 64;

// Warnings of RocksDB although nothing is wrong: a new database's directory is not there yet; a
// file that was written to be ingested carries no identity; a checkpoint asks that no file be
// deleted while another one, or weir, has asked already; a memtable that forgets its turns has none
// to be flushed (log_memtables.h).
constexpr std::string_view kHealthy[] = {
    "dir NotFound", "without unique ID to verify", "File Deletions Disabled, but already disabled",
    "File Deletions Enable, but not really enabled", "entries in memtables, but read 0"};

bool is_healthy(std::string_view line) {
  for (const std::string_view part : kHealthy) {
    if (line.find(part) != line.npos) return true;
  }
  return false;
}

// Lines that were told lately. Those that differ by numbers alone are one. A process has one of it,
// as it has one log: a store that has failed is opened again and again, each time with a logger
// anew.
class KnownLines {
 public:
  // Tells whether the line was told within a minute, and takes note of it.
  bool knows(std::string_view line) {
    std::string key;
    for (const char c : line) {
      if (!is_digit(c)) key += c;
    }
    const int64_t now_ns = steady_clock_ns();
    const std::lock_guard lock(mutex_);
    const auto found = told_ns_.find(key);
    if (found != told_ns_.end() && now_ns - found->second < kRepeatedNs) return true;
    if (told_ns_.size() >= kKnownLinesMax) told_ns_.clear();
    told_ns_[key] = now_ns;
    return false;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int64_t> told_ns_;
};

KnownLines& known_lines() {
  static KnownLines known;
  return known;
}

class RocksLogger : public rocksdb::Logger {
 public:
  explicit RocksLogger(const RocksOptions& options)
      : Logger(rocksdb::InfoLogLevel::WARN_LEVEL), log_(options.log) {}

  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    Logv(rocksdb::InfoLogLevel::INFO_LEVEL, format, arguments);
  }
  void Logv(rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (!log_ || level < rocksdb::InfoLogLevel::WARN_LEVEL ||
        level > rocksdb::InfoLogLevel::FATAL_LEVEL) {
      return;
    }
    char text[1024];
    std::vsnprintf(text, sizeof text, format, arguments);
    const std::string line(trimmed(text));  // some of its lines end with a break
    if (line.empty()) return;
    if (is_healthy(line) || known_lines().knows(line)) return log_(RocksLogLevel::kDebug, line);
    log_(level == rocksdb::InfoLogLevel::WARN_LEVEL ? RocksLogLevel::kWarning
                                                    : RocksLogLevel::kError,
         line);
  }
  void LogHeader(const char*, va_list) override {}

 private:
  const std::function<void(RocksLogLevel, const std::string&)> log_;
};

}  // namespace

std::shared_ptr<rocksdb::Logger> make_rocks_logger(const RocksOptions& options) {
  return std::make_shared<RocksLogger>(options);
}

}  // namespace weir::storage
