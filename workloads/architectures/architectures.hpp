#pragma once

/// The architectures that can be read: one source file beside this a family, named as the family
/// is. Keys, defaults and the order of modules are those of transformers' configuration_*.py and
/// modeling_*.py where the file does not say otherwise. Private to the Hugging Face reader.

#include "workloads/hf_config_reader.hpp"

#include <string_view>
#include <vector>

namespace stepsim::workloads {

/// How one `model_type` is read.
struct Architecture {
  std::string_view model_type;
  void (*read)(HfReader& reader, Model& model);
};

/// All that can be read, in no order.
const std::vector<Architecture>& architectures();

std::vector<Architecture> bloom_architectures();
std::vector<Architecture> cohere_architectures();
std::vector<Architecture> exaone_architectures();
std::vector<Architecture> falcon_architectures();
std::vector<Architecture> gemma_architectures();
std::vector<Architecture> glm_architectures();
std::vector<Architecture> gpt2_architectures();
std::vector<Architecture> gpt_neo_architectures();
std::vector<Architecture> gpt_neox_architectures();
std::vector<Architecture> gptj_architectures();
std::vector<Architecture> internlm_architectures();
std::vector<Architecture> llama_architectures();
std::vector<Architecture> mistral_architectures();
std::vector<Architecture> mpt_architectures();
std::vector<Architecture> nemotron_architectures();
std::vector<Architecture> olmo_architectures();
std::vector<Architecture> opt_architectures();
std::vector<Architecture> phi_architectures();
std::vector<Architecture> qwen_architectures();
std::vector<Architecture> smollm_architectures();
std::vector<Architecture> stablelm_architectures();
std::vector<Architecture> starcoder_architectures();

}  // namespace stepsim::workloads
