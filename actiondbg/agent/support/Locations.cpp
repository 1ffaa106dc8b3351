#include "support/Locations.h"

namespace adbg {

bool visitLocations(Location loc, function_ref<bool(Location)> visit) {
  if (visit(loc))
    return true;
  if (auto fused = dyn_cast<FusedLoc>(loc))
    return std::ranges::any_of(fused.getLocations(), [&](Location inner) {
      return visitLocations(inner, visit);
    });
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return visitLocations(call.getCallee(), visit) ||
           visitLocations(call.getCaller(), visit);
  if (auto named = dyn_cast<NameLoc>(loc))
    return visitLocations(named.getChildLoc(), visit);
  if (auto opaque = dyn_cast<OpaqueLoc>(loc))
    return visitLocations(opaque.getFallbackLocation(), visit);
  return false;
}

std::optional<FilePlace> firstPlace(Location loc) {
  std::optional<FilePlace> place;
  visitLocations(loc, [&](Location inner) {
    place = asFilePlace(inner);
    return place.has_value();
  });
  return place;
}

} // namespace adbg
