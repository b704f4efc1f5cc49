// Golden schedules for four ranks, made by an independent simulator: semantics of each framework's
// source, with F, B, I, W for forward, backward, input and weight gradient, «F4.2» being stage 4
// and micro-batch 2, and «[F|B]» a pair that overlaps.

#include "tests/workloads/pipeline_schedule_golden.hpp"

namespace stepsim::workloads::testing {

const std::vector<GoldenSchedule>& golden_schedules() {
  static const std::vector<GoldenSchedule> schedules = {
      {PipelineSchedule::one_f_one_b,
       1,
       8,
       {"F0.0 F0.1 F0.2 F0.3 B0.0 F0.4 B0.1 F0.5 B0.2 F0.6 B0.3 F0.7 B0.4 B0.5 B0.6 "
        "B0.7",
        "F1.0 F1.1 F1.2 B1.0 F1.3 B1.1 F1.4 B1.2 F1.5 B1.3 F1.6 B1.4 F1.7 B1.5 B1.6 "
        "B1.7",
        "F2.0 F2.1 B2.0 F2.2 B2.1 F2.3 B2.2 F2.4 B2.3 F2.5 B2.4 F2.6 B2.5 F2.7 B2.6 "
        "B2.7",
        "F3.0 B3.0 F3.1 B3.1 F3.2 B3.2 F3.3 B3.3 F3.4 B3.4 F3.5 B3.5 F3.6 B3.6 F3.7 "
        "B3.7"}},
      {PipelineSchedule::zb1p,
       1,
       8,
       {"F0.0 F0.1 F0.2 F0.3 I0.0 W0.0 F0.4 I0.1 W0.1 F0.5 I0.2 W0.2 F0.6 I0.3 W0.3 "
        "F0.7 I0.4 W0.4 I0.5 W0.5 I0.6 W0.6 I0.7 W0.7",
        "F1.0 F1.1 F1.2 I1.0 F1.3 I1.1 W1.0 F1.4 I1.2 W1.1 F1.5 I1.3 W1.2 F1.6 I1.4 "
        "W1.3 F1.7 I1.5 W1.4 I1.6 W1.5 I1.7 W1.6 W1.7",
        "F2.0 F2.1 I2.0 F2.2 I2.1 F2.3 I2.2 W2.0 F2.4 I2.3 W2.1 F2.5 I2.4 W2.2 F2.6 "
        "I2.5 W2.3 F2.7 I2.6 W2.4 I2.7 W2.5 W2.6 W2.7",
        "F3.0 I3.0 F3.1 I3.1 F3.2 I3.2 F3.3 I3.3 W3.0 F3.4 I3.4 W3.1 F3.5 I3.5 W3.2 "
        "F3.6 I3.6 W3.3 F3.7 I3.7 W3.4 W3.5 W3.6 W3.7"}},
      {PipelineSchedule::interleaved,
       2,
       8,
       {"F0.0 F0.1 F0.2 F0.3 F4.0 F4.1 F4.2 F4.3 F0.4 F0.5 F0.6 B4.0 F0.7 B4.1 F4.4 "
        "B4.2 F4.5 B4.3 F4.6 B0.0 F4.7 B0.1 B0.2 B0.3 B4.4 B4.5 B4.6 B4.7 B0.4 B0.5 "
        "B0.6 B0.7",
        "F1.0 F1.1 F1.2 F1.3 F5.0 F5.1 F5.2 F5.3 F1.4 B5.0 F1.5 B5.1 F1.6 B5.2 F1.7 "
        "B5.3 F5.4 B1.0 F5.5 B1.1 F5.6 B1.2 F5.7 B1.3 B5.4 B5.5 B5.6 B5.7 B1.4 B1.5 "
        "B1.6 B1.7",
        "F2.0 F2.1 F2.2 F2.3 F6.0 F6.1 F6.2 B6.0 F6.3 B6.1 F2.4 B6.2 F2.5 B6.3 F2.6 "
        "B2.0 F2.7 B2.1 F6.4 B2.2 F6.5 B2.3 F6.6 B6.4 F6.7 B6.5 B6.6 B6.7 B2.4 B2.5 "
        "B2.6 B2.7",
        "F3.0 F3.1 F3.2 F3.3 F7.0 B7.0 F7.1 B7.1 F7.2 B7.2 F7.3 B7.3 F3.4 B3.0 F3.5 "
        "B3.1 F3.6 B3.2 F3.7 B3.3 F7.4 B7.4 F7.5 B7.5 F7.6 B7.6 F7.7 B7.7 B3.4 B3.5 "
        "B3.6 B3.7"}},
      {PipelineSchedule::zbv,
       1,
       8,
       {"F0.0 F0.1 F0.2 F0.3 F0.4 F0.5 F0.6 F7.0 I7.0 W7.0 F7.1 I7.1 W7.1 F7.2 I7.2 "
        "W7.2 F7.3 I7.3 W7.3 F0.7 I0.0 W0.0 F7.4 I7.4 W7.4 I0.1 W0.1 F7.5 I7.5 W7.5 "
        "I0.2 W0.2 F7.6 I7.6 W7.6 I0.3 W0.3 F7.7 I7.7 W7.7 I0.4 W0.4 I0.5 W0.5 I0.6 "
        "W0.6 I0.7 W0.7",
        "F1.0 F1.1 F1.2 F1.3 F1.4 F6.0 F1.5 F6.1 I6.0 W6.0 F6.2 I6.1 W6.1 F6.3 I6.2 "
        "W6.2 F1.6 I1.0 W1.0 F6.4 I6.3 W6.3 F1.7 I1.1 W1.1 F6.5 I6.4 W6.4 I1.2 W1.2 "
        "F6.6 I6.5 W6.5 I1.3 W1.3 F6.7 I6.6 W6.6 I1.4 I6.7 I1.5 W1.4 I1.6 W1.5 I1.7 "
        "W1.6 W6.7 W1.7",
        "F2.0 F2.1 F2.2 F5.0 F2.3 F5.1 F2.4 F5.2 I5.0 W5.0 F5.3 I5.1 W5.1 F2.5 I2.0 "
        "W2.0 F5.4 I5.2 W5.2 F2.6 I2.1 W2.1 F5.5 I5.3 W5.3 F2.7 I2.2 W2.2 F5.6 I5.4 "
        "W5.4 I2.3 W2.3 F5.7 I5.5 W5.5 I2.4 I5.6 I2.5 I5.7 I2.6 W2.4 I2.7 W2.5 W5.6 "
        "W5.7 W2.6 W2.7",
        "F3.0 F4.0 F3.1 F4.1 F3.2 F4.2 F3.3 F4.3 I4.0 W4.0 F3.4 I3.0 W3.0 F4.4 I4.1 "
        "W4.1 F3.5 I3.1 W3.1 F4.5 I4.2 W4.2 F3.6 I3.2 W3.2 F4.6 I4.3 W4.3 F3.7 I3.3 "
        "W3.3 F4.7 I4.4 W4.4 I3.4 I4.5 I3.5 I4.6 I3.6 I4.7 I3.7 W3.4 W4.5 W4.6 W4.7 "
        "W3.5 W3.6 W3.7"}},
      {PipelineSchedule::dualpipev,
       1,
       10,
       {"F0.0 F0.1 F0.2 F0.3 F0.4 F0.5 F0.6 F7.0 I7.0 W7.0 F7.1 I7.1 W7.1 F7.2 I7.2 "
        "W7.2 F7.3 [F0.7|B7.3] [F7.4|B0.0] [F0.8|B7.4] [F7.5|B0.1] [F0.9|B7.5] "
        "[F7.6|B0.2] B7.6 [F7.7|B0.3] B7.7 [F7.8|B0.4] B7.8 [F7.9|B0.5] B7.9 I0.6 W0.6 "
        "I0.7 W0.7 I0.8 W0.8 I0.9 W0.9",
        "F1.0 F1.1 F1.2 F1.3 F1.4 F6.0 F1.5 F6.1 I6.0 W6.0 F6.2 I6.1 W6.1 F6.3 "
        "[F1.6|B6.2] [F6.4|B1.0] [F1.7|B6.3] [F6.5|B1.1] [F1.8|B6.4] [F6.6|B1.2] "
        "[F1.9|B6.5] [F6.7|B1.3] B6.6 [F6.8|B1.4] B6.7 [F6.9|B1.5] B6.8 B1.6 I6.9 I1.7 "
        "W6.9 I1.8 W1.7 I1.9 W1.8 W1.9",
        "F2.0 F2.1 F2.2 F5.0 F2.3 F5.1 F2.4 F5.2 I5.0 W5.0 F5.3 [F2.5|B5.1] [F5.4|B2.0] "
        "[F2.6|B5.2] [F5.5|B2.1] [F2.7|B5.3] [F5.6|B2.2] [F2.8|B5.4] [F5.7|B2.3] "
        "[F2.9|B5.5] [F5.8|B2.4] B5.6 [F5.9|B2.5] B5.7 B2.6 B5.8 I2.7 I5.9 I2.8 W2.7 "
        "I2.9 W5.9 W2.8 W2.9",
        "F3.0 F4.0 F3.1 F4.1 F3.2 F4.2 F3.3 F4.3 F3.4 B4.0 [F4.4|B3.0] [F3.5|B4.1] "
        "[F4.5|B3.1] [F3.6|B4.2] [F4.6|B3.2] [F3.7|B4.3] [F4.7|B3.3] [F3.8|B4.4] "
        "[F4.8|B3.4] [F3.9|B4.5] [F4.9|B3.5] B4.6 B3.6 B4.7 B3.7 I4.8 I3.8 I4.9 I3.9 "
        "W4.8 W3.8 W4.9 W3.9"}},
  };
  return schedules;
}

}  // namespace stepsim::workloads::testing
