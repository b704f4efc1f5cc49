#include "calibrate/nccl_tests.hpp"

#include "calibrate/nccl_tests_table.hpp"

#include "sim/base/document.hpp"
#include "sim/base/error.hpp"
#include "sim/base/file_hash.hpp"
#include "sim/base/message_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

namespace stepsim::calibrate {

using topology::Collective;

namespace {

constexpr std::size_t largest_file_bytes = 64'000'000;
constexpr int most_ranks = 1'000'000;

struct Command {
  const char* name;  // letters only, as in «allreduce_perf» and in file names
  Collective collective;
};
// Longer names first: «reducescatter» holds «reduce».
constexpr Command commands[] = {
    {"reducescatter", Collective::reduce_scatter}, {"allreduce", Collective::all_reduce},
    {"allgather", Collective::all_gather},         {"alltoall", Collective::all_to_all},
    {"broadcast", Collective::broadcast},          {"sendrecv", Collective::send_receive}};

std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (std::isalpha(byte) != 0) letters += static_cast<char>(std::tolower(byte));
  }
  return letters;
}

std::optional<Collective> named_in(std::string_view text) {
  const std::string letters = letters_of(text);
  for (const Command& command : commands) {
    if (letters.find(command.name) != std::string::npos) return command.collective;
  }
  return {};
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

[[noreturn]] void refuse(const std::string& file, const std::string& problem,
                         const std::string& expected) {
  throw InputError(Diagnostic{{file}, "", problem, expected, ""});
}

/// What the columns say: the message in bytes over its elements, the reduction and the root.
struct Shape {
  std::int64_t pieces = 0;  // size / (count × bytes of the type); 0: not known
  bool reduces = false;
  bool has_root = false;
  bool reduction_column = false;  // with or without a word in it
};

Shape shape_of(const RawNcclTests& raw) {
  Shape shape;
  shape.reduction_column = raw.header.find("redop") != std::string::npos;
  for (const RawNcclTestsRow& row : raw.rows) {
    const std::int64_t element = nccl_tests_type_bytes(row.type);
    if (row.count > 0 && element > 0 && row.row.bytes.count() % element == 0 &&
        row.row.bytes.count() / element % row.count == 0) {
      shape.pieces = row.row.bytes.count() / element / row.count;
    }
    shape.reduces |= !row.redop.empty() && row.redop != "none";
    shape.has_root |= row.root.value_or(-1) >= 0;
  }
  return shape;
}

/// The collective, when only one has such columns.
std::optional<Collective> collective_of(const Shape& shape) {
  if (shape.pieces == 0) return {};
  if (shape.reduces && !shape.has_root) {
    return shape.pieces == 1 ? Collective::all_reduce : Collective::reduce_scatter;
  }
  if (shape.has_root && !shape.reduces && shape.pieces == 1) return Collective::broadcast;
  // Before 2.11 only the table of alltoall had an empty column for the reduction.
  if (!shape.reduces && !shape.has_root && shape.pieces > 1 && !shape.reduction_column) {
    return Collective::all_gather;
  }
  return {};
}

void find_collective(const RawNcclTests& raw, std::optional<Collective> given, NcclTestsLog& log) {
  const Shape shape = shape_of(raw);
  std::optional<Collective> found = given;
  log.collective_from = "as given";
  if (!found && !raw.command.empty()) {
    found = named_in(raw.command);
    if (!found) {
      refuse(log.file, "is of " + in_quotes(raw.command) + ", which is not modelled",
             "all_reduce, all_gather, reduce_scatter, broadcast, alltoall or sendrecv");
    }
    log.collective_from = raw.command + " in the file";
  }
  if (!found) {
    found = collective_of(shape);
    log.collective_from = "from its columns";
  }
  if (!found) {
    found = named_in(file_name(log.file));
    log.collective_from = "from the file's name";
  }
  if (!found) refuse(log.file, "does not say which collective it measures", "--collective");
  log.collective = *found;
}

/// Rank counts n for which the printed bandwidths can be factor(n) apart, each rounded to two
/// decimals.
struct RankRange {
  int least = 0;
  int most = 0;
};

RankRange ranks_allowed(const NcclTestsLog& log) {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  const auto narrow = [&](const std::optional<NcclTestsTiming>& timing) {
    constexpr double rounding = 0.00501;
    if (!timing || timing->algorithm_gb_per_s < 0.1) return;
    low =
        std::max(low, (timing->bus_gb_per_s - rounding) / (timing->algorithm_gb_per_s + rounding));
    high =
        std::min(high, (timing->bus_gb_per_s + rounding) / (timing->algorithm_gb_per_s - rounding));
  };
  for (const NcclTestsRow& row : log.rows) {
    narrow(row.out_of_place);
    narrow(row.in_place);
  }
  RankRange range;
  if (!std::isfinite(high)) return {2, most_ranks};  // only tiny messages
  const auto allowed = [&](int ranks) {
    const double factor = topology::bus_factor(log.collective, ranks);
    return factor >= low && factor <= high;
  };
  // The factor rises with n, so those allowed are neighbours.
  for (int ranks = 2; ranks <= most_ranks; ++ranks) {
    if (allowed(ranks)) {
      if (range.least == 0) range.least = ranks;
      range.most = ranks;
    } else if (range.least > 0) {
      break;
    }
  }
  return range;
}

void find_ranks(const RawNcclTests& raw, NcclTestsLog& log) {
  const Shape shape = shape_of(raw);
  log.hosts = static_cast<int>(raw.hosts.size());
  if (!raw.ranks.empty()) {
    log.ranks = *raw.ranks.rbegin() + 1;
    if (log.ranks != static_cast<int>(raw.ranks.size())) {
      log.notes.push_back(fmt::format("{} of {} ranks are listed; the rest were taken out",
                                      raw.ranks.size(), log.ranks));
      log.hosts = 0;
    }
  } else if (shape.pieces > 1 && shape.pieces <= most_ranks) {
    log.ranks = static_cast<int>(shape.pieces);
    log.notes.push_back(fmt::format("{} ranks, from size over count", log.ranks));
  }
  const RankRange range = ranks_allowed(log);
  if (range.least == 0) {
    refuse(log.file,
           fmt::format("has bus bandwidths that are not those of {}", to_string(log.collective)),
           "the collective that was run: --collective");
  }
  if (log.ranks > 1 && (log.ranks < range.least || log.ranks > range.most)) {
    refuse(
        log.file,
        fmt::format("lists {} ranks, but its bus bandwidths are those of {}", log.ranks,
                    range.least == range.most ? std::to_string(range.least)
                                              : fmt::format("{} to {}", range.least, range.most)),
        fmt::format("bus bandwidth {:.4g} times algorithm bandwidth for {} of {} ranks",
                    topology::bus_factor(log.collective, log.ranks), to_string(log.collective),
                    log.ranks));
  }
  log.least_ranks = range.least;
  log.most_ranks = range.most;
}

void check_size(const RawNcclTests& raw, const std::string& file) {
  if (!raw.rows.empty()) return;
  refuse(file, "holds no measurement of nccl-tests",
         "rows of size, time (us), algbw and busbw, as all_reduce_perf prints them");
}

}  // namespace

const NcclTestsTiming& NcclTestsRow::best() const {
  if (!in_place) return *out_of_place;
  if (!out_of_place) return *in_place;
  return in_place->time_us < out_of_place->time_us ? *in_place : *out_of_place;
}

const std::vector<std::pair<std::string, Collective>>& nccl_tests_collectives() {
  static const std::vector<std::pair<std::string, Collective>> names = {
      {"all_reduce", Collective::all_reduce},         {"all_gather", Collective::all_gather},
      {"reduce_scatter", Collective::reduce_scatter}, {"broadcast", Collective::broadcast},
      {"alltoall", Collective::all_to_all},           {"sendrecv", Collective::send_receive}};
  return names;
}

NcclTestsLog parse_nccl_tests(std::string_view text, const std::string& name,
                              std::optional<Collective> collective) {
  Diagnostics problems;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && text[first] == '{';
  RawNcclTests raw = json ? read_nccl_tests_json(text, name, problems)
                          : read_nccl_tests_table(text, name, problems);
  problems.throw_if_any();
  check_size(raw, name);
  NcclTestsLog log;
  log.file = name;
  log.hash = content_hash(text);
  log.device = raw.device;
  log.version = raw.version;
  log.nccl_version = raw.nccl_version;
  log.notes = raw.notes;
  for (const RawNcclTestsRow& row : raw.rows) log.rows.push_back(row.row);
  if (raw.skipped > 0) {
    log.notes.push_back(fmt::format("{} line{} that hold{} no row of the table skipped",
                                    raw.skipped, raw.skipped == 1 ? "" : "s",
                                    raw.skipped == 1 ? "s" : ""));
  }
  find_collective(raw, collective, log);
  find_ranks(raw, log);
  return log;
}

NcclTestsLog read_nccl_tests(const std::string& file, std::optional<Collective> collective) {
  return parse_nccl_tests(read_file(file, largest_file_bytes), file, collective);
}

}  // namespace stepsim::calibrate
