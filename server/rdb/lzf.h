// Texts that Redis has compressed, by M. Lehmann's LZF. A byte below 32 announces one more than so
// many literal bytes; any other byte announces a distance back, and how many bytes to repeat from
// there. weir must not write such texts: Redis reads plain ones as well.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::server::rdb {

// Tells whether so many packed bytes can become that many; to be asked before memory is taken.
// Three bytes stand for at most 264.
constexpr bool lzf_may_unpack_to(uint64_t packed, uint64_t size) { return size / 88 <= packed; }

// Unpacks a text. False for bytes that do not become `size` bytes. REQUIRES:
// lzf_may_unpack_to(packed.size(), size).
bool lzf_unpack(std::string_view packed, size_t size, std::string* out);

}  // namespace weir::server::rdb
