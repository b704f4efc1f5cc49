# cmake -DBUILD=DIRECTORY -DSCRATCH=DIRECTORY -DSCENARIO=FILE -P install_test.cmake
# Installs into an empty prefix, moves the prefix, and uses the installed stepsim from a folder of its
# own. A device that exists only in the installed data shows which data the binary found.

cmake_minimum_required(VERSION 3.22)

function(run result)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${SCRATCH}/elsewhere" RESULT_VARIABLE code
                  OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "exit code ${code}: ${ARGN}\n${output}${errors}")
  endif()
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}/elsewhere")
run(ignored "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${SCRATCH}/first")
file(RENAME "${SCRATCH}/first" "${SCRATCH}/prefix")
set(stepsim "${SCRATCH}/prefix/bin/stepsim")
set(data "${SCRATCH}/prefix/share/stepsim")

file(READ "${data}/topology/devices/h100-sxm-80gb.yaml" device)
string(REPLACE "h100-sxm-80gb" "only-where-installed" device "${device}")
file(WRITE "${data}/topology/devices/only-where-installed.yaml" "${device}")
run(devices "${stepsim}" list devices)
if(NOT devices MATCHES "only-where-installed")
  message(FATAL_ERROR "the installed stepsim does not read ${data}:\n${devices}")
endif()

run(summary "${stepsim}" run "${data}/scenarios/examples/${SCENARIO}" --json result.json)
file(READ "${SCRATCH}/elsewhere/result.json" result)
string(JSON step_time GET "${result}" step_time_s)
if(NOT step_time GREATER 0)
  message(FATAL_ERROR "step_time_s is «${step_time}»")
endif()

file(GLOB_RECURSE stray RELATIVE "${data}" "${data}/*.[ch]pp" "${data}/CMakeLists.txt")
if(NOT stray STREQUAL "")
  message(FATAL_ERROR "sources were installed: ${stray}")
endif()
file(REMOVE_RECURSE "${SCRATCH}")
