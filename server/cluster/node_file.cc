#include "server/cluster/node_file.h"

#include <algorithm>

#include "base/ascii.h"
#include "resp/numbers.h"

namespace weir::server {
namespace {

constexpr size_t kIdDigits = 40;
constexpr size_t kDigestDigits = 16;

bool is_hex(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of(kHexDigits) == text.npos;
}

}  // namespace

std::string node_file_text(const NodeFile& node) {
  std::string text = node.id + "\n";
  if (!node.name.empty()) text += "name " + node.name + "\n";
  if (node.epoch > 0) text += "topology " + std::to_string(node.epoch) + " " + node.digest + "\n";
  return text;
}

Result<NodeFile, std::string> parse_node_file(std::string_view text) {
  NodeFile node;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const auto words = split_at_spaces(line);
    if (words.size() == 1) node.id = words[0];
    if (words.size() == 2) node.name = words[1];
    if (words.size() != 3) continue;
    node.epoch = resp::parse_int64(words[1]).value_or(0);
    node.digest = words[2];
  }
  const bool sound = is_hex(node.id, kIdDigits) &&
                     (node.epoch == 0 || is_hex(node.digest, kDigestDigits)) &&
                     node_file_text(node) == text;
  if (sound) return node;
  return std::string(
      "it is not a file that weir has written: the first line is 40 hexadecimal "
      "digits, others are 'name NAME' and 'topology EPOCH DIGEST'");
}

}  // namespace weir::server
