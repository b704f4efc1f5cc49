// Mistral: Llama with a window.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

void read_mistral(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {});
  read_uniform_window(reader, model, 4096);
}

}  // namespace

std::vector<Architecture> mistral_architectures() { return {{"mistral", read_mistral}}; }

}  // namespace stepsim::workloads
