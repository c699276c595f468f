#include "server/types/record_meaning.h"

#include <cmath>

#include "resp/numbers.h"
#include "server/types/collection.h"
#include "server/types/list.h"
#include "server/types/set.h"
#include "server/types/zset.h"
#include "storage/format/header.h"

namespace weir::server {
namespace {

using storage::ElementRule;
using storage::RecordMeaning;
using storage::Type;

class ListRule final : public ElementRule {
 public:
  bool allows(std::string_view member, uint64_t, std::string_view) const override {
    return member.size() == kListMemberBytes;
  }
};

class SetRule final : public ElementRule {
 public:
  bool allows(std::string_view member, uint64_t order, std::string_view value) const override {
    return order == order_of_member(member) && value.empty();
  }
};

class ZsetRule final : public ElementRule {
 public:
  bool allows(std::string_view, uint64_t order, std::string_view value) const override {
    const double score = storage::double_of_order(order);
    return !std::isnan(score) && (value.empty() || (value == kMinusZero && score == 0));
  }
};

// Any field with any value is one of a hash.
const ElementRule* rule_of(Type type) {
  static const ListRule list;
  static const SetRule set;
  static const ZsetRule zset;
  switch (type) {
    case Type::kList:
      return &list;
    case Type::kSet:
      return &set;
    case Type::kZset:
      return &zset;
    default:
      return nullptr;
  }
}

RecordMeaning wrong(std::string_view what) { return {.fault = {what}}; }

}  // namespace

RecordMeaning RecordReader::read(const storage::ValueView& value) {
  if (value.type == Type::kString) return {};
  if (value.type == Type::kLimiter) return read_limiter(value.type, value.payload, 0);
  if (!storage::owns_elements(value.type) || value.type > Type::kLimiterCharges)
    return {.fault = {"it is of a type that this weir-server does not know", true}};
  storage::HeaderView header;
  if (!storage::parse_header(value.payload, &header)) return wrong("its elements are not named");
  if (storage::is_limiter(value.type)) return read_limiter(value.type, header.rest, header.lists);
  if (header.lists != 1) return wrong("it has more lists of elements than its type has");
  if (!is_form(header.rest)) return wrong("it has a form that none has");
  return {.fault = {}, .may_be_empty = false, .rules = {rule_of(value.type)}};
}

RecordMeaning RecordReader::read_limiter(Type type, std::string_view record, size_t lists) {
  RecordMeaning meaning;
  meaning.fault = server::read_limiter(record, lists, zones_, &limiter_);
  if (!meaning.fault.what.empty()) return meaning;
  const bool is_of_type = limiter_.head.changes.has_value() == (type == Type::kLimiterCharges);
  if (!is_of_type) return wrong("its record is not of its type: one of them counts its changes");
  meaning.rules = limiter_.rules;
  return meaning;
}

}  // namespace weir::server
