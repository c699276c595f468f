#include "server/limiter/take/remembered.h"

#include <algorithm>

#include "resp/numbers.h"
#include "server/limiter/policy/request.h"
#include "server/limiter/take/limiters.h"
#include "storage/format/codec.h"

namespace weir::server {
namespace {

constexpr std::string_view kNull2 = "$-1\r\n";
constexpr std::string_view kNull3 = "_\r\n";
constexpr char kQueued = 0;
constexpr char kLetIn = 1;

// The key of what is kept under a token, valid until the next call.
std::string_view record_key(const Call& call, std::string_view key, std::string_view token) {
  std::string& name = call.limiters.buffers.token_key;
  name.clear();
  storage::put_varint(&name, static_cast<uint64_t>(call.database));
  storage::put_varint(&name, key.size());
  return name.append(key).append(token);
}

storage::Ref find_record(const Call& call, std::string_view key, std::string_view token) {
  return call.keys.look_up(call.keys.options().hidden_database(), record_key(call, key, token));
}

// The digest does not depend on how the command's name is spelt.
uint64_t digest(const Call& call) {
  std::string& bytes = call.limiters.buffers.digested;
  bytes = call.command.name;
  for (const std::string_view arg : call.args.subspan(1)) {
    storage::put_varint(&bytes, arg.size());
    bytes.append(arg);
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

void append_map_header(std::string_view line, std::string* out) {
  const auto pairs = resp::parse_int64(line.substr(1, line.size() - 3)).value_or(0);
  out->push_back('*');
  resp::append_int64(2 * pairs, out);
  out->append("\r\n");
}

// Appends a reply in another form. What strings hold stays as it is.
void append_in_form(std::string_view reply, const Form& form, std::string* out) {
  size_t copied = 0;  // so much of it is done
  for (size_t at = 0; at < reply.size();) {
    const size_t begin = at;
    const size_t end = std::min(reply.find('\n', at), reply.size() - 1) + 1;
    const std::string_view line = reply.substr(at, end - at);
    at = end;
    const bool is_null = line == kNull2 || line == kNull3;
    if (!is_null && line[0] == '$') {
      const auto bytes = resp::parse_int64(line.substr(1, line.size() - 3)).value_or(0);
      at += std::min(static_cast<size_t>(bytes) + 2, reply.size() - at);
    }
    if (!is_null && (line[0] != '%' || form.has_maps)) continue;
    out->append(reply.substr(copied, begin - copied));
    copied = end;
    if (is_null) {
      out->append(form.null);
    } else {
      append_map_header(line, out);
    }
  }
  out->append(reply.substr(copied));
}

std::string for_session(const Call& call, std::string_view stored) {
  std::string reply;
  append_in_form(stored, call.reply.protocol() == 3 ? kResp3 : kResp2, &reply);
  return reply;
}

// The value of what is kept, up to what is appended to it now.
std::string* begin_value(const Call& call) {
  std::string* value = &call.limiters.buffers.token_value;
  value->clear();
  storage::put_u64_le(value, digest(call));
  return value;
}

void keep(Call& call, std::string_view key, std::string_view token, std::string_view value,
          int64_t until_ms) {
  storage::Ref ref = find_record(call, key, token);
  call.keys.put(&ref, storage::Type::kString, value, until_ms);
}

void keep_reply(Call& call, const RequestName& name, std::string_view reply, int64_t for_ms) {
  std::string* value = begin_value(call);
  append_in_form(reply, kStored, value);
  keep(call, name.key, name.token, *value, call.now_ms() + for_ms);
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
  const storage::Ref ref = find_record(call, key, token);
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
  keep_reply(call, name, std::string_view(*call.reply.buffer()).substr(reply_begin), for_ms);
}

void reply_and_remember(Call& call, const RequestName& name, int64_t for_ms,
                        const std::function<void(resp::ReplyWriter&)>& write) {
  std::string reply;
  resp::ReplyWriter writer(&reply, 3);
  write(writer);
  keep_reply(call, name, reply, for_ms);
  call.reply.raw(for_session(call, reply));
}

std::string token_about(std::string_view what, int64_t id) {
  return std::string(kIdBytesMax, '\0').append(what).append(std::to_string(id));
}

void remember_id(Call& call, std::string_view key, int64_t id, const RequestName& name,
                 int64_t until_ms) {
  std::string& value = call.limiters.buffers.token_value;
  value.clear();
  storage::put_varint(&value, name.key.size());
  value.append(name.key).append(name.token);
  keep(call, key, token_about(kMade, id), value, until_ms);
}

void forget_request_of(Call& call, std::string_view key, int64_t id) {
  const std::string made = token_about(kMade, id);
  const storage::Ref ref = find_record(call, key, made);
  if (!ref.exists()) return;
  const std::string value(ref.value());
  storage::Reader reader(value);
  const std::string_view first_key = reader.sized_bytes();
  if (reader.ok()) forget_token(call, first_key, reader.rest());
  forget_token(call, key, made);
}

std::optional<Ticket> find_ticket(Call& call, std::string_view key, std::string_view token) {
  if (token.empty()) return std::nullopt;
  const storage::Ref ref = find_record(call, key, token);
  if (!ref.exists()) return std::nullopt;
  storage::Reader reader(ref.value());
  reader.u64_le();
  if (!is_ticket(reader.rest())) return std::nullopt;
  return read_ticket(reader);
}

void keep_ticket(Call& call, std::string_view key, std::string_view token, const Ticket& ticket,
                 int64_t until_ms) {
  std::string* value = begin_value(call);
  value->push_back(ticket.booking == 0 ? kQueued : kLetIn);
  if (ticket.booking == 0) {
    storage::put_varint(value, static_cast<uint64_t>(ticket.rank));
  } else {
    storage::put_varint(value, static_cast<uint64_t>(ticket.booking));
    storage::put_varint(value, static_cast<uint64_t>(ticket.departs_ns));
    storage::put_varint(value, static_cast<uint64_t>(ticket.lease));
    append_in_form(ticket.reply, kStored, value);
  }
  keep(call, key, token, *value, until_ms);
}

void forget_token(Call& call, std::string_view key, std::string_view token) {
  if (token.empty()) return;
  storage::Ref ref = find_record(call, key, token);
  if (ref.exists()) call.keys.erase(&ref);
}

}  // namespace weir::server
