#include "topology/profile_file.hpp"

#include "sim/base/error.hpp"

#include <algorithm>

namespace stepsim::topology {

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

}  // namespace

Document read_profile(const DataDirectory& data, const std::string& folder, const std::string& name,
                      const std::string& kind) {
  const std::vector<std::string> known = data.names(folder, ".yaml");
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    throw InputError(Diagnostic{{},
                                kind,
                                "there is no " + kind + " \"" + name + "\"",
                                "one of " + joined(known),
                                nearest_choice(name, known)});
  }
  return read_document(data.file(folder, name + ".yaml").string());
}

const Choices<Architecture>& architecture_words() {
  static const Choices<Architecture> words = {{"volta", Architecture::volta},
                                              {"ampere", Architecture::ampere},
                                              {"hopper", Architecture::hopper},
                                              {"blackwell", Architecture::blackwell}};
  return words;
}

const Choices<MatrixFormat>& matrix_format_words() {
  static const Choices<MatrixFormat> words = {
      {"fp32", MatrixFormat::fp32}, {"tf32", MatrixFormat::tf32}, {"fp16", MatrixFormat::fp16},
      {"bf16", MatrixFormat::bf16}, {"fp8", MatrixFormat::fp8},   {"fp4", MatrixFormat::fp4}};
  return words;
}

const Choices<Interconnect>& interconnect_words() {
  static const Choices<Interconnect> words = {{"nvswitch", Interconnect::nvswitch},
                                              {"nvlink_mesh", Interconnect::nvlink_mesh},
                                              {"pcie", Interconnect::pcie}};
  return words;
}

const Choices<CpuVendor>& cpu_vendor_words() {
  static const Choices<CpuVendor> words = {
      {"intel", CpuVendor::intel}, {"amd", CpuVendor::amd}, {"arm", CpuVendor::arm}};
  return words;
}

}  // namespace stepsim::topology
