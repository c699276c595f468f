#include "server/core/disk/checkpoint_folder.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <tuple>

#include "base/ascii.h"
#include "base/utc_text.h"

namespace weir::server {
namespace {

// A digit stands for any digit.
constexpr std::string_view kForm = "0000-00-00T00-00-00.000Z-turn-";
constexpr std::string_view kUnfinished = ".tmp";
constexpr size_t kDigitsOfMs = 13;  // of the instants from 2001 to 2286

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
  return found;
}

// REQUIRES: it is the name of a checkpoint.
int64_t begun_s(const std::string& name) {
  if (name.size() == kDigitsOfMs) return std::strtoll(name.c_str(), nullptr, 10) / 1000;
  std::tm parts{};
  ::strptime(name.c_str(), "%Y-%m-%dT%H-%M-%S", &parts);
  return ::timegm(&parts);
}

// By what a checkpoint is newer than another.
using CheckpointAge = std::tuple<bool, uint64_t, std::string>;

CheckpointAge age_of(const std::filesystem::path& path) {
  const std::string name = path.filename();
  const bool has_turn = name.size() > kForm.size();
  return {has_turn, has_turn ? std::strtoull(name.c_str() + kForm.size(), nullptr, 10) : 0, name};
}

}  // namespace

std::string checkpoint_name(int64_t wall_ms, uint64_t turn) {
  char rest[48];
  std::snprintf(rest, sizeof rest, ".%03dZ-turn-%llu", static_cast<int>(wall_ms % 1000),
                static_cast<unsigned long long>(turn));
  return utc_text(wall_ms / 1000, "%Y-%m-%dT%H-%M-%S") + rest;
}

bool is_checkpoint_name(std::string_view name) {
  if (name.size() == kDigitsOfMs && is_number(name)) return true;
  if (name.size() <= kForm.size() || !is_number(name.substr(kForm.size()))) return false;
  return std::equal(kForm.begin(), kForm.end(), name.begin(), [](char form, char actual) {
    return form == '0' ? is_digit(actual) : form == actual;
  });
}

std::vector<std::string> give_up_old_checkpoints(const std::string& folder, int64_t kept,
                                                 const std::string& made) {
  if (kept == 0) return {};
  auto found = checkpoints_in(folder, "");
  std::erase_if(found, [&](const std::filesystem::path& path) {
    std::error_code ignored;
    return path.filename() == made || !std::filesystem::exists(path / "WEIR", ignored);
  });
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return age_of(a) < age_of(b); });
  const size_t others = static_cast<size_t>(kept) - 1;
  std::vector<std::string> given_up;
  for (size_t i = 0; i + others < found.size(); ++i) {
    std::error_code error;
    const std::string unnamed = found[i].string() + std::string(kUnfinished);
    std::filesystem::rename(found[i], unnamed, error);
    if (!error) given_up.push_back(unnamed);
  }
  return given_up;
}

int64_t newest_checkpoint_s(const std::string& folder) {
  int64_t newest_s = 0;
  for (const auto& path : checkpoints_in(folder, ""))
    newest_s = std::max(newest_s, begun_s(path.filename()));
  return newest_s;
}

std::vector<std::string> unfinished_checkpoints(const std::string& folder) {
  std::vector<std::string> left;
  for (const auto& path : checkpoints_in(folder, kUnfinished)) left.push_back(path);
  return left;
}

}  // namespace weir::server
