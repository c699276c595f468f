// weir.conf says of each option what its row says.
#include <gmock/gmock.h>

#include <string>
#include <variant>

#include "server/config/config_access.h"
#include "server/config/config_options.h"
#include "tests/server/config_fixture.h"

namespace weir::server {
namespace {

using testing::HasSubstr;

// weir.conf: every row, with its default, as an active line; and nothing it says differs from it.
TEST_F(ConfigTest, WeirConfNamesEveryOptionWithItsDefault) {
  ASSERT_EQ(load({kWeirConf.string()}), "");
  EXPECT_EQ(config_get(config_, Views{"*"}), config_get(Config(), Views{"*"}));
  const std::string text = read_file(kWeirConf);
  for (const Option& option : config_options()) {
    if (takes_many_words(option)) {
      EXPECT_THAT(text, HasSubstr('\n' + std::string(option.name) + ' '));
    } else {
      const std::string line = std::string(option.name) + ' ' + file_text(option, Config());
      EXPECT_THAT(text, HasSubstr('\n' + line + '\n'));
    }
  }
}

// The lines of weir.conf from one empty line to the next that have a line of this option.
std::string paragraph_of(const std::string& text, const Option& option) {
  const size_t line = text.find('\n' + std::string(option.name) + ' ');
  if (line == std::string::npos) return "";
  const size_t begin = text.rfind("\n\n", line);
  return text.substr(begin, text.find("\n\n", line) - begin);
}

TEST_F(ConfigTest, WeirConfSaysWhichOptionsMayChangeWhileItRuns) {
  const std::string text = read_file(kWeirConf);
  for (const Option& option : config_options()) {
    if (std::holds_alternative<Fixed>(option.kind)) continue;
    const bool says = paragraph_of(text, option).find("Running.") != std::string::npos;
    EXPECT_EQ(says, option.changeable == Changeable::kWhileRunning) << option.name;
  }
}

TEST_F(ConfigTest, PasswordsAreSecret) {
  for (const Option& option : config_options()) {
    const bool is_password = option.name.ends_with("pass") || option.name.ends_with("password");
    EXPECT_EQ(option.secret, is_password) << option.name;
  }
}

}  // namespace
}  // namespace weir::server
