#include "server/offline/import_tally.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace weir::server {
namespace {

class ImportTallyTest : public ::testing::Test {
 protected:
  ImportTallyTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-tally-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    options_.progress = folder_ + "/progress";
  }
  ~ImportTallyTest() override { std::filesystem::remove_all(folder_); }

  // Where an import goes on that was at cursor 17 in a process of the source.
  std::string cursor_in(const std::string& then, const std::string& now) {
    ImportTally kept;
    kept.database = 0;
    kept.cursor = "17";
    EXPECT_TRUE(keep_tally(options_, then, kept));
    ImportTally found;
    EXPECT_TRUE(resume_tally(options_, now, &found));
    EXPECT_EQ(found.database, 0);
    return found.cursor;
  }

  std::string folder_;
  ImportOptions options_;
};

TEST_F(ImportTallyTest, ACursorCountsInTheProcessThatGaveIt) {
  EXPECT_EQ(cursor_in("a1", "a1"), "17");
  EXPECT_EQ(cursor_in("a1", "b2"), "0");
}

TEST_F(ImportTallyTest, ACursorOfAnUnknownProcessDoesNotCount) {
  EXPECT_EQ(cursor_in("-", "-"), "0") << "whoever may not ask INFO cannot tell processes apart";
}

}  // namespace
}  // namespace weir::server
