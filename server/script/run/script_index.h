// The index of known scripts, on disk and in memory.
//
// A body is a system record "script/<n>": format (1), kept (1 or 0), the 20 bytes of the name, the
// body. The record "scripts" says how many numbers are in use (4 bytes). All records of numbers
// below it are looked at when the data is opened, and free ones are used again first. DO NOT
// CHANGE.
//
// Scripts of SCRIPT LOAD are kept until SCRIPT FLUSH. Those of EVAL are bounded in number and in
// bytes; the least recently used are forgotten first.
//
// Invariants
// 1. A script here has its record, except while `stale` is set: after a turn that failed the index
//    is made again from the records.
// 2. Nothing here compiles.
// 3. The records may be another member's, who may write anything: no number of theirs is counted up
//    to, and of two with one name the first counts.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_hash.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server::script {

struct Script {
  std::string name;  // 40 lower-case digits
  uint32_t number = 0;
  size_t bytes = 0;
  bool kept = false;
  bool no_writes = false;  // what the script's first line says, once it was compiled
  bool has_shebang = false;
  bool no_cluster = false;
  bool crosses_slots = true;              // may use keys of several slots of a cluster
  int reference = -1;                     // the engine's reference; -1: not compiled
  std::list<Script*>::iterator use = {};  // if it is not kept
};

struct IndexBounds {
  size_t entries_max = SIZE_MAX;
  size_t bytes_max = SIZE_MAX;
};

class ScriptIndex {
 public:
  explicit ScriptIndex(storage::Keyspace* keys) : keys_(keys) {}

  // Makes the index from the records. Scripts that are still there keep their references; the
  // references of the others are answered, for the engine to forget.
  std::vector<int> reload();

  // Finds a script; null when unknown. Counts as a use.
  Script* find(std::string_view name);
  std::string_view body(const Script& script) const;
  // Writes the record of a script that is not known yet. Answers the references of the scripts that
  // had to make room.
  std::vector<int> add(Script script, std::string_view body, const IndexBounds& bounds);
  // Keeps a script from being forgotten.
  void keep(Script* script);
  // Forgets a script, and answers its reference, if it has one.
  std::vector<int> remove(Script* script);
  // Forgets all scripts, and answers their references.
  std::vector<int> clear();
  std::vector<std::string> kept_names() const;

  size_t count() const { return scripts_.size(); }
  size_t bytes() const { return bytes_; }
  uint64_t evicted() const { return evicted_; }

 private:
  std::vector<uint32_t> used_numbers() const;
  void note_free(uint32_t from, uint32_t to);
  void insert(Script script);
  void erase(Script* script, std::vector<int>* references);
  void put_record(const Script& script, std::string_view body);
  void put_count();
  uint32_t free_number();

  storage::Keyspace* keys_;
  StringMap<Script> scripts_;
  Script* recent_ = nullptr;  // found last; null: it is gone
  std::list<Script*> uses_;   // of those that may be forgotten, the latest first
  std::vector<uint32_t> free_;
  uint32_t numbers_ = 0;
  size_t bytes_ = 0;
  size_t evictable_bytes_ = 0;
  uint64_t evicted_ = 0;
};

}  // namespace weir::server::script
