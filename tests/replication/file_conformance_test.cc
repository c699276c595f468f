// The log in a file is a SharedLog as the others are.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "storage/format/codec.h"
#include "storage/format/crc32c.h"
#include "storage/shared_logs/file_log.h"
#include "tests/replication/conformance.h"
#include "tests/storage/store_driver.h"

namespace weir::storage::replication {
namespace {

constexpr uint64_t kHeadBytes = 24;

class FileLogEngine : public LogEngine {
 public:
  std::unique_ptr<SharedLog> connect(const std::string& shard) override {
    return std::make_unique<FileLog>(path_of(shard));
  }
  void pass() override { now_ns_ += 1'000'000; }
  int64_t boot_ns() override { return now_ns_; }

  bool lose_records(const std::string& shard, size_t count) override {
    const auto places = places_of(shard);
    std::filesystem::resize_file(path_of(shard), places[places.size() - 1 - count]);
    return true;
  }
  bool damage(const std::string& shard, uint64_t log_index) override {
    std::string bytes = contents_of(shard);
    bytes[places_of(shard)[log_index - 1] + kHeadBytes] ^= 1;
    overwrite(shard, bytes);
    return true;
  }
  bool remove(const std::string& shard, uint64_t log_index) override {
    const auto places = places_of(shard);
    std::string bytes = contents_of(shard);
    bytes.erase(places[log_index - 1], places[log_index] - places[log_index - 1]);
    overwrite(shard, bytes);
    return true;
  }
  size_t many() const override { return 2'000; }  // each of them is synced
  int passes_in_a_while() const override { return 10; }

 private:
  std::string path_of(const std::string& shard) { return directory_ / (shard + ".log"); }
  std::string contents_of(const std::string& shard) {
    std::string bytes;
    EXPECT_STATUS_OK(read_file(path_of(shard), &bytes));
    return bytes;
  }
  void overwrite(const std::string& shard, const std::string& bytes) {
    std::ofstream(path_of(shard), std::ios::binary | std::ios::trunc) << bytes;
  }
  // Where each entry begins, and the end.
  std::vector<uint64_t> places_of(const std::string& shard) {
    const std::string bytes = contents_of(shard);
    std::vector<uint64_t> places{0};
    while (places.back() < bytes.size()) {
      const uint64_t size = load_u64_le(bytes.data() + places.back()) & UINT32_MAX;
      places.push_back(places.back() + kHeadBytes + size);
    }
    return places;
  }

  TemporaryDirectory directory_;
  int64_t now_ns_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Files, Conformance,
                         testing::Values(LogEngineFactory{
                             "File", [] { return std::make_unique<FileLogEngine>(); }}),
                         [](const auto& info) { return info.param.name; });

class FileLogTest : public testing::Test {
 protected:
  Appended append(FileLog* log, std::optional<Head> expected, const std::string& record) {
    Appended got;
    log->append(expected, record, [&](const Appended& answer) { got = answer; });
    log->tick(0);
    return got;
  }
  Read read(FileLog* log, const Head& after) {
    Read got;
    log->read(after, SIZE_MAX, [&](Read answer) { got = std::move(answer); });
    log->tick(0);
    return got;
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_ / "main.log";
};

// A writer that was killed leaves part of an entry, which nobody sees and the next writer removes.
TEST_F(FileLogTest, AnUnfinishedEntryIsNotThere) {
  for (const uint64_t cut : {1, 100, 500, 501, 523}) {
    std::filesystem::remove(path_);
    FileLog log(path_);
    const Head first = append(&log, Head{}, "first").head;
    const std::string second(500, 's');
    ASSERT_EQ(append(&log, first, second).outcome, Appended::Outcome::kDone);
    std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - cut);
    FileLog other(path_);
    const Read found = read(&other, {});
    ASSERT_EQ(found.records.size(), 1u) << cut;
    EXPECT_TRUE(found.at_end);
    EXPECT_EQ(append(&other, first, "another").outcome, Appended::Outcome::kDone);
    FileLog third(path_);
    const Read after = read(&third, first);
    ASSERT_EQ(after.records.size(), 1u) << cut;
    EXPECT_EQ(after.records[0].bytes, "another");
    EXPECT_TRUE(after.at_end);
  }
}

TEST_F(FileLogTest, WhatIsNoEntryIsDamageAndNeverTheEnd) {
  FileLog log(path_);
  const Head first = append(&log, Head{}, "first").head;
  const Head second = append(&log, first, "second").head;
  std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(24 + 5 + 3);
  file.put('\x7f');  // in the head of the second
  file.close();
  FileLog other(path_);
  const Read found = read(&other, {});
  ASSERT_EQ(found.records.size(), 1u);
  EXPECT_FALSE(found.at_end);
  EXPECT_EQ(read(&other, first).outcome, Read::Outcome::kDamaged);
  EXPECT_EQ(append(&other, first, "another").outcome, Appended::Outcome::kRefused);
  EXPECT_EQ(append(&log, second, "third").outcome, Appended::Outcome::kRefused);
}

// The head has the right checksum: only its size is one that no writer gives.
TEST_F(FileLogTest, AnEntryOfFourGigabytesIsDamage) {
  FileLog log(path_);
  const Head first = append(&log, Head{}, "first").head;
  std::string head(4, '\xff');
  put_u64_le(&head, 2);
  put_u64_le(&head, 77);
  const uint32_t check = crc32c(head);
  head.append(reinterpret_cast<const char*>(&check), sizeof check);
  std::ofstream(path_, std::ios::binary | std::ios::app) << head;
  std::filesystem::resize_file(path_, uint64_t{5} << 30);  // it is there as a whole, as zeros
  EXPECT_EQ(read(&log, first).outcome, Read::Outcome::kDamaged);
  EXPECT_EQ(append(&log, first, "second").outcome, Appended::Outcome::kRefused);
}

TEST_F(FileLogTest, AStoppedProcessWithTheLockHoldsNobodyUp) {
  FileLog log(path_);
  const Head first = append(&log, Head{}, "first").head;
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const int file = ::open(path_.c_str(), O_RDWR);
    const bool has_lock = ::flock(file, LOCK_EX) == 0 && ::write(pipe[1], "x", 1) == 1;
    ::raise(SIGSTOP);
    ::_exit(has_lock ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(pipe[0], &byte, 1), 1);
  EXPECT_EQ(append(&log, first, "second").outcome, Appended::Outcome::kRefused);
  EXPECT_EQ(log.trouble().text, "another process holds the lock of " + path_);
  log.trim(1);
  EXPECT_EQ(read(&log, {}).records.size(), 1u);
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(append(&log, first, "second").outcome, Appended::Outcome::kDone);
  EXPECT_EQ(log.trouble().text, "");
  ::close(pipe[0]);
  ::close(pipe[1]);
}

constexpr int kAppendsOfEach = 150;

// What a process of its own does: appends at the end that it has read, until it has had its share.
int append_beside_others(const std::string& path, bool trims) {
  FileLog log(path);
  Head end;
  for (int done = 0; done < kAppendsOfEach;) {
    Appended told;
    log.append(end, "record " + std::to_string(done),
               [&](const Appended& answer) { told = answer; });
    log.tick(0);
    if (told.outcome == Appended::Outcome::kUnknown) return 1;
    if (told.outcome == Appended::Outcome::kDone) {
      end = told.head;
      ++done;
      if (trims && done % 10 == 0) log.trim(end.log_index - 5);
      continue;
    }
    Read found;
    log.read(end, SIZE_MAX, [&](Read answer) { found = std::move(answer); });
    log.tick(0);
    if (found.outcome == Read::Outcome::kTrimmed) return 2;
    if (found.outcome != Read::Outcome::kRecords) return 3;
    if (!found.records.empty()) end = found.records.back().head;
  }
  return 0;
}

// Each acknowledged append has a place of its own, and none is lost, also while a file is replaced.
TEST_F(FileLogTest, ProcessesShareIt) {
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(append_beside_others(path_, false));
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  FileLog log(path_);
  const Read found = read(&log, {});
  ASSERT_EQ(found.outcome, Read::Outcome::kRecords);
  EXPECT_EQ(found.records.size(), 3u * kAppendsOfEach);
  EXPECT_TRUE(found.at_end);
}

TEST_F(FileLogTest, ProcessesShareItWhileItIsTrimmed) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(append_beside_others(path_, true));
  FileLog log(path_);
  uint64_t done = 0;
  while (done < kAppendsOfEach) done += append(&log, std::nullopt, "mine").head.log_index != 0;
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  // A reader that was slow may have been overtaken by the trimming, which is its own.
  const int code = WEXITSTATUS(status);
  EXPECT_TRUE(WIFEXITED(status) && (code == 0 || code == 2)) << code;
  const Appended last = append(&log, std::nullopt, "last");
  ASSERT_EQ(last.outcome, Appended::Outcome::kDone);
  if (code == 0) {
    EXPECT_EQ(last.head.log_index, 2u * kAppendsOfEach + 1);
  }
  EXPECT_EQ(read(&log, last.head).outcome, Read::Outcome::kRecords);
}

}  // namespace
}  // namespace weir::storage::replication
