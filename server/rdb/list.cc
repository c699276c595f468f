#include "server/rdb/collections.h"
#include "server/rdb/packed.h"
#include "server/rdb/writer.h"

namespace weir::server::rdb {
namespace {

// How a node of a list holds its text.
constexpr uint64_t kPlain = 1, kPacked = 2;
// A node takes elements up to this size: Redis' default, and what it reckons for an entry's head.
constexpr size_t kNodeBytesMax = 8192, kEntryOverhead = 8;

// Reads a node. As in Redis it may hold no elements, but it has bytes; read_value() refuses a list
// without elements.
bool read_node(Type type, Reader* reader, Value* value) {
  const uint64_t container = type == Type::kListNodes ? reader->size() : kPacked;
  const std::string_view text = reader->text();
  if (!reader->ok() || text.empty()) return false;
  if (container == kPlain) {
    value->texts.push_back(text);
    return true;
  }
  if (container != kPacked) return false;
  return type == Type::kListNodes ? read_listpack(text, value) : read_ziplist(text, value);
}

bool read_nodes(Type type, Reader* reader, Value* value) {
  for (uint64_t nodes = reader->size(); nodes > 0; --nodes) {
    if (!read_node(type, reader, value)) return false;
  }
  return reader->ok();
}

}  // namespace

bool read_list(Type type, Reader* reader, Value* value) {
  if (type == Type::kList) return read_texts(reader, 1, value);
  if (type == Type::kListZiplist) return read_node(type, reader, value);
  return read_nodes(type, reader, value);
}

// Writes the nodes that RPUSH of one element after the other makes on Redis.
void write_list(const Value& value, std::string* out) {
  std::vector<std::string> nodes;
  ListpackWriter node;
  for (const std::string_view text : value.texts) {
    const bool full = node.size() + text.size() + kEntryOverhead > kNodeBytesMax;
    if (full && node.entries() > 0) nodes.push_back(node.finish());
    node.add(text);
  }
  nodes.push_back(node.finish());
  put_type(out, Type::kListNodes);
  put_size(out, nodes.size());
  for (const std::string& bytes : nodes) {
    put_size(out, kPacked);
    put_bytes(out, bytes);
  }
}

}  // namespace weir::server::rdb
