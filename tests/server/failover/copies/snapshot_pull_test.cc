// What was copied of another member takes the place of the data, wherever the process that does it
// dies.
#include "server/failover/copies/snapshot_pull.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "server/failover/peers/shard_registry.h"
#include "storage/format/file.h"

namespace weir::server {
namespace {

namespace fs = std::filesystem;

class InstallSnapshot : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "install-snapshot-" + std::to_string(::getpid());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void begin_anew(bool has_data) {
    fs::remove_all(folder_);
    for (const char* name : {"log", "state"}) {
      fs::create_directories(path("incoming/") + name);
      write(std::string("incoming/") + name + "/CURRENT", "new");
      if (!has_data) continue;
      fs::create_directories(path(name));
      write(std::string(name) + "/CURRENT", "old");
      write(std::string(name) + "/more", "old");
    }
    write("incoming/WEIR", "new");
    write("NODE", "mine");
    if (has_data) write("WEIR", "old");
  }
  void expect_installed() {
    const auto installed = install_snapshot(folder_);
    ASSERT_TRUE(installed) << installed.error();
    EXPECT_FALSE(holds_copy(folder_));
    for (const char* name : {"log/CURRENT", "state/CURRENT", "WEIR"}) EXPECT_EQ(read(name), "new");
    EXPECT_FALSE(fs::exists(path("log/more")));
    EXPECT_EQ(read("NODE"), "mine");
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(storage::write_file(path(name), text).ok()) << name;
  }
  std::string read(const std::string& name) {
    std::string text;
    EXPECT_TRUE(storage::read_file(path(name), &text).ok()) << name;
    return text;
  }
  void move(const std::string& from, const std::string& to) {
    fs::create_directories(fs::path(path(to)).parent_path());
    fs::rename(path(from), path(to));
  }

  std::string folder_;
};

TEST_F(InstallSnapshot, TakesThePlaceOfTheData) {
  begin_anew(true);
  expect_installed();
  EXPECT_EQ(read("set-aside/log/CURRENT"), "old");
  EXPECT_EQ(read("set-aside/state/more"), "old");
}

TEST_F(InstallSnapshot, MayBeAllThereIs) {
  begin_anew(false);
  expect_installed();
}

TEST_F(InstallSnapshot, IsNothingWhereNothingWasCopiedWhole) {
  begin_anew(true);
  move("incoming", "incoming.tmp");
  EXPECT_FALSE(holds_copy(folder_));
  ASSERT_TRUE(install_snapshot(folder_));
  EXPECT_EQ(read("WEIR"), "old");
}

TEST_F(InstallSnapshot, GoesOnWhereAProcessDied) {
  const std::vector<std::function<void()>> steps = {
      [&] { move("log", "set-aside/log"); },     [&] { move("incoming/log", "log"); },
      [&] { move("state", "set-aside/state"); }, [&] { move("incoming/state", "state"); },
      [&] { move("incoming/WEIR", "WEIR"); },
  };
  for (size_t done = 0; done <= steps.size(); ++done) {
    SCOPED_TRACE(done);
    begin_anew(true);
    for (size_t i = 0; i < done; ++i) steps[i]();
    expect_installed();
    EXPECT_EQ(read("set-aside/state/more"), "old");
  }
}

// An earlier installation's old data is in the way of nothing.
TEST_F(InstallSnapshot, HappensAgain) {
  begin_anew(true);
  fs::create_directories(path("set-aside/log"));
  write("set-aside/log/more", "older");
  expect_installed();
  EXPECT_EQ(read("set-aside/log/more"), "old");
}

storage::replication::RegistryEntry entry_of(const std::string& node,
                                             storage::replication::Role role, uint64_t turn,
                                             int64_t age_ns = 0) {
  storage::replication::MemberFacts facts;
  facts.author = {.node = node, .address = node + ":6379", .incarnation = {}};
  facts.role = role;
  facts.applied_turn = turn;
  return {.name = node, .bytes = encode_facts(facts), .age_ns = age_ns};
}

TEST(SourcesOf, AStandbyThatHasMostComesFirst) {
  using storage::replication::Role;
  const storage::replication::RegistryView registry(
      {entry_of("a", Role::kPrimary, 100), entry_of("b", Role::kFollowing, 90),
       entry_of("c", Role::kFollowing, 95), entry_of("d", Role::kStopped, 99),
       entry_of("e", Role::kJoining, 99), entry_of("f", Role::kFollowing, 99, 11 * kNsPerS),
       entry_of("g", Role::kFollowing, 99)});
  EXPECT_EQ(sources_of(registry, "g"), (std::vector<std::string>{"c:6379", "b:6379", "a:6379"}));
}

}  // namespace
}  // namespace weir::server
