#include "tests/cli/command.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim::test;

namespace {

const char* const small_llama = R"({
  "architectures": ["LlamaForCausalLM"],
  "model_type": "llama",
  "hidden_act": "silu",
  "hidden_size": 2048,
  "intermediate_size": 8192,
  "max_position_embeddings": 131072,
  "num_attention_heads": 32,
  "num_hidden_layers": 16,
  "num_key_value_heads": 8,
  "head_dim": 64,
  "rms_norm_eps": 1e-05,
  "tie_word_embeddings": true,
  "torch_dtype": "bfloat16",
  "vocab_size": 128256,
  "a_key_nobody_knows": 7
}
)";

}  // namespace

TEST_CASE("an imported config says what was read, assumed and ignored") {
  const Scratch scratch;
  const std::string config = scratch.write("config.json", small_llama);
  const Outcome outcome = run_stepsim("import hf " + config);
  CHECK(outcome.exit_code == 0);
  CHECK(contains(outcome.out, "# read: llama model, 16 layers, hidden 2048, 32 heads of 64"));
  CHECK(contains(outcome.out, "1.236 B parameters"));
  CHECK(contains(outcome.out, "# assumed: all blocks but model"));
  CHECK(contains(outcome.out, "# ignored: a_key_nobody_knows"));
}

TEST_CASE("an imported config runs as it is printed") {
  const int gpus = GENERATE(1, 5, 8, 64);
  CAPTURE(gpus);
  const Scratch scratch;
  const std::string config = scratch.write("config.json", small_llama);
  const std::string job = scratch.path("job.yaml");
  const std::string count = " --gpus " + std::to_string(gpus);
  CHECK(run_stepsim("import hf " + config + count + " -o " + job).exit_code == 0);
  CHECK(read_file(job) == run_stepsim("import hf " + config + count + " -o /proc/self/fd/1").out);
  const auto result = stepsim_json("run " + job);
  CHECK(result.at("simulation").at("ranks") == gpus);
  CHECK(result.at("memory").at("fits") == true);
}

TEST_CASE("the model is found from another folder than the config's") {
  const Scratch scratch;
  scratch.write("config.json", small_llama);
  std::filesystem::create_directory(scratch.path("jobs"));
  const std::string enter = "cd '" + scratch.path("") + "' && ";
  CHECK(shell(enter + "\"$STEPSIM\" import hf config.json -o jobs/job.yaml").exit_code == 0);
  CHECK(shell(enter + "\"$STEPSIM\" run jobs/job.yaml").exit_code == 0);
  CHECK(shell(enter + "\"$STEPSIM\" import hf config.json > here.yaml").exit_code == 0);
  CHECK(shell(enter + "\"$STEPSIM\" run here.yaml").exit_code == 0);
}

TEST_CASE("a config that cannot be imported names the reason and its place") {
  const Scratch scratch;
  const std::string experts =
      scratch.write("experts.json", "{\"model_type\": \"mixtral\",\n \"num_local_experts\": 8}\n");
  const std::string broken = scratch.write("broken.json", "{\"model_type\": \n");
  for (const std::string& file : {experts, broken, scratch.path("none.json")}) {
    CAPTURE(file);
    const Outcome outcome = run_stepsim("import hf " + file);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, file));
  }
  CHECK(run_stepsim("import hf " + scratch.write("config.json", small_llama) + " --gpus 0")
            .exit_code == 2);
}

TEST_CASE("a box's GPU matrix becomes a node that runs") {
  const Scratch scratch;
  const std::string matrix =
      scratch.write("box.txt",
                    "GPU0 GPU1 GPU2 GPU3 NIC0 CPU Affinity\nGPU0 X NV18 NV18 NV18 PIX 0-31\n"
                    "GPU1 NV18 X NV18 NV18 NODE 0-31\nGPU2 NV18 NV18 X NV18 SYS 32-63\n"
                    "GPU3 NV18 NV18 NV18 X SYS 32-63\n");
  const std::string node = scratch.path("box.yaml");
  const Outcome outcome = run_stepsim("import topo " + matrix +
                                      " --device h200-sxm-141gb --port '400 Gb/s' --name mine");
  CHECK(outcome.exit_code == 0);
  CHECK(contains(outcome.out, "# the file does not name the CPU: took intel"));
  CHECK(contains(outcome.out, "device: h200-sxm-141gb"));
  CHECK(run_stepsim("import topo " + matrix + " -o " + node).exit_code == 0);
  const std::string config = scratch.write("config.json", small_llama);
  const std::string job = scratch.path("job.yaml");
  CHECK(run_stepsim("import hf " + config + " --gpus 4 -o " + job).exit_code == 0);
  const auto result = stepsim_json("run " + job + " --set cluster.node=" + node);
  CHECK(result.at("simulation").at("ranks") == 4);
}

TEST_CASE("a box that cannot be read is refused with its line") {
  const Scratch scratch;
  const std::string matrix = scratch.write("box.txt", "GPU0 GPU1\nGPU0 X NV18\nGPU1 NV18 X SYS\n");
  CHECK(run_stepsim("import topo " + matrix).exit_code == 2);
  CHECK(contains(run_stepsim("import topo " + matrix).err, "box.txt:3"));
  CHECK(run_stepsim("import nccl-xml " + matrix).exit_code == 2);
  CHECK(run_stepsim("import topo " + matrix + " --port fast").exit_code == 2);
}
