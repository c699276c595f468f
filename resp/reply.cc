#include "resp/reply.h"

namespace weir::resp {

void ReplyWriter::reserve_for(size_t bytes) { out_->reserve(out_->size() + bytes + kLineBytesMax); }

void ReplyWriter::error(std::string_view text) {
  while (!text.empty() && (text.back() == '\r' || text.back() == '\n')) text.remove_suffix(1);
  out_->push_back('-');
  for (const char c : text) out_->push_back(c == '\r' || c == '\n' ? ' ' : c);
  out_->append("\r\n", 2);
}

void ReplyWriter::null() {
  make_room(0);
  out_->append(is_resp3() ? "_\r\n" : "$-1\r\n");
}

void ReplyWriter::null_array() {
  make_room(0);
  out_->append(is_resp3() ? "_\r\n" : "*-1\r\n");
}

void ReplyWriter::boolean(bool value) {
  if (!is_resp3()) return integer(value ? 1 : 0);
  out_->append(value ? "#t\r\n" : "#f\r\n");
}

void ReplyWriter::real(double value) { real_text(format_double(value)); }

void ReplyWriter::real_text(std::string_view digits) {
  if (!is_resp3()) return bulk(digits);
  make_room(digits.size());
  out_->push_back(',');
  out_->append(digits);
  out_->append("\r\n", 2);
}

void ReplyWriter::big_number(std::string_view digits) {
  if (!is_resp3()) return bulk(digits);
  make_room(digits.size());
  out_->push_back('(');
  out_->append(digits);
  out_->append("\r\n", 2);
}

void ReplyWriter::verbatim(std::string_view text, std::string_view format) {
  if (!is_resp3()) return bulk(text);
  make_room(text.size());
  header('=', static_cast<int64_t>(text.size()) + 4);
  out_->append(format.substr(0, 3));
  out_->push_back(':');
  out_->append(text);
  out_->append("\r\n", 2);
}

}  // namespace weir::resp
