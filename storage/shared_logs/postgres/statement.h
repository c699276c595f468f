// What is asked of the server, and what it answers.
#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir::storage::postgres {

// The server's numbers of its types; they never change.
enum class Type : uint32_t { kBytea = 17, kInt8 = 20, kText = 25 };

// A parameter as the protocol carries it: its bytes, or nothing for null.
struct Parameter {
  Type type = Type::kText;
  std::optional<std::string> bytes;
};

Parameter text_of(std::string text);
Parameter bytes_of(std::string bytes);
// For the server a bigint is signed: a checksum is its bit pattern.
Parameter number_of(std::optional<uint64_t> number);

struct Statement {
  std::string sql;
  std::vector<Parameter> parameters;
  bool is_script = false;  // several statements in one transaction, which answer nothing
};

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};

// The whole answer to one statement.
class Answer {
 public:
  Answer() = default;
  Answer(std::unique_ptr<PGresult, Clear> result, bool was_warned)
      : result_(std::move(result)), was_warned_(was_warned) {}

  bool ok() const;
  // The server said something of the rank of a warning, or more, meanwhile.
  bool was_warned() const { return was_warned_; }
  // Five characters; empty without an error of the server's.
  std::string sqlstate() const { return field(PG_DIAG_SQLSTATE); }
  std::string table() const { return field(PG_DIAG_TABLE_NAME); }
  std::string failure() const;  // one line

  // The columns are these. What stands in a table that others have made may be anything.
  bool has_types(std::initializer_list<Type> types) const;
  int rows() const { return PQntuples(result_.get()); }
  // REQUIRES: there are such a row and column.
  bool is_null(int row, int column) const;
  std::string_view bytes(int row, int column) const;
  // An integer of any width.
  uint64_t number(int row, int column) const;
  bool truth(int row, int column) const { return number(row, column) != 0; }
  // The rows that were inserted, changed or deleted.
  uint64_t changed_rows() const;

 private:
  std::string field(int code) const;

  std::unique_ptr<PGresult, Clear> result_;
  bool was_warned_ = false;
};

}  // namespace weir::storage::postgres
