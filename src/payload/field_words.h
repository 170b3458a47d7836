// What the names of fields are worth as a hint of what is in them. 0: none. Points of different functions
// compare: some 100 is as good as certain, 30 is a guess.
//
// Threads: free functions without state.
#pragma once

#include <string>
#include <string_view>

namespace hourfold {

// Small letters and digits alone: devEUI, dev_eui and dev-eui are the same word.
std::string plain_word(std::string_view name);

int device_points(std::string_view word);
int time_points(std::string_view word);
int metrics_points(std::string_view word);      // an object of metrics
int readings_points(std::string_view word);     // a list of readings
int metric_name_points(std::string_view word);  // the name of the one metric of a reading
int value_points(std::string_view word);        // and its value

// Counters, radio quality and the like: numbers that say nothing of what a device measures.
bool is_bookkeeping(std::string_view word);

// Where a place is in a hierarchy of places, of which a device may be made up: from 1, 0 for none.
int place_rank(std::string_view word);

}  // namespace hourfold
