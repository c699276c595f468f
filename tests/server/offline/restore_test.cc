// A restore from a folder that is not as a checkpoint is.
#include "server/offline/restore.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "server/os/clock.h"

namespace weir::server {
namespace {

namespace fs = std::filesystem;

TEST(Restore, ALinkIsAnError) {
  std::string pattern = (fs::temp_directory_path() / "weir-restore-XXXXXX").string();
  const fs::path folder = ::mkdtemp(pattern.data());
  const fs::path source = folder / "source";
  fs::create_directories(source / "log");
  fs::create_directories(source / "state");
  std::ofstream(source / "WEIR") << "x";
  std::ofstream(source / "state" / "000001.sst") << "x";
  EXPECT_TRUE(check_target(source.string(), (folder / "target").string()));
  const std::string wrong = " is a symbolic link, which no checkpoint has";
  const fs::path link = source / "state" / "000002.sst";
  std::ofstream(folder / "secret") << "for root only";
  for (const fs::path& leads_to : {fs::path("000002.sst"), folder / "secret"}) {  // itself, away
    fs::create_symlink(leads_to, link);
    const auto checked = check_target(source.string(), (folder / "target").string());
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error(), link.string() + wrong);
    fs::remove(link);
  }
  fs::remove(source / "WEIR");
  fs::create_symlink(folder / "secret", source / "WEIR");
  SystemClock clock;
  Progress progress(&clock);
  const auto restored = restore_data(source.string(), (folder / "target").string(), &progress);
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error(), (source / "WEIR").string() + wrong);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace weir::server
