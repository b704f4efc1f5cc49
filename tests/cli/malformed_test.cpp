#include "tests/cli/command.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim::test;

namespace {

struct Malformed {
  const char* what;
  std::string text;
  const char* place;    // «line:column» where the first problem stands
  const char* message;  // part of what is said
};

const std::string head =
    "model: llama3-8b\n"
    "cluster: { node: dgx-h100, nodes: 1 }\n"
    "plan: { strategy: fsdp2, shard: 8 }\n";
const std::string training =
    "training: { sequence_length: 8192, micro_batch: 1, global_batch: 8 }\n";
const std::string whole = head + training;

std::string many_aliases() {
  std::string text = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char name = 'b'; name < 'm'; ++name) {
    const std::string previous = std::string("*") + static_cast<char>(name - 1);
    text += std::string(1, name) + ": &" + name + " [" + previous;
    for (int i = 0; i < 8; ++i) text += ", " + previous;
    text += "]\n";
  }
  return text;
}

std::vector<Malformed> malformed_scenarios() {
  return {
      {"an unknown block", whole + "trainig: {}\n", "5:1", "trainig: is not a known key"},
      {"an unknown key",
       head + "training: { sequence_lenght: 8192, micro_batch: 1, global_batch: 8 }\n", "4:13",
       "did you mean \"sequence_length\"?"},
      {"a duplicate key", whole + "model: llama3-70b\n", "5:1", "model"},
      {"an unknown model", "model: llama3-7b\n" + whole.substr(17), "1:8", "did you mean"},
      {"an unknown node", "model: llama3-8b\ncluster: { node: dgx-h10, nodes: 1 }\n", "2:18",
       "did you mean \"dgx-h100\"?"},
      {"no nodes", "model: llama3-8b\ncluster: { node: dgx-h100, nodes: 0 }\n", "2:35", "0"},
      {"a negative number of nodes", "model: llama3-8b\ncluster: { node: dgx-h100, nodes: -8 }\n",
       "2:35", "-8"},
      {"more nodes than there are integers",
       "model: llama3-8b\ncluster: { node: dgx-h100, nodes: 99999999999999999999 }\n", "2:35",
       "99999999999999999999"},
      {"a word for a number", "model: llama3-8b\ncluster: { node: dgx-h100, nodes: eight }\n",
       "2:35", "eight"},
      {"a fraction of a node", "model: llama3-8b\ncluster: { node: dgx-h100, nodes: 1.5 }\n",
       "2:35", "1.5"},
      {"not a number", whole.substr(0, 17) + "cluster: { node: dgx-h100, nodes: .nan }\n", "2:35",
       ".nan"},
      {"a nan oversubscription",
       "model: llama3-8b\ncluster: { node: dgx-h100, nodes: 2, fabric: { oversubscription: nan } "
       "}\n",
       "2:66", "nan"},
      {"an infinite oversubscription",
       "model: llama3-8b\ncluster: { node: dgx-h100, nodes: 2, fabric: { oversubscription: .inf } "
       "}\n",
       "2:66", ".inf"},
      {"a bare number where a unit is needed", whole + "measured: { step_time: 9.6 }\n", "5:24",
       "9.6"},
      {"a wrong unit", whole + "measured: { step_time: 9.6 GB }\n", "5:24", "9.6 GB"},
      {"a negative time", whole + "measured: { step_time: -1 s }\n", "5:24", "-1 s"},
      {"an unknown strategy",
       "model: llama3-8b\ncluster: { node: dgx-h100, nodes: 1 }\nplan: { strategy: fsdp3 }\n",
       "3:19", "fsdp3"},
      {"degrees that do not make the cluster",
       "model: llama3-8b\ncluster: { node: dgx-h100, nodes: 1 }\nplan: { strategy: fsdp2, shard: 7 "
       "}\n" +
           training,
       "3:33", "7"},
      {"a batch that does not divide",
       head + "training: { sequence_length: 8192, micro_batch: 1, global_batch: 9 }\n", "4:66",
       "9"},
      {"a key of another strategy",
       "model: llama3-8b\ncluster: { node: dgx-h100, nodes: 1 }\nplan: { strategy: ddp, "
       "reshard_after_forward: true }\n" +
           training,
       "3:47", "reshard_after_forward"},
      {"yes for true",
       head.substr(0, head.size() - 2) + ", reshard_after_forward: yes }\n" + training, "3:60",
       "yes"},
      {"a list for a block", "model: llama3-8b\ncluster: [1, 2]\n", "2:10", "list"},
      {"a block for a name", "model: llama3-8b\ncluster: { node: { a: b }, nodes: 1 }\n", "2:18",
       ""},
      {"a list at the top", "- model: llama3-8b\n", "1:1", "list"},
      {"a number at the top", "42\n", "1:1", "42"},
      {"an unclosed bracket", "model: llama3-8b\ncluster: { node: dgx-h100\n", "", ""},
      {"a tab for indentation", "model: llama3-8b\ncluster:\n\tnode: dgx-h100\n", "3:", ""},
      {"an alias that contains itself", "model: &m [*m]\n", "1:", ""},
      {"aliases that expand without end", many_aliases(), "", ""},
      {"an unknown alias", "model: *nothing\n", "1:8", ""},
      {"a merge key", "base: &b { node: dgx-h100 }\ncluster:\n  <<: *b\n", "", "merge key"},
      {"a tag", "model: !!binary aGVsbG8=\n", "1:", ""},
      {"two documents", whole + "---\n" + whole, "", ""},
      {"an empty file", "", "", ""},
      {"only a comment", "# nothing\n", "", ""},
      {"a binary file",
       std::string("\x7f"
                   "ELF\x02\x01\x01\0\0\0\0\0",
                   12),
       "", ""},
      {"bytes that are not UTF-8", "model: \xff\xfe\n", "1:", ""},
      {"a number in octal", "model: llama3-8b\ncluster: { node: dgx-h100, nodes: 010 }\n", "2:35",
       "010"},
      {"heads that do not divide",
       "model: { model_type: llama, hidden_size: 4097, num_attention_heads: 32, num_hidden_layers: "
       "2, "
       "intermediate_size: 64, vocab_size: 100 }\n" +
           whole.substr(17),
       "1:", ""},
      {"a model of zero layers",
       "model: { model_type: llama, hidden_size: 4096, num_attention_heads: 32, num_hidden_layers: "
       "0, "
       "intermediate_size: 64, vocab_size: 100 }\n" +
           whole.substr(17),
       "1:", "num_hidden_layers"},
      {"a missing model file", "model: ./no-such-config.json\n" + whole.substr(17), "1:8", ""},
  };
}

}  // namespace

TEST_CASE("a malformed scenario exits with 2, names the place and prints no result") {
  const Scratch scratch;
  for (const Malformed& scenario : malformed_scenarios()) {
    CAPTURE(scenario.what, scenario.text);
    const std::string file = scratch.write("job.yaml", scenario.text);
    for (const char* verb : {"run ", "memory "}) {
      const Outcome outcome = run_stepsim(verb + file);
      CHECK(outcome.exit_code == 2);
      CHECK(outcome.out.empty());
      CAPTURE(outcome.err);
      CHECK(contains(outcome.err, file + (*scenario.place ? ":" : "") + scenario.place));
      CHECK(contains(outcome.err, scenario.message));
    }
  }
}

TEST_CASE("all problems of a file are reported in one run") {
  const Scratch scratch;
  const std::string file = scratch.write("job.yaml",
                                         "model: llama3-8b\n"
                                         "cluster: { node: dgx-h100, nodes: 0, color: blue }\n"
                                         "plan: { strategy: fsdp3 }\n"
                                         "training: { sequence_length: long }\n");
  const Outcome outcome = run_stepsim("run " + file);
  CHECK(outcome.exit_code == 2);
  for (const char* place : {":2:35: ", ":2:38: ", ":3:19: ", ":4:30: "}) {
    CAPTURE(place, outcome.err);
    CHECK(contains(outcome.err, file + place));
  }
}

TEST_CASE("files that are no files are refused") {
  const Scratch scratch;
  for (const std::string& file : {scratch.path("none.yaml"), scratch.path(""),
                                  std::string("/dev/null"), std::string("/dev/zero")}) {
    CAPTURE(file);
    const Outcome outcome = run_stepsim("run " + file);
    CHECK(outcome.exit_code == 2);
    CHECK_FALSE(outcome.err.empty());
  }
}

TEST_CASE("a huge file is refused quickly") {
  const Scratch scratch;
  std::string text = whole;
  while (text.size() < 10'000'000) text += "# a comment that goes on and on and on and on and on\n";
  const Outcome outcome = run_stepsim("run " + scratch.write("job.yaml", text));
  CHECK(outcome.exit_code == 2);
  CHECK(contains(outcome.err, "job.yaml"));
}

TEST_CASE("a malformed --set is refused with its text") {
  for (const char* change :
       {"training.micro_batch", "training.micro_bach=2", "=3", "a.b.c=3",
        "training.micro_batch=two", "'training.micro_batch=[1'", "cluster=3"}) {
    CAPTURE(change);
    const Outcome outcome = run_stepsim("run " + example + " --set " + change);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK_FALSE(outcome.err.empty());
  }
}

TEST_CASE("sizes at the edge of what can be counted are refused, not wrong") {
  const Scratch scratch;
  const std::string file = scratch.write(
      "job.yaml",
      "model: { model_type: llama, hidden_size: 1000000, num_attention_heads: 10000, "
      "num_hidden_layers: 10000, intermediate_size: 10000000, vocab_size: 100000000, "
      "max_position_embeddings: 1000000000 }\n"
      "cluster: { node: dgx-h100, nodes: 1 }\n"
      "plan: { strategy: fsdp2, shard: 8 }\n"
      "training: { sequence_length: 1000000000, micro_batch: 1000000, global_batch: 8000000 }\n");
  const Outcome outcome = run_stepsim("run " + file);
  CAPTURE(outcome.err, outcome.out);
  CHECK((outcome.exit_code == 1 || outcome.exit_code == 2));
}
