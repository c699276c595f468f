// A restore from a folder that is not as a checkpoint is.
#include "server/upkeep/restore.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace weir::server {
namespace {

namespace fs = std::filesystem;

TEST(Restore, AFileThatCannotBeLookedAtIsAnError) {
  std::string pattern = (fs::temp_directory_path() / "weir-restore-XXXXXX").string();
  const fs::path folder = ::mkdtemp(pattern.data());
  const fs::path source = folder / "source";
  fs::create_directories(source / "log");
  fs::create_directories(source / "state");
  std::ofstream(source / "WEIR") << "x";
  std::ofstream(source / "state" / "000001.sst") << "x";
  EXPECT_TRUE(check_target(source.string(), (folder / "target").string()));
  fs::create_symlink("000002.sst", source / "state" / "000002.sst");  // it leads to itself
  const auto checked = check_target(source.string(), (folder / "target").string());
  ASSERT_FALSE(checked);
  EXPECT_TRUE(checked.error().starts_with("cannot look at " +
                                          (source / "state" / "000002.sst").string() + ": "))
      << checked.error();
  fs::remove_all(folder);
}

}  // namespace
}  // namespace weir::server
