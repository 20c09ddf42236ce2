// How long copies of a card take: between it and pinned memory of the host, and within its own.
#pragma once

#include <string>
#include <vector>

namespace nearfield::cuda {

// Seconds of so many passes of a copy of `bytes`, by the card's clock; `kind`: "to_card", "to_host" or "on_card". One
// more goes before them. Errors: NoDriver, CardFull, CardError.
std::vector<double> copy_seconds(const std::string& driver, int number, const std::string& kind, std::size_t bytes,
                                 int passes);

}  // namespace nearfield::cuda
