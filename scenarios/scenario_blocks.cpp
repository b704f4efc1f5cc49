#include "scenarios/scenario_blocks.hpp"

#include "sim/base/message_text.hpp"

namespace stepsim::scenarios {

namespace {

using topology::FabricKind;
using workloads::AttentionKernel;
using workloads::CheckpointKind;
using workloads::DType;
using workloads::FlopsConvention;
using workloads::PipelineSchedule;
using workloads::SelectivePolicy;
using workloads::Strategy;

constexpr Integer degree{1, ScenarioLimits::gpus};
/// Above zero and far below what would leave the range of a double.
constexpr Number positive{0.001, 1e18};
constexpr Number share{0.001, 1};

const Words<FabricKind>& fabric_words() {
  static const Words<FabricKind> words{{{"single-switch", FabricKind::single_switch},
                                        {"rail-optimized", FabricKind::rail_optimized},
                                        {"fat-tree", FabricKind::fat_tree}},
                                       {}};
  return words;
}

const Words<Strategy>& strategy_words() {
  static const Words<Strategy> words{
      {{"ddp", Strategy::ddp}, {"fsdp2", Strategy::fsdp2}, {"megatron", Strategy::megatron}},
      {"fsdp1", "zero1", "zero2", "zero3"}};
  return words;
}

const Words<PipelineSchedule>& schedule_words() {
  static const Words<PipelineSchedule> words{{{"gpipe", PipelineSchedule::gpipe},
                                              {"1f1b", PipelineSchedule::one_f_one_b},
                                              {"interleaved", PipelineSchedule::interleaved},
                                              {"zb1p", PipelineSchedule::zb1p},
                                              {"zbv", PipelineSchedule::zbv},
                                              {"dualpipe", PipelineSchedule::dualpipe},
                                              {"dualpipev", PipelineSchedule::dualpipev}},
                                             {}};
  return words;
}

const Words<DType>& precision_words() {
  static const Words<DType> words{
      {{"bf16", DType::bf16}, {"fp16", DType::fp16}, {"fp32", DType::fp32}},
      {"fp8", "mxfp8", "fp4", "nvfp4", "tf32"}};
  return words;
}

const Words<CheckpointKind>& checkpoint_words() {
  static const Words<CheckpointKind> words{{{"none", CheckpointKind::none},
                                            {"selective", CheckpointKind::selective},
                                            {"full", CheckpointKind::full}},
                                           {}};
  return words;
}

const Words<SelectivePolicy>& policy_words() {
  static const Words<SelectivePolicy> words{{{"op", SelectivePolicy::op},
                                             {"every_n", SelectivePolicy::every_n},
                                             {"core_attention", SelectivePolicy::core_attention}},
                                            {"modules"}};
  return words;
}

const Words<AttentionKernel>& attention_words() {
  static const Words<AttentionKernel> words{{{"flash1", AttentionKernel::flash1},
                                             {"flash2", AttentionKernel::flash2},
                                             {"flash3", AttentionKernel::flash3},
                                             {"cudnn", AttentionKernel::cudnn},
                                             {"unfused", AttentionKernel::unfused}},
                                            {"efficient"}};
  return words;
}

const Words<FlopsConvention>& convention_words() {
  static const Words<FlopsConvention> words{
      {{"full-attention", FlopsConvention::full_attention},
       {"causal-attention", FlopsConvention::causal_attention},
       {"six-n", FlopsConvention::six_n}},
      {}};
  return words;
}

const Words<Optimizer>& optimizer_words() {
  static const Words<Optimizer> words{{{"adamw", Optimizer::adamw}},
                                      {"adam", "sgd", "adafactor", "lion", "muon", "adam8bit"}};
  return words;
}

const Words<GradientSync>& gradient_sync_words() {
  static const Words<GradientSync> words{
      {{"every", GradientSync::every}, {"last", GradientSync::last}}, {}};
  return words;
}

Reference model_reference() {
  return {"a model name, the path of a Hugging Face config.json, or a block of its keys",
          {{"type", Json::array({"string", "object"})}}};
}

Reference node_reference() {
  return {"a node type, the path of a node file or an NCCL topology XML, or a block of keys",
          {{"type", Json::array({"string", "object"})}}};
}

const Block<GpuSpec>& gpu_block() {
  static const Block<GpuSpec> block =
      Block<GpuSpec>()
          .optional("memory", &GpuSpec::memory, ByteCount{},
                    "Memory of a GPU as the driver reports it, instead of the device file's")
          .optional("memory_bandwidth", &GpuSpec::memory_bandwidth, DataRate{},
                    "Peak memory bandwidth of a GPU, instead of the device file's")
          .optional("power_limit", &GpuSpec::power_limit_watts, Power{},
                    "Power limit of a GPU where it is below the data sheet's: clocks under load "
                    "fall with it");
  return block;
}

const Block<FabricSpec>& fabric_block() {
  static const Block<FabricSpec> block =
      Block<FabricSpec>()
          .optional("kind", &FabricSpec::kind, fabric_words(),
                    "How nodes are joined: port i of every node on leaf switch i "
                    "(rail-optimized), all ports of a node on one leaf (fat-tree), or one switch")
          .optional("oversubscription", &FabricSpec::oversubscription, Number{1, 1000},
                    "What the ports of a leaf can ask for over what its uplinks carry")
          .optional("nic", &FabricSpec::nic, DataRate{},
                    "Line rate of one network port, one direction, instead of the node file's")
          .optional("nics_per_node", &FabricSpec::nics_per_node,
                    Integer{1, ScenarioLimits::nics_per_node},
                    "Network ports of a node, instead of the node file's")
          .optional("nodes_per_leaf", &FabricSpec::nodes_per_leaf,
                    Integer{1, ScenarioLimits::nodes},
                    "Nodes under one leaf, or one group of rail leaves; what 64-port switches with "
                    "half their ports down give when left out")
          .optional("nodes_per_pod", &FabricSpec::nodes_per_pod, Integer{1, ScenarioLimits::nodes},
                    "Nodes of a pod, between which there is a third tier of switches; one pod "
                    "when left out")
          .optional("pod_oversubscription", &FabricSpec::pod_oversubscription, Number{1, 1000},
                    "What the ports of a pod can ask for over what its uplinks carry")
          .optional("latency", &FabricSpec::latency, Duration{},
                    "Of a message between nodes, one way, beyond what NCCL's tables count for one")
          .optional("ecmp", &FabricSpec::ecmp, Integer{0, 2'147'483'647},
                    "Seed of the hash by which each flow takes one of a leaf's uplinks; traffic "
                    "spreads evenly over them when left out");
  return block;
}

const Block<ClusterSpec>& cluster_block() {
  static const Block<ClusterSpec> block =
      Block<ClusterSpec>()
          .required("node", &ClusterSpec::node, node_reference(),
                    "Node type (`stepsim list nodes`), path of a node file or of an NCCL topology "
                    "XML, or a block with a node file's keys")
          .optional("nodes", &ClusterSpec::nodes, Integer{1, ScenarioLimits::nodes},
                    "Number of nodes; as many as gpus need when left out")
          .optional("gpus", &ClusterSpec::gpus, degree,
                    "GPUs in all; those of whole nodes when left out. The last node may be partly "
                    "used")
          .optional("gpu", &ClusterSpec::gpu, gpu_block(), "What differs from the device file")
          .optional("fabric", &ClusterSpec::fabric, fabric_block(), "Network between the nodes")
          .optional("slow", &ClusterSpec::slow, SlowParts{}, "What is slower than its type")
          .optional("noise", &ClusterSpec::noise, NoiseBlock{},
                    "Kernels and ranks that are not equally fast every time");
  return block;
}

const Block<PlanSpec>& plan_block() {
  static const Block<PlanSpec> block =
      Block<PlanSpec>()
          .required("strategy", &PlanSpec::strategy, strategy_words(),
                    "How parameters, gradients and optimizer states are spread over ranks")
          .optional("shard", &PlanSpec::shard, degree,
                    "fsdp2: ranks that share one copy of the parameters; fills the cluster when "
                    "left out")
          .optional("replicate", &PlanSpec::replicate, degree,
                    "Copies of the parameters. ddp and megatron: fills the cluster when left out; "
                    "fsdp2: 1 when left out, more is hybrid sharding")
          .optional("reshard_after_forward", &PlanSpec::reshard_after_forward, FlagNotYetSize{},
                    "fsdp2: free a block's unsharded parameters after its forward pass and gather "
                    "them again for its backward pass")
          .optional(
              "bucket_size", &PlanSpec::bucket_size, ByteCount{"MiB"},
              "bytes of a gradient bucket. ddp: 1 MiB for the first and 25 MiB for the others "
              "when left out; megatron: 40 million gradients, or 1 million times replicate "
              "if that is more")
          .optional("gradient_as_bucket_view", &PlanSpec::gradient_as_bucket_view, Flag{},
                    "ddp: gradients live in the buckets instead of beside them")
          .optional("tp", &PlanSpec::tp, degree,
                    "megatron: ranks that share every layer (tensor parallelism)")
          .optional("sequence_parallel", &PlanSpec::sequence_parallel, Flag{},
                    "megatron: norms and residual sums work on a part of the tokens on each rank "
                    "of a tensor group")
          .optional("pp", &PlanSpec::pp, degree,
                    "megatron: ranks that a micro-batch passes through (pipeline parallelism)")
          .optional("schedule", &PlanSpec::schedule, schedule_words(),
                    "megatron: order of the passes of a pipeline rank")
          .optional("virtual_stages", &PlanSpec::virtual_stages, Integer{1, 1'000},
                    "interleaved: pipeline stages that a rank holds")
          .optional("stage_layers", &PlanSpec::stage_layers, Counts{1, 10'000},
                    "megatron: blocks of each pipeline stage, in the order of the stages; even "
                    "when left out")
          .optional("embedding_as_layer", &PlanSpec::embedding_as_layer, Flag{},
                    "megatron: the embedding counts as a block where stages are made even")
          .optional("head_as_layer", &PlanSpec::head_as_layer, Flag{},
                    "megatron: the head counts as a block where stages are made even")
          .optional("rank_order", &PlanSpec::rank_order, Text{},
                    "megatron: the parallel groups that neighbouring ranks differ in, the nearest "
                    "first, such as tp-cp-ep-dp-pp")
          .optional("distributed_optimizer", &PlanSpec::distributed_optimizer, Flag{},
                    "megatron: replicas share the optimizer's states")
          .optional("overlap_grad_reduce", &PlanSpec::overlap_grad_reduce, Flag{},
                    "megatron: gradients are reduced in buckets beside the last backward pass")
          .optional("overlap_param_gather", &PlanSpec::overlap_param_gather, Flag{},
                    "megatron: parameters are gathered beside the first forward pass")
          .degrees_of_one({"cp", "ep", "etp"})
          .later({"tp_comm_overlap", "cp_kind", "forward_prefetch", "backward_prefetch",
                  "limit_all_gathers", "zero", "offload", "moe"});
  return block;
}

const Block<CheckpointingSpec>& checkpointing_block() {
  static const Block<CheckpointingSpec> block =
      Block<CheckpointingSpec>()
          .required("kind", &CheckpointingSpec::kind, checkpoint_words(),
                    "Which activations are dropped and computed again in the backward pass")
          .optional("policy", &CheckpointingSpec::policy, policy_words(),
                    "selective: what is computed again: everything but matrix products and "
                    "attention (op), every n-th block (every_n), or attention (core_attention)")
          .optional("n", &CheckpointingSpec::n, Integer{1, 10'000},
                    "selective, every_n: of how many blocks one is computed again")
          .optional("early_stop", &CheckpointingSpec::early_stop, Flag{},
                    "Recomputation ends with the last tensor that the backward pass needs")
          .later({"fraction", "modules", "offload"});
  return block;
}

const Block<TrainingSpec>& training_block() {
  static const Block<TrainingSpec> block =
      Block<TrainingSpec>()
          .required("sequence_length", &TrainingSpec::sequence_length,
                    Integer{1, ScenarioLimits::sequence_length}, "Tokens of a sequence")
          .optional("micro_batch", &TrainingSpec::micro_batch,
                    Integer{1, ScenarioLimits::micro_batch},
                    "Sequences that a model replica takes at once")
          .optional("global_batch", &TrainingSpec::global_batch,
                    Integer{1, ScenarioLimits::global_batch},
                    "Sequences of a step; one micro-batch of every replica when left out")
          .optional("precision", &TrainingSpec::precision, precision_words(),
                    "Of the computation and of unsharded parameters")
          .optional("parameter_precision", &TrainingSpec::parameter_precision, precision_words(),
                    "Of the parameters that the optimizer updates")
          .optional("reduce_precision", &TrainingSpec::reduce_precision, precision_words(),
                    "Of gradients on the network. fsdp2: fp32 when left out; ddp: that of the "
                    "parameters")
          .optional("activation_checkpointing", &TrainingSpec::activation_checkpointing,
                    Checkpointing{}, "Which activations are dropped and computed again")
          .optional("optimizer", &TrainingSpec::optimizer, optimizer_words(),
                    "What updates the parameters")
          .optional("gradient_sync", &TrainingSpec::gradient_sync, gradient_sync_words(),
                    "fsdp2: gradients are reduced after every micro-batch, or after the last only")
          .later({"gradient_precision", "optimizer_precision", "lora", "packing", "tokens"});
  return block;
}

const Block<NcclSpec>& nccl_block() {
  static const Words<std::string> algorithms{{{"ring", "ring"},
                                              {"tree", "tree"},
                                              {"nvls", "nvls"},
                                              {"nvls_tree", "nvls_tree"},
                                              {"pat", "pat"},
                                              {"collnet_direct", "collnet_direct"},
                                              {"collnet_chain", "collnet_chain"}},
                                             {}};
  static const Words<std::string> protocols{
      {{"LL", "LL"}, {"LL128", "LL128"}, {"Simple", "Simple"}}, {}};
  static const Block<NcclSpec> block =
      Block<NcclSpec>()
          .optional("version", &NcclSpec::version, Version{},
                    "The newest constants that are not newer are taken")
          .optional("algo", &NcclSpec::algo, algorithms,
                    "The only algorithm of collectives that have it, as NCCL_ALGO")
          .optional("proto", &NcclSpec::proto, protocols, "The only protocol, as NCCL_PROTO")
          .optional("max_ctas", &NcclSpec::max_ctas, Integer{1, 64},
                    "Thread blocks of a collective at most, as NCCL_MAX_CTAS")
          .optional("nvls", &NcclSpec::nvls, Flag{},
                    "Whether NVLink switches may reduce, as NCCL_NVLS_ENABLE")
          .optional("collnet", &NcclSpec::collnet, Flag{},
                    "Whether the network's switches reduce (SHARP), as NCCL_COLLNET_ENABLE");
  return block;
}

const Block<FusedSpec>& fused_block() {
  static const Block<FusedSpec> block =
      Block<FusedSpec>()
          .optional("optimizer", &FusedSpec::optimizer, Flag{},
                    "The update is one kernel over all tensors; when false, one for each operation")
          .later({"norm", "rotary", "swiglu", "cross_entropy"});
  return block;
}

const Block<SoftwareSpec>& software_block() {
  static const Block<SoftwareSpec> block =
      Block<SoftwareSpec>()
          .optional("compile", &SoftwareSpec::compile, Flag{},
                    "torch.compile: element-wise operations are fused")
          .optional("cuda_graph", &SoftwareSpec::cuda_graph, Flag{},
                    "Kernels are launched as a recorded graph")
          .optional("attention", &SoftwareSpec::attention, attention_words(), "Attention kernel")
          .optional("fused", &SoftwareSpec::fused, fused_block(), "Kernels fused by hand")
          .optional("nccl", &SoftwareSpec::nccl, NcclBlock{},
                    "Version of NCCL, or a block of what is set of it")
          .optional("interference", &SoftwareSpec::interference, Flag{},
                    "Kernels slow while collectives hold SMs and memory bandwidth of their GPU")
          .later({"pytorch", "transformer_engine", "released", "launch_blocking", "data_loader"});
  return block;
}

const Block<PeakMemorySpec>& peak_memory_block() {
  static const Words<PeakMemoryKind> kinds{{{"allocated", PeakMemoryKind::allocated},
                                            {"reserved", PeakMemoryKind::reserved},
                                            {"device", PeakMemoryKind::device}},
                                           {}};
  static const Block<PeakMemorySpec> block =
      Block<PeakMemorySpec>()
          .optional("value", &PeakMemorySpec::value, ByteCount{}, "Peak memory of the fullest GPU")
          .optional("kind", &PeakMemorySpec::kind, kinds,
                    "What it counts: tensors (allocated), the allocator's segments (reserved), or "
                    "all that the GPU holds (device)");
  return block;
}

const Block<MeasuredSpec>& measured_block() {
  static const Block<MeasuredSpec> block =
      Block<MeasuredSpec>()
          .optional("step_time", &MeasuredSpec::step_time, Duration{}, "Time of a step")
          .optional("tokens_per_second", &MeasuredSpec::tokens_per_second, positive,
                    "Tokens of all GPUs together a second")
          .optional("tokens_per_second_per_gpu", &MeasuredSpec::tokens_per_second_per_gpu, positive,
                    "Tokens of one GPU a second")
          .optional("model_flops_per_second_per_gpu", &MeasuredSpec::model_flops_per_second_per_gpu,
                    ArithmeticRate{}, "Model FLOPs of one GPU a second")
          .optional("hardware_flops_per_second_per_gpu",
                    &MeasuredSpec::hardware_flops_per_second_per_gpu, ArithmeticRate{},
                    "The same with what activation checkpointing computes again")
          .optional("mfu", &MeasuredSpec::mfu, share, "Model FLOPs utilisation, as a share of 1")
          .optional("hfu", &MeasuredSpec::hfu, share,
                    "Hardware FLOPs utilisation, as a share of 1: with what is computed again")
          .optional("flops_convention", &MeasuredSpec::flops_convention, convention_words(),
                    "How the source of these four counts model FLOPs")
          .optional(
              "peak", &MeasuredSpec::peak, ArithmeticRate{},
              "Peak that mfu and hfu are shares of; the dense bf16 peak of the datasheet when left "
              "out")
          .optional("source", &MeasuredSpec::source, Text{}, "Where the measurement is from")
          .optional("peak_memory", &MeasuredSpec::peak_memory, peak_memory_block(),
                    "Peak memory of the run")
          .optional("out_of_memory", &MeasuredSpec::out_of_memory, Flag{},
                    "Whether the run died for want of memory");
  return block;
}

}  // namespace

const Block<ScenarioSpec>& scenario_block() {
  static const Block<ScenarioSpec> block =
      Block<ScenarioSpec>()
          .required("model", &ScenarioSpec::model, model_reference(),
                    "Model name (`stepsim list models`), path of a Hugging Face config.json, or a "
                    "block with its keys")
          .required("cluster", &ScenarioSpec::cluster, cluster_block(), "The GPUs")
          .required("plan", &ScenarioSpec::plan, plan_block(), "How the model is spread over them")
          .required("training", &ScenarioSpec::training, training_block(), "What a step trains on")
          .optional("software", &ScenarioSpec::software, software_block(), "What runs it")
          .optional("measured", &ScenarioSpec::measured, MeasuredBlock{},
                    "A measurement of this step to compare with")
          .optional("reliability", &ScenarioSpec::reliability, ReliabilityBlock{},
                    "How often parts fail in a long run, and what checkpoints cost")
          .later({"workload", "cost"});
  return block;
}

bool read_value(const ValueSite& site, const Checkpointing& /*format*/, CheckpointingSpec& value) {
  const std::string& text = site.node.text;
  if (site.node.is_scalar() && (text == "true" || text == "false")) {
    return site.refuse("is " + text, "none, selective or full", text == "true" ? "full" : "none");
  }
  if (!site.node.is_map()) return read_value(site, checkpoint_words(), value.kind);
  return checkpointing_block().read(site.node, site.path, site.diagnostics, value);
}

Json schema_of(const Checkpointing& /*format*/) {
  CheckpointingSpec defaults;
  defaults.policy = SelectivePolicy::op;
  defaults.n = 2;
  defaults.early_stop = true;
  return {{"anyOf",
           Json::array({schema_of(checkpoint_words()), checkpointing_block().schema(defaults)})}};
}

DocumentNode to_node(const Checkpointing& /*format*/, const CheckpointingSpec& value) {
  const bool word = !value.policy && !value.n && !value.early_stop;
  return word ? to_node(checkpoint_words(), *value.kind) : checkpointing_block().write(value);
}

bool read_value(const ValueSite& site, const NcclBlock& /*format*/, NcclSpec& value) {
  if (!site.node.is_map()) return read_value(site, Version{}, value.version);
  return nccl_block().read(site.node, site.path, site.diagnostics, value);
}

Json schema_of(const NcclBlock& /*format*/) {
  NcclSpec defaults;
  defaults.version = topology::NcclSettings{}.version;
  defaults.nvls = true;
  defaults.collnet = false;
  return {{"anyOf", Json::array({schema_of(Version{}), nccl_block().schema(defaults)})}};
}

DocumentNode to_node(const NcclBlock& /*format*/, const NcclSpec& value) {
  const bool version_alone =
      !value.algo && !value.proto && !value.max_ctas && !value.nvls && !value.collnet;
  return version_alone ? to_node(Version{}, *value.version) : nccl_block().write(value);
}

bool read_value(const ValueSite& site, const MeasuredBlock& /*format*/, MeasuredSpec& value) {
  return measured_block().read(site.node, site.path, site.diagnostics, value);
}

Json schema_of(const MeasuredBlock& /*format*/) {
  MeasuredSpec defaults;
  defaults.flops_convention = FlopsConvention::full_attention;
  return measured_block().schema(defaults);
}

DocumentNode to_node(const MeasuredBlock& /*format*/, const MeasuredSpec& value) {
  return measured_block().write(value);
}

}  // namespace stepsim::scenarios
