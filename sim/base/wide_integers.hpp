#pragma once

/// 128-bit integers, for products of bytes and picoseconds that 64 bits cannot hold.

namespace stepsim {

// Both compilers we build with have the type; __extension__ says that we know it is not ISO C++.
__extension__ using WideSigned = __int128;
__extension__ using WideUnsigned = unsigned __int128;

}  // namespace stepsim
