#include "sim/base/file_hash.hpp"

namespace stepsim {

std::uint64_t fnv1a_64(std::string_view bytes) {
  constexpr std::uint64_t offset_basis = 0xcbf29ce484222325;
  constexpr std::uint64_t prime = 0x100000001b3;
  std::uint64_t hash = offset_basis;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= prime;
  }
  return hash;
}

std::string content_hash(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::uint64_t hash = fnv1a_64(bytes);
  std::string text(16, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit) {
    *digit = digits[hash % 16];
    hash /= 16;
  }
  return text;
}

}  // namespace stepsim
