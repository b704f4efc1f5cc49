#include "workloads/model.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>

using namespace stepsim::workloads;

namespace {

Model llama_70b() {
  Model model;
  model.name = "llama3-70b";
  model.layers = 80;
  model.hidden = 8192;
  model.heads = 64;
  model.kv_heads = 8;
  model.head_dim = 128;
  model.ffn = 28672;
  model.vocabulary = 128256;
  return model;
}

Model gpt2() {
  Model model;
  model.name = "gpt2";
  model.layers = 12;
  model.hidden = 768;
  model.heads = 12;
  model.kv_heads = 12;
  model.head_dim = 64;
  model.ffn = 3072;
  model.vocabulary = 50257;
  model.positions = Positions::learned;
  model.max_positions = 1024;
  model.position_rows = 1024;
  model.activation = Activation::gelu;
  model.norm = Norm::layer_norm;
  model.norm_has_bias = true;
  model.qkv_bias = model.attention_output_bias = model.mlp_bias = true;
  model.fused_qkv = true;
  model.tied_embeddings = true;
  model.order = ModuleOrder::norm_attention_norm_mlp;
  return model;
}

std::vector<std::string> names(const std::vector<Parameter>& parameters) {
  std::vector<std::string> result;
  for (const Parameter& parameter : parameters) result.push_back(parameter.name);
  return result;
}

}  // namespace

TEST_CASE("parameters of Llama 3 70B are exact", "[model]") {
  const Model model = llama_70b();
  CHECK(layer_parameter_count(model) == 855'654'400);
  CHECK(parameter_count(model) == 70'553'706'496);
}

TEST_CASE("parameters of GPT-2 are exact, with every bias and a tied head", "[model]") {
  CHECK(parameter_count(gpt2()) == 124'439'808);
}

TEST_CASE("a Llama block registers attention, MLP and norms in that order", "[model]") {
  CHECK(names(layer_parameters(llama_70b(), 3)) ==
        std::vector<std::string>{"layers.3.attention.q.weight", "layers.3.attention.k.weight",
                                 "layers.3.attention.v.weight", "layers.3.attention.output.weight",
                                 "layers.3.mlp.gate.weight", "layers.3.mlp.up.weight",
                                 "layers.3.mlp.down.weight", "layers.3.attention_norm.weight",
                                 "layers.3.mlp_norm.weight"});
}

TEST_CASE("a GPT-2 block registers each norm before what it feeds", "[model]") {
  const std::vector<std::string> list = names(layer_parameters(gpt2(), 0));
  CHECK(list.front() == "layers.0.attention_norm.weight");
  CHECK(list.back() == "layers.0.mlp.down.bias");
  CHECK(list.size() == 12);
  CHECK(names(embedding_parameters(gpt2())) ==
        std::vector<std::string>{"embedding.weight", "positions.weight"});
  CHECK(names(final_parameters(gpt2())) ==
        std::vector<std::string>{"final_norm.weight", "final_norm.bias"});
}

TEST_CASE("weights have the shape PyTorch stores", "[model]") {
  const std::vector<Parameter> list = layer_parameters(llama_70b(), 0);
  CHECK(list[1].shape == std::vector<std::int64_t>{1024, 8192});
  CHECK(list[6].shape == std::vector<std::int64_t>{8192, 28672});
}

TEST_CASE("the order of registration does not change the count", "[model]") {
  Model model = gpt2();
  const std::int64_t count = parameter_count(model);
  for (const ModuleOrder order :
       {ModuleOrder::attention_mlp_norms, ModuleOrder::norms_attention_mlp,
        ModuleOrder::attention_norm_mlp_norm}) {
    model.order = order;
    CHECK(parameter_count(model) == count);
  }
}

TEST_CASE("fusing projections changes tensors and not the count", "[model]") {
  Model model = llama_70b();
  const std::int64_t count = parameter_count(model);
  model.fused_qkv = true;
  model.fused_gate_up = true;
  CHECK(parameter_count(model) == count);
  CHECK(layer_parameters(model, 0).size() == 6);
}

TEST_CASE("an untied head adds a row a token, and a narrow embedding two projections", "[model]") {
  Model model = gpt2();
  const std::int64_t tied = parameter_count(model);
  model.tied_embeddings = false;
  CHECK(parameter_count(model) == tied + 50257 * 768);
  model.tied_embeddings = true;
  model.embedding_width = 512;
  CHECK(parameter_count(model) == tied - 50257 * (768 - 512) + 2 * 512 * 768);
}

TEST_CASE("training FLOPs count matrix multiplications and attention in full", "[model]") {
  const Model model = llama_70b();
  // 6 × (80 layers of matrices and the head) + 12·L·heads·head_dim·s, by hand.
  const double matrices = 80.0 * (2.0 * 8192 * 8192 + 2.0 * 8192 * 1024 + 3.0 * 8192 * 28672);
  const double expected = 6 * (matrices + 128256.0 * 8192) + 12.0 * 80 * 8192 * 8192;
  CHECK(training_flops_per_token(model, 8192, FlopsConvention::full_attention) == expected);
}

TEST_CASE("a causal mask leaves half of attention", "[model]") {
  const Model model = llama_70b();
  const double full = training_flops_per_token(model, 8192, FlopsConvention::full_attention);
  const double causal = training_flops_per_token(model, 8192, FlopsConvention::causal_attention);
  CHECK(full - causal == 6.0 * 80 * 8192 * 8192);
}

TEST_CASE("six-n is six operations a parameter, at any length", "[model]") {
  const Model model = llama_70b();
  CHECK(training_flops_per_token(model, 1, FlopsConvention::six_n) == 6.0 * 70'553'706'496);
  CHECK(training_flops_per_token(model, 8192, FlopsConvention::six_n) == 6.0 * 70'553'706'496);
}

TEST_CASE("a window bounds the attention of the layers that have one", "[model]") {
  Model model = llama_70b();
  const double whole = training_flops_per_token(model, 8192, FlopsConvention::full_attention);
  model.spans = {AttentionSpan{4096, true}, AttentionSpan{}};
  const double half = training_flops_per_token(model, 8192, FlopsConvention::full_attention);
  CHECK(whole - half == 12.0 * 40 * 8192 * 4096);
  // Within the window nothing changes; causal pairs within a window of half the sequence: 3/8 s².
  CHECK(training_flops_per_token(model, 4096, FlopsConvention::full_attention) ==
        training_flops_per_token(llama_70b(), 4096, FlopsConvention::full_attention));
  CHECK(layer_forward_flops_per_token(model, 0, 8192, FlopsConvention::causal_attention) -
            layer_forward_flops_per_token(model, 0, 8192, FlopsConvention::six_n) ==
        4.0 * 8192 * 8192 * 3 / 8);
}

TEST_CASE("a learned position table bounds the sequence", "[model]") {
  CHECK_THROWS_AS(for_sequence_length(gpt2(), 1025), stepsim::InputError);
  CHECK(parameter_count(for_sequence_length(gpt2(), 1024)) == 124'439'808);
  CHECK(parameter_count(for_sequence_length(llama_70b(), 1'000'000)) == 70'553'706'496);
}

TEST_CASE("llm-foundry's position tables grow with the sequence", "[model]") {
  Model model = gpt2();
  model.position_rows_follow_sequence = true;
  CHECK(parameter_count(for_sequence_length(model, 2048)) == 124'439'808 + 1024 * 768);
}
