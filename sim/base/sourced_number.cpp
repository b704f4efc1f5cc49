#include "sim/base/sourced_number.hpp"

namespace stepsim {

const char* to_string(SourceKind kind) {
  switch (kind) {
    case SourceKind::datasheet:
      return "datasheet";
    case SourceKind::measured:
      return "measured";
    case SourceKind::fitted:
      return "fitted";
    case SourceKind::assumed:
      return "assumed";
  }
  return "unknown";
}

}  // namespace stepsim
