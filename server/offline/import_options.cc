#include "server/offline/import_options.h"

#include <cstdlib>
#include <string_view>

#include "server/os/plain_file.h"

namespace weir::server {
namespace {

constexpr size_t kPasswordFileBytesMax = 64 << 10;

Result<void, std::string> take_url(char* text, RedisUrl* url) {
  auto parsed = parse_redis_url(text);
  hide_password(text);
  if (!parsed) return parsed.error();
  *url = std::move(*parsed);
  return {};
}

// The first line of a file.
Result<void, std::string> take_password(const std::string& path, RedisUrl* url) {
  std::string text;
  if (auto read = read_plain_file(path, kPasswordFileBytesMax, "64 KB", &text); !read) return read;
  url->password = text.substr(0, text.find_first_of("\r\n"));
  return {};
}

void take_from_environment(const char* name, RedisUrl* url) {
  const char* const password = std::getenv(name);
  if (password != nullptr && url->password.empty()) url->password = password;
}

struct Word {
  std::string_view name;
  std::string* text;
};

}  // namespace

Result<ImportOptions, std::string> read_import_options(int argc, char** argv) {
  ImportOptions options;
  options.target.host = "127.0.0.1";
  if (argc < 2) return std::string(import_usage());
  if (auto taken = take_url(argv[1], &options.source); !taken) return taken.error();
  std::string source_password;
  std::string target_password;
  const Word words[] = {{"--match", &options.match},
                        {"--import-progress", &options.progress},
                        {"--import-password-file", &source_password},
                        {"--import-into-password-file", &target_password},
                        {"--import-ca-cert-file", &options.tls.ca_cert_file},
                        {"--import-cert-file", &options.tls.cert_file},
                        {"--import-key-file", &options.tls.key_file}};
  for (int i = 2; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--import-replace") {
      options.replace = true;
      continue;
    }
    if (name == "--import-insecure") {
      options.tls.accept_any = true;
      continue;
    }
    std::string* text = nullptr;
    for (const Word& word : words)
      if (word.name == name) text = word.text;
    if (text == nullptr && name != "--import-into") {
      hide_password(argv[i]);
      return "unknown word '" + std::string(name) + "'\n" + import_usage();
    }
    if (++i == argc) return std::string(name) + " needs a value";
    if (text != nullptr) {
      *text = argv[i];
    } else if (auto taken = take_url(argv[i], &options.target); !taken) {
      return taken.error();
    }
  }
  if (options.tls.cert_file.empty() != options.tls.key_file.empty())
    return "--import-cert-file and --import-key-file go together";
  if (options.target.database >= 0)
    return "--import-into names no database: each key goes to the database that it had";
  for (const auto& [path, url] : {std::pair{&source_password, &options.source},
                                  std::pair{&target_password, &options.target}}) {
    if (path->empty()) continue;
    if (auto taken = take_password(*path, url); !taken) return taken.error();
  }
  take_from_environment("WEIR_IMPORT_PASSWORD", &options.source);
  take_from_environment("WEIR_IMPORT_INTO_PASSWORD", &options.target);
  return options;
}

const char* import_usage() {
  return "usage: weir-server --import redis[s]://[user:password@]host[:port][/db] [option ...]\n"
         "copies the keys of a Redis that serves into a weir that serves.\n"
         "  --import-into URL                 the weir (redis://127.0.0.1:6379)\n"
         "  --match PATTERN                   only keys that match, as SCAN's MATCH\n"
         "  --import-replace                  overwrite keys that weir has; else they are left\n"
         "  --import-progress FILE            resume from FILE if it is there, and keep it "
         "current\n"
         "  --import-password-file FILE       the source's password, in place of the URL's\n"
         "  --import-into-password-file FILE  weir's password, in place of the URL's\n"
         "  --import-ca-cert-file FILE        of rediss://: the authorities, else the system's\n"
         "  --import-cert-file FILE, --import-key-file FILE   of rediss://: what is shown\n"
         "  --import-insecure                 of rediss://: accept any certificate\n"
         "WEIR_IMPORT_PASSWORD and WEIR_IMPORT_INTO_PASSWORD may hold the passwords, too.";
}

}  // namespace weir::server
