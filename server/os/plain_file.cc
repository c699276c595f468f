#include "server/os/plain_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/byte_order_mark.h"

namespace weir::server {

Result<void, std::string> read_plain_file(const std::string& path, size_t bytes_max,
                                          const std::string& max_text, std::string* text) {
  const auto cannot = [&](const std::string& why) { return "cannot read " + path + ": " + why; };
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error) return cannot(error.message());
  if (!std::filesystem::is_regular_file(status)) return cannot("it is not a plain file");
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot(std::strerror(errno));
  text->resize(bytes_max + 1);
  file.read(text->data(), static_cast<std::streamsize>(text->size()));
  if (file.bad()) return cannot("input error");
  text->resize(static_cast<size_t>(file.gcount()));
  if (text->size() > bytes_max) return cannot("it is longer than " + max_text);
  *text = without_byte_order_mark(*text);
  return {};
}

}  // namespace weir::server
