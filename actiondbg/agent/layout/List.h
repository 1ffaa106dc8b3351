//===- List.h - MLIR's lists of operations and blocks -----------*- C++ -*-===//

#pragma once

#include "support/System.h"

namespace adbg {

/// A node of a ring; the one that belongs to the list itself is its end. In
/// builds with ABI-breaking checks the end has a flag in its first word.
struct ListNode {
  uintptr_t prevAndFlag;
  ListNode *next;

  ListNode *getNext() const { return next; }
  ListNode *getPrev() const {
    return reinterpret_cast<ListNode *>(prevAndFlag & ~uintptr_t(7));
  }
};

/// Passed to and from the tool: one pointer.
template <typename T, typename Node = ListNode> class ListIterator {
public:
  using iterator_category = std::bidirectional_iterator_tag;
  using value_type = T;
  using difference_type = ptrdiff_t;
  using pointer = T *;
  using reference = T &;

  explicit ListIterator(Node *node = nullptr) : node(node) {}

  T &operator*() const { return *static_cast<T *>(node); }
  T *operator->() const { return static_cast<T *>(node); }
  ListIterator &operator++() {
    node = node->getNext();
    return *this;
  }
  ListIterator operator++(int) {
    ListIterator before = *this;
    ++*this;
    return before;
  }
  ListIterator &operator--() {
    node = node->getPrev();
    return *this;
  }
  bool operator==(const ListIterator &other) const {
    return node == other.node;
  }
  Node *getNodePtr() const { return node; }

private:
  Node *node;
};

} // namespace adbg
