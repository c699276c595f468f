#include "server/core/checkpoint_folder.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <vector>

#include "base/ascii.h"

namespace weir::server {
namespace {

// A digit stands for any digit.
constexpr std::string_view kForm = "0000-00-00T00-00-00.000Z-turn-";
constexpr std::string_view kUnfinished = ".tmp";

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// Visits what bears the name of a checkpoint and then `suffix`.
std::vector<std::filesystem::path> checkpoints_in(const std::string& folder,
                                                  std::string_view suffix) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string file = at->path().filename();
    std::string_view name = file;
    if (!name.ends_with(suffix)) continue;
    name.remove_suffix(suffix.size());
    if (is_checkpoint_name(name)) found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::string checkpoint_name(int64_t wall_ms, uint64_t turn) {
  const auto seconds = static_cast<std::time_t>(wall_ms / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H-%M-%S", &parts);
  char rest[48];
  std::snprintf(rest, sizeof rest, ".%03dZ-turn-%llu", static_cast<int>(wall_ms % 1000),
                static_cast<unsigned long long>(turn));
  return std::string(text, length) + rest;
}

bool is_checkpoint_name(std::string_view name) {
  if (is_number(name)) return true;
  if (name.size() <= kForm.size() || !is_number(name.substr(kForm.size()))) return false;
  return std::equal(kForm.begin(), kForm.end(), name.begin(), [](char form, char actual) {
    return form == '0' ? is_digit(actual) : form == actual;
  });
}

void remove_old_checkpoints(const std::string& folder, int64_t kept) {
  if (kept == 0) return;
  const auto found = checkpoints_in(folder, "");
  const auto keeps = static_cast<size_t>(kept);
  std::error_code ignored;
  for (size_t i = 0; i + keeps < found.size(); ++i) std::filesystem::remove_all(found[i], ignored);
}

void remove_unfinished_checkpoints(const std::string& folder) {
  std::error_code ignored;
  for (const auto& path : checkpoints_in(folder, kUnfinished))
    std::filesystem::remove_all(path, ignored);
}

}  // namespace weir::server
