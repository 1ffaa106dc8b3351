//===- Region.h - Regions ---------------------------------------*- C++ -*-===//

#pragma once

#include "mlir/IR/Operation.h"
