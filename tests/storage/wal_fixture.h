// Data directories whose WAL tests then damage.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "storage/format/file.h"
#include "storage/rocks/rocks_store.h"
#include "tests/storage/store_driver.h"

namespace weir::storage {

inline std::vector<std::string> wal_files(const std::string& data) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(data + "/log")) {
    if (entry.path().extension() == ".log") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

inline std::string contents(const std::string& path) {
  std::string bytes;
  EXPECT_STATUS_OK(read_file(path, &bytes));
  return bytes;
}

inline void overwrite(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// The one WAL file of a directory with turns 1 to `turns`, of which the first `synced` were synced.
inline std::string make_wal(const std::string& data, uint64_t turns, const std::string& body,
                            uint64_t synced = 0) {
  StoreDriver store(make_rocks_store({.directory = data}));
  EXPECT_STATUS_OK(store.open());
  EXPECT_STATUS_OK(store.append(1, synced, body));
  EXPECT_STATUS_OK(store.sync());
  EXPECT_STATUS_OK(store.append(synced + 1, turns, body));
  store.close();
  const auto files = wal_files(data);
  EXPECT_EQ(files.size(), 1u);
  return files.at(0);
}

inline std::string flipped(std::string bytes, size_t at, int bit) {
  bytes[at] = static_cast<char>(bytes[at] ^ 1 << bit);
  return bytes;
}

}  // namespace weir::storage
