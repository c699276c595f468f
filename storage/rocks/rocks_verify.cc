#include "storage/rocks/rocks_verify.h"

#include <rocksdb/metadata.h>
#include <rocksdb/sst_file_reader.h>

#include <filesystem>

#include "storage/rocks/rocks_directory.h"
#include "storage/rocks/rocks_internal.h"

namespace weir::storage {
namespace {

struct TableFile {
  std::string path;
  uint64_t bytes = 0;
};

// The tables that are in use. The log's write-ahead log is not read for that: where the database is
// told to look there is none.
void find_tables(rocksdb::Options set, const std::string& path, std::vector<TableFile>* tables,
                 VerifyReport* report) {
  set.wal_dir = std::filesystem::path(path).parent_path();
  std::unique_ptr<rocksdb::DB> database;
  if (Status status = open_database(set, path, OpenMode::kInspect, &database); !status.ok()) {
    report->damage.push_back(status.message());
    return;
  }
  std::vector<rocksdb::LiveFileMetaData> files;
  database->GetLiveFilesMetaData(&files);
  for (const auto& file : files) {
    tables->push_back({path + "/" + file.relative_filename, file.size});
    report->bytes += file.size;
  }
}

rocksdb::Status verify(const rocksdb::Options& set, const std::string& path) {
  rocksdb::SstFileReader reader(set);
  rocksdb::Status status = reader.Open(path);
  if (status.ok()) status = reader.VerifyChecksum();
  return status;
}

}  // namespace

VerifyReport verify_tables(const RocksOptions& options,
                           const std::function<void(uint64_t, uint64_t)>& tell) {
  VerifyReport report;
  const RocksDirectory directory(options.directory);
  std::vector<TableFile> tables;
  find_tables(state_database_options(options), directory.state_path(), &tables, &report);
  const size_t of_state = tables.size();
  find_tables(log_database_options(options), directory.log_path(), &tables, &report);
  report.files = tables.size();
  uint64_t done = 0;
  for (size_t i = 0; i < tables.size(); ++i) {
    const auto set = i < of_state ? state_database_options(options) : log_database_options(options);
    const rocksdb::Status status = verify(set, tables[i].path);
    if (!status.ok()) report.damage.push_back(tables[i].path + ": " + status.ToString());
    tell(done += tables[i].bytes, report.bytes);
  }
  return report;
}

}  // namespace weir::storage
