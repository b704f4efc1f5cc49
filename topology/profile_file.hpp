#pragma once

/// What device and node files have in common: finding one by name, and words for enumerations.
/// Private to topology.

#include "topology/device.hpp"
#include "topology/node.hpp"

#include "sim/base/document.hpp"
#include "sim/base/object_reader.hpp"

#include <string>

namespace stepsim::topology {

/// Reads FOLDER/NAME.yaml of the data directory. Throws InputError naming the nearest when there is
/// none; `kind` is what the message calls it («device»).
Document read_profile(const DataDirectory& data, const std::string& folder, const std::string& name,
                      const std::string& kind);

const Choices<Architecture>& architecture_words();
const Choices<MatrixFormat>& matrix_format_words();
const Choices<Interconnect>& interconnect_words();
const Choices<CpuVendor>& cpu_vendor_words();

}  // namespace stepsim::topology
