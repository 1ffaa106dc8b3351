//===- Block.h - Blocks -----------------------------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/Operation.h"
