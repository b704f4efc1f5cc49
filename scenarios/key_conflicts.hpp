#pragma once

/// Problems of keys that were read well and do not fit together: reported at the place of the
/// value.

#include "sim/base/diagnostics.hpp"
#include "sim/base/document.hpp"
#include "sim/base/object_reader.hpp"

#include <string>

namespace stepsim::scenarios {

class KeyProblems {
 public:
  KeyProblems(const DocumentNode& root, Diagnostics& diagnostics)
      : root_(root), diagnostics_(diagnostics) {}

  /// At the value of the key with this dotted path, or at the innermost block that is there.
  void refuse(const std::string& path, std::string problem, std::string expected = {},
              std::string suggestion = {});
  /// The value of the key, for readers; the innermost block that is there when it is absent.
  ValueSite site(const std::string& path) const;
  /// Takes over what went wrong in another file that the value of `path` names: what has no line of
  /// its own is reported at that value.
  void adopt(const std::string& path, const InputError& error);

  Diagnostics& diagnostics() { return diagnostics_; }

 private:
  const DocumentNode& root_;
  Diagnostics& diagnostics_;
};

}  // namespace stepsim::scenarios
