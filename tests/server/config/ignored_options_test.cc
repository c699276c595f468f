// Options of Redis that are accepted and mean nothing here.
#include "server/config/ignored_options.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "server/config/config_options.h"
#include "tests/server/config_fixture.h"

namespace weir::server {
namespace {

using testing::HasSubstr;

TEST_F(ConfigTest, OptionsOfRedisThatMeanNothingHereAreKept) {
  for (const IgnoredOption& option : ignored_options()) {
    EXPECT_EQ(find_option(option.name), nullptr) << option.name;
    EXPECT_EQ(ignored_value(option, config_), option.value);
    EXPECT_TRUE(set_ignored(option, option.value, &config_)) << option.name;
  }
  EXPECT_EQ(set({"hash-max-ziplist-entries", "7", "maxmemory-policy", "allkeys-lru"}), "OK");
  const std::string_view patterns[] = {"hash-max-*-entries", "maxmemory-policy"};
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"hash-max-listpack-entries", "7"},
      {"hash-max-ziplist-entries", "7"},
      {"maxmemory-policy", "allkeys-lru"}};
  EXPECT_EQ(config_get(config_, patterns), expected);
  EXPECT_THAT(set({"activedefrag", "perhaps"}), HasSubstr("activedefrag"));
  EXPECT_THAT(set({"maxmemory-policy", "lru"}), HasSubstr("maxmemory-policy"));
  EXPECT_THAT(set({"list-compress-depth", "1", "list-compress-depth", "2"}),
              HasSubstr("duplicate"));
}

TEST_F(ConfigTest, WeirConfNamesEveryOptionThatIsAcceptedAndNotRead) {
  const std::string text = read_file(kWeirConf);
  const size_t begin = text.find("ACCEPTED, NOT READ");
  ASSERT_NE(begin, std::string::npos);
  for (const IgnoredOption& option : ignored_options()) {
    EXPECT_NE(text.find(" " + std::string(option.name), begin), std::string::npos) << option.name;
  }
}

}  // namespace
}  // namespace weir::server
