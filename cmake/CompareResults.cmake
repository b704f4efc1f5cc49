# cmake -P CompareResults.cmake A.json B.json
# Fails unless two results of «stepsim run --json» are equal in everything that equal runs must share:
# all but «simulation» and «provenance.build».

set(results "")
foreach(argument 3 4)
  file(READ "${CMAKE_ARGV${argument}}" result)
  string(JSON result REMOVE "${result}" simulation)
  string(JSON result REMOVE "${result}" provenance build)
  string(JSON step_time GET "${result}" step_time_s)
  string(MD5 digest "${result}")
  list(APPEND results "${digest} (step_time_s ${step_time})")
endforeach()
list(GET results 0 first)
list(GET results 1 second)
if(NOT first STREQUAL second)
  message(FATAL_ERROR "the results differ: ${first}, ${second}")
endif()
