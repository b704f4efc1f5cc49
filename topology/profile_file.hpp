#pragma once

/// What data files of this layer have in common: finding and reading one, and words for
/// enumerations.
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

/// Reads topology/nccl/NAME: `read_keys(reader, constants)` takes its keys. `Constants` also gets
/// the file and its hash.
template <class Constants, class ReadKeys>
Constants read_constants(const DataDirectory& data, const std::string& name, ReadKeys read_keys) {
  const Document document = read_document(data.file("topology/nccl", name).string());
  Constants constants;
  constants.file = document.file;
  constants.hash = document.hash;
  Diagnostics problems;
  ObjectReader reader(document.root, "", problems);
  read_keys(reader, constants);
  reader.finish();
  problems.throw_if_any();
  return constants;
}

const Choices<Architecture>& architecture_words();
const Choices<MatrixFormat>& matrix_format_words();
const Choices<Interconnect>& interconnect_words();
const Choices<CpuVendor>& cpu_vendor_words();

}  // namespace stepsim::topology
