#include "workloads/hf_config.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>

using namespace stepsim;
using namespace stepsim::workloads;

namespace {

ModelFile read(const std::string& json, UnknownKeys unknown = UnknownKeys::list) {
  const Document document = parse_document(json, "config.json", DocumentFormat::json);
  Diagnostics diagnostics;
  ModelFile file = read_model(document.root, "", unknown, diagnostics);
  diagnostics.throw_if_any();
  return file;
}

std::int64_t count(const std::string& json) { return parameter_count(read(json).model); }

std::vector<Diagnostic> problems(const std::string& json, UnknownKeys unknown = UnknownKeys::list) {
  try {
    read(json, unknown);
  } catch (const InputError& error) {
    return error.diagnostics();
  }
  return {};
}

/// A small Llama with the keys of `more` put first.
std::string llama(const std::string& more = "") {
  return "{" + more +
         R"("model_type": "llama", "hidden_size": 64, "intermediate_size": 96,
            "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100})";
}

}  // namespace

// Released checkpoints that are not in the zoo; the counts are the safetensors metadata (or, where
// it is said, the model card) of the repository named.
TEST_CASE("released checkpoints of many architectures have their published parameters",
          "[hf_config]") {
  // microsoft/phi-2
  CHECK(count(R"({"model_type": "phi", "hidden_size": 2560, "intermediate_size": 10240,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
      "vocab_size": 51200, "partial_rotary_factor": 0.4, "qk_layernorm": false,
      "tie_word_embeddings": false})") == 2'779'683'840);
  // microsoft/Phi-3.5-mini-instruct
  CHECK(count(R"({"model_type": "phi3", "hidden_size": 3072, "intermediate_size": 8192,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
      "vocab_size": 32064, "sliding_window": 262144, "tie_word_embeddings": false})") ==
        3'821'079'552);
  // google/gemma-2b
  CHECK(count(R"({"model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384,
      "num_hidden_layers": 18, "num_attention_heads": 8, "num_key_value_heads": 1,
      "head_dim": 256, "vocab_size": 256000})") == 2'506'172'416);
  // google/gemma-3-1b-pt
  CHECK(count(R"({"model_type": "gemma3_text", "hidden_size": 1152, "intermediate_size": 6912,
      "num_hidden_layers": 26, "num_attention_heads": 4, "num_key_value_heads": 1,
      "head_dim": 256, "vocab_size": 262144, "sliding_window": 512,
      "sliding_window_pattern": 6})") == 999'885'952);
  // allenai/OLMo-2-1124-7B
  CHECK(count(R"({"model_type": "olmo2", "hidden_size": 4096, "intermediate_size": 11008,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
      "vocab_size": 100352, "tie_word_embeddings": false})") == 7'298'617'344);
  // HuggingFaceTB/SmolLM3-3B-Base
  CHECK(count(R"({"model_type": "smollm3", "hidden_size": 2048, "intermediate_size": 11008,
      "num_hidden_layers": 36, "num_attention_heads": 16, "num_key_value_heads": 4,
      "vocab_size": 128256, "tie_word_embeddings": true})") == 3'075'098'624);
  // internlm/internlm2_5-7b-chat
  CHECK(count(R"({"model_type": "internlm2", "hidden_size": 4096, "intermediate_size": 14336,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
      "vocab_size": 92544, "bias": false, "tie_word_embeddings": false})") == 7'737'708'544);
  // bigcode/starcoder (gpt_bigcode: one key-value head)
  CHECK(count(R"({"model_type": "gpt_bigcode", "n_embd": 6144, "n_inner": 24576, "n_layer": 40,
      "n_head": 48, "n_positions": 8192, "vocab_size": 49152, "multi_query": true})") ==
        15'517'456'384);
  // EleutherAI/gpt-j-6b (model card)
  CHECK(count(R"({"model_type": "gptj", "n_embd": 4096, "n_inner": null, "n_layer": 28,
      "n_head": 16, "n_positions": 2048, "rotary_dim": 64, "vocab_size": 50400,
      "tie_word_embeddings": false})") == 6'050'882'784);
  // stabilityai/stablelm-2-1_6b
  CHECK(count(R"({"model_type": "stablelm", "hidden_size": 2048, "intermediate_size": 5632,
      "num_hidden_layers": 24, "num_attention_heads": 32, "num_key_value_heads": 32,
      "vocab_size": 100352, "use_qkv_bias": true, "tie_word_embeddings": false})") ==
        1'644'515'328);
  // bigcode/starcoder2-3b
  CHECK(count(R"({"model_type": "starcoder2", "hidden_size": 3072, "intermediate_size": 12288,
      "num_hidden_layers": 30, "num_attention_heads": 24, "num_key_value_heads": 2,
      "vocab_size": 49152, "use_bias": true, "sliding_window": 4096})") == 3'030'371'328);
  // allenai/OLMo-7B-hf
  CHECK(count(R"({"model_type": "olmo", "hidden_size": 4096, "intermediate_size": 11008,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
      "vocab_size": 50304, "clip_qkv": null, "tie_word_embeddings": false})") == 6'888'095'744);
  // ibm-granite/granite-3.0-8b-base
  CHECK(count(R"({"model_type": "granite", "hidden_size": 4096, "intermediate_size": 12800,
      "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8,
      "vocab_size": 49155, "tie_word_embeddings": true})") == 8'170'848'256);
  // CohereForAI/aya-expanse-8b
  CHECK(count(R"({"model_type": "cohere", "hidden_size": 4096, "intermediate_size": 14336,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
      "vocab_size": 256000, "use_qk_norm": false})") == 8'028'033'024);
  // mosaicml/mpt-7b: no biases and ALiBi, unlike llm-foundry's table models
  CHECK(count(R"({"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32,
      "expansion_ratio": 4, "vocab_size": 50432, "max_seq_len": 2048, "no_bias": true,
      "learned_pos_emb": true, "attn_config": {"alibi": true, "attn_type": "multihead_attention",
      "clip_qkv": null}})") == 6'649'286'656);
}

TEST_CASE("null means absent", "[hf_config]") {
  const Model model = read(llama(R"("num_key_value_heads": null, "head_dim": null, )")).model;
  CHECK(model.kv_heads == 4);
  CHECK(model.head_dim == 16);
  const Model gpt2 = read(R"({"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2,
      "n_inner": null, "n_positions": 128, "vocab_size": 100})")
                         .model;
  CHECK(gpt2.ffn == 256);
  CHECK(gpt2.tied_embeddings);
}

TEST_CASE("head_dim need not be the hidden size over the heads", "[hf_config]") {
  const Model model = read(R"({"model_type": "qwen3", "hidden_size": 1024, "head_dim": 128,
      "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16,
      "num_key_value_heads": 8, "vocab_size": 151936, "tie_word_embeddings": true})")
                          .model;
  CHECK(model.query_width() == 2048);
  CHECK(parameter_count(model) == 596'049'920);
}

TEST_CASE("a window of qwen2 counts only when use_sliding_window is on", "[hf_config]") {
  const auto qwen = [](const std::string& on) {
    return read(R"({"model_type": "qwen2", "hidden_size": 64, "intermediate_size": 96,
        "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 100,
        "sliding_window": 32, "max_window_layers": 2, "use_sliding_window": )" +
                on + "}")
        .model;
  };
  CHECK(qwen("false").spans.empty());
  REQUIRE(qwen("true").spans.size() == 4);
  CHECK_FALSE(qwen("true").span(1).window.has_value());
  CHECK(qwen("true").span(2).window == 32);
}

TEST_CASE("gemma2 alternates windows from the first layer on", "[hf_config]") {
  const Model model = read(R"({"model_type": "gemma2", "hidden_size": 64, "intermediate_size": 96,
      "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32,
      "vocab_size": 100, "sliding_window": 8, "attn_logit_softcapping": null})")
                          .model;
  CHECK(model.span(0).window == 8);
  CHECK_FALSE(model.span(1).window.has_value());
  CHECK(model.span(2).window == 8);
  CHECK_FALSE(model.attention_soft_cap.has_value());
  CHECK(model.logit_soft_cap == 30.0);
  CHECK(model.norms_per_layer() == 4);
}

TEST_CASE("mistral has its class's window unless the file says null", "[hf_config]") {
  const auto mistral = [](const std::string& window) {
    return read("{" + window +
                R"("model_type": "mistral", "hidden_size": 64, "intermediate_size": 96,
        "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100})")
        .model;
  };
  CHECK(mistral("").span(0).window == 4096);
  CHECK_FALSE(mistral(R"("sliding_window": null, )").span(0).window.has_value());
  CHECK(mistral(R"("sliding_window_size": 128, )").span(0).window == 128);
}

TEST_CASE("falcon's three generations differ in key-value heads and norms", "[hf_config]") {
  const auto falcon = [](const std::string& more) {
    return read("{" + more + R"("model_type": "falcon", "hidden_size": 64, "n_layer": 2,
        "num_attention_heads": 4, "vocab_size": 100})")
        .model;
  };
  const Model first = falcon(R"("multi_query": true, )");
  CHECK(first.kv_heads == 1);
  CHECK(first.norms_per_layer() == 1);
  CHECK(first.ffn == 256);
  const Model second = falcon(R"("new_decoder_architecture": true, "num_kv_heads": 2, )");
  CHECK(second.kv_heads == 2);
  CHECK(second.norms_per_layer() == 2);
  const Model third =
      falcon(R"("new_decoder_architecture": true, "n_head_kv": 2, "num_ln_in_parallel_attn": 1, )");
  CHECK(third.norms_per_layer() == 1);
  const Model serial = falcon(R"("parallel_attn": false, "bias": true, "alibi": true, )");
  CHECK_FALSE(serial.parallel_block);
  CHECK(serial.qkv_bias);
  CHECK(serial.positions == Positions::alibi);
}

TEST_CASE("opt projects a narrow embedding and may normalise afterwards", "[hf_config]") {
  // facebook/opt-350m has 331,196,416 parameters as transformers counts it.
  const Model model = read(R"({"model_type": "opt", "hidden_size": 1024, "ffn_dim": 4096,
      "num_hidden_layers": 24, "num_attention_heads": 16, "vocab_size": 50272,
      "max_position_embeddings": 2048, "word_embed_proj_dim": 512,
      "do_layer_norm_before": false})")
                          .model;
  CHECK(model.embedding_width == 512);
  CHECK_FALSE(model.final_norm);
  CHECK(model.norm_placement == NormPlacement::after);
  CHECK(model.position_rows == 2050);
  CHECK(parameter_count(model) == 331'196'416);
}

TEST_CASE("a text model inside a multimodal file is read, and what is left out is said",
          "[hf_config]") {
  const ModelFile file = read(R"({"model_type": "gemma3", "vision_config": {"hidden_size": 1152},
      "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,
      "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024}})");
  CHECK(file.model.vocabulary == 262'208);
  CHECK(file.model.layers == 34);
  CHECK(file.model.span(5).window == std::nullopt);
  REQUIRE(file.notes.size() == 1);
  CHECK(file.notes.front() == "vision_config is left out: only the language model is simulated");
}

TEST_CASE("what is not modelled is refused with the key that is the reason", "[hf_config]") {
  const std::vector<Diagnostic> mixtral = problems(
      "{\n  \"model_type\": \"mixtral\",\n  \"num_local_experts\": 8,\n  \"hidden_size\": 64\n}");
  REQUIRE(mixtral.size() == 1);
  CHECK(mixtral.front().to_string() ==
        "config.json:3:3: num_local_experts: mixture of experts is not modelled (expected a dense "
        "decoder)");
  const std::vector<Diagnostic> deepseek =
      problems(R"({"model_type": "deepseek_v3", "n_routed_experts": 256, "kv_lora_rank": 512,
          "num_nextn_predict_layers": 0})");
  REQUIRE(deepseek.size() == 2);
  CHECK(deepseek[0].path == "n_routed_experts");
  CHECK(deepseek[1].path == "kv_lora_rank");
  const std::vector<Diagnostic> nested = problems(
      R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
          "num_local_experts": 16}})");
  REQUIRE(nested.size() == 1);
  CHECK(nested.front().path == "text_config.num_local_experts");
}

TEST_CASE("an unknown architecture is refused by name, with those that are known", "[hf_config]") {
  const std::vector<Diagnostic> list = problems(R"({"model_type": "lama", "hidden_size": 64})");
  REQUIRE(list.size() == 1);
  CHECK(list.front().problem == "\"lama\" is not an architecture that can be read");
  CHECK(list.front().suggestion == "llama");
  CHECK(list.front().expected.find("gpt_neox") != std::string::npos);
  CHECK(problems(R"({"hidden_size": 64})").front().problem == "is missing");
}

TEST_CASE("every problem of a file is reported at once, with its place", "[hf_config]") {
  const std::vector<Diagnostic> list = problems(R"({"model_type": "llama",
    "hidden_size": "wide", "intermediate_size": 0, "num_hidden_layers": 2,
    "num_attention_heads": 6, "num_key_value_heads": 4})");
  REQUIRE(list.size() == 4);
  const auto has = [&](const char* path) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Diagnostic& d) { return d.path == path && d.where.line > 0; });
  };
  CHECK(has("hidden_size"));
  CHECK(has("intermediate_size"));
  CHECK(has("num_key_value_heads"));
  CHECK(has("vocab_size"));
}

TEST_CASE("a hidden size that the heads do not divide is refused", "[hf_config]") {
  const std::vector<Diagnostic> list = problems(R"({"model_type": "llama", "hidden_size": 65,
    "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
    "vocab_size": 100})");
  REQUIRE(list.size() == 1);
  CHECK(list.front().path == "head_dim");
}

TEST_CASE("keys that cannot change the work are passed over, others are listed", "[hf_config]") {
  const ModelFile file =
      read(llama(R"("torch_dtype": "bfloat16", "dtype": "bfloat16", "rope_theta": 10000.0,
               "attention_dropout": 0.1, "my_own_key": 3, )"));
  CHECK(file.ignored == std::vector<std::string>{"attention_dropout", "my_own_key"});
}

TEST_CASE("in a file written for us an unknown key is an error with the nearest known",
          "[hf_config]") {
  const std::vector<Diagnostic> list =
      problems(llama(R"("num_key_value_head": 2, )"), UnknownKeys::refuse);
  REQUIRE(list.size() == 1);
  CHECK(list.front().path == "num_key_value_head");
  CHECK(list.front().suggestion == "num_key_value_heads");
}

TEST_CASE("the first falcon files do not say that they are of the new kind", "[hf_config]") {
  const Model model = read(R"({"model_type": "RefinedWeb", "hidden_size": 8192, "n_layer": 60,
      "n_head": 128, "n_head_kv": 8, "vocab_size": 65024, "parallel_attn": true,
      "alibi": false, "bias": false})")
                          .model;
  CHECK(parameter_count(model) == 41'303'293'952);
}

TEST_CASE("dropout of nothing is accepted in every file, other dropout only listed",
          "[hf_config]") {
  const std::string zero = R"("attention_dropout": 0.0, "resid_pdrop": 0, )";
  CHECK(problems(llama(zero), UnknownKeys::refuse).empty());
  CHECK(read(llama(zero)).ignored.empty());
  const std::string some = R"("attention_dropout": 0.1, )";
  CHECK(problems(llama(some), UnknownKeys::refuse).size() == 1);
  CHECK(read(llama(some)).ignored.size() == 1);
}

TEST_CASE("a block that is no block, and wrong kinds of values, are refused", "[hf_config]") {
  CHECK(problems("[1, 2]").size() == 1);
  CHECK(problems(R"({"model_type": ["llama"]})").size() >= 1);
  CHECK(problems(R"({"model_type": "mpt", "d_model": 64, "n_heads": 4, "n_layers": 2,
      "vocab_size": 100, "attn_config": 3})")
            .size() == 1);
  CHECK(problems(R"({"model_type": "gpt_neo", "hidden_size": 64, "num_heads": 4,
      "num_layers": 2, "vocab_size": 100, "max_position_embeddings": 64,
      "attention_types": [["global"]]})")
            .size() == 1);
  CHECK(problems(R"({"text_config": {"text_config": {"model_type": "x"}}})").size() == 1);
}

TEST_CASE("absurd sizes are refused before anything overflows", "[hf_config]") {
  CHECK(problems(R"({"model_type": "llama", "hidden_size": 999999999999, "intermediate_size": 96,
    "num_hidden_layers": 999999999, "num_attention_heads": 4, "vocab_size": 100,
    "head_dim": 16})")
            .size() == 2);
}

TEST_CASE("layers without rotary positions are the ones the architecture says", "[hf_config]") {
  const auto file = [](const std::string& more) {
    return read("{" + more + R"("hidden_size": 64, "intermediate_size": 96,
      "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 4,
      "vocab_size": 100})")
        .model;
  };
  const Model smollm = file(R"("model_type": "smollm3", "no_rope_layers": [1, 0, 1, 1], )");
  CHECK(smollm.span(0).rotary);
  CHECK_FALSE(smollm.span(1).rotary);
  CHECK_FALSE(file(R"("model_type": "smollm3", )").span(3).rotary);
  const Model cohere = file(R"("model_type": "cohere2", "sliding_window": 8, )");
  CHECK(cohere.span(2).rotary);
  CHECK_FALSE(cohere.span(3).rotary);
  const Model exaone = file(R"("model_type": "exaone4", "sliding_window": 8,
      "sliding_window_pattern": "LG", )");
  CHECK(exaone.span(0).window == 8);
  CHECK_FALSE(exaone.span(1).rotary);
  CHECK(file(R"("model_type": "exaone4", "sliding_window": null, )").span(0).rotary);
}

TEST_CASE("layer_types must name each layer with a kind that is modelled", "[hf_config]") {
  const auto olmo3 = [](const std::string& types) {
    return problems(R"({"model_type": "olmo3", "hidden_size": 64, "intermediate_size": 96,
      "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100, "layer_types": )" +
                    types + "}");
  };
  CHECK(olmo3(R"(["full_attention", "sliding_attention"])").empty());
  CHECK(olmo3(R"(["full_attention"])").size() == 1);
  CHECK(olmo3(R"(["full_attention", "linear_attention"])").size() == 1);
}

TEST_CASE("layers of another kind are refused also by architectures that have one kind only",
          "[hf_config]") {
  const auto llama = [](const std::string& types) {
    return problems(R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 96,
      "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100, "layer_types": )" +
                    types + "}");
  };
  CHECK(llama(R"(["full_attention", "full_attention"])").empty());
  REQUIRE(llama(R"(["full_attention", "linear_attention"])").size() == 1);
  CHECK(llama(R"(["full_attention", "linear_attention"])").front().problem ==
        "has a layer of \"linear_attention\", which is not modelled");
}
