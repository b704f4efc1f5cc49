#include "workloads/architectures/architectures.hpp"

namespace stepsim::workloads {

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> all = [] {
    std::vector<Architecture> list;
    for (const auto family :
         {bloom_architectures,    cohere_architectures,   exaone_architectures,
          falcon_architectures,   gemma_architectures,    glm_architectures,
          gpt2_architectures,     gpt_neo_architectures,  gpt_neox_architectures,
          gptj_architectures,     internlm_architectures, llama_architectures,
          mistral_architectures,  mpt_architectures,      nemotron_architectures,
          olmo_architectures,     opt_architectures,      phi_architectures,
          qwen_architectures,     smollm_architectures,   stablelm_architectures,
          starcoder_architectures}) {
      for (const Architecture& architecture : family()) list.push_back(architecture);
    }
    return list;
  }();
  return all;
}

}  // namespace stepsim::workloads
