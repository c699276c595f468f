// What storage/ is told of records by those who know what they mean. storage/ itself knows a type's
// number, the ids of a header's lists, and an element's order.
//
// Whatever brings records that this process has not made asks one and the same Meaning about each:
// the shared log (keyspace/turn_check.h), a copy of another member's data, RESTORE, --check. An
// opening of the own directory asks nothing: its records were asked about when they came in, and to
// read all of them again would make each start slow.
//
// What a later version may have written is no reason to refuse what others go on with: a command
// that reads it is answered an error.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "storage/format/element_key.h"
#include "storage/format/header.h"
#include "storage/format/record.h"

namespace weir::storage {

// What the elements of a list may be. One object for each kind of list; it lives for ever.
class ElementRule {
 public:
  virtual bool allows(std::string_view member, uint64_t order, std::string_view value) const = 0;

 protected:
  ~ElementRule() = default;
};

// What is wrong with a record, for a line of the log. The text lives for ever.
struct Fault {
  std::string_view what;      // nothing: the record is good
  bool may_be_newer = false;  // a later version may have written it
};

// What a record of a database means.
struct RecordMeaning {
  Fault fault = {};
  bool may_be_empty = true;  // whether its lists may be without elements
  std::array<const ElementRule*, kOwnedListsMax> rules{};  // of its lists; null: any will do
};

class Meaning {
 public:
  virtual ~Meaning() = default;
  // A record of a database, by itself.
  virtual RecordMeaning of_record(const ValueView& value) = 0;
  // A system record whose name storage/ does not know.
  virtual Fault of_system_record(std::string_view name, std::string_view payload) = 0;
};

}  // namespace weir::storage
