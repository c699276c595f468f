// What is in a data directory, record by record: each is decoded by what decodes it when it is
// used, counted, and compared with what others say of it.
//
// Records come in the order of their stored keys, so the databases are known before their keys, and
// all header records before the elements. What cannot be read (stored_meaning.h), or
// contradicts another record, is a line of damage(), which names it; the look goes on.
//
// Memory: three numbers for each list of elements.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/disk/stored_meaning.h"
#include "storage/format/element_key.h"
#include "storage/format/record.h"

namespace weir::server {

struct DatabaseContents {
  std::map<std::string, uint64_t> keys;  // by type, as TYPE names it
  uint64_t expired = 0;                  // of them, but not removed yet
};

class Contents {
 public:
  // `instant_ns`: that of the newest turn.
  Contents(const storage::HashSeed& seed, int64_t instant_ns);

  void take(std::string_view stored_key, std::string_view stored_value);
  // To be called after the last record.
  void end();

  // By number; -1 is what no client can select: requests remembered, and overrides of policies.
  const std::map<int, DatabaseContents>& databases() const { return databases_; }
  const std::map<std::string, uint64_t>& limits() const { return limits_; }  // by algorithm
  uint64_t records() const { return records_; }
  uint64_t elements() const { return elements_; }
  uint64_t left_over() const { return left_over_; }  // of databases and headers that are gone
  uint64_t policies() const { return policies_; }
  uint64_t scripts() const { return scripts_; }
  uint64_t libraries() const { return libraries_; }
  const std::vector<std::string>& damage() const { return damage_; }
  uint64_t damages() const { return damages_; }  // also those that have no line any more

 private:
  struct List {
    storage::ListName name;
    const storage::ElementRule* rule = nullptr;
    bool is_met = false;
  };

  std::string_view take_system(std::string_view name, const storage::ValueView& value);
  std::string_view take_database(std::string_view name, std::string_view payload);
  std::string_view take_element(const storage::KeyView& key, const storage::ValueView& value);
  std::string_view take_key(const storage::KeyView& key, const storage::ValueView& value);
  std::string_view take_header(const storage::KeyView& key, const storage::ValueView& value,
                               const storage::RecordMeaning& meaning);
  void sort_lists();
  void note_damage(std::string what);

  const storage::HashSeed seed_;
  StoredMeaning meaning_;
  const int64_t instant_ms_;
  std::map<storage::Generation, int> numbers_;  // of the databases that live there
  std::map<int, DatabaseContents> databases_;
  std::map<std::string, uint64_t> limits_;
  uint64_t records_ = 0;
  uint64_t elements_ = 0;
  uint64_t left_over_ = 0;
  uint64_t policies_ = 0;
  uint64_t scripts_ = 0;
  uint64_t libraries_ = 0;
  uint64_t damages_ = 0;
  std::vector<std::string> damage_;
  uint64_t next_generation_ = 1;
  uint64_t next_elements_id_ = 1;
  std::vector<List> lists_;  // sorted once elements come
  bool are_sorted_ = false;
  List* last_list_ = nullptr;  // of the last element
};

// A key or a name as a person reads it: in quotes, at most 100 bytes, others than printable ones as
// \xNN.
std::string shown(std::string_view bytes);
// A line of which a part comes from somebody else, for a terminal: the same, but whole, without the
// quotes, and with what is in quotes.
std::string plain(std::string_view line);

}  // namespace weir::server
