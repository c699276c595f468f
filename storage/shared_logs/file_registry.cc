#include "storage/shared_logs/file_registry.h"

#include <algorithm>
#include <filesystem>

#include "base/time_units.h"
#include "storage/format/codec.h"
#include "storage/format/file.h"

namespace weir::storage {

using replication::RegistryEntry;

namespace {

constexpr std::string_view kUnfinished = ".new";
constexpr size_t kLooksMax = 1000;

// Whoever can write to the folder can put anything there, a pipe too, whose opening would wait.
bool is_small_file(const std::filesystem::directory_entry& entry) {
  std::error_code error;
  if (!entry.is_regular_file(error) || entry.is_symlink(error)) return false;
  const uintmax_t bytes = entry.file_size(error);
  return !error && bytes <= sizeof(uint64_t) + replication::MemberRegistry::kFactsBytesMax;
}

// The youngest are left.
void cut(std::vector<RegistryEntry>* entries) {
  std::stable_sort(
      entries->begin(), entries->end(),
      [](const RegistryEntry& a, const RegistryEntry& b) { return a.age_ns < b.age_ns; });
  entries->resize(std::min(entries->size(), replication::MemberRegistry::kEntriesMax));
}

}  // namespace

// The name is not synced: after a power cut all of it is old.
void FileRegistry::put(const std::string& name, std::string_view bytes, int64_t boot_ns) const {
  std::error_code ignored;
  std::filesystem::create_directory(folder_, ignored);
  std::string text;
  put_u64_le(&text, static_cast<uint64_t>(boot_ns));
  text += bytes;
  const std::string path = folder_ + "/" + name;
  const std::string unfinished = path + std::string(kUnfinished);
  if (write_file(unfinished, text).ok()) (void)rename_file(unfinished, path);
}

std::vector<RegistryEntry> FileRegistry::snapshot(int64_t boot_ns) const {
  std::vector<RegistryEntry> entries;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder_, error), end; !error && at != end;
       at.increment(error)) {
    const std::string path = at->path();
    std::string text;
    if (path.ends_with(kUnfinished) || !is_small_file(*at) || !read_file(path, &text).ok())
      continue;
    if (entries.size() >= kLooksMax) break;
    Reader reader(text);
    const auto put_at_ns = static_cast<int64_t>(reader.u64_le());
    const int64_t age_ns = boot_ns - put_at_ns;
    // Another process's clock was read a moment later than this one's.
    const bool is_old = age_ns > replication::MemberRegistry::kRemovedAfterNs || age_ns < -kNsPerS;
    if (!reader.ok() || is_old) {
      std::error_code ignored;
      std::filesystem::remove(path, ignored);
      continue;
    }
    entries.push_back({.name = at->path().filename(),
                       .bytes = text.substr(sizeof put_at_ns),
                       .age_ns = std::max<int64_t>(age_ns, 0)});
  }
  cut(&entries);
  std::sort(entries.begin(), entries.end(),
            [](const RegistryEntry& a, const RegistryEntry& b) { return a.name < b.name; });
  return entries;
}

}  // namespace weir::storage
