#include "server/failover/copies/snapshot_list.h"

#include <algorithm>
#include <iterator>

#include "base/ascii.h"

namespace weir::server {

using resp::Value;

namespace {

constexpr size_t kFilesMax = 100'000;
constexpr uint64_t kIdentityBytesMax = 64 << 10;
constexpr uint64_t kFileBytesMax = uint64_t{1} << 44;

bool is_plain_name(std::string_view name) {
  return !name.empty() && name[0] != '.' && std::all_of(name.begin(), name.end(), [](char c) {
    return is_digit(c) || is_letter(c) || c == '-' || c == '_' || c == '.';
  });
}

bool is_of_data(std::string_view path) {
  if (path == kIdentityFile) return true;
  return std::any_of(
      std::begin(kDataFolders), std::end(kDataFolders), [&](std::string_view folder) {
        return path.size() > folder.size() + 1 && path.starts_with(folder) &&
               path[folder.size()] == '/' && is_plain_name(path.substr(folder.size() + 1));
      });
}

// The value of a field of a map; null if there is none of that type.
const Value* field(const Value& map, std::string_view name, Value::Type type) {
  for (size_t i = 0; i + 1 < map.elements.size(); i += 2) {
    if (map.elements[i].text == name && map.elements[i + 1].type == type)
      return &map.elements[i + 1];
  }
  return nullptr;
}

}  // namespace

bool is_made(const Value& begun) {
  const Value* made = field(begun, "made", Value::Type::kInteger);
  return made != nullptr && made->integer == 1;
}

Result<std::vector<ListedFile>, std::string> read_snapshot_list(const Value& begun) {
  const Value* files = field(begun, "files", Value::Type::kArray);
  std::vector<ListedFile> list;
  for (const Value& file : files == nullptr ? std::vector<Value>() : files->elements) {
    if (file.elements.size() != 2 || file.elements[1].integer < 0 ||
        !is_of_data(file.elements[0].text))
      return std::string("it lists what is no file of a data directory");
    const auto bytes = static_cast<uint64_t>(file.elements[1].integer);
    if (bytes > (file.elements[0].text == kIdentityFile ? kIdentityBytesMax : kFileBytesMax))
      return "it lists " + file.elements[0].text + " with " + std::to_string(bytes) + " bytes";
    if (list.size() == kFilesMax)
      return "it lists more than " + std::to_string(kFilesMax) + " files";
    list.push_back({.path = file.elements[0].text, .bytes = bytes});
  }
  if (list.empty()) return std::string("it lists no files");
  return list;
}

}  // namespace weir::server
