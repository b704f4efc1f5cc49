#pragma once

/// A short fingerprint of a file's bytes, printed with every result so that a reader can tell
/// whether two results rest on the same data.

#include <cstdint>
#include <string>
#include <string_view>

namespace stepsim {

/// FNV-1a, 64 bits (offset basis and prime of draft-eastlake-fnv). Not cryptographic.
std::uint64_t fnv1a_64(std::string_view bytes);
/// The same as 16 lower-case hexadecimal digits.
std::string content_hash(std::string_view bytes);

}  // namespace stepsim
