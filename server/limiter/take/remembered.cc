#include "server/limiter/take/remembered.h"

#include <algorithm>

#include "resp/numbers.h"
#include "server/command/command_facts.h"
#include "server/limiter/policy/request.h"
#include "server/limiter/policy/trace_words.h"
#include "server/limiter/take/limiters.h"
#include "storage/format/codec.h"

namespace weir::server {
namespace {

constexpr std::string_view kNull2 = "$-1\r\n";
constexpr std::string_view kNull3 = "_\r\n";
constexpr char kQueued = 0;
constexpr char kLetIn = 1;

constexpr size_t kBufferBytesMax = 16 << 10;  // what is larger does not stay

std::string& emptied(std::string& buffer) {
  if (buffer.capacity() > kBufferBytesMax) std::string().swap(buffer);
  buffer.clear();
  return buffer;
}

// Valid until the next call.
std::string_view record_key(const Call& call, std::string_view key, std::string_view token) {
  std::string& name = emptied(call.limiters.remembered.name);
  storage::put_varint(&name, static_cast<uint64_t>(call.database));
  storage::put_varint(&name, key.size());
  return name.append(key).append(token);
}

// A key may be called as the word is.
std::optional<size_t> trace_after_keys(const Command& command, Args args) {
  const size_t counted = static_cast<size_t>(command.keys.numkeys);
  const size_t first = counted == 0 ? 2 : counted + 1 + keys_of(command, args).size();
  auto trace = find_trace(args.subspan(std::min(first, args.size())));
  if (trace) *trace += first;
  return trace;
}

// The digest does not depend on how the command's name is spelt, nor on a trace.
uint64_t digest(const Call& call) {
  std::string& bytes = emptied(call.limiters.remembered.words).append(call.command.name);
  const auto trace = trace_after_keys(call.command, call.args);
  for (size_t i = 1; i < call.args.size(); ++i) {
    if (trace && (i == *trace || i == *trace + 1)) continue;
    storage::put_varint(&bytes, call.args[i].size());
    bytes.append(call.args[i]);
  }
  return storage::siphash24(bytes, {0x7765697200000001, 0x7769746820494400});
}

// How nulls and maps are written.
struct Form {
  std::string_view null;
  bool has_maps;
};
constexpr Form kStored{kNull2, true};
constexpr Form kResp2{kNull2, false};
constexpr Form kResp3{kNull3, true};

std::string map_header(std::string_view line, const Form& form) {
  if (form.has_maps) return std::string(line);
  const auto pairs = resp::parse_int64(line.substr(1, line.size() - 3)).value_or(0);
  return "*" + std::to_string(2 * pairs) + "\r\n";
}

// Appends a reply in another form. What strings hold stays as it is.
void append_in_form(std::string_view reply, const Form& form, std::string* out) {
  std::string& changed = *out;
  for (size_t at = 0; at < reply.size();) {
    const size_t end = std::min(reply.find('\n', at), reply.size() - 1) + 1;
    const std::string_view line = reply.substr(at, end - at);
    at = end;
    if (line == kNull2 || line == kNull3) {
      changed += form.null;
    } else if (line[0] == '%') {
      changed += map_header(line, form);
    } else {
      changed += line;
      if (line[0] != '$') continue;
      const auto bytes = resp::parse_int64(line.substr(1, line.size() - 3)).value_or(0);
      const size_t text = std::min(static_cast<size_t>(bytes) + 2, reply.size() - at);
      changed += reply.substr(at, text);
      at += text;
    }
  }
}

std::string for_session(const Call& call, std::string_view stored) {
  std::string reply;
  append_in_form(stored, call.reply.protocol() == 3 ? kResp3 : kResp2, &reply);
  return reply;
}

// Answers the value of a record, to which what is kept has to be appended. Valid until the next
// call.
std::string& begin_value(const Call& call) {
  std::string& value = emptied(call.limiters.remembered.value);
  storage::put_u64_le(&value, digest(call));
  return value;
}

void put(Call& call, std::string_view name, std::string_view value, int64_t until_ms) {
  storage::Ref ref = call.keys.look_up(call.keys.options().hidden_database(), name);
  call.keys.put(&ref, storage::Type::kString, value, until_ms);
}

void keep(Call& call, const RequestName& name, std::string_view reply, int64_t for_ms) {
  std::string& value = begin_value(call);
  append_in_form(reply, kStored, &value);
  put(call, record_key(call, name.key, name.token), value, call.now_ms() + for_ms);
}

constexpr std::string_view kMade = "made ";

Ticket read_ticket(storage::Reader reader) {
  Ticket ticket;
  if (reader.u8() == kQueued) {
    ticket.rank = static_cast<int64_t>(reader.varint());
    return ticket;
  }
  ticket.booking = static_cast<int64_t>(reader.varint());
  ticket.departs_ns = static_cast<int64_t>(reader.varint());
  ticket.lease = static_cast<int64_t>(reader.varint());
  ticket.reply = reader.rest();
  return ticket;
}

bool is_ticket(std::string_view what) {
  return what.starts_with(kQueued) || what.starts_with(kLetIn);
}

}  // namespace

void reply_again(Call& call, std::string_view reply) {
  call.limiters.verdicts.count_repeated();
  call.limiters.takings.make_strict();
  call.reply.raw(for_session(call, reply));
}

bool recalled(Call& call, std::string_view key, std::string_view token, std::string_view differs) {
  if (token.empty()) return false;
  const std::string_view name = record_key(call, key, token);
  const storage::Ref ref = call.keys.look_up(call.keys.options().hidden_database(), name);
  if (!ref.exists()) return false;
  storage::Reader reader(ref.value());
  if (reader.u64_le() != digest(call)) {
    call.reply.error(differs);
    return true;
  }
  std::string_view reply = reader.rest();
  Ticket ticket;
  if (is_ticket(reply)) {
    ticket = read_ticket(reader);
    if (ticket.booking == 0 || ticket.departs_ns > call.now_ns) return false;
    reply = ticket.reply;
  }
  reply_again(call, reply);
  return true;
}

void remember(Call& call, const RequestName& name, size_t reply_begin, int64_t for_ms) {
  const auto reply = std::string_view(*call.reply.buffer()).substr(reply_begin);
  keep(call, name, reply, for_ms);
}

void reply_and_remember(Call& call, const RequestName& name, int64_t for_ms,
                        const std::function<void(resp::ReplyWriter&)>& write) {
  std::string reply;
  resp::ReplyWriter writer(&reply, 3);
  write(writer);
  keep(call, name, reply, for_ms);
  call.reply.raw(for_session(call, reply));
}

std::string token_about(std::string_view what, int64_t id) {
  return std::string(kIdBytesMax, '\0').append(what).append(std::to_string(id));
}

void remember_id(Call& call, std::string_view key, int64_t id, const RequestName& name,
                 int64_t until_ms) {
  std::string value;
  storage::put_varint(&value, name.key.size());
  value.append(name.key).append(name.token);
  put(call, record_key(call, key, token_about(kMade, id)), value, until_ms);
}

void forget_request_of(Call& call, std::string_view key, int64_t id) {
  const std::string made = token_about(kMade, id);
  const std::string_view record = record_key(call, key, made);
  const storage::Ref ref = call.keys.look_up(call.keys.options().hidden_database(), record);
  if (!ref.exists()) return;
  const std::string value(ref.value());
  storage::Reader reader(value);
  const std::string_view first_key = reader.sized_bytes();
  if (reader.ok()) forget_token(call, first_key, reader.rest());
  forget_token(call, key, made);
}

std::optional<Ticket> find_ticket(Call& call, std::string_view key, std::string_view token) {
  if (token.empty()) return std::nullopt;
  const std::string_view name = record_key(call, key, token);
  const storage::Ref ref = call.keys.look_up(call.keys.options().hidden_database(), name);
  if (!ref.exists()) return std::nullopt;
  storage::Reader reader(ref.value());
  reader.u64_le();
  if (!is_ticket(reader.rest())) return std::nullopt;
  return read_ticket(reader);
}

void keep_ticket(Call& call, std::string_view key, std::string_view token, const Ticket& ticket,
                 int64_t until_ms) {
  std::string& value = begin_value(call);
  value.push_back(ticket.booking == 0 ? kQueued : kLetIn);
  if (ticket.booking == 0) {
    storage::put_varint(&value, static_cast<uint64_t>(ticket.rank));
  } else {
    storage::put_varint(&value, static_cast<uint64_t>(ticket.booking));
    storage::put_varint(&value, static_cast<uint64_t>(ticket.departs_ns));
    storage::put_varint(&value, static_cast<uint64_t>(ticket.lease));
    append_in_form(ticket.reply, kStored, &value);
  }
  put(call, record_key(call, key, token), value, until_ms);
}

void forget_token(Call& call, std::string_view key, std::string_view token) {
  if (token.empty()) return;
  const std::string_view name = record_key(call, key, token);
  storage::Ref ref = call.keys.look_up(call.keys.options().hidden_database(), name);
  if (ref.exists()) call.keys.erase(&ref);
}

}  // namespace weir::server
