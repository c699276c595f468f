#include "storage/shared_logs/postgres/statement.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/one_line.h"

namespace weir::storage::postgres {

Parameter text_of(std::string text) { return {.type = Type::kText, .bytes = std::move(text)}; }
Parameter bytes_of(std::string bytes) { return {.type = Type::kBytea, .bytes = std::move(bytes)}; }

Parameter number_of(std::optional<uint64_t> number) {
  if (!number) return {.type = Type::kInt8, .bytes = std::nullopt};
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(*number >> shift);
  return {.type = Type::kInt8, .bytes = std::move(bytes)};
}

bool Answer::ok() const {
  const ExecStatusType status = PQresultStatus(result_.get());
  return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

std::string Answer::failure() const {
  const std::string primary = field(PG_DIAG_MESSAGE_PRIMARY);
  return one_line(primary.empty() ? PQresultErrorMessage(result_.get()) : primary);
}

bool Answer::has_types(std::initializer_list<Type> types) const {
  int column = 0;
  if (PQnfields(result_.get()) != static_cast<int>(types.size())) return false;
  return std::all_of(types.begin(), types.end(), [&](Type type) {
    return PQftype(result_.get(), column++) == static_cast<Oid>(type);
  });
}

bool Answer::is_null(int row, int column) const {
  return PQgetisnull(result_.get(), row, column) != 0;
}

std::string_view Answer::bytes(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<size_t>(PQgetlength(result_.get(), row, column))};
}

uint64_t Answer::number(int row, int column) const {
  uint64_t number = 0;
  for (const char byte : bytes(row, column)) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

uint64_t Answer::changed_rows() const {
  const char* text = PQcmdTuples(result_.get());
  uint64_t rows = 0;
  std::from_chars(text, text + std::strlen(text), rows);
  return rows;
}

std::string Answer::field(int code) const {
  const char* text = PQresultErrorField(result_.get(), code);
  return text ? text : "";
}

}  // namespace weir::storage::postgres
