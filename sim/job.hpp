#pragma once

/// A job is everything the engine needs to execute one step: the programs, which rank runs which,
/// how each rank's slots are bound, and what each kernel and collective costs. It names no model
/// and no GPU.

#include "sim/ids.hpp"
#include "sim/program.hpp"

#include "sim/base/units.hpp"

#include <string>
#include <vector>

namespace stepsim::sim {

/// The four clocks: what an op's own time is spent on.
enum class Clock : std::uint8_t { compute, memory, communication, overhead };
constexpr int clock_count = 4;
const char* to_string(Clock clock);

/// A step of a speed table: what is left of a kernel's speed once others take so much of a
/// resource.
struct SpeedStep {
  static constexpr std::uint32_t full_speed = 65'536;

  std::uint32_t taken = 0;
  std::uint32_t speed = full_speed;  // at least 1
};

/// How a kernel slows while collectives and transfers are resident on its device. Steps are sorted
/// by `taken`; below the first, and in an empty table, the kernel runs at full speed. Speeds by
/// both tables multiply.
struct KernelSharing {
  std::vector<SpeedStep> by_sms_taken;
  std::vector<SpeedStep> by_memory_taken;  // thousandths of the device's memory bandwidth
};

/// What a kernel costs on the rank's device when nothing shares it.
struct KernelCost {
  std::string name;  // kernel name for people and traces, such as «gemm qkv forward»
  std::string category;  // «gemm», «attention», «norm», «elementwise», «optimizer», «copy», …
  Time fixed;            // ramp-up and drain that no resource explains: the overhead clock
  Time time;             // whole time alone, including `fixed`
  Clock clock = Clock::compute;  // the slowest clock of time − fixed
  bool assumed = false;          // rests on a number nobody measured for this device
  KernelSharing sharing{};
};

/// What a collective or point-to-point message is, whoever takes part.
struct CollectiveSpec {
  std::string name;   // «all_gather», «reduce_scatter», «all_reduce», «send», …
  std::string group;  // parallel group it belongs to, as in Slot::group
  Bytes bytes;        // full buffer, counted as nccl-tests does
};

/// What it costs on one kind of communicator: a fixed latency, then the transfer.
struct CollectiveCost {
  Time latency;
  Time transfer;
  std::string algorithm;  // such as «ring/Simple»; for people
  bool assumed = false;
  std::uint32_t sms = 0;                 // held on each member from its arrival to the end
  std::uint32_t memory_thousandths = 0;  // of each member's memory bandwidth, while it transfers
  /// Its own rate in the unit of Link::capacity: what it puts on a link that it crosses once, when
  /// nothing slows it. 0: it shares no links.
  std::int64_t rate = 0;
  /// Part of `transfer` that a declared slow link adds.
  Time slow_part{};
};

/// One direction of a link, a NIC or a switch port. Capacities that are multiples of 720,720 divide
/// exactly among up to 16 transfers.
struct Link {
  std::string name;
  std::int64_t capacity = 0;
};

/// That a communicator's or channel's transfers cross a link, and how many times over.
struct LinkUse {
  LinkId link;
  std::uint32_t times = 1;
  friend auto operator<=>(const LinkUse&, const LinkUse&) = default;
};

struct Communicator {
  std::string group;
  std::vector<Rank> members;
  std::uint32_t cost_row = 0;  // row of Job::collective_costs
  std::vector<LinkUse> links{};
};

/// A directed pair of ranks; its k-th send meets its k-th receive.
struct Channel {
  std::string group;
  Rank sender;
  Rank receiver;
  std::uint32_t cost_row = 0;
  std::vector<LinkUse> links{};
};

/// One rank: its program and what that program's slots mean for it. bindings[slot] is a
/// CommunicatorId or ChannelId value according to Slot::is_channel.
struct RankSetup {
  /// A rank as fast as its costs say.
  static constexpr std::uint32_t usual_compute_time = 1'000'000;

  ProgramId program;
  std::vector<std::uint32_t> bindings;
  /// How long its kernels take, in millionths of what they cost: 1,300,000 for a GPU that is 30 %
  /// slow.
  std::uint32_t compute_time_millionths = usual_compute_time;
};

/// Noise on kernels: every kernel that a rank issues takes its time × a factor of its own, uniform
/// between 1 − spread and 1 + spread, so that the mean stays what it costs. Which factor depends on
/// seed, rank and the op's place in the program and on nothing else (sim/kernel_pace.hpp): equal
/// seeds give equal times, whatever else changes. With noise no two ranks are alike, and every rank
/// is executed. What makes a rank slow for a whole step is `RankSetup::compute_time_millionths`.
struct Jitter {
  static constexpr std::uint32_t whole = 65'536;

  std::uint64_t seed = 0;
  std::uint32_t spread_65536ths = 0;  // below `whole`; 0: no noise
};

/// A kernel's time on a rank without noise, rounded up to a whole picosecond.
Time scaled_kernel_time(Time time, std::uint32_t compute_time_millionths);

struct Job {
  std::vector<Program> programs;
  std::vector<RankSetup> ranks;
  std::vector<KernelCost> kernels;
  std::vector<CollectiveSpec> collectives;
  std::vector<Communicator> communicators;
  std::vector<Channel> channels;
  std::vector<Link> links;
  Jitter jitter;
  /// collective_costs[cost_row][collective]: one row for each kind of communicator or channel.
  std::vector<std::vector<CollectiveCost>> collective_costs;
};

/// Whether anything in the job slows with what others do at the same time. If not, every op takes
/// what it costs.
bool shares_resources(const Job& job);

/// Checks that every id is in range, every communicator's members are distinct and each binds it
/// once, every channel has both ends and is used in its direction, no cost is negative and noise
/// leaves every kernel some time. Throws InternalError naming the first thing that is wrong.
void check_job(const Job& job);

}  // namespace stepsim::sim
