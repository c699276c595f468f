// Whose a data directory is, what it is, and what is missing from it.
#include "storage/rocks/rocks_directory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/storage/wal_fixture.h"

namespace weir::storage {
namespace {

namespace fs = std::filesystem;

class RocksDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    StoreDriver store(make_rocks_store({.directory = data_}));
    ASSERT_STATUS_OK(store.open());
    ASSERT_STATUS_OK(store.append(1, 3));
    ASSERT_STATUS_OK(store.write_back({{stored_key("a"), stored_value("1")}}, 2));
  }

  Status reopen() {
    StoreDriver store(make_rocks_store({.directory = data_}));
    Status status = store.open();
    created_ = store.report.created;
    return status;
  }

  void expect_refused(Status::Code code, const std::string& part) {
    const Status status = reopen();
    EXPECT_EQ(status.code(), code);
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }

  TemporaryDirectory directory_;
  const std::string data_ = directory_ / "some/data";
  bool created_ = false;
};

TEST_F(RocksDirectoryTest, IsRefusedWhileInUse) {
  StoreDriver store(make_rocks_store({.directory = data_ + "/"}));
  ASSERT_STATUS_OK(store.open());
  expect_refused(Status::Code::kRefused,
                 "data directory " + data_ + " is in use by another process (lock file " + data_ +
                     "/LOCK, held by process " + std::to_string(::getpid()) + ")");
  store.close();
  EXPECT_STATUS_OK(reopen());
}

// Whoever may put a link into a data directory must not choose what else is written over.
TEST_F(RocksDirectoryTest, NothingIsWrittenThroughALink) {
  const std::string victim = directory_ / "victim";
  const std::string former = directory_ / "former";
  std::ofstream(victim) << "of somebody else";
  for (const std::string file : {"LOCK", "WEIR", "log/SYNCED"}) {
    SCOPED_TRACE(file);
    const std::string path = data_ + "/" + file;
    fs::copy_file(path, former, fs::copy_options::overwrite_existing);
    fs::remove(path);
    fs::create_symlink(victim, path);
    {
      StoreDriver store(make_rocks_store({.directory = data_}));
      if (store.open().ok()) EXPECT_STATUS_OK(store.sync());
    }
    EXPECT_EQ(contents(victim), "of somebody else");
    fs::remove(path);
    fs::copy_file(former, path);
    EXPECT_STATUS_OK(reopen());
  }
}

// As a new directory's identity is.
TEST_F(RocksDirectoryTest, NoFileIsMadeWhereALinkWaits) {
  const std::string path = directory_ / "waits";
  fs::create_symlink(directory_ / "elsewhere", path);
  const Status status = write_file(path, "bytes");
  EXPECT_EQ(status.message(),
            "cannot create " + path + ": it is a symbolic link, which is not followed here");
  EXPECT_FALSE(fs::exists(directory_ / "elsewhere"));
}

TEST_F(RocksDirectoryTest, SaysThatALinkIsInTheLocksPlace) {
  fs::remove(data_ + "/LOCK");
  fs::create_symlink(directory_ / "elsewhere", data_ + "/LOCK");
  expect_refused(Status::Code::kFailed, "cannot open " + data_ + "/LOCK: it is a symbolic link");
  EXPECT_FALSE(fs::exists(directory_ / "elsewhere"));
}

TEST_F(RocksDirectoryTest, WithoutIdentityIsNoFreshStart) {
  fs::rename(data_ + "/WEIR", data_ + "/elsewhere");
  expect_refused(Status::Code::kCorrupt, "holds data but no " + data_ + "/WEIR");
  fs::remove_all(data_ + "/log");
  expect_refused(Status::Code::kCorrupt, "holds data but no " + data_ + "/WEIR");
  fs::remove_all(data_ + "/state");
  EXPECT_STATUS_OK(reopen());
  EXPECT_TRUE(created_);
}

TEST_F(RocksDirectoryTest, WithoutADatabaseIsDamaged) {
  for (const std::string name : {"/log", "/state", "/log/CURRENT", "/state/CURRENT"}) {
    fs::rename(data_ + name, directory_ / "away");
    const Status status = reopen();
    EXPECT_EQ(status.code(), Status::Code::kCorrupt) << name << status.message();
    fs::remove_all(data_ + name);
    fs::rename(directory_ / "away", data_ + name);
    EXPECT_STATUS_OK(reopen());
  }
}

TEST_F(RocksDirectoryTest, WithoutAManifestOrATableIsDamaged) {
  for (const std::string database : {"/log", "/state"}) {
    for (const auto& entry : fs::directory_iterator(data_ + database)) {
      const std::string name = entry.path().filename();
      if (!name.starts_with("MANIFEST") && !name.ends_with(".sst")) continue;
      fs::rename(entry.path(), directory_ / "away");
      const Status status = reopen();
      EXPECT_EQ(status.code(), Status::Code::kCorrupt) << name << ": " << status.message();
      fs::rename(directory_ / "away", entry.path());
      break;
    }
  }
}

TEST_F(RocksDirectoryTest, OfAnUnknownVersionIsRefusedNamingBoth) {
  std::string text = contents(data_ + "/WEIR");
  text.replace(text.find("format 1"), 8, "format 27");
  overwrite(data_ + "/WEIR", text);
  expect_refused(Status::Code::kRefused,
                 "has format version 27, this weir-server reads versions 1 to 3");
}

TEST_F(RocksDirectoryTest, WithADamagedIdentityIsRefused) {
  const std::string text = contents(data_ + "/WEIR");
  for (size_t at = 0; at < text.size(); ++at) {
    DirectoryIdentity identity;
    EXPECT_FALSE(parse_identity(flipped(text, at, 2), "WEIR", &identity).ok()) << at;
    EXPECT_FALSE(parse_identity(text.substr(0, at), "WEIR", &identity).ok()) << at;
  }
  overwrite(data_ + "/WEIR", flipped(text, text.size() - 5, 1));
  expect_refused(Status::Code::kCorrupt, data_ + "/WEIR is damaged");
}

// A running server opens its directory again when the disk had failed.
TEST_F(RocksDirectoryTest, DeletedUnderItsServerIsNoFreshStart) {
  const auto open_again = [&](const HashSeed& seed) {
    auto store = make_rocks_store({.directory = data_});
    store->expect(seed);
    OpenReport report;
    return store->open(&report);
  };
  HashSeed seed{};
  {
    auto store = make_rocks_store({.directory = data_});
    OpenReport report;
    ASSERT_STATUS_OK(store->open(&report));
    seed = store->hash_seed();
    EXPECT_TRUE(store->is_there());
  }
  EXPECT_STATUS_OK(open_again(seed));
  EXPECT_EQ(open_again({1, 2}).code(), Status::Code::kRefused);
  fs::remove_all(data_);
  EXPECT_EQ(open_again(seed).code(), Status::Code::kRefused);
  EXPECT_EQ(open_again(seed).code(), Status::Code::kRefused);
  expect_refused(Status::Code::kRefused, "was deleted while a server used it");
  fs::remove(data_ + "/WEIR.gone");
  EXPECT_STATUS_OK(reopen());
  EXPECT_TRUE(created_);
}

TEST_F(RocksDirectoryTest, AHalfFinishedCreationIsDoneAgain) {
  fs::rename(data_ + "/WEIR", data_ + "/WEIR.new");
  fs::remove(data_ + "/state/CURRENT");
  EXPECT_STATUS_OK(reopen());
  EXPECT_TRUE(created_);
  EXPECT_FALSE(fs::exists(data_ + "/WEIR.new"));
  EXPECT_STATUS_OK(reopen());
  EXPECT_FALSE(created_);
}

TEST_F(RocksDirectoryTest, ALeftoverOfAWriteBackIsRemoved) {
  overwrite(data_ + "/pass.sst", "half a file");
  EXPECT_STATUS_OK(reopen());
  EXPECT_FALSE(fs::exists(data_ + "/pass.sst"));
}

// A byte that changed in a table is an error wherever it is read, never an absent key.
TEST_F(RocksDirectoryTest, ADamagedTableIsNeverAbsence) {
  std::string table;
  for (const auto& entry : fs::directory_iterator(data_ + "/state")) {
    if (entry.path().extension() == ".sst") table = entry.path();
  }
  const std::string bytes = contents(table);
  size_t refused = 0;
  for (size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 60) {
    overwrite(table, flipped(bytes, at, 5));
    StoreDriver store(make_rocks_store({.directory = data_}));
    if (const Status status = store.open(); !status.ok()) {
      EXPECT_EQ(status.code(), Status::Code::kCorrupt) << status.message();
      ++refused;
      continue;
    }
    const std::string found = store.get(stored_key("a"));
    EXPECT_TRUE(found == stored_value("1") || found.starts_with("failed: ")) << at << found;
    if (found.starts_with("failed: ")) ++refused;
  }
  EXPECT_GT(refused, 10u);
}

}  // namespace
}  // namespace weir::storage
