#include "server/config/secret_files.h"

#include <sys/stat.h>

#include <filesystem>
#include <string_view>

#include "server/config/config_words.h"

namespace weir::server {
namespace {

constexpr mode_t kOthers = S_IROTH | S_IWOTH;

struct SecretFile {
  std::string_view option;
  std::string path;  // "": there is none
};

bool has_secrets(const Config& config) {
  return !config.requirepass.empty() || !config.member_password.empty() ||
         !config.tls_key_file_pass.empty() || !config.users.empty();
}

std::string octal(mode_t mode) {
  std::string text = "0000";
  for (size_t digit = text.size(); digit-- > 0; mode >>= 3)
    text[digit] = static_cast<char>('0' + (mode & 7));
  return text;
}

}  // namespace

std::vector<std::string> open_secrets(const Config& config) {
  const std::filesystem::path folder(config.dir);
  const SecretFile files[] = {
      {"the configuration with passwords,", has_secrets(config) ? config.config_file : ""},
      {"aclfile", config.aclfile.empty() ? "" : (folder / config.aclfile).string()},
      {"tls-key-file", config.tls_key_file},
      {"log-password-file", config.log_password_file}};
  std::vector<std::string> lines;
  for (const SecretFile& file : files) {
    struct stat status {};
    if (file.path.empty() || ::stat(file.path.c_str(), &status) != 0) continue;
    if ((status.st_mode & kOthers) == 0) continue;
    lines.push_back(std::string(file.option) + ' ' + printable(file.path) +
                    " is open to every user of this machine (mode " +
                    octal(status.st_mode & 07777) + "); 0640 or less is private: chmod o= on it");
  }
  return lines;
}

}  // namespace weir::server
