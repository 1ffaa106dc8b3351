//===- Watch.h - Watches of operations, attributes and counts ---*- C++ -*-===//

#pragma once

#include "match/Glob.h"
#include "observe/Changes.h"
#include "observe/Digest.h"
#include "observe/Identity.h"

namespace adbg {

/// A watched object and its last observed state.
class Watch {
public:
  enum class About : uint8_t { Operation, Count, Attribute };

  static Watch parse(Fields &fields);
  bool isSameAs(const Watch &other) const;

  /// Starts watching, if the object exists.
  void arm(Operation *anywhere);

  // Events of operations. An event is kept until `takeEvents` returns it.
  void created(Operation *op, uint32_t id);
  void placed(Operation *op, uint32_t id, bool isNew);
  void moved(Operation *op);
  void replaced(Operation *op, const ValueName &by, Operation *next);
  void destroyed(Operation *op, bool wasPlaced);

  /// Returns the events since the last call; empty if there are none.
  std::string takeEvents();
  /// Drops the events so far: they came from parsing the input.
  void dropEvents();

  /// Whether the operation is gone, without a replacement that is followed.
  bool hasEnded() const { return about != About::Count && armed && !target; }

private:
  void follow(Operation *op, uint32_t id);
  void addEvent(const std::string &event);
  void compare();
  std::string attributeText() const;

  About about = About::Operation;
  /// The operation that was asked for, and the one in its place now.
  uint32_t asked = 0, id = 0;
  bool exact = false;
  std::string attribute;
  std::optional<Glob> glob;

  bool armed = false;
  Operation *target = nullptr;
  std::string name;
  Shape shape;
  const void *value = nullptr;
  std::string valueText;
  int64_t count = 0, counted = 0;
  std::string event;
};

} // namespace adbg
