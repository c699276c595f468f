// Files with secrets that every user of the machine may read are told of.
#include "server/config/secret_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/server/config_fixture.h"

namespace weir::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SecretFiles : public ConfigTest {
 protected:
  std::string with_mode(const std::string& name, mode_t mode) {
    const std::string file = write("x", name);
    EXPECT_EQ(::chmod(file.c_str(), mode), 0);
    return file;
  }
};

TEST_F(SecretFiles, AreThoseOfKeysUsersAndPasswords) {
  config_.dir = folder_.string();
  for (const mode_t mode : {0600, 0640, 0660}) {
    with_mode("users", mode);
    config_.aclfile = "users";  // relative to the data directory
    config_.tls_key_file = with_mode("key", mode);
    config_.log_password_file = with_mode("password", mode);
    EXPECT_THAT(open_secrets(config_), IsEmpty()) << mode;
  }
  with_mode("users", 0644);
  with_mode("key", 0602);
  with_mode("password", 0777);
  EXPECT_THAT(open_secrets(config_),
              ElementsAre("aclfile '" + path("users") +
                              "' is open to every user of this machine (mode 0644); 0640 or less "
                              "is private: chmod o= on it",
                          HasSubstr("tls-key-file '" + path("key") + "'"),
                          HasSubstr("log-password-file '" + path("password") + "'")));
  config_.tls_key_file = path("nosuch");
  EXPECT_EQ(open_secrets(config_).size(), 2u);
}

TEST_F(SecretFiles, AreAConfigurationThatHasPasswords) {
  for (const std::string line :
       {"requirepass x", "user ann on >x", "member-password x", "tls-key-file-pass x"}) {
    ASSERT_EQ(load_text(line + "\n"), "");
    ASSERT_EQ(::chmod(path("weir.conf").c_str(), 0640), 0);
    EXPECT_THAT(open_secrets(config_), IsEmpty()) << line;
    ASSERT_EQ(::chmod(path("weir.conf").c_str(), 0644), 0);
    EXPECT_THAT(open_secrets(config_),
                ElementsAre(HasSubstr("configuration with passwords, '" + path("weir.conf"))))
        << line;
  }
  ASSERT_EQ(load_text("port 1\n"), "");
  EXPECT_THAT(open_secrets(config_), IsEmpty());
}

}  // namespace
}  // namespace weir::server
