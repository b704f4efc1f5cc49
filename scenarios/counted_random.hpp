#pragma once

/// Random numbers that are counted, not drawn one after the other: which number it is depends on
/// seed and place alone, so that neither threads nor order change it.

#include <cstdint>

namespace stepsim::scenarios {

/// A bijection of 64-bit words that spreads every bit (splitmix64; Steele, Lea, Flood 2014).
constexpr std::uint64_t mixed(std::uint64_t word) {
  word += 0x9e3779b97f4a7c15U;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

/// The number at a place of a sequence of a seed.
constexpr std::uint64_t random_word(std::uint64_t seed, std::uint64_t sequence,
                                    std::uint64_t place) {
  return mixed(mixed(mixed(seed) + sequence) + place);
}

/// Uniform in (0, 1], 2⁵³ values.
constexpr double random_share(std::uint64_t seed, std::uint64_t sequence, std::uint64_t place) {
  return static_cast<double>((random_word(seed, sequence, place) >> 11) + 1) * 0x1p-53;
}

/// −ln of a share above 0: the time to the next of events that come once in a unit of time at
/// random. By + − × ÷ alone, so that every machine gives the same bits (the library's logarithm may
/// differ in the last one).
double exponential_of(double share);

}  // namespace stepsim::scenarios
