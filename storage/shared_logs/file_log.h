// A shared log in one file, for processes of one machine: for development and tests. It is no
// failover, since the log dies with the machine, and calls wait for the disk. They wait for another
// process for 20 ms at most, and refuse an append then.
//
// It is in every build: the option `log` offers it to whoever tries a shard on one machine, as
// tools/weir-failover-demo does, and the tests that start members as processes (tests/integration,
// tests/clients, tests/chaos, tests/hostile) do so with the server that users get.
//
//     file  := entry*
//     entry := size(u32) log-index(u64) crc(u64) check(u32) bytes       integers little-endian
//
// `size` counts the bytes, `crc` is their CRC-64, `check` is the CRC-32C of what stands before it.
//
// Invariants
// 1. Whoever writes holds the file's lock and has read to its end under it. So log indexes follow
//    one another, and only the last entry can be unfinished: the next writer cuts it off.
// 2. A file that was trimmed is a new one in the place of the old. Whoever gets the lock of a file
//    looks whether it is still the one with the name.
// 3. An entry is told to others only as far as the file says: what follows damage is never taken
//    for the end of the log.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "storage/format/file.h"
#include "storage/replication/shared_log.h"
#include "storage/shared_logs/file_registry.h"

namespace weir::storage {

class FileLog final : public replication::SharedLog, public replication::MemberRegistry {
 public:
  static constexpr size_t kRecordBytesMax = 32 << 20;

  // The file is made by the first append. Its folder must be there.
  explicit FileLog(std::string path) : path_(std::move(path)), registry_(path_ + ".board") {}

  void append(std::optional<replication::Head> expected, std::string record,
              std::function<void(replication::Appended)> answer) override;
  void read(replication::Head after, size_t bytes_max,
            std::function<void(replication::Read)> answer) override;
  void trim(uint64_t up_to) override;
  replication::LogFacts facts() const override;
  replication::LogTrouble trouble() const override {
    return {.text = trouble_, .needs_person = false};
  }
  // Answers what was asked since the last call. The registry's ages are of then.
  void tick(int64_t boot_ns) override;
  int64_t next_deadline() const override { return answers_.empty() ? INT64_MAX : 0; }

  void put(std::string name, std::string bytes) override { registry_.put(name, bytes, boot_ns_); }
  std::vector<replication::RegistryEntry> snapshot() const override {
    return registry_.snapshot(boot_ns_);
  }

 private:
  struct Entry {
    replication::Head head;
    uint64_t at = 0;
    uint32_t size = 0;  // of the record's bytes
    uint64_t end() const;
  };

  replication::Appended append_now(const std::optional<replication::Head>& expected,
                                   const std::string& record);
  replication::Read read_now(const replication::Head& after, size_t bytes_max);
  Status trim_now(uint64_t up_to);
  Status lock(Descriptor* lock);
  Status open(bool makes);
  Status look();
  bool is_same_file() const;
  std::optional<Entry> entry_at(uint64_t at, uint64_t file_bytes) const;
  std::string bytes_at(uint64_t at, size_t size) const;

  const std::string path_;
  const FileRegistry registry_;
  int64_t boot_ns_ = 0;  // of the last tick
  Descriptor file_;
  std::vector<Entry> entries_;  // in the order of the file
  uint64_t end_ = 0;            // of the last of them
  bool is_broken_ = false;      // what follows `end_` is neither an entry nor unfinished
  std::string trouble_;
  std::vector<std::function<void()>> answers_;
};

}  // namespace weir::storage
