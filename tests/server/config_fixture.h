// A folder of configuration files, and a Config that is loaded, read and set in short.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "server/config/config_access.h"

namespace weir::server {

using Views = std::vector<std::string_view>;

inline const std::filesystem::path kWeirConf =
    std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "weir.conf";

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    std::string name = (std::filesystem::temp_directory_path() / "weir-config-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~ConfigTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string write(const std::string& text, const std::string& name = "weir.conf") {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  // The error without the folder in front; "" when it loads.
  std::string load(std::vector<std::string> arguments) {
    std::vector<const char*> argv = {"weir-server"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    const auto loaded = load_config(static_cast<int>(argv.size()), argv.data(), &config_);
    if (loaded) return "";
    std::string text = loaded.error().message;
    const std::string prefix = folder_.string() + '/';
    for (size_t at; (at = text.find(prefix)) != std::string::npos;) text.erase(at, prefix.size());
    return text;
  }

  std::string load_text(const std::string& text) { return load({write(text)}); }

  std::string set(Views pairs) {
    changed_.clear();
    const auto done = config_set(&config_, pairs, &changed_);
    return done ? "OK" : done.error();
  }

  // CONFIG REWRITE; "" or the error.
  std::string rewrite() const {
    const auto written = config_rewrite(config_);
    return written ? "" : written.error();
  }

  std::string get(std::string_view name) {
    auto found = config_get(config_, Views{name});
    return found.size() == 1 ? found[0].second : "(" + std::to_string(found.size()) + " found)";
  }

  std::filesystem::path folder_;
  Config config_;
  std::vector<std::string> changed_;
};

}  // namespace weir::server
